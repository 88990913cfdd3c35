//! Which crate may depend on which. Arrows point one way, so that the engine stays pure, a change in the DNS code does
//! not rebuild the console, and no server code reaches the browser.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use cargo_metadata::{DependencyKind, MetadataCommand, Package};

use super::Report;
use crate::process;
use crate::workspace::Workspace;

/// Each crate of the workspace with those that it may name.
const EDGES: &[(&str, &[&str])] = &[
    ("gslb-engine", &[]),
    ("gslb-api-types", &["gslb-engine"]),
    ("gslb-app", &["gslb-api-types", "gslb-engine"]),
    ("gslb-frontend", &["gslb-app"]),
    ("gslb-core", &["gslb-api-types", "gslb-dnssec", "gslb-engine"]),
    // Its tests sign with the keys that the daemon makes.
    ("gslb-dns", &["gslb-dnssec", "gslb-engine"]),
    ("gslb-dnssec", &["gslb-engine"]),
    ("gslb-probe", &["gslb-engine"]),
    ("gslb-script", &["gslb-engine"]),
    (
        "gslbd",
        &[
            "gslb-app",
            "gslb-api-types",
            "gslb-core",
            "gslb-dns",
            "gslb-engine",
            "gslb-probe",
            "gslb-script",
        ],
    ),
    ("xtask", &[]),
];

/// Dependencies that only these crates may name, outside of tests: each has one place where it is dealt with.
const OWNERS: &[(&str, &[&str])] = &[
    ("ring", &["gslb-dns", "gslb-dnssec"]),
    ("sqlx", &["gslb-core"]),
    ("argon2", &["gslb-core"]),
    ("hickory-proto", &["gslb-dns"]),
    ("starlark", &["gslb-script"]),
    ("starlark_syntax", &["gslb-script"]),
    ("hickory-server", &["gslb-dns"]),
    ("libc", &["gslb-dns"]),
    ("axum", &["gslbd"]),
    ("axum-server", &["gslbd"]),
    ("hyper", &["gslb-probe", "gslbd"]),
    ("leptos", &["gslb-app", "gslb-frontend", "gslbd"]),
    ("tokio", &["gslb-core", "gslb-dns", "gslb-probe", "gslbd"]),
    ("wasm-bindgen", &["gslb-app", "gslb-frontend"]),
];

/// What must never be loaded by a browser.
const NOT_IN_WASM: &[&str] = &[
    "axum",
    "hickory-proto",
    "hickory-server",
    "hyper",
    "libsqlite3-sys",
    "mio",
    "sqlx",
    "tokio",
];

pub fn check(workspace: &Workspace, report: &mut Report) -> Result<()> {
    let metadata = MetadataCommand::new()
        .manifest_path(workspace.root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("asking cargo for the crates of the workspace")?;
    let members: BTreeSet<&str> = metadata
        .packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    for package in &metadata.packages {
        let normal = dependencies(package, |kind| kind != DependencyKind::Development);
        let all = dependencies(package, |_| true);
        check_members(&package.name, &all, &members, report);
        check_owners(&package.name, &normal, report);
    }
    check_wasm(workspace, report)
}

fn dependencies(package: &Package, wanted: impl Fn(DependencyKind) -> bool) -> BTreeSet<&str> {
    package
        .dependencies
        .iter()
        .filter(|dep| wanted(dep.kind))
        .map(|dep| dep.name.as_str())
        .collect()
}

/// Edges between crates of the workspace, those of tests included.
fn check_members(name: &str, dependencies: &BTreeSet<&str>, members: &BTreeSet<&str>, report: &mut Report) {
    let Some((_, allowed)) = EDGES.iter().find(|(from, _)| *from == name) else {
        report.problem(
            name,
            "a crate without a line in xtask/src/check/edges.rs: say what it may depend on",
        );
        return;
    };
    // A crate names itself to switch features on for its own tests.
    let foreign = dependencies
        .iter()
        .filter(|other| members.contains(*other) && **other != name);
    for other in foreign.filter(|other| !allowed.contains(other)) {
        report.problem(
            name,
            format!("must not depend on {other} (see docs/ARCHITECTURE.md for the arrows)"),
        );
    }
}

fn check_owners(name: &str, dependencies: &BTreeSet<&str>, report: &mut Report) {
    for (dependency, owners) in OWNERS {
        if dependencies.contains(dependency) && !owners.contains(&name) {
            report.problem(
                name,
                format!(
                    "must not depend on {dependency}: that is dealt with in {}",
                    owners.join(", ")
                ),
            );
        }
    }
}

/// Asks cargo for the tree of the browser's build: only cargo knows which features are on for one crate and target.
fn check_wasm(workspace: &Workspace, report: &mut Report) -> Result<()> {
    let tree = process::capture(&mut process::cargo(
        &workspace.root,
        [
            "tree",
            "--package",
            "gslb-frontend",
            "--target",
            "wasm32-unknown-unknown",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ],
    ))?;
    for name in wasm_intruders(&tree) {
        report.problem("gslb-frontend", format!("the browser's build contains {name}: find it by `cargo tree -p gslb-frontend --target wasm32-unknown-unknown -e normal -i {name}`"));
    }
    Ok(())
}

fn wasm_intruders(tree: &str) -> BTreeSet<&str> {
    tree.lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| NOT_IN_WASM.contains(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_that_is_not_in_the_table_is_a_problem() {
        let members = BTreeSet::from(["gslb-engine", "gslb-core", "gslb-dns"]);
        let mut report = Report::default();
        check_members(
            "gslb-dns",
            &BTreeSet::from(["gslb-engine", "tokio"]),
            &members,
            &mut report,
        );
        assert!(report.problems.is_empty());
        check_members("gslb-dns", &BTreeSet::from(["gslb-core"]), &members, &mut report);
        assert!(
            report.problems[0].contains("must not depend on gslb-core"),
            "{report:?}"
        );
        check_members("gslb-new", &BTreeSet::new(), &members, &mut report);
        assert!(report.problems[1].contains("gslb-new"), "{report:?}");
    }

    #[test]
    fn a_dependency_has_its_owner() {
        let mut report = Report::default();
        check_owners("gslb-core", &BTreeSet::from(["sqlx"]), &mut report);
        assert!(report.problems.is_empty());
        check_owners("gslbd", &BTreeSet::from(["sqlx"]), &mut report);
        assert!(report.problems[0].contains("gslb-core"), "{report:?}");
    }

    #[test]
    fn server_crates_are_found_in_the_tree_of_the_browser() {
        let tree =
            "gslb-frontend v0.1.0\nleptos v0.8.23\ntokio v1.54.1\ntokio v1.54.1 (*)\ntokio-macros v2.0.0\n";
        assert_eq!(wasm_intruders(tree), BTreeSet::from(["tokio"]));
    }

    #[test]
    fn the_table_has_no_circle() {
        // Depth first from each crate; a path longer than the table must have come round.
        fn depth(name: &str, left: usize) {
            assert!(left > 0, "a circle through {name}");
            let (_, next) = EDGES
                .iter()
                .find(|(from, _)| *from == name)
                .expect("a line for each crate");
            next.iter().for_each(|other| depth(other, left - 1));
        }
        EDGES.iter().for_each(|(name, _)| depth(name, EDGES.len()));
    }
}
