//! A bound on how deep a script nests, looked at before it is parsed: parsers, compilers and destructors recurse.

use crate::lexer::{Kind, Token};

/// Most brackets around a place, blocks around a line, and operators that wait for the same operand.
pub(crate) const MAX_NESTING: usize = 50;
/// Most conditions (`if … else …`, `lambda`) that may be inside one another. Those between two commas count as if they
/// were.
const MAX_CONDITIONS: usize = 50;

/// Where the nesting gets too deep, and what is too deep there.
pub(crate) fn too_deep(source: &str, tokens: &[Token]) -> Option<(usize, &'static str)> {
    let mut brackets = 0_usize;
    let mut prefixes = 0_usize;
    // For each bracket that is open, and outside of them.
    let mut conditions = vec![0_usize];
    // Commas between the parameters of a `lambda` separate no values.
    let mut parameters = 0_usize;
    let mut blocks: Vec<usize> = Vec::new();
    let mut line_begins = true;
    for token in tokens {
        let at = token.span.start;
        if token.kind == Kind::Newline {
            line_begins = true;
            prefixes = 0;
            conditions = vec![0];
            parameters = 0;
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
            (Kind::Open, _) => {
                brackets += 1;
                conditions.push(0);
            }
            (Kind::Close, _) => {
                brackets = brackets.saturating_sub(1);
                if conditions.len() > 1 {
                    conditions.pop();
                }
            }
            (Kind::Op, ":") => {
                parameters = parameters.saturating_sub(1);
                prefixes = 0;
            }
            (Kind::Op, ",") => {
                prefixes = 0;
                if parameters == 0
                    && let Some(here) = conditions.last_mut()
                {
                    *here = 0;
                }
            }
            (Kind::Op, "-" | "+" | "~") | (Kind::Word, "not") => prefixes += 1,
            (Kind::Word, word @ ("if" | "lambda")) => {
                parameters += usize::from(word == "lambda");
                if let Some(here) = conditions.last_mut() {
                    *here += 1;
                }
            }
            _ => prefixes = 0,
        }
        let what = if brackets > MAX_NESTING {
            "brackets"
        } else if prefixes > MAX_NESTING {
            "operators"
        } else if blocks.len() > MAX_NESTING {
            "blocks"
        } else if conditions.iter().sum::<usize>() > MAX_CONDITIONS {
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
    fn what_stands_side_by_side_is_not_nested() {
        let rows = "  1 if a else 0,\n".repeat(200);
        assert_eq!(verdict(&format!("x = [\n{rows}]\n")), None);
        let table = "  'k': lambda a, b: a,\n".repeat(200);
        assert_eq!(verdict(&format!("x = {{\n{table}}}\n")), None);
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
        assert_eq!(
            verdict(&format!("x = {}1", "lambda a, b: ".repeat(51))),
            Some("conditions")
        );
        assert_eq!(
            verdict(&format!("x = {}", "1 if a else (".repeat(51))),
            Some("conditions")
        );
        let blocks: String = (0..60)
            .map(|depth| format!("{}if x:\n", " ".repeat(depth)))
            .collect();
        assert_eq!(verdict(&blocks), Some("blocks"));
    }
}
