//! The worker process: compiles and runs scripts between walls that the operating system keeps.
//!
//! It has nothing but its end of a socket pair: no files, no network, no other way to the daemon. Memory is limited by
//! the kernel, so that a script that wants too much ends the process and not the machine. Whoever overflows the stack, aborts
//! or never ends takes this process along, and the daemon has the next one ready.

use crate::program::Program;
use crate::run::{Budget, run};
use crate::wire::{Answer, Input, MAX_FRAME, Request, request};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

/// What a worker's environment holds: settings of jemalloc, should the program use it. It maps as much as it needs then, not
/// some megabytes in advance for every thread, which would count against the limit of memory.
pub(crate) const ENVIRONMENT: [(&str, &str); 1] = [("_RJEM_MALLOC_CONF", "narenas:1,retain:false")];

/// Argument of the program that makes it a worker.
pub const WORKER_COMMAND: &str = "script-worker";

/// How much a thread that compiles gives way.
const NICE: i32 = 5;
/// Stack of a thread that compiles or runs: parser, compiler and some operations on nested values recurse.
const STACK: usize = 6 << 20;
/// Memory that the process may map for writing, stack included: with four workers 64 MiB.
const DATA: u64 = 16 << 20;
/// Scripts kept compiled; the daemon sends again what has been dropped.
pub(crate) const KEPT: usize = 32;
/// Bytes of their texts: compiled they take some hundred times as much, and what compiles or runs next needs room too.
const KEPT_BYTES: usize = 12 << 10;

/// Runs as a worker until the daemon hangs up. To be called before anything else is set up. `milliseconds` is the
/// argument after [`WORKER_COMMAND`]: how much processor time a script may take for a query.
#[must_use]
pub fn worker_main(milliseconds: Option<&str>) -> ExitCode {
    let time = Duration::from_millis(milliseconds.and_then(|text| text.parse().ok()).unwrap_or(2));
    let socket = std::io::stdin().as_fd().try_clone_to_owned();
    let served = socket.and_then(|socket| {
        build_walls()?;
        serve(&mut UnixStream::from(socket), time)
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
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
///
/// Scripts run with the priority of the daemon, or on a busy machine a query would be over before its script had its turn.
/// What is compiled gives way, for that takes milliseconds and nobody's answer waits for it. A thread that has begun to give
/// way never gets its priority back; so each of the two has threads of its own, one after the other, since each needs
/// a large stack.
fn serve(socket: &mut UnixStream, time: Duration) -> std::io::Result<()> {
    let mut kept: VecDeque<Kept> = VecDeque::new();
    socket.write_all(&Answer::Ready.frame())?;
    while let Some(frame) = on_a_thread(|| run_scripts(socket, &mut kept, time))?? {
        let answer = on_a_thread(|| {
            // To ask for less is never refused.
            let _ = rustix::process::nice(NICE);
            match request(&frame) {
                Some(Request::Load { id, body }) => Some(load(&mut kept, id, body)),
                _ => None,
            }
        })?;
        let Some(answer) = answer else {
            return Ok(());
        };
        socket.write_all(&answer.frame())?;
    }
    Ok(())
}

/// Calls `work` with a large stack.
///
/// # Errors
/// There is no thread, or it panicked: then nobody knows what state the interpreter is in, and this worker ends to make room
/// for another.
fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work)?;
        let panicked = |_| std::io::Error::other("the interpreter gave up");
        thread.join().map_err(panicked)
    })
}

/// Answers requests to run scripts; gives back the frame of the first one that asks for something else, or nothing when the
/// other side is gone, or makes no sense.
fn run_scripts(
    socket: &mut UnixStream,
    kept: &mut VecDeque<Kept>,
    time: Duration,
) -> std::io::Result<Option<Vec<u8>>> {
    let mut frame = Vec::new();
    loop {
        let mut length = [0_u8; 4];
        if socket.read_exact(&mut length).is_err() {
            return Ok(None);
        }
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > MAX_FRAME {
            return Ok(None);
        }
        frame.clear();
        frame.resize(length, 0);
        socket.read_exact(&mut frame)?;
        let answer = match request(&frame) {
            Some(Request::Run { id, input }) => answer(kept, id, &input, time),
            Some(Request::Load { .. }) => return Ok(Some(frame)),
            None => return Ok(None),
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

fn load(kept: &mut VecDeque<Kept>, id: u64, body: &str) -> Answer {
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
                id,
                bytes: body.len(),
                program,
            });
            Answer::Loaded(facts)
        }
        Err(error) => Answer::Refused(error),
    }
}

fn answer(kept: &mut VecDeque<Kept>, id: u64, input: &Input<'_>, time: Duration) -> Answer {
    let Some(place) = kept.iter().position(|one| one.id == id) else {
        return Answer::Unknown;
    };
    // What is used stays longest.
    if place < kept.len() / 2
        && let Some(used) = kept.remove(place)
    {
        kept.push_back(used);
    }
    let Some(Kept { program, .. }) = kept.iter().rfind(|one| one.id == id) else {
        return Answer::Unknown;
    };
    let mut order = Vec::new();
    match run(program, &input.view(), Budget::isolated(time), &mut order).0 {
        Ok(()) => Answer::Order(order),
        Err(failure) => Answer::Failure(failure),
    }
}
