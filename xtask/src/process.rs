//! Child processes: one way to start them, one form of error, and an environment without traces of `cargo run`.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

/// Variables that `cargo run` sets for xtask. Handed on to another cargo they make build scripts that watch them
/// (ring's does) run again, and the crate be built twice.
fn is_trace_of_cargo_run(name: &str) -> bool {
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || matches!(
            name,
            "CARGO_BIN_NAME" | "CARGO_CRATE_NAME" | "CARGO_PRIMARY_PACKAGE"
        )
}

/// A command in folder `dir`, with a clean environment.
pub fn command(program: impl AsRef<OsStr>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_trace_of_cargo_run) {
            command.env_remove(name);
        }
    }
    command
}

/// The cargo that started xtask, with these arguments.
pub fn cargo<A: AsRef<OsStr>>(root: &Path, args: impl IntoIterator<Item = A>) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = command(program, root);
    command.args(args);
    command
}

/// As [`cargo`], with clippy's compiler for the crates of the workspace: it makes the same program as rustc and lints on
/// the way, warnings being errors. Lints apart from the build (`cargo clippy`) would have every dependency compiled once
/// more, for its metadata alone. Only for programs without optimisation, which it switches off in part.
pub fn linting_cargo<A: AsRef<OsStr>>(root: &Path, args: impl IntoIterator<Item = A>) -> Result<Command> {
    let sysroot = capture(command("rustc", root).args(["--print", "sysroot"]))?;
    let driver = Path::new(sysroot.trim()).join("bin").join("clippy-driver");
    ensure!(
        driver.is_file(),
        "{} is not there: rustup component add clippy",
        driver.display()
    );
    let mut cargo = cargo(root, args);
    // How cargo-clippy itself hands its arguments to the driver.
    cargo
        .env("RUSTC_WORKSPACE_WRAPPER", driver)
        .env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    Ok(cargo)
}

/// Runs to the end with output on the terminal. Standard input is closed: nothing here may wait for a person.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("starting {}", describe(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", describe(command));
    }
    Ok(())
}

/// Runs to the end and gives back what was printed on standard output; what went to standard error is in the error.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} ended with {}\n{}",
            describe(command),
            output.status,
            errors.trim_end()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} printed no UTF-8", describe(command)))
}

/// Runs to the end, whatever comes of it.
pub fn output(command: &mut Command) -> Result<Output> {
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {}", describe(command)))
}

/// First program of that name in `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
}

/// The command as one would type it, for messages.
pub fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut text = program
        .file_name()
        .unwrap_or(program.as_os_str())
        .to_string_lossy()
        .into_owned();
    for arg in command.get_args() {
        // Writing into a String cannot fail.
        let _ = write!(text, " {}", arg.to_string_lossy());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_traces_of_cargo_run_are_removed() {
        for gone in ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR", "CARGO_BIN_NAME"] {
            assert!(is_trace_of_cargo_run(gone), "{gone}");
        }
        for kept in [
            "CARGO",
            "CARGO_HOME",
            "CARGO_TARGET_DIR",
            "CARGO_INCREMENTAL",
            "CARGO_TERM_COLOR",
            "PATH",
        ] {
            assert!(!is_trace_of_cargo_run(kept), "{kept}");
        }
    }

    #[test]
    fn a_failure_names_the_command_and_what_it_said() {
        let error =
            capture(command("sh", Path::new("/")).args(["-c", "echo broken >&2; exit 3"])).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("sh -c") && text.contains("broken") && text.contains('3'),
            "{text}"
        );
    }
}
