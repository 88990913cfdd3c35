//! Which queries of a service are kept, to try changes on them.
//!
//! A query is kept when its random bits are below a bar: that is one comparison for a query that is not kept, and no rhythm
//! in which clients ask can hide from it. The bar falls while a service is asked more than is kept of it, and
//! [`adapt`](Sampling::adapt), called every few seconds, sets it by the number of queries since.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Queries that are kept one after another before the bar falls.
const BURST: u32 = 256;
/// Queries that may be kept more after each call of [`Sampling::adapt`].
const STEADY: u32 = 8;
/// Queries that are kept until the bar falls again.
const MORE: u32 = 16;

/// The bar of one service, and what may still be kept below it.
#[derive(Debug)]
pub struct Sampling {
    /// Random bits below this: the query is kept.
    bar: AtomicU64,
    /// Queries seen at the last call of `adapt`.
    seen: AtomicU64,
    /// Queries that may be kept before the bar falls.
    credit: AtomicU32,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            bar: AtomicU64::new(u64::MAX),
            seen: AtomicU64::new(0),
            credit: AtomicU32::new(BURST),
        }
    }
}

impl Sampling {
    /// Whether a query with these random bits is kept.
    #[inline]
    #[must_use]
    pub fn takes(&self, entropy: u64) -> bool {
        entropy < self.bar.load(Ordering::Relaxed)
    }

    /// Counts a query that was kept. Threads that do so at the same time may let a few more in, which is no harm.
    pub fn taken(&self) {
        let credit = self.credit.load(Ordering::Relaxed);
        if credit > 0 {
            self.credit.store(credit - 1, Ordering::Relaxed);
            return;
        }
        self.credit.store(MORE, Ordering::Relaxed);
        let bar = self.bar.load(Ordering::Relaxed);
        self.bar.store(bar / 2, Ordering::Relaxed);
    }

    /// Keeps nothing until the next call of [`adapt`](Self::adapt).
    pub fn stop(&self) {
        self.bar.store(0, Ordering::Relaxed);
    }

    /// Sets the bar; `queries` is how many there have been in all. Returns whether it is back to where it was before the first
    /// query, so that nothing would change by more of it until one is kept.
    pub fn adapt(&self, queries: u64) -> bool {
        let before = self.seen.swap(queries, Ordering::Relaxed);
        let credit = self.credit.load(Ordering::Relaxed);
        let credit = credit.saturating_add(STEADY).min(BURST);
        self.credit.store(credit, Ordering::Relaxed);
        // As many queries as since the last time are to share the credit.
        let share = u64::MAX / queries.saturating_sub(before).max(1);
        let bar = share.saturating_mul(credit.into());
        self.bar.store(bar, Ordering::Relaxed);
        credit == BURST && bar == u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entropy;

    /// Queries of `count` that are kept, when nothing adapts.
    fn kept(sampling: &Sampling, numbers: std::ops::Range<u64>) -> u32 {
        let mut kept = 0;
        for number in numbers {
            if sampling.takes(entropy(number)) {
                sampling.taken();
                kept += 1;
            }
        }
        kept
    }

    #[test]
    fn of_few_queries_all_are_kept() {
        let sampling = Sampling::default();
        assert_eq!(kept(&sampling, 0..200), 200);
        // It is quiet again.
        sampling.adapt(200);
        assert!(!sampling.adapt(200));
        assert!(sampling.takes(u64::MAX - 1));
        assert!((0..40).any(|_| sampling.adapt(200)));
    }

    #[test]
    fn of_a_flood_few_are_kept_before_anything_adapts() {
        let sampling = Sampling::default();
        let kept = kept(&sampling, 0..2_000_000);
        assert!((BURST..1000).contains(&kept), "{kept}");
    }

    #[test]
    fn a_steady_load_is_kept_at_a_steady_rate() {
        let sampling = Sampling::default();
        let mut last = 0;
        for tick in 0..20_u64 {
            let from = tick * 50_000;
            last = kept(&sampling, from..from + 50_000);
            sampling.adapt(from + 50_000);
        }
        assert!((2..60).contains(&last), "{last}");
        // Once the load is gone, every query counts again.
        for _ in 0..40 {
            sampling.adapt(1_000_000);
        }
        assert_eq!(kept(&sampling, 0..200), 200);
    }

    #[test]
    fn what_is_stopped_keeps_nothing_until_it_adapts() {
        let sampling = Sampling::default();
        sampling.stop();
        assert_eq!(kept(&sampling, 0..1000), 0);
        sampling.adapt(1000);
        assert!(kept(&sampling, 0..1000) > 0);
    }
}
