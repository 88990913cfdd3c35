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
use gslb_engine::model::{CheckKind, HealthCheck, MemberId};
use gslb_engine::snapshot::{CompiledMember, CompiledPool, Snapshot, SnapshotCell};
use gslb_probe::{HealthEvent, Host, Names, Prober, Target};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
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

/// How often services are told how many of their queries are kept.
const SAMPLING: Duration = Duration::from_secs(5);

/// Tells each service how many of its queries are kept, for ever.
pub async fn sampling(cell: Arc<SnapshotCell>, stats: Arc<DnsStats>) {
    let mut timer = tokio::time::interval(SAMPLING);
    timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        timer.tick().await;
        stats.recent.adapt(&cell.load_full());
    }
}

/// The members of a snapshot that are host names.
fn hosts(snapshot: &Snapshot) -> Vec<Host> {
    let members = snapshot.pools().flat_map(|pool| pool.members.iter());
    members
        .filter(|member| member.stored.enabled)
        .filter_map(|member| {
            Some(Host {
                name: member.stored.endpoint.hostname()?.clone(),
                slot: Arc::clone(&member.slot),
            })
        })
        .collect()
}

/// Where a member is probed. A host name is at its first address; one that leads nowhere, as far as is known, is down.
fn address(member: &CompiledMember, checked: bool) -> Option<IpAddr> {
    if let Some(ip) = member.ip {
        return Some(ip);
    }
    let known = member.slot.addresses();
    let first = known.as_ref()?.all().first().copied();
    if first.is_none() && checked {
        member.slot.set_score(0.0);
    }
    first
}

/// The pool's check; a host name asks for itself unless the check says otherwise.
fn check(pool: &CompiledPool, member: &CompiledMember) -> Option<HealthCheck> {
    let mut check = pool.health_check.clone()?;
    if let (CheckKind::Http(http), Some(name)) = (&mut check.kind, member.stored.endpoint.hostname())
        && http.host.is_none()
    {
        http.host = Some(name.as_str().trim_end_matches('.').to_owned());
    }
    Some(check)
}

/// The members of a snapshot as probe targets. Disabled members are as good as absent.
fn targets(snapshot: &Snapshot, known: &HashMap<MemberId, bool>) -> Vec<Target> {
    let of_pool = |pool| {
        let pool: &CompiledPool = pool;
        pool.members
            .iter()
            .filter(|m| m.stored.enabled)
            .filter_map(move |member| {
                let ip = address(member, pool.health_check.is_some())?;
                Some(Target {
                    member_id: member.stored.id,
                    pool_id: pool.id,
                    address: SocketAddr::new(ip, member.stored.port),
                    check: check(pool, member),
                    slot: Arc::clone(&member.slot),
                    last_known: known.get(&member.stored.id).copied(),
                })
            })
    };
    snapshot.pools().flat_map(of_pool).collect()
}

/// Hands the members of each new snapshot to the probes and to whoever looks host names up, until `stop`.
pub async fn snapshots(
    reconciler: Reconciler,
    cell: Arc<SnapshotCell>,
    prober: Arc<Prober>,
    names: Arc<Names>,
    known: HashMap<MemberId, bool>,
    stop: CancellationToken,
) {
    let (mut status, mut addresses) = (reconciler.watch(), names.changes());
    // The members are gone through when a pool has changed, and not for each change of something else.
    let mut seen: Option<(Arc<()>, u64)> = None;
    loop {
        status.borrow_and_update();
        let looked_up = *addresses.borrow_and_update();
        let mark = Arc::clone(cell.load().pools_mark());
        let same_pools = seen
            .as_ref()
            .is_some_and(|(before, _)| Arc::ptr_eq(before, &mark));
        if !same_pools {
            names.set_hosts(hosts(&cell.load()));
        }
        if !same_pools || seen.is_none_or(|(_, before)| before != looked_up) {
            prober.set_targets(targets(&cell.load(), &known));
        }
        seen = Some((mark, looked_up));
        tokio::select! {
            changed = status.changed() => if changed.is_err() { return },
            changed = addresses.changed() => if changed.is_err() { return },
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
        let (tenant_id, pool, host) = {
            let snapshot = cell.load();
            // A pool deleted between the probe and now has nobody left to tell.
            let Some(pool) = snapshot.pool(event.pool_id) else {
                continue;
            };
            let mut members = pool.members.iter();
            let member = members.find(|member| member.stored.id == event.member_id);
            let host = member.and_then(|member| member.stored.endpoint.hostname().cloned());
            (pool.tenant_id, pool.name.clone(), host)
        };
        // A member's first good probe is no news: it counted as healthy before.
        let first = event.from == gslb_probe::HealthState::Unknown && event.to == gslb_probe::HealthState::Up;
        let address = host.map_or_else(|| event.address.ip().to_string(), String::from);
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
