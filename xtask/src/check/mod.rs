//! `cargo xtask check`: rules of layout that no compiler holds. Each finding names the file and what to do about it.

mod code;
mod edges;
mod licenses;
mod manifests;
mod pages;
mod tree;

use std::fmt;

use anyhow::{Result, bail};

use crate::workspace::Workspace;
use tree::Tree;

/// What the checks found.
#[derive(Debug, Default)]
struct Report {
    problems: Vec<String>,
    warnings: Vec<String>,
}

impl Report {
    /// A finding that fails the check.
    fn problem(&mut self, place: impl fmt::Display, message: impl fmt::Display) {
        self.problems.push(format!("{place}: {message}"));
    }

    /// A finding to keep an eye on.
    fn warning(&mut self, place: impl fmt::Display, message: impl fmt::Display) {
        self.warnings.push(format!("{place}: {message}"));
    }
}

/// Runs every check and fails if one found a problem.
pub fn run(workspace: &Workspace) -> Result<()> {
    let tree = Tree::read(&workspace.root)?;
    let mut report = Report::default();
    edges::check(workspace, &mut report)?;
    licenses::check(workspace, &mut report)?;
    manifests::check(&tree, &mut report);
    code::check(&tree, &mut report);
    pages::check(&tree, &mut report);
    tree::check(&tree, &mut report);

    for warning in &report.warnings {
        println!("warning: {warning}");
    }
    for problem in &report.problems {
        println!("error: {problem}");
    }
    let (files, problems, warnings) = (tree.files.len(), report.problems.len(), report.warnings.len());
    println!("layout: {files} files, {problems} problems, {warnings} warnings");
    if problems > 0 {
        bail!("the layout breaks {problems} rules (see above)");
    }
    Ok(())
}
