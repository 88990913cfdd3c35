//! The stages themselves. Each builds what it needs, so that it can be run alone; what an earlier stage built is
//! taken as it is.

use std::ffi::OsStr;

use anyhow::Result;
use walkdir::WalkDir;

use crate::site::{self, Flavour};
use crate::workspace::Workspace;
use crate::{browser, check, fuzz, instructions, package, portable, process, tools};

pub fn fmt(workspace: &Workspace) -> Result<()> {
    process::run(&mut process::cargo(&workspace.root, ["fmt", "--all", "--check"]))
}

pub fn layout(workspace: &Workspace) -> Result<()> {
    check::run(workspace)
}

/// Every target is compiled and linted at once; the later stages find the programs made.
pub fn build(workspace: &Workspace) -> Result<()> {
    cargo(workspace, &["build", "--workspace", "--all-targets"])
}

pub fn wasm(workspace: &Workspace) -> Result<()> {
    tools::wasm_target(&workspace.root)?;
    // By itself, since features that others switch on could hide what it needs.
    cargo(
        workspace,
        &[
            "build",
            "--package",
            "gslb-engine",
            "--lib",
            "--target",
            tools::WASM,
            "--profile",
            Flavour::Linted.profile(),
        ],
    )?;
    portable::run(workspace)
}

pub fn unit(workspace: &Workspace) -> Result<()> {
    if process::find_program("cargo-nextest").is_some() {
        cargo(
            workspace,
            &[
                "nextest",
                "run",
                "--workspace",
                "--no-fail-fast",
                "--status-level",
                "fail",
            ],
        )
    } else {
        cargo(
            workspace,
            &["test", "--workspace", "--bins", "--tests", "--no-fail-fast"],
        )
    }
}

/// Runs the examples of those crates that have any: for the others rustdoc would only take time.
pub fn doc(workspace: &Workspace) -> Result<()> {
    for (package, folder) in [
        ("gslb-engine", "engine"),
        ("gslb-api-types", "api-types"),
        ("gslb-core", "server/core"),
        ("gslb-dns", "server/dns"),
        ("gslb-dnssec", "server/dnssec"),
        ("gslb-probe", "server/probe"),
        ("gslb-script", "server/script"),
    ] {
        if has_examples(workspace, folder)? {
            cargo(workspace, &["test", "--doc", "--package", package])?;
        }
    }
    Ok(())
}

fn has_examples(workspace: &Workspace, folder: &str) -> Result<bool> {
    let is_fence = |line: &str| {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        text.is_some_and(|text| matches!(text.trim(), "```" | "```rust" | "```no_run" | "```should_panic"))
    };
    for entry in WalkDir::new(workspace.root.join(folder).join("src")) {
        let entry = entry?;
        let is_source = entry.path().extension() == Some(OsStr::new("rs"));
        if is_source && std::fs::read_to_string(entry.path())?.lines().any(is_fence) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub fn site(workspace: &Workspace) -> Result<()> {
    site::build(workspace, Flavour::Linted)
}

pub fn e2e(workspace: &Workspace) -> Result<()> {
    site::build(workspace, Flavour::Linted)?;
    build(workspace)?;
    browser::test(workspace)
}

pub fn instructions(workspace: &Workspace) -> Result<()> {
    instructions::run(workspace, false)
}

pub fn fuzz(workspace: &Workspace) -> Result<()> {
    fuzz::run(workspace, 60)
}

pub fn deb(workspace: &Workspace) -> Result<()> {
    build(workspace)?;
    let package = package::pack(workspace, false)?;
    package::trial(workspace, &package)
}

pub fn size(workspace: &Workspace) -> Result<()> {
    site::build(workspace, Flavour::Release)?;
    site::check_size(workspace)
}

pub fn release(workspace: &Workspace) -> Result<()> {
    let package = package::build(workspace)?;
    package::trial(workspace, &package)
}

fn cargo(workspace: &Workspace, args: &[&str]) -> Result<()> {
    process::run(&mut process::linting_cargo(&workspace.root, args)?)
}
