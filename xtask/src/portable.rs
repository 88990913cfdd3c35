//! Compares what the engine decides on `wasm32-unknown-unknown` with the numbers that its own test is compared with, in
//! Node: nothing more has to be installed for it than the browser's build and its tests need.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::site::Flavour;
use crate::workspace::Workspace;
use crate::{process, tools};

/// Where the numbers stand, relative to the workspace.
const PINNED: &str = "engine/src/testing/portable.txt";
/// A program for this target has no file, no output and no arguments: its status is all that it tells.
const RUN: &str = "WebAssembly.instantiate(require('fs').readFileSync(process.argv[1]), {})
    .then(({ instance }) => console.log(instance.exports.main(0, 0)))";

/// Builds the program and runs it.
pub fn run(workspace: &Workspace) -> Result<()> {
    let root = &workspace.root;
    tools::wasm_target(root)?;
    let profile = Flavour::Dev.profile();
    let mut build = process::linting_cargo(root, ["build", "--package", "gslb-engine", "--bin", "portable"])?;
    // The browser's build has no names outside ASCII either.
    build.args(["--no-default-features", "--features", "testing"]);
    build.args(["--target", tools::WASM, "--profile", profile]);
    process::run(&mut build)?;
    let program = workspace
        .target
        .join(tools::WASM)
        .join(profile)
        .join("portable.wasm");
    compare(root, &program)
}

fn compare(root: &Path, program: &Path) -> Result<()> {
    let mut node = process::command("node", root);
    node.args(["--eval", RUN, "--"]).arg(program);
    let line = process::capture(&mut node)?;
    match line
        .trim()
        .parse()
        .with_context(|| format!("node said {line:?}"))?
    {
        0_usize => Ok(()),
        line => {
            let text =
                std::fs::read_to_string(root.join(PINNED)).with_context(|| format!("reading {PINNED}"))?;
            let what = text.lines().nth(line - 1).unwrap_or("there are fewer lines");
            bail!("{PINNED}:{line}: not so on {}: {what}", tools::WASM)
        }
    }
}
