//! Pools and the live state of their members.

use crate::state::{AppState, unix_seconds};
use gslb_api_types::model::{AdminState, Pool, Warning};
use gslb_api_types::{HealthState, HostStatus, MemberStatus, PoolStatus, PoolView, ProbePoint, Stored};
use gslb_engine::host::HostAddresses;
use gslb_engine::snapshot::CompiledMember;

/// Nanoseconds as milliseconds, to the microsecond.
#[must_use]
pub fn millis(ns: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "microseconds of a probe fit a double")]
    let micros = (ns / 1_000) as f64;
    micros / 1_000.0
}

/// The API's view of a stored pool.
#[must_use]
pub fn pool_view(stored: Stored<Pool>) -> Stored<PoolView> {
    Stored {
        value: PoolView::from(&stored.value),
        revision: stored.revision,
        warnings: stored.warnings,
    }
}

/// Members whose region is meant for a country, so it seems, and will not be found as one.
#[must_use]
pub fn region_warnings(pool: &Pool) -> Vec<Warning> {
    let members = pool.members.iter().enumerate();
    let odd = members.filter(|(_, member)| {
        let by_facts = member.geo.as_ref().is_some_and(|geo| !geo.country.is_empty());
        !member.region.is_unknown() && member.region.country().is_none() && !by_facts
    });
    odd.map(|(at, member)| Warning {
        field: format!("members[{at}].region"),
        message: format!(
            "{}: the region `{}` is no two-letter country code in capitals, such as DE: Geo IP never matches it",
            member.endpoint, member.region
        ),
    })
    .collect()
}

/// The API's word for a probe's state.
#[must_use]
pub fn health_state(state: gslb_probe::HealthState) -> HealthState {
    match state {
        gslb_probe::HealthState::Unknown => HealthState::Unknown,
        gslb_probe::HealthState::Up => HealthState::Up,
        gslb_probe::HealthState::Down => HealthState::Down,
    }
}

fn host_status(known: &HostAddresses) -> HostStatus {
    let failure = known.failure.as_ref();
    HostStatus {
        addresses: known.all().iter().map(ToString::to_string).collect(),
        resolved_at: Some(known.resolved_at.saturating_mul(1000)).filter(|at| *at > 0),
        stale: failure.is_some(),
        failing_since: failure.map(|failure| failure.since.saturating_mul(1000)),
        error: failure.map(|failure| failure.message.clone()),
    }
}

/// Why a host name cannot be probed.
fn unresolved(member: &CompiledMember) -> Option<String> {
    let known = member.slot.addresses();
    let known = known
        .as_deref()
        .filter(|known| member.host.is_some() && known.all().is_empty())?;
    Some(match &known.failure {
        Some(failure) => format!("the host name cannot be looked up: {}", failure.message),
        None => "the host name has no addresses".to_owned(),
    })
}

fn member_status(state: &AppState, member: &CompiledMember) -> MemberStatus {
    let probed = state.prober.status(member.stored.id);
    let admin_state = member.stored.admin_state;
    let out = !member.stored.enabled || matches!(admin_state, AdminState::Down | AdminState::Drain);
    let traffic = !out && member.is_healthy();
    MemberStatus {
        member_id: member.stored.id,
        healthy: traffic,
        traffic,
        score: if out { 0.0 } else { member.score() },
        rtt_ms: member.slot.rtt_ns().map(millis),
        global_rtt_ms: None,
        state: probed
            .as_ref()
            .map_or(HealthState::Unknown, |p| health_state(p.state)),
        since: probed
            .as_ref()
            .filter(|p| p.state != gslb_probe::HealthState::Unknown)
            .map(|p| p.since_ms),
        last_error: match &probed {
            Some(probed) => probed.last_error.clone(),
            None => unresolved(member),
        },
        admin_state,
        answers: member.slot.answers(),
        load: member.slot.load(unix_seconds()),
        host: member
            .slot
            .addresses()
            .as_deref()
            .filter(|_| member.host.is_some())
            .map(host_status),
        recent: probed
            .map(|p| {
                p.recent
                    .iter()
                    .map(|r| ProbePoint {
                        at: r.at_ms,
                        rtt_ms: r.rtt_ns.map(millis),
                    })
                    .collect()
            })
            .unwrap_or_default(),
    }
}

/// Live state of a pool's members, by address.
#[must_use]
pub fn pool_status(state: &AppState, pool: &Pool) -> PoolStatus {
    let snapshot = state.snapshot.load();
    let Some(compiled) = snapshot.pool(pool.id) else {
        return PoolStatus::new();
    };
    compiled
        .members
        .iter()
        .map(|member| (member.stored.endpoint.to_string(), member_status(state, member)))
        .collect()
}
