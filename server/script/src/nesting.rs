//! A bound on how deep a script nests, looked at before it is parsed: parsers, compilers and destructors recurse.

use crate::lexer::{Kind, Token};

/// Most brackets around a place, blocks around a line, and operators that wait for the same operand.
pub(crate) const MAX_NESTING: usize = 50;
/// Most conditions (`if … else …`, `lambda`) in one line.
const MAX_CONDITIONS: usize = 50;

/// Where the nesting gets too deep, and what is too deep there.
pub(crate) fn too_deep(source: &str, tokens: &[Token]) -> Option<(usize, &'static str)> {
    let mut brackets = 0_usize;
    let mut prefixes = 0_usize;
    let mut conditions = 0_usize;
    let mut blocks: Vec<usize> = Vec::new();
    let mut line_begins = true;
    for token in tokens {
        let at = token.span.start;
        if token.kind == Kind::Newline {
            line_begins = true;
            (prefixes, conditions) = (0, 0);
            continue;
        }
        if line_begins && brackets == 0 {
            let indent = indent_before(source, at);
            while blocks.last().is_some_and(|&block| block > indent) {
                blocks.pop();
            }
            if indent > blocks.last().copied().unwrap_or(0) {
                blocks.push(indent);
            }
            line_begins = false;
        }
        match (token.kind, token.text(source)) {
            (Kind::Open, _) => brackets += 1,
            (Kind::Close, _) => brackets = brackets.saturating_sub(1),
            (Kind::Op, "-" | "+" | "~") | (Kind::Word, "not") => prefixes += 1,
            (Kind::Word, "if" | "lambda") => conditions += 1,
            _ => prefixes = 0,
        }
        let what = if brackets > MAX_NESTING {
            "brackets"
        } else if prefixes > MAX_NESTING {
            "operators"
        } else if blocks.len() > MAX_NESTING {
            "blocks"
        } else if conditions > MAX_CONDITIONS {
            "conditions"
        } else {
            continue;
        };
        return Some((at, what));
    }
    None
}

/// Width of the white space between the begin of the line and `at`.
fn indent_before(source: &str, at: usize) -> usize {
    let before = source.get(..at).unwrap_or_default();
    before.len() - before.rfind('\n').map_or(0, |newline| newline + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::tokens;

    fn verdict(source: &str) -> Option<&'static str> {
        too_deep(source, &tokens(source)).map(|(_, what)| what)
    }

    #[test]
    fn ordinary_nesting_passes() {
        assert_eq!(
            verdict("def f(x):\n    if x:\n        return [(1, -2), {3: not x}]\nresult = f(1)\n"),
            None
        );
        assert_eq!(
            verdict(&format!("x = {}1{}", "(".repeat(50), ")".repeat(50))),
            None
        );
    }

    #[test]
    fn each_kind_of_nesting_is_bounded() {
        assert_eq!(verdict(&"[".repeat(51)), Some("brackets"));
        assert_eq!(verdict(&format!("x = {}1", "-".repeat(51))), Some("operators"));
        assert_eq!(verdict(&format!("x = {}1", "not ".repeat(51))), Some("operators"));
        assert_eq!(
            verdict(&format!("x = {}1", "lambda: ".repeat(51))),
            Some("conditions")
        );
        let blocks: String = (0..60)
            .map(|depth| format!("{}if x:\n", " ".repeat(depth)))
            .collect();
        assert_eq!(verdict(&blocks), Some("blocks"));
    }
}
