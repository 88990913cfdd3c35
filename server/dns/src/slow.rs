//! Threads for queries that may wait for a script, so that those which receive datagrams and serve connections never do.
//!
//! What does not find room is answered at once, without the script: its step fails open. No service takes all the threads or
//! all the room, so that one with an endless script keeps no other from its own.

use crate::bridge::Context;
use crate::stats::Slot;
use gslb_engine::model::ServiceId;
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
/// Threads that one service may keep waiting.
const THREADS_OF_SERVICE: usize = THREADS - 1;
/// Queries of one service that may wait for a thread.
const ROOM_OF_SERVICE: usize = ROOM / 2;

/// A query to be answered.
pub(crate) trait Job: Send {
    /// Answers it; may take milliseconds.
    fn work(self: Box<Self>, context: &Context, slot: &Slot);
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<(ServiceId, Box<dyn Job>)>,
    /// Services that threads are at, once for each thread.
    running: Vec<ServiceId>,
    closed: bool,
}

impl Queue {
    fn has_room(&self, service: ServiceId) -> bool {
        !self.closed
            && self.jobs.len() < ROOM
            && self.jobs.iter().filter(|(other, _)| *other == service).count() < ROOM_OF_SERVICE
    }

    /// The oldest query whose service may have one more thread.
    fn next(&mut self) -> Option<(ServiceId, Box<dyn Job>)> {
        let running = &self.running;
        let threads = |service| running.iter().filter(|other| **other == service).count();
        let at = self
            .jobs
            .iter()
            .position(|(service, _)| threads(*service) < THREADS_OF_SERVICE)?;
        let (service, job) = self.jobs.remove(at)?;
        self.running.push(service);
        Some((service, job))
    }

    fn ends(&mut self, service: ServiceId) {
        if let Some(at) = self.running.iter().position(|other| *other == service) {
            self.running.swap_remove(at);
        }
    }
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

    /// Takes a query for a service, unless there is no room.
    pub(crate) fn push(&self, service: ServiceId, job: Box<dyn Job>) -> bool {
        let mut queue = self.queue();
        let room = queue.has_room(service);
        if room {
            queue.jobs.push_back((service, job));
            drop(queue);
            self.wake.notify_one();
        }
        room
    }

    fn run(&self, context: &Context) {
        let slot = context.stats.slot();
        let mut queue = self.queue();
        loop {
            let Some((service, job)) = queue.next() else {
                // What is left when the lane is closed is for the threads that keep it waiting.
                if queue.closed {
                    return;
                }
                queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(queue);
            // A defect costs one query, not a thread.
            if catch_unwind(AssertUnwindSafe(|| job.work(context, &slot))).is_err() {
                slot.panicked();
            }
            queue = self.queue();
            // Room for one more of this service, which this thread looks for itself.
            queue.ends(service);
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
