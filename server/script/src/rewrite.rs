//! Chained comparisons, as in Python, for a language that has none.
//!
//! `a < b < c` means `a < b and b < c` with `b` evaluated once. Starlark's grammar refuses the chain, so there is no tree
//! to change: the tokens are. A middle that is one name or literal is written twice; any other goes through a lambda,
//! `(lambda l, m: l < m and m < c)(a, b)`, which keeps the order of evaluation and skips `c` where Python does.

use crate::lexer::{Kind, Token};
use crate::source::Mapped;
use std::ops::Range;

/// Most comparisons in one chain: each nests a lambda at worst.
const MAX_CHAIN: usize = 16;

/// How the rewritten text is to be framed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'f> {
    /// Before the first line.
    pub head: &'f str,
    /// Before each line.
    pub indent: &'f str,
    /// After the last line.
    pub tail: &'f str,
}

impl Frame<'static> {
    /// Nothing around it.
    pub(crate) const NONE: Self = Self {
        head: "",
        indent: "",
        tail: "",
    };
}

/// `source` with its chains unfolded, in `frame`.
///
/// # Errors
/// The place of a chain that is too long.
pub(crate) fn rewrite(source: &str, tokens: &[Token], frame: Frame<'_>) -> Result<Mapped, usize> {
    let mut prefix = String::from("chain");
    while source.contains(&prefix) {
        prefix.push('_');
    }
    let mut writer = Writer {
        source,
        tokens,
        indent: frame.indent,
        prefix,
        lambdas: 0,
        made: Mapped::default(),
    };
    writer.made.insert(frame.head, 0);
    writer.made.insert(frame.indent, 0);
    let end = writer.region(0..tokens.len(), 0)?;
    writer.verbatim(end..source.len());
    writer.made.insert(frame.tail, source.len());
    Ok(writer.made)
}

struct Writer<'s> {
    source: &'s str,
    tokens: &'s [Token],
    indent: &'s str,
    /// What begins the names of parameters, and occurs nowhere in the source.
    prefix: String,
    lambdas: usize,
    made: Mapped,
}

impl<'s> Writer<'s> {
    fn token(&self, index: usize) -> Option<(Kind, &'s str)> {
        self.tokens
            .get(index)
            .map(|token| (token.kind, token.text(self.source)))
    }

    fn start(&self, index: usize) -> usize {
        self.tokens
            .get(index)
            .map_or(self.source.len(), |token| token.span.start)
    }

    fn end(&self, index: usize) -> usize {
        self.tokens
            .get(index)
            .map_or(self.source.len(), |token| token.span.end)
    }

    /// Copies source that holds no string, with the indentation of each new line.
    fn verbatim(&mut self, span: Range<usize>) {
        let mut at = span.start;
        for line in self.source.get(span).unwrap_or_default().split_inclusive('\n') {
            self.made.copy(line, at);
            at += line.len();
            if line.ends_with('\n') {
                self.made.insert(self.indent, at);
            }
        }
    }

