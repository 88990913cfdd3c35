//! What people and programs look at: live state put together from the snapshot, the probes and the counters.
//!
//! REST handlers and the console's backend both read these, so that they cannot disagree.

mod dashboard;
mod pool;
mod trace;

pub use dashboard::dashboard;
pub use pool::{health_state, pool_status, pool_view};
pub use trace::trace;
