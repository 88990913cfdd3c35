//! What follows the snapshot and the probes: targets are handed over at each swap, transitions become events.

use super::metrics::ProbeSource;
use crate::views::health_state;
use arc_swap::ArcSwap;
use gslb_api_types::{EventKind, HealthState};
use gslb_core::events::EventBus;
use gslb_core::license::LicenseStatus;
use gslb_core::reconciler::Reconciler;
use gslb_core::store::{Store, StoreError};
use gslb_dns::{DnsStats, Notifier};
use gslb_engine::model::MemberId;
use gslb_engine::snapshot::{Snapshot, SnapshotCell};
use gslb_probe::{HealthEvent, Prober, Target};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

/// Transitions of one pool that are looked at to find its members' last states.
const LOOK_BACK: u32 = 500;

/// What was known about members before this start: `true` is up.
///
/// # Errors
/// The database fails.
pub async fn last_known(store: &Store, snapshot: &Snapshot) -> Result<HashMap<MemberId, bool>, StoreError> {
    let mut known = HashMap::new();
    for pool in snapshot.pools().filter(|p| p.health_check.is_some()) {
        // Newest first: the first one about a member is the last that happened.
        for event in store.history(pool.tenant_id, Some(pool.id), LOOK_BACK).await? {
            if let EventKind::Health { member_id, to, .. } = event.kind
                && to != HealthState::Unknown
            {
                known.entry(member_id).or_insert(to == HealthState::Up);
            }
        }
    }
    Ok(known)
}

/// The members of a snapshot as probe targets. Disabled members are as good as absent.
fn targets(snapshot: &Snapshot, known: &HashMap<MemberId, bool>) -> Vec<Target> {
    let of_pool = |pool| {
        let pool: &gslb_engine::snapshot::CompiledPool = pool;
        pool.members
            .iter()
            .filter(|m| m.stored.enabled)
            .filter_map(move |member| {
                let ip = member.stored.endpoint.ip()?;
                Some(Target {
                    member_id: member.stored.id,
                    pool_id: pool.id,
                    address: SocketAddr::new(ip, member.stored.port),
                    check: pool.health_check.clone(),
                    slot: Arc::clone(&member.slot),
                    last_known: known.get(&member.stored.id).copied(),
                })
            })
    };
    snapshot.pools().flat_map(of_pool).collect()
}

/// Hands the members of each new snapshot to the probes, until `stop`.
pub async fn snapshots(
    reconciler: Reconciler,
    cell: Arc<SnapshotCell>,
    prober: Arc<Prober>,
    known: HashMap<MemberId, bool>,
    stop: CancellationToken,
) {
    let mut status = reconciler.watch();
    let mut generation = None;
    loop {
        let now = status.borrow_and_update().generation;
        if generation != Some(now) {
            prober.set_targets(targets(&cell.load(), &known));
            generation = Some(now);
        }
        tokio::select! {
            changed = status.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
    }
}

/// Tells secondaries of new serials, until `stop`.
pub async fn serials(reconciler: Reconciler, mut notifier: Notifier, stop: CancellationToken) {
    let mut status = reconciler.watch();
    loop {
        status.borrow_and_update();
        notifier.look();
        tokio::select! {
            changed = status.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
    }
}

/// Holds DNS to the licence's queries a second, until `stop`.
pub async fn license(
    reconciler: Reconciler,
    license: Arc<ArcSwap<LicenseStatus>>,
    stats: Arc<DnsStats>,
    stop: CancellationToken,
) {
    let mut status = reconciler.watch();
    loop {
        status.borrow_and_update();
        stats.limit.set(license.load().max_rps());
        tokio::select! {
            changed = status.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
    }
}

/// Publishes and logs each transition, until the probes are gone.
pub async fn transitions(
    mut events: UnboundedReceiver<HealthEvent>,
    cell: Arc<SnapshotCell>,
    bus: EventBus,
    metrics: Arc<ProbeSource>,
) {
    while let Some(event) = events.recv().await {
        metrics.observe(&event);
        let (tenant_id, pool) = {
            let snapshot = cell.load();
            // A pool deleted between the probe and now has nobody left to tell.
            let Some(pool) = snapshot.pool(event.pool_id) else {
                continue;
            };
            (pool.tenant_id, pool.name.clone())
        };
        // A member's first good probe is no news: it counted as healthy before.
        let first = event.from == gslb_probe::HealthState::Unknown && event.to == gslb_probe::HealthState::Up;
        let address = event.address.ip().to_string();
        let (from, to) = (health_state(event.from), health_state(event.to));
        if first {
            tracing::debug!(%pool, member = %event.address, "a member was probed for the first time");
        } else {
            tracing::info!(
                %pool, member = %event.address, from = from.as_str(), to = to.as_str(), reason = event.reason,
                "a member's health has changed"
            );
        }
        let kind = EventKind::Health {
            pool_id: event.pool_id,
            pool,
            member_id: event.member_id,
            address,
            from,
            to,
            reason: event.reason,
        };
        bus.publish(tenant_id, kind);
    }
}
