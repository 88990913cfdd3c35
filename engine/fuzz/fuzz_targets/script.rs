//! Texts as scripts, and whether what is proven of a script holds.

#![no_main]

use gslb_script::{Limits, WORKER_COMMAND, WorkerProgram, Workers, worker_main};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

static WORKERS: LazyLock<Workers> = LazyLock::new(|| {
    let limits = Limits {
        // Other work on the machine must not look like a script that hangs.
        run: Duration::from_millis(100),
        grace: Duration::from_secs(1),
        queue: Duration::from_secs(5),
        compile_patience: Duration::from_secs(10),
        start: Duration::from_secs(60),
        ..Limits::default()
    };
    // No script is ever switched off: nothing is remembered from one input to the next.
    Workers::with(WorkerProgram::this(), limits, Arc::new(|| Duration::ZERO))
});

libfuzzer_sys::fuzz_target!(
    init: {
        // This program is its own worker, as the daemon is.
        let mut arguments = std::env::args().skip(1);
        if arguments.next().as_deref() == Some(WORKER_COMMAND) {
            let end = worker_main(arguments.next().as_deref());
            std::process::exit(i32::from(end != std::process::ExitCode::SUCCESS));
        }
    },
    |data: &[u8]| {
        let _ = gslb_script::fuzzing::script(data, &WORKERS);
        // The same octets once more, as choices that a script is made by.
        let _ = gslb_script::fuzzing::proof(data);
    }
);
