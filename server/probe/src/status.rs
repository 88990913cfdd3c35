//! What is told about probed members: their present status, and the moments at which it changes.

use crate::state::HealthState;
use gslb_engine::model::{MemberId, PoolId};
use std::net::SocketAddr;

/// Results kept per target, for sparklines.
pub const RECENT_RESULTS: usize = 60;

/// One ended probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeResult {
    /// When it ended, Unix milliseconds.
    pub at_ms: u64,
    /// Its round-trip time, nanoseconds; `None` for a failure.
    pub rtt_ns: Option<u64>,
}

/// A checked member as its probes see it. What the operator has decided about it is not in here.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberStatus {
    /// The member.
    pub member_id: MemberId,
    /// Its pool.
    pub pool_id: PoolId,
    /// Where the probes go.
    pub address: SocketAddr,
    /// The state.
    pub state: HealthState,
    /// Since when, Unix milliseconds.
    pub since_ms: u64,
    /// Consecutive results like the last one.
    pub streak: u32,
    /// Why the last failed probe failed; `None` after a success.
    pub last_error: Option<String>,
    /// When the last probe ended, Unix milliseconds.
    pub last_probe_ms: Option<u64>,
    /// Health score, 0.0 to 1.0.
    pub score: f32,
    /// Mean round-trip time of the last five successes, nanoseconds.
    pub rtt_ns: Option<u64>,
    /// The last [`RECENT_RESULTS`] results, oldest first.
    pub recent: Vec<ProbeResult>,
}

/// A member changed its state. There is one event for each transition and member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthEvent {
    /// The member.
    pub member_id: MemberId,
    /// Its pool.
    pub pool_id: PoolId,
    /// Where the probes go.
    pub address: SocketAddr,
    /// State before.
    pub from: HealthState,
    /// State after.
    pub to: HealthState,
    /// When, Unix milliseconds.
    pub at_ms: u64,
    /// What happened, for people.
    pub reason: String,
    /// Time from the start of the first probe of the run that decided to the end of its last, milliseconds.
    pub detection_ms: u64,
}
