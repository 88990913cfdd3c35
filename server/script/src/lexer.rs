//! The tokens of a script, only as fine as the rewriting of comparisons and the bound on nesting need.
//!
//! What this reads differently from the interpreter's own lexer costs at worst a worse message: the interpreter has the
//! last word on what is a script.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Identifier or keyword.
    Word,
    Number,
    /// With its prefix and quotes.
    Text,
    /// `(`, `[` or `{`
    Open,
    /// `)`, `]` or `}`
    Close,
    /// End of a line outside of brackets.
    Newline,
    /// Operator or punctuation.
    Op,
}

/// A token and where it stands, in bytes of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
}

impl Token {
    pub(crate) fn text<'s>(&self, source: &'s str) -> &'s str {
        source.get(self.span.clone()).unwrap_or_default()
    }
}

const OPERATORS: [&str; 24] = [
    "<<=", ">>=", "//=", "**=", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<",
    ">>", "//", "**", "->", ":=", "<>", "...",
];

/// The tokens of `source`. Text that is no token, like a string without end, ends the list.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    Lexer {
        source,
        at: 0,
        depth: 0,
        found: Vec::new(),
    }
    .run()
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    depth: usize,
    found: Vec<Token>,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, kind: Kind, len: usize) {
        let span = self.at..self.at + len;
        self.found.push(Token { kind, span });
        self.at += len;
    }

    fn run(mut self) -> Vec<Token> {
        while let Some(first) = self.rest().chars().next() {
            match first {
                '\n' if self.depth == 0 => self.push(Kind::Newline, 1),
                c if c.is_whitespace() => self.at += c.len_utf8(),
                '\\' if self.rest().starts_with("\\\n") || self.rest().starts_with("\\\r\n") => {
                    self.at += self.rest().find('\n').map_or(1, |end| end + 1);
                }
                '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                '(' | '[' | '{' => {
                    self.depth += 1;
                    self.push(Kind::Open, 1);
                }
                ')' | ']' | '}' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.push(Kind::Close, 1);
                }
                '"' | '\'' => match text_len(self.rest()) {
                    Some(len) => self.push(Kind::Text, len),
                    None => break,
                },
                c if c.is_ascii_digit()
                    || (c == '.' && self.rest().chars().nth(1).is_some_and(|d| d.is_ascii_digit())) =>
                {
                    let len = number_len(self.rest());
                    self.push(Kind::Number, len);
                }
                c if c == '_' || c.is_alphanumeric() => {
                    let rest = self.rest();
                    let len = rest
                        .find(|c: char| c != '_' && !c.is_alphanumeric())
                        .unwrap_or(rest.len());
                    let (word, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
                    let prefix = after.starts_with(['"', '\''])
                        && matches!(word, "r" | "b" | "rb" | "br" | "f" | "fr" | "rf");
                    match prefix.then(|| text_len(after)) {
                        Some(Some(text)) => self.push(Kind::Text, len + text),
                        Some(None) => break,
                        None => self.push(Kind::Word, len),
                    }
                }
                c => {
                    let long = OPERATORS.iter().find(|op| self.rest().starts_with(**op));
                    self.push(Kind::Op, long.map_or(c.len_utf8(), |op| op.len()));
                }
            }
        }
        self.found
    }
}

/// Length of the string that `rest` begins with, quotes included; none if it does not end. A backslash keeps a quote
/// from ending it, in raw strings too.
fn text_len(rest: &str) -> Option<usize> {
    let quote = rest.chars().next()?;
    let triple: String = [quote; 3].iter().collect();
    let (end, long) = if rest.starts_with(&triple) {
        (triple.as_str(), true)
    } else {
        (triple.get(..1)?, false)
    };
    let mut at = end.len();
    loop {
        let tail = rest.get(at..)?;
        if tail.starts_with(end) {
            return Some(at + end.len());
        }
        let mut chars = tail.chars();
        match chars.next()? {
            '\n' if !long => return None,
            '\\' => at += 1 + chars.next()?.len_utf8(),
            c => at += c.len_utf8(),
        }
    }
}

/// Length of the number that `rest` begins with, as the interpreter takes it: `0x1f`, `0o17`, `0b1`, `17`, `1.5`, `.5`,
/// `1e9`, `1.5e-3`. A word may follow directly: in `17or x`, `or` is one.
fn number_len(rest: &str) -> usize {
    let octets = rest.as_bytes();
    let run = |from: usize, is: fn(&u8) -> bool| {
        let tail = octets.get(from..).unwrap_or_default();
        from + tail.iter().take_while(|octet| is(octet)).count()
    };
    let digits = |from| run(from, u8::is_ascii_digit);
    if let [b'0', base, ..] = octets {
        let end = match base {
            b'x' | b'X' => run(2, u8::is_ascii_hexdigit),
            b'o' | b'O' => run(2, |octet| matches!(octet, b'0'..=b'7')),
            b'b' | b'B' => run(2, |octet| matches!(octet, b'0' | b'1')),
            _ => 2,
        };
        if end > 2 {
            return end;
        }
    }
    let mut end = digits(0);
    if octets.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(octets.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(octets.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            return exponent;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).iter().map(|token| token.text(source)).collect()
    }

    #[test]
    fn numbers_operators_and_names_are_told_apart() {
        assert_eq!(
            texts("a1<=0x1e+2//1.5e-3!=b"),
            ["a1", "<=", "0x1e", "+", "2", "//", "1.5e-3", "!=", "b"]
        );
    }

    #[test]
    fn a_word_may_follow_a_number_directly() {
        assert_eq!(texts("h<17or h==99"), ["h", "<", "17", "or", "h", "==", "99"]);
        assert_eq!(texts("1if x else 2.5for"), ["1", "if", "x", "else", "2.5", "for"]);
        assert_eq!(
            texts("0x1for 0b12and 0o78in"),
            ["0x1f", "or", "0b1", "2", "and", "0o7", "8", "in"]
        );
        assert_eq!(
            texts(".5e3and 1e+or 7.e2"),
            [".5e3", "and", "1", "e", "+", "or", "7.e2"]
        );
    }

    #[test]
    fn strings_hide_what_is_in_them() {
        assert_eq!(
            texts(r#"x = r"a\"b(" + '#' # c"#),
            ["x", "=", r#"r"a\"b(""#, "+", "'#'"]
        );
        assert_eq!(texts("'''a\n\"(\n''' < 1"), ["'''a\n\"(\n'''", "<", "1"]);
    }

    #[test]
    fn lines_count_outside_of_brackets_only() {
        assert_eq!(texts("(a\n)\\\n+b\nc"), ["(", "a", ")", "+", "b", "\n", "c"]);
    }

    #[test]
    fn a_string_without_end_ends_the_tokens() {
        assert_eq!(texts("a + 'b\nc"), ["a", "+"]);
    }
}
