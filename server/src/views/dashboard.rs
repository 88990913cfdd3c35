//! The dashboard.

use crate::state::AppState;
use gslb_api_types::model::{Actor, Permission};
use gslb_api_types::{AuditEntry, Dashboard, DownMember, Event, EventKind, ListQuery};
use gslb_core::OpError;
use gslb_core::store::AuditFilter;
use std::cmp::Reverse;

/// Events that the dashboard shows.
const EVENTS: u32 = 20;

/// What the dashboard shows of the actor's tenant; the query rate is the node's, and is there for who may see it.
///
/// # Errors
/// A missing permission; the database fails.
pub async fn dashboard(state: &AppState, actor: &Actor) -> Result<Dashboard, OpError> {
    if !actor.may(Permission::ServicesRead) {
        return Err(OpError::Forbidden(Permission::ServicesRead));
    }
    let mut events = state.ops.history(actor, None, EVENTS).await?;
    if actor.may(Permission::AuditRead) {
        let last = AuditFilter {
            limit: Some(EVENTS),
            ..AuditFilter::default()
        };
        let trail = state.ops.list_audit(actor, &last).await?;
        events.extend(trail.items.into_iter().map(change));
        events.sort_by_key(|event| Reverse(event.at));
        events.truncate(EVENTS as usize);
    }
    let zones = state
        .ops
        .list_zones(
            actor,
            &ListQuery {
                limit: Some(1),
                ..ListQuery::default()
            },
        )
        .await?;
    let snapshot = state.snapshot.load();
    let mine = actor.tenant_id;
    let mut view = Dashboard {
        rate: match state.ops.may_see_rate(actor).await? {
            true => state.rate.points(),
            false => Vec::new(),
        },
        services: count(snapshot.services().filter(|s| s.tenant_id == mine)),
        pools: count(snapshot.pools().filter(|p| p.tenant_id == mine)),
        zones: zones.total,
        members_healthy: 0,
        members: 0,
        down: Vec::new(),
        events,
        node: state.node_id.clone(),
        uptime: state.started.elapsed().as_secs(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    for pool in snapshot.pools().filter(|p| p.tenant_id == mine) {
        for member in pool.members.iter().filter(|m| m.stored.enabled) {
            view.members += 1;
            if member.is_healthy() {
                view.members_healthy += 1;
                continue;
            }
            let probed = state.prober.status(member.stored.id);
            view.down.push(DownMember {
                pool_id: pool.id,
                pool: pool.name.clone(),
                member_id: member.stored.id,
                address: member.stored.endpoint.to_string(),
                since: probed.as_ref().map(|p| p.since_ms),
                error: probed.and_then(|p| p.last_error),
            });
        }
    }
    view.down
        .sort_by(|a, b| (&a.pool, &a.address).cmp(&(&b.pool, &b.address)));
    Ok(view)
}

/// A change out of the audit trail, as it went through the stream when it was made.
fn change(entry: AuditEntry) -> Event {
    Event {
        id: entry.revision,
        at: entry.at,
        tenant_id: entry.tenant_id,
        kind: EventKind::Change {
            object: entry.object,
            object_id: entry.object_id,
            name: entry.name,
            action: entry.action,
            actor: entry.actor,
        },
    }
}

fn count(items: impl Iterator) -> u64 {
    u64::try_from(items.count()).unwrap_or(u64::MAX)
}
