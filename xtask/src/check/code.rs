//! Rules of source files: small, opened by a comment that says what and why, nothing switched off or put off.

use std::collections::BTreeSet;

use super::Report;
use super::tree::{File, Tree};

/// Lines from which a file should be looked at, and from which it must be split.
const LONG: usize = 400;
const TOO_LONG: usize = 600;
/// The limit for tests, where one subject is better read in one piece.
const TOO_LONG_TEST: usize = 1000;

/// The one module that may hold unsafe code: system calls that the standard library lacks. Tests may
/// hold some (an allocator that counts); the compiler wants a reason for it there too.
const UNSAFE_HOME: &str = "server/dns/src/system/";

/// Endings of the files in which work may not be put off.
const TEXT_ENDINGS: &[&str] = &[
    "rs", "ts", "css", "toml", "md", "sh", "yaml", "yml", "sql", "service",
];
/// Words for work put off; in two parts, so that this file does not hold them.
const PUT_OFF: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

pub fn check(tree: &Tree, report: &mut Report) {
    let mut unsafe_files = BTreeSet::new();
    for file in &tree.files {
        if TEXT_ENDINGS.contains(&file.ending()) {
            check_put_off(file, report);
        }
        if file.ending() == "rs" {
            check_size(file, report);
            check_opening(file, report);
            check_attributes(file, report);
            if let Some(number) = first_unsafe(&file.text).filter(|_| !is_test(&file.path)) {
                unsafe_files.insert((file.path.as_str(), number));
            }
        }
    }
    check_unsafe(&unsafe_files, report);
}

fn is_test(path: &str) -> bool {
    path.split('/')
        .any(|part| matches!(part, "tests" | "tests.rs" | "benches"))
}

fn check_size(file: &File, report: &mut Report) {
    let lines = file.text.lines().count();
    let limit = if is_test(&file.path) {
        TOO_LONG_TEST
    } else {
        TOO_LONG
    };
    if lines > limit {
        report.problem(
            &file.path,
            format!("{lines} lines, the limit is {limit}: split it by what it is about"),
        );
    } else if lines > LONG && !is_test(&file.path) {
        report.warning(&file.path, format!("{lines} lines, over {LONG}"));
    }
}

fn check_opening(file: &File, report: &mut Report) {
    let first = file
        .text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    if first.starts_with("//!") {
        return;
    }
    let message = "begins without `//!`: say what the module is for and why";
    if is_test(&file.path) || file.path.ends_with("build.rs") {
        report.warning(&file.path, message);
    } else {
        report.problem(&file.path, message);
    }
}

fn check_attributes(file: &File, report: &mut Report) {
    for (index, line) in file.text.lines().enumerate() {
        let place = || format!("{}:{}", file.path, index + 1);
        let line = line.trim_start();
        if line.starts_with("#[allow(") || line.starts_with("#![allow(") {
            report.problem(
                place(),
                "use `expect` with a reason: it ends when the cause is gone",
            );
        }
        if line.starts_with("#[ignore]") {
            report.problem(place(), "an ignored test says why: `#[ignore = \"...\"]`");
        }
    }
}

fn check_put_off(file: &File, report: &mut Report) {
    for (index, line) in file.text.lines().enumerate() {
        if let Some(word) = PUT_OFF.iter().find(|word| has_word(line, word)) {
            report.problem(
                format!("{}:{}", file.path, index + 1),
                format!("`{word}`: do it, or open an issue"),
            );
        }
    }
}

fn check_unsafe(files: &BTreeSet<(&str, usize)>, report: &mut Report) {
    for (path, number) in files {
        if !path.starts_with(UNSAFE_HOME) {
            report.problem(
                format!("{path}:{number}"),
                format!("unsafe code; only {UNSAFE_HOME} may hold any"),
            );
        }
    }
}

/// Number of the first line with an unsafe block, function or implementation, outside of comments.
fn first_unsafe(text: &str) -> Option<usize> {
    let opens = |rest: &str| {
        let rest = rest.trim_start();
        rest.starts_with('{')
            || ["fn ", "impl ", "impl<", "extern ", "trait "]
                .iter()
                .any(|word| rest.starts_with(word))
    };
    text.lines()
        .position(|line| {
            let code = line.split("//").next().unwrap_or_default();
            has_word(code, "unsafe") && code.split("unsafe").skip(1).any(opens)
        })
        .map(|index| index + 1)
}

/// Whether `word` stands in `line` with no letter, digit or underscore beside it.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tree::tests::tree;
    use super::*;

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let mut report = Report::default();
        check(&tree(files), &mut report);
        report.problems
    }

    #[test]
    fn a_clean_file_passes() {
        assert_eq!(
            problems(&[("engine/src/lib.rs", "//! Why.\npub fn f() {}\n")]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn sizes_differ_for_tests() {
        let text = format!("//! Why.\n{}", "\n".repeat(700));
        assert_eq!(problems(&[("engine/src/big.rs", &text)]).len(), 1);
        assert_eq!(problems(&[("engine/tests/big.rs", &text)]).len(), 0);
        let text = format!("//! Why.\n{}", "\n".repeat(1001));
        assert_eq!(problems(&[("engine/tests/big.rs", &text)]).len(), 1);
    }

    #[test]
    fn openings_and_attributes() {
        let found = problems(&[(
            "a/src/lib.rs",
            "#![cfg(unix)]\n//! Late.\n#[allow(dead_code)]\nfn f() {}\n#[ignore]\nfn t() {}\n",
        )]);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[1].starts_with("a/src/lib.rs:3: "), "{found:?}");
        assert!(found[2].starts_with("a/src/lib.rs:5: "), "{found:?}");
    }

    #[test]
    fn work_put_off_is_found_as_a_word() {
        let word = PUT_OFF[0];
        assert_eq!(problems(&[("a.md", &format!("{word}: later"))]).len(), 1);
        assert_eq!(
            problems(&[("a.md", &format!("M{word}S and {word}_LIST"))]).len(),
            0
        );
        assert_eq!(problems(&[("a.png", word)]).len(), 0);
    }

    #[test]
    fn unsafe_code_has_one_home() {
        let call = "//! Why.\nfn f() { unsafe { g() } }\n";
        assert_eq!(problems(&[("server/dns/src/system/batch.rs", call)]).len(), 0);
        assert_eq!(problems(&[("server/dns/src/a.rs", call)]).len(), 1);
        assert_eq!(problems(&[("engine/src/a.rs", call)]).len(), 1);
        assert_eq!(problems(&[("engine/tests/a.rs", call)]).len(), 0);
        let talk = "//! Why.\n// unsafe { }\n#![deny(unsafe_code)]\nconst S: &str = \"unsafe\";\n";
        assert_eq!(problems(&[("engine/src/a.rs", talk)]).len(), 0);
    }
}
