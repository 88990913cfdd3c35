//! Compares what this machine decides with the pinned numbers: for an architecture that no test runs on. Ends with the
//! line of the first number that differs, 0 if none does.

use gslb_engine::testing::portable::difference;
use std::process::ExitCode;

fn main() -> ExitCode {
    let line = difference().map_or(0, |(line, _)| line);
    ExitCode::from(u8::try_from(line).unwrap_or(u8::MAX))
}
