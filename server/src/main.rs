//! `gslbd`: reads the command line and hands over.

use std::process::ExitCode;

fn main() -> ExitCode {
    gslbd::run(std::env::args_os())
}
