//! Switches a script off that keeps failing.
//!
//! What a query contains is up to whoever sends it. A script that fails by an error of its own for odd names must not be
//! switched off for everybody by a stranger who asks for such names, so these errors count only while nothing succeeds.
//! A script that has to be stopped costs a worker each time: that counts whatever else succeeds in between queries.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Errors in a row that switch a script off.
pub const ERRORS_IN_A_ROW: u32 = 5;
/// How long it stays off; then one query tries it again.
pub const OFF_FOR: Duration = Duration::from_secs(30);
/// Errors of its own do not switch a script off while it has succeeded within this time.
pub const PROVEN_FOR: Duration = Duration::from_secs(5);

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Success,
    /// An error that the script ended with by itself.
    Error,
    /// It had to be stopped.
    Stopped,
}

/// State of one script. Times are on the clock of the caller, from any zero.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    in_a_row: AtomicU32,
    /// Milliseconds until which it is off; 0 is on.
    off_until: AtomicU64,
    /// Milliseconds of the last success, plus one; 0 is never.
    succeeded: AtomicU64,
    /// A query is out to try whether it works again.
    trying: AtomicBool,
}

impl Breaker {
    /// Whether the script may run now. If so, [`record`](Self::record) or [`release`](Self::release) has to follow.
    ///
    /// # Errors
    /// How many errors in a row switched it off.
    pub(crate) fn admit(&self, now: impl FnOnce() -> Duration) -> Result<(), u32> {
        let off_until = self.off_until.load(Ordering::Relaxed);
        if off_until == 0 {
            return Ok(());
        }
        if millis(now()) >= off_until && !self.trying.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        Err(self.in_a_row.load(Ordering::Relaxed))
    }

    /// Takes note of a run. True if this one switched the script off.
    pub(crate) fn record(&self, outcome: Outcome, now: Duration) -> bool {
        let now = millis(now);
        if outcome == Outcome::Success {
            self.succeeded.store(now + 1, Ordering::Relaxed);
            if self.in_a_row.load(Ordering::Relaxed) != 0 {
                self.in_a_row.store(0, Ordering::Relaxed);
            }
            if self.off_until.load(Ordering::Relaxed) != 0 {
                self.off_until.store(0, Ordering::Relaxed);
                self.trying.store(false, Ordering::Relaxed);
            }
            return false;
        }
        let in_a_row = self.in_a_row.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let succeeded = self.succeeded.load(Ordering::Relaxed);
        let proven = succeeded != 0 && now < succeeded.saturating_add(millis(PROVEN_FOR));
        let off = self.off_until.load(Ordering::Relaxed) != 0;
        let switches = off || (in_a_row >= ERRORS_IN_A_ROW && (outcome == Outcome::Stopped || !proven));
        if switches {
            self.off_until
                .store(now.saturating_add(millis(OFF_FOR)).max(1), Ordering::Relaxed);
            self.trying.store(false, Ordering::Relaxed);
        }
        switches && !off
    }

    /// The run did not come about, through no fault of the script.
    pub(crate) fn release(&self) {
        if self.off_until.load(Ordering::Relaxed) != 0 {
            self.trying.store(false, Ordering::Relaxed);
        }
    }

    /// For how long it is still off, if it is.
    pub(crate) fn off_for(&self, now: Duration) -> Option<Duration> {
        match self.off_until.load(Ordering::Relaxed) {
            0 => None,
            until => Some(Duration::from_millis(until.saturating_sub(millis(now)))),
        }
    }

    pub(crate) fn errors_in_a_row(&self) -> u32 {
        self.in_a_row.load(Ordering::Relaxed)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn errors_in_a_row_switch_off_then_one_query_tries() {
        let breaker = Breaker::default();
        for error in 1..=ERRORS_IN_A_ROW {
            assert_eq!(breaker.admit(|| at(1)), Ok(()));
            assert_eq!(breaker.record(Outcome::Error, at(1)), error == ERRORS_IN_A_ROW);
        }
        assert_eq!(breaker.admit(|| at(30)), Err(5));
        assert_eq!(breaker.off_for(at(30)), Some(at(1)));
        assert_eq!(breaker.admit(|| at(31)), Ok(()), "the time is over: one may try");
        assert_eq!(breaker.admit(|| at(31)), Err(5), "but one only");
        assert!(!breaker.record(Outcome::Stopped, at(31)), "it was off already");
        assert_eq!(breaker.admit(|| at(60)), Err(6));
        assert_eq!(breaker.admit(|| at(61)), Ok(()));
        breaker.record(Outcome::Success, at(61));
        assert_eq!(
            (breaker.admit(|| at(61)), breaker.off_for(at(61))),
            (Ok(()), None)
        );
        assert_eq!(breaker.errors_in_a_row(), 0);
    }

    #[test]
    fn a_success_in_between_starts_the_count_anew() {
        let breaker = Breaker::default();
        for _ in 0..3 {
            for _ in 1..ERRORS_IN_A_ROW {
                assert!(!breaker.record(Outcome::Stopped, at(1)));
            }
            breaker.record(Outcome::Success, at(1));
        }
    }

    #[test]
    fn odd_queries_do_not_switch_off_what_works_for_others() {
        let breaker = Breaker::default();
        breaker.record(Outcome::Success, at(10));
        for _ in 0..100 {
            assert!(!breaker.record(Outcome::Error, at(14)));
        }
        assert!(
            breaker.record(Outcome::Error, at(16)),
            "nothing has succeeded for a while"
        );
        let costly = Breaker::default();
        costly.record(Outcome::Success, at(10));
        let switched: Vec<bool> = (0..5).map(|_| costly.record(Outcome::Stopped, at(10))).collect();
        assert_eq!(switched, [false, false, false, false, true]);
    }

    #[test]
    fn a_trial_that_did_not_come_about_leaves_room_for_the_next() {
        let breaker = Breaker::default();
        for _ in 0..5 {
            breaker.record(Outcome::Error, at(0));
        }
        assert_eq!(breaker.admit(|| at(40)), Ok(()));
        breaker.release();
        assert_eq!(breaker.admit(|| at(40)), Ok(()));
    }
}
