//! The clients' turn on the processors.
//!
//! A client that shares the processors with what it measures waits for its own turn too, before it sends and after the
//! reply has come. In service it is another machine, which does not. So here its thread goes before all others: what is
//! left is what the daemon took.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Lets this thread, and those that it starts, run as soon as they can. Needs the privilege to set real-time priorities.
///
/// # Errors
/// `chrt` is not there, or this process may not.
pub fn first() -> Result<()> {
    // "<process>/task/<thread>"
    let thread = std::fs::read_link("/proc/thread-self").context("/proc/thread-self")?;
    let thread = thread.file_name().context("/proc/thread-self names no thread")?;
    let output = Command::new("chrt")
        .args(["--fifo", "--pid", "10"])
        .arg(thread)
        .output()
        .context("chrt")?;
    if !output.status.success() {
        bail!("chrt: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
