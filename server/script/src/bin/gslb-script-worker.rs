//! A worker as a program of its own, for this crate's tests and measurements; the daemon starts itself as one.

use std::process::ExitCode;

fn main() -> ExitCode {
    let milliseconds = std::env::args().nth(1);
    gslb_script::worker_main(milliseconds.as_deref())
}
