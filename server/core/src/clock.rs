//! Time of day as a value: use cases take it from here, so that tests can set it.

use std::fmt;
use std::sync::Arc;
use time::OffsetDateTime;

/// Where the time of day comes from.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> OffsetDateTime + Send + Sync>);

impl Clock {
    /// The clock of the operating system, in UTC.
    #[must_use]
    pub fn system() -> Self {
        Self(Arc::new(OffsetDateTime::now_utc))
    }

    /// A clock that tells what `source` says.
    pub fn from_fn(source: impl Fn() -> OffsetDateTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(source))
    }

    /// The time, cut to whole milliseconds so that it survives the database unchanged.
    #[must_use]
    pub fn now(&self) -> OffsetDateTime {
        from_millis(to_millis((self.0)()))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// Unix time in milliseconds, as the database keeps it.
#[must_use]
pub fn to_millis(time: OffsetDateTime) -> i64 {
    i64::try_from(time.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

/// The inverse of [`to_millis`]. Values outside the years that `time` knows become the epoch.
#[must_use]
pub fn from_millis(millis: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