    /// Index after the bracket that closes the one at `open`, not beyond `limit`.
    fn after_group(&self, open: usize, limit: usize) -> usize {
        let mut depth = 0_usize;
        for index in open..limit {
            match self.token(index) {
                Some((Kind::Open, _)) => depth += 1,
                Some((Kind::Close, _)) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return index + 1;
                    }
                }
                _ => {}
            }
        }
        limit
    }

    /// Writes tokens at one level of brackets, and the source between them from byte `from`. Returns where it ended.
    fn region(&mut self, range: Range<usize>, mut from: usize) -> Result<usize, usize> {
        let mut index = range.start;
        let mut begin = index;
        let mut loop_targets = 0_usize;
        while index < range.end {
            match self.token(index) {
                Some((Kind::Word, "for")) => {
                    loop_targets += 1;
                    from = self.segment(begin..index, from)?;
                    begin = index + 1;
                }
                Some((Kind::Word, "in")) if loop_targets > 0 => {
                    loop_targets -= 1;
                    from = self.segment(begin..index, from)?;
                    begin = index + 1;
                }
                Some((kind, text)) if self.divides(kind, text, index, begin) => {
                    from = self.segment(begin..index, from)?;
                    begin = index + 1;
                    if kind == Kind::Newline {
                        loop_targets = 0;
                    }
                }
                Some((Kind::Open, _)) => {
                    index = self.after_group(index, range.end);
                    continue;
                }
                _ => {}
            }
            index += 1;
        }
        self.segment(begin..range.end, from)
    }

    /// Whether a token binds less than a comparison does, and so ends one.
    fn divides(&self, kind: Kind, text: &str, index: usize, begin: usize) -> bool {
        match kind {
            Kind::Newline => true,
            Kind::Word => match text {
                "not" => !matches!(self.token(index + 1), Some((Kind::Word, "in"))),
                "and" | "or" | "if" | "elif" | "else" | "lambda" | "return" | "while" | "def" | "pass"
                | "break" | "continue" | "load" => true,
                _ => false,
            },
            Kind::Op => match text {
                "," | ";" | ":" | "=" | "->" | ":=" => true,
                // Arguments are handed on by stars; between operands they multiply.
                "*" | "**" => index == begin,
                "==" | "!=" | "<=" | ">=" => false,
                _ => text.len() > 1 && text.ends_with('='),
            },
            _ => false,
        }
    }

    /// Writes one comparison, or what stands in the place of one.
    fn segment(&mut self, range: Range<usize>, from: usize) -> Result<usize, usize> {
        let (operands, operators) = self.split(range.clone());
        if operators.len() < 2 || !operands.iter().all(|operand| self.is_whole(operand)) {
            return self.plain(range, from);
        }
        if operators.len() > MAX_CHAIN {
            return Err(self.start(range.start));
        }
        self.verbatim(from..self.start(range.start));
        self.made.insert("(", self.start(range.start));
        let mut operands = operands.into_iter();
        let first = operands.next().unwrap_or_default();
        let others: Vec<_> = operators.into_iter().zip(operands).collect();
        self.chain(&Left::Written(first), &others)?;
        let end = self.end(range.end.saturating_sub(1));
        self.made.insert(")", end);
        Ok(end)
    }

    /// Operands and operators of a comparison.
    fn split(&self, range: Range<usize>) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
        let (mut operands, mut operators) = (Vec::new(), Vec::new());
        let (mut index, mut begin) = (range.start, range.start);
        while index < range.end {
            let length = match self.token(index) {
                Some((Kind::Op, "==" | "!=" | "<" | "<=" | ">" | ">=")) | Some((Kind::Word, "in")) => 1,
                Some((Kind::Word, "not")) => 2,
                Some((Kind::Open, _)) => {
                    index = self.after_group(index, range.end);
                    continue;
                }
                _ => 0,
            };
            if length > 0 {
                operands.push(begin..index);
                operators.push(index..index + length);
                begin = index + length;
            }
            index += length.max(1);
        }
        operands.push(begin..range.end);
        (operands, operators)
    }

    /// Writes tokens without a chain at this level; brackets among them may hold some.
    fn plain(&mut self, range: Range<usize>, mut from: usize) -> Result<usize, usize> {
        let mut index = range.start;
        while index < range.end {
            self.verbatim(from..self.start(index));
            from = self.end(index);
            match self.token(index) {
                Some((Kind::Open, bracket)) => {
                    self.made.copy(bracket, self.start(index));
                    let after = self.after_group(index, range.end);
                    let closed = after > index + 1 && matches!(self.token(after - 1), Some((Kind::Close, _)));
                    let inner_end = if closed { after - 1 } else { after };
                    from = self.region(index + 1..inner_end, from)?;
                    index = inner_end;
                    continue;
                }
                Some((Kind::Text, text)) => self.made.copy(text, self.start(index)),
                _ => self.verbatim(self.start(index)..from),
            }
            index += 1;
        }
        Ok(from)
    }

    fn operand(&mut self, range: Range<usize>) -> Result<(), usize> {
        let from = self.start(range.start);
        self.plain(range, from).map(|_| ())
    }

    /// Writes `left op1 middle and middle op2 …`.
    fn chain(&mut self, left: &Left, others: &[(Range<usize>, Range<usize>)]) -> Result<(), usize> {
        let Some(((operator, middle), rest)) = others.split_first() else {
            return Ok(());
        };
        let at = self.start(operator.start);
        if rest.is_empty() {
            self.left(left)?;
            self.operator(operator.clone());
            return self.operand(middle.clone());
        }
        if self.is_simple(middle) {
            self.left(left)?;
            self.operator(operator.clone());
            self.operand(middle.clone())?;
            self.made.insert(" and ", at);
            return self.chain(&Left::Written(middle.clone()), rest);
        }
        let (l, m) = (
            format!("{}l{}", self.prefix, self.lambdas),
            format!("{}m{}", self.prefix, self.lambdas),
        );
        self.lambdas += 1;
        let place = self.start(middle.start);
        self.made.insert(&format!("(lambda {l}, {m}: {l}"), at);
        self.operator(operator.clone());
        self.made.insert(&format!("{m} and "), place);
        self.chain(&Left::Named(m, place), rest)?;
        self.made.insert(")(", at);
        self.left(left)?;
        self.made.insert(", ", at);
        self.operand(middle.clone())?;
        self.made.insert(")", at);
        Ok(())
    }

    fn left(&mut self, left: &Left) -> Result<(), usize> {
        match left {
            Left::Written(range) => self.operand(range.clone()),
            Left::Named(name, place) => {
                self.made.insert(name, *place);
                Ok(())
            }
        }
    }

    fn operator(&mut self, range: Range<usize>) {
        let at = self.start(range.start);
        let text = match self.token(range.start) {
            Some((_, "not")) => "not in",
            Some((_, text)) => text,
            None => "",
        };
        self.made.insert(&format!(" {text} "), at);
    }

    /// Whether it may be an operand. What cannot be one is left to the interpreter, which then speaks of what the author
    /// wrote: `1 < 2 3 < 4` lacks something before the 3, and no bracket.
    fn is_whole(&self, range: &Range<usize>) -> bool {
        let (mut index, mut ended) = (range.start, false);
        while index < range.end {
            let (kind, _) = self.token(index).unwrap_or((Kind::Op, ""));
            let begins = matches!(kind, Kind::Word | Kind::Number | Kind::Text);
            if ended && begins {
                return false;
            }
            ended = begins || kind == Kind::Open;
            // What stands in brackets has its own operands.
            index = if kind == Kind::Open {
                self.after_group(index, range.end)
            } else {
                index + 1
            };
        }
        !range.is_empty()
    }

    /// Whether evaluating it twice is the same as once.
    fn is_simple(&self, range: &Range<usize>) -> bool {
        range.len() == 1
            && matches!(
                self.token(range.start),
                Some((Kind::Word | Kind::Number | Kind::Text, _))
            )
    }
}

