//! The server program: built with the console inside for shipping, or run at once with a demonstration in it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

use crate::process;
use crate::site::{self, Flavour};
use crate::workspace::{SERVER, Workspace};

/// `cargo xtask build`: the one file that is shipped.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    // The site first: a release build of the server embeds what is there.
    site::build(workspace, Flavour::Release)?;
    site::check_size(workspace)?;
    compile(workspace, true)?;
    let binary = workspace.server_binary(true);
    ensure!(
        site::is_embedded(workspace, &binary)?,
        "{} is not made with the console in {}",
        binary.display(),
        workspace.site().display()
    );
    let size = fs::metadata(&binary)
        .with_context(|| binary.display().to_string())?
        .len();
    println!("{} ({:.1} MB)", binary.display(), size as f64 / 1e6);
    Ok(binary)
}

/// Compiles the server alone, for the profile `dev` or `release`.
pub fn compile(workspace: &Workspace, release: bool) -> Result<()> {
    let mut cargo = process::cargo(&workspace.root, ["build", "--package", SERVER, "--bin", SERVER]);
    if release {
        cargo.arg("--release");
    }
    process::run(&mut cargo)
}

/// `cargo xtask demo`: builds what is needed and becomes `gslbd --demo`, so that signals reach the server itself.
/// The dev profile unless told otherwise: from a fresh clone it is there in half the time.
pub fn demo(workspace: &Workspace, release: bool, args: &[OsString]) -> Result<()> {
    if release {
        build(workspace)?;
    } else {
        site::build(workspace, Flavour::Dev)?;
        compile(workspace, false)?;
    }
    let binary = workspace.server_binary(release);
    let here = std::env::current_dir().context("finding the current folder")?;
    let error = process::command(&binary, &here).arg("--demo").args(args).exec();
    Err(error).with_context(|| format!("starting {}", binary.display()))
}
