//! The routing engine of Nexus GSLB.
//!
//! Pure Rust, also for the browser: the stored [`model`] with its validation, the compiled [`snapshot`], the filter
//! [`chain`] and its [`trace`]. There is no clock, randomness, file or socket in here: they come in as values.

#![forbid(unsafe_code)]
// No input may stop the daemon.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

pub mod chain;
pub mod decision;
pub mod environment;
pub mod geo;
mod hash;
pub mod host;
pub mod mapfile;
pub mod model;
pub mod nearest;
pub mod query;
pub mod ranges;
pub mod replay;
pub mod sampling;
pub mod script;
pub mod slots;
pub mod snapshot;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trace;
