//! How heavy a script's latest runs were.
//!
//! Scripts that are stopped, or take a worker for longer than a script may take, are not to have all workers between them,
//! however many services have such scripts: the good ones would find none free, and every processor busy. So the heavy
//! ones together get all workers but one.

use std::sync::atomic::{AtomicU8, Ordering};

/// Light runs after which a script counts as light again. More than one, so that a script which is heavy for some clients
/// stays among the heavy ones.
const LIGHT_RUNS: u8 = 16;

/// What is known of one script in one place.
#[derive(Debug, Default)]
pub(crate) struct Weight {
    /// Light runs that are missing until it is no more heavy.
    missing: AtomicU8,
}

impl Weight {
    pub(crate) fn is_heavy(&self) -> bool {
        self.missing.load(Ordering::Relaxed) > 0
    }

    /// Takes note of a run.
    pub(crate) fn record(&self, heavy: bool) {
        let missing = if heavy {
            LIGHT_RUNS
        } else {
            // Runs of the same script at the same time may count as one.
            self.missing.load(Ordering::Relaxed).saturating_sub(1)
        };
        self.missing.store(missing, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_heavy_until_it_has_been_light_for_a_while() {
        let weight = Weight::default();
        assert!(!weight.is_heavy());
        for run in 0..3 {
            weight.record(true);
            for _ in 1..LIGHT_RUNS {
                weight.record(false);
                assert!(weight.is_heavy(), "run {run}");
            }
        }
        weight.record(false);
        assert!(!weight.is_heavy());
        weight.record(false);
        assert!(!weight.is_heavy());
    }
}
