//! Everything of `gslbd` behind its sockets: configuration, database, use cases, accounts, licence, geo databases,
//! and the one task that compiles and swaps the routing snapshot. Knows no HTTP, so that most tests need only this.

#![forbid(unsafe_code)]

pub mod auth;
pub mod clock;
pub mod config;
pub mod cookies;
mod dnssec;
pub mod draft;
pub mod error;
pub mod events;
pub mod geo;
pub mod license;
pub mod mapfile;
pub mod metrics;
pub mod mmdb_writer;
pub mod ops;
pub mod preview;
pub mod reconciler;
pub mod recovery;
pub mod start;
pub mod store;
mod tsig;
pub mod watch;

pub use error::{Chain, OpError, Written};
pub use ops::Ops;
pub use start::Core;
