//! Health probes: a state machine without clock or socket, the tcp and http probers, and the scheduler that runs them.
//!
//! [`Prober`] takes the whole wanted set of [`Target`]s at each change, writes scores and round-trip times straight
//! into the members' slots as probes end, and sends one [`HealthEvent`] for each transition. What an operator has
//! decided about a member (`adminState`) is not its business: it goes on probing, and the engine decides.

#![forbid(unsafe_code)]

mod clock;
mod error;
mod finder;
mod http;
mod names;
mod record;
mod scheduler;
mod state;
mod stats;
mod status;
mod table;
mod target;
mod tcp;
mod tls;
mod wanted;

pub use clock::{Clock, Moment, SystemClock};
pub use error::{Phase, ProbeError};
pub use names::{Host, NameStats, Names, Upstream, UpstreamError};
pub use scheduler::{Prober, ProberSettings};
pub use state::{Health, HealthState, RTT_SAMPLES, Thresholds, Transition};
pub use stats::ProbeStats;
pub use status::{HealthEvent, MemberStatus, ProbeResult, RECENT_RESULTS};
pub use target::Target;
