//! Backtraces are for panics, not for errors.
//!
//! With `RUST_BACKTRACE` set, the interpreter of scripts takes one for each error of a script, on the thread that answers
//! the query: that takes up to a millisecond, and a script that fails whenever somebody asks for an odd name is nothing
//! unusual. The standard library has a variable for this, reads it once, and a running program can set none: so the program
//! starts itself once more with it.

use std::env;
use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Backtraces of panics (and of errors, unless the next one is set).
const BOTH: &str = "RUST_BACKTRACE";
/// Backtraces of errors.
const ERRORS: &str = "RUST_LIB_BACKTRACE";

/// Whether errors would take backtraces, and nobody has asked for that.
fn unasked(both: Option<&OsStr>, errors: Option<&OsStr>) -> bool {
    errors.is_none() && both.is_some_and(|value| value != "0")
}

/// Sees to it that errors take no backtraces unless `RUST_LIB_BACKTRACE` says so. To be called before anything is set up; it
/// may begin the program anew, in the same process.
pub fn of_panics_only() {
    if !unasked(env::var_os(BOTH).as_deref(), env::var_os(ERRORS).as_deref()) {
        return;
    }
    let mut arguments = env::args_os();
    // By its name and not as /proc/self/exe, which would become the name of the process.
    let (Ok(program), Some(name)) = (env::current_exe(), arguments.next()) else {
        return;
    };
    // Comes back only if it fails: then errors are slow, and all else is as it should be.
    let _ = Command::new(program)
        .arg0(name)
        .args(arguments)
        .env(ERRORS, "0")
        .exec();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_asked_for_is_taken_away() {
        let cases = [
            (None, None, false),
            (Some("0"), None, false),
            (Some("1"), None, true),
            (Some("full"), None, true),
            (Some("1"), Some("1"), false),
            (Some("1"), Some("0"), false),
        ];
        for (both, errors, expected) in cases {
            assert_eq!(
                unasked(both.map(OsStr::new), errors.map(OsStr::new)),
                expected,
                "{both:?} {errors:?}"
            );
        }
    }
}
