//! The browser tests and the screenshots: Playwright in `end2end/` against the debug build of the real daemon.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, tools};

/// Installs what the browser tests need.
pub fn prepare(workspace: &Workspace) -> Result<()> {
    // Pages without any font are boxes on the screenshots.
    tools::debian(
        &workspace.root,
        &[("chromium", &["chromium", "fonts-liberation"])],
    )?;
    tools::node(&workspace.root)?;
    tools::npm_packages(&folder(workspace))
}

/// Checks the types of the tests, then runs them. Site and server must be built.
pub fn test(workspace: &Workspace) -> Result<()> {
    prepare(workspace)?;
    process::run(&mut npm_program(&folder(workspace), "tsc"))?;
    process::run(playwright(workspace).arg("test"))
}

/// Takes a picture of every page into `end2end/screenshots`. Site and server must be built.
pub fn screenshots(workspace: &Workspace) -> Result<()> {
    prepare(workspace)?;
    process::run(playwright(workspace).args(["test", "--config", "screenshots.config.ts"]))?;
    println!("screenshots: {}", folder(workspace).join("screenshots").display());
    Ok(())
}

fn playwright(workspace: &Workspace) -> std::process::Command {
    let mut command = npm_program(&folder(workspace), "playwright");
    command.env("GSLBD", workspace.server_binary(false));
    command
}

fn npm_program(folder: &Path, name: &str) -> std::process::Command {
    process::command(folder.join("node_modules/.bin").join(name), folder)
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root.join("end2end")
}
