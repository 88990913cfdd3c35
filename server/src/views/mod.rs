//! What people and programs look at: live state put together from the snapshot, the probes and the counters.
//!
//! REST handlers and the console's backend both read these, so that they cannot disagree.

mod dashboard;
mod pool;
mod preview;
mod trace;
mod tried;

pub use dashboard::dashboard;
pub use pool::{health_state, pool_status, pool_view, region_warnings};
pub use preview::{preview, preview_draft};
pub use trace::trace;
pub use tried::try_service;
