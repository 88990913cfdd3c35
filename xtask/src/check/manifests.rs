//! Rules of the Cargo.toml files: lints come from the workspace, so do versions, and each dependency says why it is
//! there.

use super::Report;
use super::tree::Tree;

pub fn check(tree: &Tree, report: &mut Report) {
    for file in tree
        .files
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"))
    {
        check_member(&file.path, &file.text, report);
    }
    check_reasons("Cargo.toml", tree.text("Cargo.toml").unwrap_or_default(), report);
}

fn check_member(path: &str, text: &str, report: &mut Report) {
    let lints = section(text, |name| name == "lints").any(|(_, line)| compact(line) == "workspace=true");
    if !lints {
        report.problem(path, "needs `[lints]` with `workspace = true`");
    }
    // A workspace of its own (of tools that need another compiler) names versions at its head, as the main one does.
    let is_dependencies = |name: &str| name.ends_with("dependencies") && name != "workspace.dependencies";
    for (number, line) in section(text, is_dependencies) {
        let line = compact(line);
        // `path = "."` is the crate itself, with features on for its own tests.
        let takes_version =
            line.contains("=\"") && !line.contains("workspace=true") && !line.contains("path=\".\"");
        if is_entry(&line) && takes_version {
            report.problem(
                format!("{path}:{number}"),
                "name the version once, in [workspace.dependencies], and take it with `workspace = true`",
            );
        }
    }
}

/// An entry stands under a comment, or in a row of entries that a comment begins.
fn check_reasons(path: &str, text: &str, report: &mut Report) {
    let mut previous = "";
    for (number, line) in section(text, |name| name == "workspace.dependencies") {
        let line = line.trim();
        if is_entry(line) && previous.is_empty() {
            report.problem(
                format!("{path}:{number}"),
                "a dependency without a comment above it that says why",
            );
        }
        previous = line;
    }
}

/// Lines of the wanted sections with their numbers from 1, without the headings.
fn section(text: &str, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if let Some(heading) = line
            .strip_prefix('[')
            .and_then(|rest| rest.trim_end().strip_suffix(']'))
        {
            inside = wanted(heading);
            return None;
        }
        inside.then_some((index + 1, line))
    })
}

/// Starts with a name and `=`; lines inside a long array do not.
fn is_entry(line: &str) -> bool {
    line.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim();
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    })
}

fn compact(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_takes_lints_and_versions_from_the_workspace() {
        let mut report = Report::default();
        check_member(
            "a/Cargo.toml",
            "[lints]\nworkspace = true\n[dependencies]\nx = { workspace = true }\ny.workspace = true\n",
            &mut report,
        );
        assert!(report.problems.is_empty(), "{report:?}");
        check_member(
            "b/Cargo.toml",
            "[dependencies]\nserde = \"1\"\n[dev-dependencies]\nx = { version = \"2\" }\n",
            &mut report,
        );
        assert_eq!(report.problems.len(), 3, "{report:?}");
        assert!(report.problems[1].starts_with("b/Cargo.toml:2: "), "{report:?}");
    }

    #[test]
    fn sections_for_one_target_are_dependencies_too() {
        let mut report = Report::default();
        let text = "[lints]\nworkspace = true\n[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n";
        check_member("a/Cargo.toml", text, &mut report);
        assert_eq!(report.problems.len(), 1, "{report:?}");
    }

    #[test]
    fn a_dependency_needs_a_reason() {
        let mut report = Report::default();
        let text = "[workspace.dependencies]\n# Why.\na = \"1\"\nb = \"1\"\n\nc = \"1\"\n[profile.dev]\ndebug = false\n";
        check_reasons("Cargo.toml", text, &mut report);
        assert_eq!(report.problems.len(), 1, "{report:?}");
        assert!(report.problems[0].starts_with("Cargo.toml:6: "), "{report:?}");
    }
}
