//! One worker process, seen from the daemon.

use crate::wire::{Answer, MAX_FRAME};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How to start a worker.
#[derive(Debug, Clone)]
pub struct WorkerProgram {
    /// The program. `/proc/self/exe` is the running one, even after the file was replaced by a newer version.
    pub path: PathBuf,
    /// Its arguments; how long a script may run follows them.
    pub arguments: Vec<OsString>,
}

impl WorkerProgram {
    /// The running program with [`WORKER_COMMAND`](crate::worker::WORKER_COMMAND) as its first argument.
    #[must_use]
    pub fn this() -> Self {
        Self {
            path: "/proc/self/exe".into(),
            arguments: vec![crate::worker::WORKER_COMMAND.into()],
        }
    }
}

/// Why there was no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    /// Gone before it had read the request: not the request's fault.
    Gone,
    /// Ended while at it.
    Died,
    /// Still at it at the deadline.
    Late,
    /// Said what makes no sense.
    Broken,
}

/// What has come of an answer.
struct Received {
    frame: Vec<u8>,
    filled: usize,
}

impl Default for Received {
    /// Nearly all answers are short and come in one piece.
    fn default() -> Self {
        Self {
            frame: vec![0; 512],
            filled: 0,
        }
    }
}

/// A running worker.
#[derive(Debug)]
pub(crate) struct Child {
    process: std::process::Child,
    socket: UnixStream,
}

impl Child {
    /// Starts a worker and waits until it is ready.
    ///
    /// # Errors
    /// It could not be started, or was not ready in time.
    pub(crate) fn start(
        program: &WorkerProgram,
        run_time: Duration,
        patience: Duration,
    ) -> std::io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let process = Command::new(&program.path)
            .args(&program.arguments)
            .arg(run_time.as_millis().to_string())
            .env_clear()
            .envs(crate::worker::ENVIRONMENT)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A terminal's interrupt is for the daemon, which drains before it stops.
            .process_group(0)
            .spawn()?;
        let mut child = Self {
            process,
            socket: ours,
        };
        match child.answer(Instant::now() + patience) {
            Ok(Answer::Ready) => Ok(child),
            other => {
                child.end();
                Err(std::io::Error::other(format!(
                    "the worker was not ready: {other:?}"
                )))
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Processor time that each of its threads has used so far, as the kernel tells it.
    fn threads(&self) -> HashMap<OsString, Duration> {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", self.id())) else {
            return HashMap::new();
        };
        let of_thread = |entry: std::io::Result<std::fs::DirEntry>| {
            let entry = entry.ok()?;
            let text = std::fs::read_to_string(entry.path().join("schedstat")).ok()?;
            let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
            Some((entry.file_name(), Duration::from_nanos(nanoseconds)))
        };
        threads.filter_map(of_thread).collect()
    }

    /// Processor time used since `before`. A thread that has ended meanwhile does not count: it has handed its work to another.
    fn used_since(&self, before: &HashMap<OsString, Duration>) -> Duration {
        let used = |(thread, now): (OsString, Duration)| {
            now.saturating_sub(before.get(&thread).copied().unwrap_or_default())
        };
        self.threads().into_iter().map(used).sum()
    }

    /// As [`ask`](Self::ask), but what counts is the processor time that the answer takes: how long that takes is up to
    /// what else the machine does, and `deadline` only ends the wait for a machine that does nothing else.
    ///
    /// # Errors
    /// As for [`ask`](Self::ask).
    pub(crate) fn ask_patiently(
        &mut self,
        frame: &[u8],
        most: Duration,
        deadline: Instant,
    ) -> Result<Answer, Silence> {
        let before = self.threads();
        self.send(frame, deadline)?;
        let mut received = Received::default();
        loop {
            let look = (Instant::now() + most).min(deadline);
            match self.answer_into(&mut received, look) {
                Err(Silence::Late) if look < deadline && self.used_since(&before) < most => {}
                answer => return answer,
            }
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// There was none; unless it is [`Silence::Gone`], the worker is of no use any more, nor is it then.
    pub(crate) fn ask(&mut self, frame: &[u8], deadline: Instant) -> Result<Answer, Silence> {
        self.send(frame, deadline)?;
        self.answer(deadline)
    }

    fn send(&mut self, frame: &[u8], deadline: Instant) -> Result<(), Silence> {
        let mut rest = frame;
        while !rest.is_empty() {
            match self.socket.write(rest) {
                Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::OUT, deadline)?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) if rest.len() == frame.len() => return Err(Silence::Gone),
                Err(_) => return Err(Silence::Died),
            }
        }
        Ok(())
    }

    fn answer(&mut self, deadline: Instant) -> Result<Answer, Silence> {
        self.answer_into(&mut Received::default(), deadline)
    }

    fn answer_into(&mut self, received: &mut Received, deadline: Instant) -> Result<Answer, Silence> {
        let Received { frame, filled } = received;
        loop {
            if let Some(length) = frame.first_chunk::<4>().filter(|_| *filled >= 4).copied() {
                let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
                if length > MAX_FRAME {
                    return Err(Silence::Broken);
                }
                if *filled >= 4 + length {
                    return frame
                        .get(4..4 + length)
                        .and_then(Answer::read)
                        .ok_or(Silence::Broken);
                }
                frame.resize(frame.len().max(4 + length), 0);
            }
            match self.socket.read(frame.get_mut(*filled..).unwrap_or_default()) {
                Ok(0) => return Err(Silence::Died),
                Ok(read) => *filled += read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::IN, deadline)?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Silence::Died),
            }
        }
    }

    /// Waits with the kernel's fine clock: a receive timeout of the socket would be rounded up to a scheduler tick.
    fn wait(&self, what: PollFlags, deadline: Instant) -> Result<(), Silence> {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(left) = Timespec::try_from(left) else {
            return Err(Silence::Late);
        };
        match poll(&mut [PollFd::new(&self.socket, what)], Some(&left)) {
            Ok(0) => Err(Silence::Late),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(_) => Err(Silence::Broken),
        }
    }

    /// Ends it now; [`end`](Self::end) has to follow, on a thread that may wait.
    pub(crate) fn kill(&mut self) {
        // An error means that it is gone already.
        let _ = self.process.kill();
    }

    /// Ends it and waits until it is gone.
    pub(crate) fn end(mut self) {
        self.kill();
        let _ = self.process.wait();
    }
}
