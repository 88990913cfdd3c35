//! Counters of the prober, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters since the start, and the present load. All are read without a lock.
#[derive(Debug, Default)]
pub struct ProbeStats {
    probes: AtomicU64,
    failures: AtomicU64,
    local_errors: AtomicU64,
    in_flight: AtomicU64,
    targets: AtomicU64,
    lag_ns: AtomicU64,
    max_lag_ns: AtomicU64,
}

impl ProbeStats {
    /// Probes that have ended.
    #[must_use]
    pub fn probes(&self) -> u64 {
        self.probes.load(Ordering::Relaxed)
    }

    /// Probes that have failed.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Probes that this machine could not send (no file descriptor, no memory): they say nothing about the member.
    #[must_use]
    pub fn local_errors(&self) -> u64 {
        self.local_errors.load(Ordering::Relaxed)
    }

    /// Probes on their way.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Distinct probes that are scheduled; targets that share one count once.
    #[must_use]
    pub fn targets(&self) -> u64 {
        self.targets.load(Ordering::Relaxed)
    }

    /// How much later than planned the last probe was started.
    #[must_use]
    pub fn lag(&self) -> Duration {
        Duration::from_nanos(self.lag_ns.load(Ordering::Relaxed))
    }

    /// The largest lag since the start.
    #[must_use]
    pub fn max_lag(&self) -> Duration {
        Duration::from_nanos(self.max_lag_ns.load(Ordering::Relaxed))
    }

    pub(crate) fn started(&self, lag: Duration) {
        let lag = u64::try_from(lag.as_nanos()).unwrap_or(u64::MAX);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.lag_ns.store(lag, Ordering::Relaxed);
        self.max_lag_ns.fetch_max(lag, Ordering::Relaxed);
    }

    pub(crate) fn left(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self, ok: bool) {
        self.probes.fetch_add(1, Ordering::Relaxed);
        if !ok {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a local error and returns how many there have been.
    pub(crate) fn local_error(&self) -> u64 {
        self.local_errors.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn set_targets(&self, count: usize) {
        self.targets.store(count as u64, Ordering::Relaxed);
    }
}
