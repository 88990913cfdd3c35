//! Rules of what people read: the README's folder map is complete, links inside the tree lead somewhere, and the
//! migrations come with the page that says what may be edited.

use std::path::{Component, Path, PathBuf};

use super::Report;
use super::tree::Tree;

pub fn check(tree: &Tree, report: &mut Report) {
    check_folder_map(tree, report);
    check_links(tree, report);
    let has_migrations = tree
        .files
        .iter()
        .any(|file| file.path.starts_with("migrations/") && file.ending() == "sql");
    if has_migrations && tree.text("migrations/README.md").is_none() {
        report.problem("migrations/README.md", "is missing: say what may never be edited");
    }
}

/// Every folder at the root stands in the README as `name/`.
fn check_folder_map(tree: &Tree, report: &mut Report) {
    let Some(readme) = tree.text("README.md") else {
        report.problem("README.md", "is missing");
        return;
    };
    for folder in tree.top_folders() {
        // Folders of tools (.cargo, .ci) are found by those tools.
        if !folder.starts_with('.') && !readme.contains(&format!("{folder}/")) {
            report.problem("README.md", format!("the folder map does not name {folder}/"));
        }
    }
}

/// Links of pages to files of the tree.
fn check_links(tree: &Tree, report: &mut Report) {
    for page in tree.files.iter().filter(|file| file.ending() == "md") {
        for (index, line) in page.text.lines().enumerate() {
            for target in links(line) {
                let Some(path) = resolve(&page.path, target) else {
                    continue;
                };
                let exists = tree
                    .files
                    .iter()
                    .any(|file| Path::new(&file.path).starts_with(&path));
                if !exists {
                    report.problem(
                        format!("{}:{}", page.path, index + 1),
                        format!("a link to {target}, which does not exist"),
                    );
                }
            }
        }
    }
}

/// Targets of the links `[text](target)` in a line.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
}

/// The file that a link of `page` leads to, from the root; nothing for other sites and for places in the same page.
fn resolve(page: &str, target: &str) -> Option<PathBuf> {
    let target = target.split('#').next().unwrap_or_default();
    if target.is_empty() || target.contains(':') || target.starts_with('/') {
        return None;
    }
    let mut path = Path::new(page).parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    Some(path)
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
    fn the_map_names_each_folder() {
        assert_eq!(
            problems(&[
                ("README.md", "engine/ and app/"),
                ("engine/a", ""),
                ("app/b", ""),
                (".ci/run", "")
            ])
            .len(),
            0
        );
        let found = problems(&[("README.md", "engine/"), ("engine/a", ""), ("app/b", "")]);
        assert_eq!(found, ["README.md: the folder map does not name app/"]);
    }

    #[test]
    fn links_lead_somewhere() {
        let page = "[a](../README.md#top) [b](guide) [c](gone.md) [d](https://example.com/x) [e](#here)";
        let found = problems(&[
            ("README.md", "docs/"),
            ("docs/a.md", page),
            ("docs/guide/b.md", ""),
        ]);
        assert_eq!(found, ["docs/a.md:1: a link to gone.md, which does not exist"]);
    }

    #[test]
    fn migrations_come_with_their_rules() {
        assert_eq!(
            problems(&[("README.md", "migrations/"), ("migrations/0001.sql", "")]).len(),
            1
        );
    }
}
