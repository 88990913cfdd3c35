//! How much processor time the calling thread has spent on something, at nearly no cost.
//!
//! Time on the clock tells little about a script on a busy machine: the thread may have waited for the processor. Asking
//! the kernel for processor time takes a system call, too much for each run of a script that takes two microseconds. So
//! each thread remembers a moment at which it has asked, and asks again when that is some time ago. What it had used up
//! between that moment and the start of a run is not known, but it was no more than what the clock went on by.

use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How old what a thread remembers may be, and so by how much too little may be measured.
const FRESH: Duration = Duration::from_micros(500);

/// A moment on both clocks.
#[derive(Debug, Clone, Copy)]
struct Moment {
    clock: Instant,
    /// Processor time of the thread.
    own: Duration,
}

impl Moment {
    fn now(clock: Instant) -> Self {
        Self {
            clock,
            own: own_time(),
        }
    }
}

fn own_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

thread_local! {
    static LAST: Cell<Option<Moment>> = const { Cell::new(None) };
}

/// A running measurement, of use on the thread that has started it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch {
    begin: Instant,
    known: Moment,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        let begin = Instant::now();
        let fresh = |moment: &Moment| begin.saturating_duration_since(moment.clock) < FRESH;
        let known = LAST.get().filter(fresh).unwrap_or_else(|| {
            let moment = Moment::now(begin);
            LAST.set(Some(moment));
            moment
        });
        Self { begin, known }
    }

    /// Whether the thread has certainly spent more than this since the start.
    pub(crate) fn exceeds(&self, most: Duration) -> bool {
        self.begin.elapsed() > most && self.at_least() > most
    }

    /// What the thread has spent since the start at least.
    pub(crate) fn at_least(&self) -> Duration {
        let before = self.begin.saturating_duration_since(self.known.clock);
        own_time().saturating_sub(self.known.own).saturating_sub(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses the processor for so long.
    fn work(time: Duration) {
        let begin = own_time();
        while own_time().saturating_sub(begin) < time {
            std::hint::black_box(0);
        }
    }

    #[test]
    fn work_counts_and_waiting_does_not() {
        let watch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(30));
        assert!(!watch.exceeds(Duration::from_millis(20)));
        work(Duration::from_millis(30));
        assert!(watch.exceeds(Duration::from_millis(20)));
    }

    #[test]
    fn what_was_done_before_the_start_does_not_count() {
        let _first = Stopwatch::start();
        work(Duration::from_millis(30));
        let watch = Stopwatch::start();
        assert!(watch.at_least() < Duration::from_millis(20));
    }
}
