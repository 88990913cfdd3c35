//! Threads for queries that may wait for a script, so that those which receive datagrams and serve connections never do.
//!
//! What does not find room is answered at once, without the script: its step fails open.

use crate::bridge::Context;
use crate::stats::Slot;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Queries that wait for a script at the same time. More threads than workers: some queries turn out not to need one.
const THREADS: usize = 4;
/// Queries that may wait for a thread. Each takes its milliseconds at worst, and a resolver has moved on after some
/// hundred of them.
const ROOM: usize = 64;

/// A query to be answered.
pub(crate) trait Job: Send {
    /// Answers it; may take milliseconds.
    fn work(self: Box<Self>, context: &Context, slot: &Slot);
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Box<dyn Job>>,
    closed: bool,
}

/// The threads and what they have to do.
pub(crate) struct SlowLane {
    queue: Mutex<Queue>,
    wake: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl fmt::Debug for SlowLane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlowLane").finish_non_exhaustive()
    }
}

impl SlowLane {
    /// Starts the threads.
    ///
    /// # Errors
    /// The operating system has no more threads.
    pub(crate) fn start(context: &Arc<Context>) -> io::Result<Arc<Self>> {
        let lane = Arc::new(Self {
            queue: Mutex::default(),
            wake: Condvar::new(),
            threads: Mutex::default(),
        });
        for number in 0..THREADS {
            let (lane_of_thread, context) = (Arc::clone(&lane), Arc::clone(context));
            let thread = Builder::new()
                .name(format!("dns-script-{number}"))
                .spawn(move || lane_of_thread.run(&context));
            match thread {
                Ok(thread) => lane.threads().push(thread),
                Err(error) => {
                    lane.close();
                    return Err(error);
                }
            }
        }
        Ok(lane)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a query, unless there is no room.
    pub(crate) fn push(&self, job: Box<dyn Job>) -> bool {
        let mut queue = self.queue();
        let room = !queue.closed && queue.jobs.len() < ROOM;
        if room {
            queue.jobs.push_back(job);
            drop(queue);
            self.wake.notify_one();
        }
        room
    }

    fn run(&self, context: &Context) {
        let slot = context.stats.slot();
        loop {
            let mut queue = self.queue();
            let job = loop {
                match queue.jobs.pop_front() {
                    Some(job) => break job,
                    None if queue.closed => return,
                    None => queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(queue);
            // A defect costs one query, not a thread.
            if catch_unwind(AssertUnwindSafe(|| job.work(context, &slot))).is_err() {
                slot.panicked();
            }
        }
    }

    /// Takes nothing more; what is there is still answered. Does not wait.
    pub(crate) fn close(&self) {
        self.queue().closed = true;
        self.wake.notify_all();
    }

    /// Waits for the end, after [`close`](Self::close).
    pub(crate) fn join(&self) {
        let threads = std::mem::take(&mut *self.threads());
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a DNS thread for scripts ended by a panic");
            }
        }
    }
}
