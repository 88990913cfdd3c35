//! `gslbd`: reads the command line and hands over.

use std::process::ExitCode;

/// See the reason beside the dependency.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    // A worker for scripts must come before everything else: it sets up nothing but its walls.
    if arguments
        .next()
        .is_some_and(|first| first == gslb_script::WORKER_COMMAND)
    {
        return gslb_script::worker_main(arguments.next().as_deref().and_then(std::ffi::OsStr::to_str));
    }
    gslbd::backtraces::of_panics_only();
    gslbd::run(std::env::args_os())
}
