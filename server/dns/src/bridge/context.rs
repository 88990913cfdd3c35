//! What all transports share, and what messages that came together are answered from.

use super::Bridge;
use super::policy::Policy;
use crate::proxy::Proxies;
use crate::settings::DnsSettings;
use crate::stats::{DnsStats, Slot, Transport};
use gslb_engine::snapshot::{Snapshot, SnapshotCell};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Semaphore;

/// Bridges that are kept for the connections' next queries.
const KEPT: usize = 16;

/// Unix time, seconds.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// What all transports share.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) cell: Arc<SnapshotCell>,
    pub(crate) stats: Arc<DnsStats>,
    /// Who says in whose name messages come.
    pub(crate) proxies: Option<Proxies>,
    pub(super) policy: Arc<Policy>,
    /// Where the microseconds of all threads begin.
    begun: Instant,
    idle: Mutex<Vec<Bridge>>,
    /// Room for transfers of zones.
    pub(super) transfers: Arc<Semaphore>,
}

impl Context {
    pub(crate) fn new(cell: Arc<SnapshotCell>, stats: Arc<DnsStats>, settings: &DnsSettings) -> Self {
        Self {
            cell,
            stats,
            proxies: Proxies::new(&settings.proxies),
            policy: Arc::new(Policy::new(settings)),
            begun: Instant::now(),
            idle: Mutex::default(),
            transfers: Arc::new(Semaphore::new(settings.transfers)),
        }
    }

    /// The moment in microseconds, for [`Moment`].
    pub(crate) fn micros(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.begun).as_micros()).unwrap_or(u64::MAX)
    }

    /// A bridge for some queries of one connection: connections are many, and its memory is not small.
    pub(crate) fn lend(&self, transport: Transport) -> Bridge {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut bridge = kept.unwrap_or_else(|| Bridge::new(self, transport));
        bridge.transport = transport;
        bridge
    }

    pub(crate) fn give_back(&self, bridge: Bridge) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(bridge);
        }
    }
}

/// What messages that came together are answered from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'m> {
    /// Counters of the thread.
    pub(crate) slot: &'m Slot,
    pub(crate) snapshot: &'m Snapshot,
    /// Unix time, seconds.
    pub(crate) now: u64,
    /// Microseconds since any moment that is the same for all threads.
    pub(crate) micros: u64,
}

impl<'m> Moment<'m> {
    /// Now, for messages of streams, which are under no limit of replies.
    pub(crate) fn of_stream(slot: &'m Slot, snapshot: &'m Snapshot) -> Self {
        Self {
            slot,
            snapshot,
            now: unix_now(),
            micros: 0,
        }
    }
}
