//! The files of the work tree, read once, and the rules about files as such.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::Report;
use crate::process;

/// Largest file in the repository, in bytes: test data is made by the tests, builds are not committed.
const MAX_FILE: u64 = 1_000_000;

/// One file that git tracks, or would.
#[derive(Debug)]
pub struct File {
    /// From the root, with `/`.
    pub path: String,
    pub bytes: u64,
    /// Empty where the file is no UTF-8.
    pub text: String,
}

impl File {
    /// What the name ends with, after the last dot.
    pub fn ending(&self) -> &str {
        Path::new(&self.path)
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default()
    }
}

/// All files of the work tree.
#[derive(Debug, Default)]
pub struct Tree {
    pub files: Vec<File>,
}

impl Tree {
    /// Asks git which files belong to the tree: those tracked, and new ones that nothing ignores.
    pub fn read(root: &Path) -> Result<Self> {
        let list = process::capture(process::command("git", root).args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]))?;
        let mut files = Vec::new();
        for path in list.split('\0').filter(|path| !path.is_empty()) {
            let full = root.join(path);
            // Still tracked, but deleted in the work tree.
            if !full.is_file() {
                continue;
            }
            let content = fs::read(&full).with_context(|| format!("reading {path}"))?;
            files.push(File {
                path: path.to_owned(),
                bytes: content.len() as u64,
                text: String::from_utf8(content).unwrap_or_default(),
            });
        }
        Ok(Self { files })
    }

    /// The text of one file, if it exists.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files
            .iter()
            .find(|file| file.path == path)
            .map(|file| file.text.as_str())
    }

    /// Folders at the root.
    pub fn top_folders(&self) -> BTreeSet<&str> {
        self.files
            .iter()
            .filter_map(|file| file.path.split_once('/'))
            .map(|(folder, _)| folder)
            .collect()
    }
}

/// Files must be small.
pub fn check(tree: &Tree, report: &mut Report) {
    for file in tree.files.iter().filter(|file| file.bytes > MAX_FILE) {
        report.problem(
            &file.path,
            format!(
                "{} bytes; make large data in a build or test, do not keep it",
                file.bytes
            ),
        );
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A tree of these files.
    pub fn tree(files: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            bytes: text.len() as u64,
            text: (*text).to_owned(),
        };
        Tree {
            files: files.iter().map(file).collect(),
        }
    }

    #[test]
    fn large_files_are_found() {
        let mut report = Report::default();
        check(
            &tree(&[("a.bin", &"x".repeat(1_000_001)), ("b.rs", "//! b")]),
            &mut report,
        );
        assert_eq!(report.problems.len(), 1);
        assert!(report.problems[0].starts_with("a.bin: "));
    }
}
