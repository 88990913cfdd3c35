//! The licence's limit of queries a second, over all transports: a token bucket that holds one second's worth.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// A limit of queries a second, shared by every thread. Without a limit it costs one load.
#[derive(Debug)]
pub struct QueryLimit {
    begun: Instant,
    /// Nanoseconds between two queries at the full rate; 0 is no limit.
    interval: AtomicU64,
    /// When the bucket would be full again, nanoseconds since `begun` (the generic cell rate algorithm: the time stands
    /// for the tokens, so that one number is enough).
    full_at: AtomicU64,
    refused: AtomicU64,
}

impl Default for QueryLimit {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            interval: AtomicU64::new(0),
            full_at: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }
}

impl QueryLimit {
    /// Sets the limit; `None` lifts it. More than 10⁹ a second is no limit either.
    pub fn set(&self, queries_per_second: Option<u64>) {
        // A licence for nothing allows next to nothing: one query a second, so that somebody can see that it runs.
        let interval = queries_per_second.map_or(0, |rate| SECOND / rate.max(1));
        self.interval.store(interval, Ordering::Relaxed);
    }

    /// Whether there is no limit: then nobody has to ask for a token.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.interval.load(Ordering::Relaxed) == 0
    }

    /// Takes a token; `false` if there is none.
    pub(crate) fn admit(&self) -> bool {
        let interval = self.interval.load(Ordering::Relaxed);
        if interval == 0 {
            return true;
        }
        let now = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.admit_at(now, interval)
    }

    fn admit_at(&self, now: u64, interval: u64) -> bool {
        let taken = self
            .full_at
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
                let next = full_at.max(now).saturating_add(interval);
                (next - now <= SECOND.max(interval)).then_some(next)
            });
        if taken.is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        taken.is_ok()
    }

    /// Queries refused so far.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(limit: &QueryLimit, at: u64, tries: usize, interval: u64) -> usize {
        (0..tries).filter(|_| limit.admit_at(at, interval)).count()
    }

    #[test]
    fn a_second_holds_as_many_as_the_limit_says() {
        let limit = QueryLimit::default();
        let interval = SECOND / 100;
        assert_eq!(admitted(&limit, 0, 1000, interval), 100);
        assert_eq!(admitted(&limit, SECOND / 2, 1000, interval), 50);
        // However long nobody asked, the bucket holds one second's worth.
        assert_eq!(admitted(&limit, SECOND * 100, 1000, interval), 100);
        assert_eq!(limit.refused(), 900 + 950 + 900);
    }

    #[test]
    fn no_limit_admits_everything() {
        let limit = QueryLimit::default();
        assert!((0..10_000).all(|_| limit.admit()));
        limit.set(Some(1));
        let admitted = (0..100).filter(|_| limit.admit()).count();
        assert!((1..100).contains(&admitted));
        limit.set(None);
        assert!((0..100).all(|_| limit.admit()));
        assert!(limit.refused() > 0);
    }
}
