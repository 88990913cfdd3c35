//! What is to be probed, as values: the whole set is handed over at each change.

use gslb_engine::model::{HealthCheck, MemberId, PoolId};
use gslb_engine::slots::MemberSlot;
use std::net::SocketAddr;
use std::sync::Arc;

/// One member of one pool.
#[derive(Debug, Clone)]
pub struct Target {
    /// The member.
    pub member_id: MemberId,
    /// Its pool.
    pub pool_id: PoolId,
    /// The member's address and port. The check's port, when it names one, is used instead.
    pub address: SocketAddr,
    /// The pool's check; `None` is "not checked": the slot goes back to healthy and no probe is sent.
    pub check: Option<HealthCheck>,
    /// Where score and round-trip time are written.
    pub slot: Arc<MemberSlot>,
    /// State of before a restart: `true` is up. Counts only when the member was not a target before.
    pub last_known: Option<bool>,
}

/// What makes two probes the same: targets with equal keys share one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ProbeKey {
    /// Where the probe goes.
    pub(crate) address: SocketAddr,
    /// The check; its port is moved into `address`.
    pub(crate) check: HealthCheck,
}

impl ProbeKey {
    /// The key of a target that is checked.
    pub(crate) fn new(address: SocketAddr, mut check: HealthCheck) -> Self {
        let port = check.port.take().unwrap_or(address.port());
        Self {
            address: SocketAddr::new(address.ip().to_canonical(), port),
            check,
        }
    }
}
