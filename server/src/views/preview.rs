//! What a change to a service would do, told by its recent queries: each is answered once more, as the service is and as it
//! would be, by the code that answers on the wire.

use super::tried;
use crate::state::AppState;
use gslb_api_types::model::{
    Actor, ErrorCode, FilterName, Permission, Pool, Service, ServiceDraft, ServiceId, ValidationError,
};
use gslb_api_types::{Preview, PreviewRequest, SignalsDraft};
use gslb_core::OpError;
use gslb_core::draft::Proposal;
use gslb_core::preview::compare;
use gslb_engine::environment::Signals;
use gslb_engine::snapshot::Snapshot;
use std::sync::Arc;

/// What a service is compared with.
struct Change {
    service: Service,
    pool: Option<Pool>,
    signals: Option<Signals>,
}

/// Previews a change to a stored service.
///
/// # Errors
/// A missing permission; no such service; everything that is wrong with the change; a chain above the tier.
pub async fn preview(
    state: &AppState,
    actor: &Actor,
    id: ServiceId,
    proposal: impl Into<Proposal<PreviewRequest>>,
) -> Result<Preview, OpError> {
    require(actor)?;
    let stored = state.ops.get_service(actor, id).await?.value;
    let proposal = proposal.into();
    let PreviewRequest {
        algorithm,
        filter_chain,
        pool_id,
        max_answers,
        fallback,
        pool,
        signals,
    } = proposal.draft.clone();
    let given = algorithm.as_deref().is_some_and(|text| !text.is_empty())
        || filter_chain.as_ref().is_some_and(|chain| !chain.is_empty());
    let mut draft = ServiceDraft::from(&stored);
    if given {
        let chain = filter_chain.as_deref().unwrap_or_default();
        state
            .ops
            .gate_texts(actor, chain, algorithm.as_deref(), Some(id))
            .await?;
        (draft.algorithm, draft.filter_chain) = (algorithm, filter_chain);
    }
    draft.pool_id = pool_id.or(draft.pool_id);
    draft.max_answers = max_answers.or(draft.max_answers);
    draft.fallback = fallback.or(draft.fallback);
    let mut errors = Vec::new();
    let service = draft
        .validate(id, actor.tenant_id, FilterName::RoundRobin)
        .map_err(|list| errors.extend(list))
        .ok();
    if given {
        let chain = draft.filter_chain.as_deref().unwrap_or_default();
        errors.extend(state.ops.script_errors(actor, "filterChain", chain).await);
    }
    let snapshot = state.snapshot.load_full();
    let signals = signals.and_then(|draft| signal_table(&draft, &snapshot, &mut errors));
    let mut changed = None;
    if let Some(service) = &service
        && (pool.is_some() || signals.is_some() || service.pool_id != stored.pool_id)
    {
        match state
            .ops
            .pool_as_proposed(actor, service.pool_id, pool.as_ref())
            .await
        {
            Ok(pool) => changed = Some(pool),
            Err(OpError::NotFound { .. }) => errors.push(no_pool(service)),
            Err(OpError::Invalid(list)) => errors.extend(list.into_iter().map(|e| e.within("pool"))),
            Err(other) => return Err(other),
        }
    }
    let errors = proposal.with(errors);
    let (Some(service), true) = (service, errors.is_empty()) else {
        return Err(OpError::Invalid(errors));
    };
    let change = Change {
        service,
        pool: changed,
        signals,
    };
    run(state, snapshot, id, change).await
}

/// Previews a service as a form has it; what does not decide who gets what and is wrong takes its default.
///
/// # Errors
/// As for [`preview`].
pub async fn preview_draft(
    state: &AppState,
    actor: &Actor,
    id: ServiceId,
    proposal: Proposal<ServiceDraft>,
) -> Result<Preview, OpError> {
    require(actor)?;
    state.ops.get_service(actor, id).await?;
    let service = tried::checked(state, actor, Some(id), proposal).await?;
    let snapshot = state.snapshot.load_full();
    let pool = snapshot.pool(service.pool_id);
    if pool.is_none_or(|pool| pool.tenant_id != actor.tenant_id) {
        return Err(OpError::Invalid(vec![no_pool(&service)]));
    }
    let change = Change {
        service,
        pool: None,
        signals: None,
    };
    run(state, snapshot, id, change).await
}

fn require(actor: &Actor) -> Result<(), OpError> {
    if actor.may(Permission::TraceRead) {
        Ok(())
    } else {
        Err(OpError::Forbidden(Permission::TraceRead))
    }
}

fn no_pool(service: &Service) -> ValidationError {
    let message = format!("there is no pool `{}`", service.pool_id);
    ValidationError::new("poolId", ErrorCode::NotFound, message)
}

/// The signals of a draft over the configured ones.
fn signal_table(
    draft: &SignalsDraft,
    snapshot: &Snapshot,
    errors: &mut Vec<ValidationError>,
) -> Option<Signals> {
    let mut signals = snapshot.signals().clone();
    let known = errors.len();
    let mut refuse = |field: String, message: &str| {
        errors.push(ValidationError::new(field, ErrorCode::OutOfRange, message));
    };
    if let Some(zones) = &draft.zones {
        for (zone, _) in zones
            .iter()
            .filter(|(_, value)| !value.is_finite() || **value < 0.0)
        {
            refuse(format!("signals.zones.{zone}"), "must be 0 or more");
        }
        signals.zones.clone_from(zones);
    }
    if let Some(weight) = draft.weight {
        if !(0.0..=1.0).contains(&weight) {
            refuse("signals.weight".to_owned(), "must be 0 to 1");
        }
        signals.weight = weight;
    }
    (errors.len() == known).then_some(signals)
}

async fn run(
    state: &AppState,
    snapshot: Arc<Snapshot>,
    id: ServiceId,
    change: Change,
) -> Result<Preview, OpError> {
    let recent = &state.dns.recent;
    let (queries, recording) = (recent.of(id), recent.is_on());
    let work = move || {
        let stored = snapshot.service(id)?;
        let Change {
            service,
            pool,
            signals,
        } = change;
        let (proposed, service) = snapshot.proposal(&service, pool.as_ref(), signals.as_ref())?;
        let routed = proposed.route(&service)?;
        let mut preview = compare([&snapshot, &proposed], [stored, routed], &queries);
        preview.recording = recording;
        Some(preview)
    };
    // Scripts take milliseconds.
    let done = tokio::task::spawn_blocking(work)
        .await
        .map_err(OpError::internal)?;
    // Deleted in this moment, or not in force because the last snapshot could not be made.
    done.ok_or_else(|| OpError::not_found("service", id))
}
