//! Time as a parameter, so that scheduling is tested without waiting.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// One moment on both clocks: the one that intervals are measured by, and the one that people read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Monotonic time.
    pub instant: Instant,
    /// Milliseconds since 1970-01-01 UTC.
    pub unix_ms: u64,
}

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Moment;
}

/// The clocks of the machine. The monotonic one is the runtime's, which sleeps are measured by.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment {
            instant: tokio::time::Instant::now().into_std(),
            unix_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
