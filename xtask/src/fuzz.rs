//! `cargo xtask fuzz`: runs the fuzz targets, which need the nightly compiler, for a while.
//!
//! Inputs that the fuzzer comes upon stay below the target folder; one that breaks something is for the checked-in
//! corpus, which the ordinary tests replay.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use crate::workspace::Workspace;
use crate::{process, tools};

/// Folder of the targets' workspace.
const FOLDER: &str = "engine/fuzz";

/// Runs every target, all together for so many seconds.
pub fn run(workspace: &Workspace, seconds: u32) -> Result<()> {
    let root = &workspace.root;
    let nightly = tools::nightly(root)?;
    let cargo_fuzz = tools::cargo_fuzz(workspace)?;
    let targets = targets(workspace)?;
    let each = (seconds / u32::try_from(targets.len())?).max(1);
    let scratch = workspace.scratch().join("fuzz");
    for target in &targets {
        let found = scratch.join(target);
        let broken = scratch.join("broken").join(target);
        for folder in [&found, &broken] {
            fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        println!("{target}: {each} s");
        let mut fuzz = process::command("rustup", root);
        // The cargo that started xtask is the stable one.
        fuzz.env_remove("CARGO")
            .env_remove("RUSTC")
            .env("CARGO_TARGET_DIR", scratch.join("build"));
        fuzz.args(["run", nightly]).arg(&cargo_fuzz);
        // Without the address sanitizer: it looks for what unsafe code does, and no target reaches any of ours.
        fuzz.args(["fuzz", "run", "--sanitizer", "none", "--fuzz-dir", FOLDER, target]);
        // What is new is written to the first of the folders.
        fuzz.arg(&found)
            .arg(root.join(FOLDER).join("corpus").join(target));
        // One input may have several worker processes started, on a machine that is busy.
        let timeout = if target == "script" { 60 } else { 10 };
        fuzz.args(["--", "-print_final_stats=1"]);
        fuzz.arg(format!("-timeout={timeout}"));
        fuzz.arg(format!("-max_total_time={each}"));
        fuzz.arg(format!("-artifact_prefix={}/", broken.display()));
        process::run(&mut fuzz)
            .with_context(|| format!("{target}: what broke it lies in {}", broken.display()))?;
    }
    Ok(())
}

/// Names of the targets: the files in their folder.
fn targets(workspace: &Workspace) -> Result<Vec<String>> {
    let folder = workspace.root.join(FOLDER).join("fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "rs") {
            names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
        }
    }
    ensure!(!names.is_empty(), "no fuzz targets in {}", folder.display());
    names.sort();
    Ok(names)
}
