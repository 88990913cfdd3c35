//! The worker process: compiles and runs scripts between walls that the operating system keeps.
//!
//! It has nothing but its end of a socket pair: no files, no network, no other way to the daemon. Memory is limited by
//! the kernel, so that a script that wants too much ends the process and not the machine. Whoever overflows the stack, aborts
//! or never ends takes this process along, and the daemon has the next one ready.

use crate::program::Program;
use crate::run::{Budget, run};
use crate::wire::{Answer, MAX_FRAME, Request, request};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Duration;

/// What a worker's environment holds: settings of jemalloc, should the program use it. It maps as much as it needs then, not
/// some megabytes in advance for every thread, which would count against the limit of memory.
pub(crate) const ENVIRONMENT: [(&str, &str); 1] = [("_RJEM_MALLOC_CONF", "narenas:1,retain:false")];

/// Argument of the program that makes it a worker.
pub const WORKER_COMMAND: &str = "script-worker";

/// Stack of the thread that compiles and runs: parser, compiler and some operations on nested values recurse.
const STACK: usize = 6 << 20;
/// Memory that the process may map for writing, stack included: with four workers 64 MiB.
const DATA: u64 = 16 << 20;
/// Scripts kept compiled; the daemon sends again what has been dropped.
pub(crate) const KEPT: usize = 32;
/// Bytes of their texts: compiled they take some hundred times as much, and what compiles or runs next needs room too.
const KEPT_BYTES: usize = 12 << 10;

/// Runs as a worker until the daemon hangs up. To be called before anything else is set up. `milliseconds` is the
/// argument after [`WORKER_COMMAND`]: how long a script may run for a query.
#[must_use]
pub fn worker_main(milliseconds: Option<&str>) -> ExitCode {
    let time = Duration::from_millis(milliseconds.and_then(|text| text.parse().ok()).unwrap_or(2));
    let socket = std::io::stdin().as_fd().try_clone_to_owned();
    match socket.and_then(|socket| build_walls().map(|()| socket)) {
        Ok(socket) => {
            let serve = move || serve(&mut UnixStream::from(socket), time);
            let thread = std::thread::Builder::new().stack_size(STACK).spawn(serve);
            match thread.map(std::thread::JoinHandle::join) {
                Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
                _ => ExitCode::FAILURE,
            }
        }
        Err(_) => ExitCode::FAILURE,
    }
}

fn build_walls() -> std::io::Result<()> {
    // Ends with the daemon, even while a script keeps it busy.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // Whatever privileges the daemon was given: nothing here needs any, and nothing started from here gets more.
    rustix::thread::set_no_new_privs(true)?;
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none)?;
    let only = |most: u64| Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    setrlimit(Resource::Core, only(0))?;
    setrlimit(Resource::Data, only(DATA))?;
    setrlimit(Resource::Fsize, only(0))?;
    // Opens nothing from here on.
    setrlimit(Resource::Nofile, only(0))?;
    Ok(())
}

/// Answers requests until the other side is gone.
fn serve(socket: &mut UnixStream, time: Duration) -> std::io::Result<()> {
    let mut kept: VecDeque<Kept> = VecDeque::new();
    let mut frame = Vec::new();
    socket.write_all(&Answer::Ready.frame())?;
    loop {
        let mut length = [0_u8; 4];
        if socket.read_exact(&mut length).is_err() {
            return Ok(());
        }
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > MAX_FRAME {
            return Ok(());
        }
        frame.clear();
        frame.resize(length, 0);
        socket.read_exact(&mut frame)?;
        let Some(request) = request(&frame) else {
            return Ok(());
        };
        // After a panic nobody knows what state the interpreter is in: end, and make room for a new worker.
        let Ok(answer) = catch_unwind(AssertUnwindSafe(|| answer(&mut kept, &request, time))) else {
            return Ok(());
        };
        socket.write_all(&answer.frame())?;
    }
}

/// A compiled script.
struct Kept {
    id: u64,
    bytes: usize,
    program: Program,
}

fn answer(kept: &mut VecDeque<Kept>, request: &Request<'_>, time: Duration) -> Answer {
    match request {
        Request::Load { id, body } => {
            let is_full = |kept: &VecDeque<Kept>| {
                let bytes: usize = kept.iter().map(|one| one.bytes).sum();
                kept.len() >= KEPT || bytes + body.len() > KEPT_BYTES
            };
            // Before the next one needs the room.
            while !kept.is_empty() && is_full(kept) {
                kept.pop_front();
            }
            match Program::compile(body) {
                Ok(program) => {
                    let facts = program.facts;
                    kept.push_back(Kept {
                        id: *id,
                        bytes: body.len(),
                        program,
                    });
                    Answer::Loaded(facts)
                }
                Err(error) => Answer::Refused(error),
            }
        }
        Request::Run { id, input } => {
            let Some(place) = kept.iter().position(|one| one.id == *id) else {
                return Answer::Unknown;
            };
            // What is used stays longest.
            if place < kept.len() / 2
                && let Some(used) = kept.remove(place)
            {
                kept.push_back(used);
            }
            let Some(Kept { program, .. }) = kept.iter().rfind(|one| one.id == *id) else {
                return Answer::Unknown;
            };
            let mut order = Vec::new();
            match run(program, &input.view(), Budget::isolated(time), &mut order).0 {
                Ok(()) => Answer::Order(order),
                Err(failure) => Answer::Failure(failure),
            }
        }
    }
}
