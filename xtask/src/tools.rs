//! What the commands need beside the compiler, installed when it is missing: the browser's target, Debian packages,
//! npm packages, cargo-deb, cargo-fuzz with its compiler.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::process;
use crate::workspace::Workspace;

/// The target of the browser.
pub const WASM: &str = "wasm32-unknown-unknown";
/// Oldest Node.js that the browser tests run on.
const NODE: u32 = 20;
/// The version that makes the packages; newer ones are taken on purpose, not by chance.
const CARGO_DEB: &str = "3.8.0";
/// The version that runs the fuzz targets.
const CARGO_FUZZ: &str = "0.13.2";

/// The standard library for the browser. rustup reads the target from rust-toolchain.toml, but not where it was told
/// to install nothing by itself.
pub fn wasm_target(root: &Path) -> Result<()> {
    let folder = process::capture(process::command("rustc", root).args([
        "--print",
        "target-libdir",
        "--target",
        WASM,
    ]))?;
    if Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    process::run(process::command("rustup", root).args(["target", "add", WASM]))
        .with_context(|| format!("installing the Rust target {WASM}"))
}

/// Debian packages for the programs that are missing: pairs of a program and its packages.
pub fn debian(root: &Path, wanted: &[(&str, &[&str])]) -> Result<()> {
    let missing: Vec<&(&str, &[&str])> = wanted
        .iter()
        .filter(|(program, _)| process::find_program(program).is_none())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing
        .iter()
        .flat_map(|(_, packages)| packages.iter().copied())
        .collect();
    let programs: Vec<&str> = missing.iter().map(|(program, _)| *program).collect();
    let by_hand = format!("apt-get install {}", packages.join(" "));
    if process::find_program("apt-get").is_none() || !is_root(root)? {
        bail!("{} missing: as root, `{by_hand}`", programs.join(", "));
    }
    println!("installing {}", packages.join(", "));
    let apt = |args: &[&str]| {
        process::run(
            process::command("apt-get", root)
                .env("DEBIAN_FRONTEND", "noninteractive")
                .args(args),
        )
    };
    apt(&["update", "-qq"])?;
    apt(&[
        &["install", "-qq", "--yes", "--no-install-recommends"],
        packages.as_slice(),
    ]
    .concat())
}

/// Node.js, new enough.
pub fn node(root: &Path) -> Result<()> {
    debian(root, &[("node", &["nodejs"]), ("npm", &["npm"])])?;
    let version = process::capture(process::command("node", root).arg("--version"))?;
    let major = version
        .trim()
        .trim_start_matches('v')
        .split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok());
    ensure!(
        major.is_some_and(|major| major >= NODE),
        "Node.js {} is too old for the browser tests, which need {NODE} or newer",
        version.trim()
    );
    Ok(())
}

/// The npm packages that `folder/package-lock.json` names, unless they lie there already.
pub fn npm_packages(folder: &Path) -> Result<()> {
    let modified = |file: &str| fs::metadata(folder.join(file)).and_then(|meta| meta.modified());
    let installed = modified("node_modules/.package-lock.json");
    if installed.is_ok_and(|installed| modified("package-lock.json").is_ok_and(|wanted| wanted <= installed))
    {
        return Ok(());
    }
    let mut npm = process::command("npm", folder);
    npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
    // The tests use the system's Chromium.
    npm.env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    process::run(&mut npm)
}

/// cargo-deb.
pub fn cargo_deb(workspace: &Workspace) -> Result<PathBuf> {
    cargo_tool(workspace, "cargo-deb", CARGO_DEB)
}

/// cargo-fuzz.
pub fn cargo_fuzz(workspace: &Workspace) -> Result<PathBuf> {
    cargo_tool(workspace, "cargo-fuzz", CARGO_FUZZ)
}

/// Name of the nightly toolchain, installed if it is not there: the fuzzer's instrumentation is in no other.
pub fn nightly(root: &Path) -> Result<&'static str> {
    const NAME: &str = "nightly";
    let there = process::output(process::command("rustup", root).args(["run", NAME, "rustc", "--version"]));
    if !there.is_ok_and(|output| output.status.success()) {
        process::run(process::command("rustup", root).args([
            "toolchain",
            "install",
            NAME,
            "--profile",
            "minimal",
        ]))
        .context("installing the nightly compiler")?;
    }
    Ok(NAME)
}

/// A program from crates.io, installed into the target folder if this version is not there.
fn cargo_tool(workspace: &Workspace, name: &str, version: &str) -> Result<PathBuf> {
    let tools = workspace.scratch().join("tools");
    let program = tools.join("bin").join(name);
    let found = process::capture(process::command(&program, &workspace.root).arg("--version"));
    if found.is_ok_and(|found| found.split_whitespace().last() == Some(version)) {
        return Ok(program);
    }
    let build = workspace.scratch().join("tools-build");
    let mut install = process::cargo(
        &workspace.root,
        [
            "install",
            name,
            "--version",
            version,
            "--locked",
            "--quiet",
            "--root",
        ],
    );
    process::run(install.arg(&tools).env("CARGO_TARGET_DIR", &build))?;
    // Only the program is wanted.
    fs::remove_dir_all(&build).with_context(|| format!("removing {}", build.display()))?;
    Ok(program)
}

/// Whether this process may install packages.
pub fn is_root(root: &Path) -> Result<bool> {
    Ok(process::capture(process::command("id", root).arg("-u"))?.trim() == "0")
}