/// The left side of a comparison.
enum Left {
    /// As the author wrote it.
    Written(Range<usize>),
    /// A parameter that stands for the operand at this place.
    Named(String, usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::tokens;

    fn unfolded(source: &str) -> String {
        rewrite(source, &tokens(source), Frame::NONE)
            .unwrap()
            .text()
            .to_owned()
    }

    #[test]
    fn text_without_chains_stays_as_it_is() {
        for source in [
            "a < b\n",
            "x = [c for c in d if c not in e] # a < b < c\n",
            "s = \"a < b < c\"\nif a < b and b < c or not c < d: pass\n",
            "for a in b: c = a in d\n",
            "f(a < b, x = b < c)\n{a < b: c < d}\nz[a < b:c < d]\n",
            "a < < b < c",
            "(((",
            ") < a ]\n",
            "1 < 2 3 < 4",
            "\"a\" < 'b' \"c\" < \"d\"",
            "1 < f(x) y < 4",
        ] {
            assert_eq!(unfolded(source), source);
        }
    }

    #[test]
    fn simple_middles_are_repeated() {
        assert_eq!(
            unfolded("if 9 <= hour < 17:\n  x = 1\n"),
            "if (9 <= hour and hour < 17):\n  x = 1\n"
        );
        assert_eq!(
            unfolded("x = [a for a in b if 1<a!=3]"),
            "x = [a for a in b if (1 < a and a != 3)]"
        );
        assert_eq!(unfolded("not a in b not in c"), "not (a in b and b not in c)");
        assert_eq!(
            unfolded("f(*a == b == c, k = 1 < x < 2)"),
            "f(*(a == b and b == c), k = (1 < x and x < 2))"
        );
    }

    #[test]
    fn other_middles_go_through_a_lambda() {
        assert_eq!(
            unfolded("a < f(x) < c"),
            "((lambda chainl0, chainm0: chainl0 < chainm0 and chainm0 < c)(a, f(x)))"
        );
        assert_eq!(
            unfolded("chain < -1 < c"),
            "((lambda chain_l0, chain_m0: chain_l0 < chain_m0 and chain_m0 < c)(chain, -1))"
        );
    }

    #[test]
    fn chains_within_chains() {
        assert_eq!(
            unfolded("[1 < a < 2] < b < (1 < c < 3)"),
            "([(1 < a and a < 2)] < b and b < ((1 < c and c < 3)))"
        );
    }

    #[test]
    fn positions_lead_back() {
        let source = "ok = 1 < value < top";
        let made = rewrite(source, &tokens(source), Frame::NONE).unwrap();
        for (at, _) in made.text().match_indices("value") {
            assert_eq!(made.origin(at), 9);
        }
        assert_eq!(
            made.origin(made.text().find("top").unwrap()),
            source.find("top").unwrap()
        );
    }

    #[test]
    fn lines_are_indented_but_strings_left_alone() {
        let source = "a = '''x\ny'''\nif a:\n  b = (1,\n 2)";
        let frame = Frame {
            head: "def f():\n",
            indent: " ",
            tail: "\n return\n",
        };
        let made = rewrite(source, &tokens(source), frame).unwrap();
        assert_eq!(
            made.text(),
            "def f():\n a = '''x\ny'''\n if a:\n   b = (1,\n  2)\n return\n"
        );
    }

    #[test]
    fn a_chain_without_end_is_refused() {
        let source = format!("x = {}1", "1 < ".repeat(40));
        assert_eq!(rewrite(&source, &tokens(&source), Frame::NONE), Err(4));
    }
}
