//! Who would get what from a service that is not stored, or not yet as a form has it: each client is traced as the query
//! tracer does, against the pool that is in force.

use super::trace::{ask, way};
use crate::state::{AppState, unix_seconds};
use gslb_api_types::model::{
    Actor, ErrorCode, FilterName, Permission, Service, ServiceDraft, ServiceId, ValidationError,
};
use gslb_api_types::{Trace, TraceRequest};
use gslb_core::OpError;
use gslb_core::draft::Proposal;
use gslb_engine::query::Family;
use std::sync::Arc;

/// Most clients of one request.
const CLIENTS: usize = 8;
/// Stands for a name that is not given yet.
const NAMELESS: &str = "new.invalid.";

/// Whether a problem is one of what decides who gets what.
fn decides(problem: &ValidationError) -> bool {
    ["poolId", "algorithm", "filterChain"]
        .iter()
        .any(|field| problem.field.starts_with(field))
}

/// The service that a draft makes. What is wrong and does not decide who gets what takes its default.
fn service(draft: &ServiceDraft, id: ServiceId, actor: &Actor) -> Result<Service, Vec<ValidationError>> {
    let mut draft = ServiceDraft {
        name: Some("tried".to_owned()),
        ..draft.clone()
    };
    let check = |draft: &ServiceDraft| draft.validate(id, actor.tenant_id, FilterName::RoundRobin);
    let Err(problems) = check(&draft) else {
        return check(&draft);
    };
    for problem in problems {
        let field = problem.field.split('[').next().unwrap_or_default();
        match field {
            "domain" => draft.domain = Some(NAMELESS.to_owned()),
            "ttl" => draft.ttl = None,
            "maxAnswers" => draft.max_answers = None,
            "fallback" => draft.fallback = None,
            _ => {}
        }
    }
    check(&draft)
}

/// Traces a query of each client to a service as a draft has it; `id` is that of the stored one, whose scripts may stay
/// as they are whoever asks.
///
/// # Errors
/// A missing permission; a pool that is not there; everything that is wrong with the chain; a chain above the tier.
pub async fn try_service(
    state: &AppState,
    actor: &Actor,
    id: Option<ServiceId>,
    proposal: Proposal<ServiceDraft>,
    clients: &[String],
) -> Result<Vec<Result<Trace, OpError>>, OpError> {
    if !actor.may(Permission::TraceRead) {
        return Err(OpError::Forbidden(Permission::TraceRead));
    }
    let service = checked(state, actor, id, proposal).await?;
    let snapshot = state.snapshot.load_full();
    let compiled = snapshot
        .pool(service.pool_id)
        .filter(|pool| pool.tenant_id == actor.tenant_id)
        .and_then(|_| snapshot.proposed(&service))
        .ok_or_else(|| {
            let message = format!("there is no pool `{}`", service.pool_id);
            OpError::invalid("poolId", ErrorCode::NotFound, message)
        })?;
    let asked: Vec<_> = clients
        .iter()
        .take(CLIENTS)
        .map(|client| request(client))
        .collect();
    let (compiled, now) = (Arc::new(compiled), unix_seconds());
    let run = move || {
        let told = asked.into_iter().map(|way| {
            let way = way.map_err(OpError::Invalid)?;
            let routed = snapshot.route(&compiled);
            Ok(ask(
                &snapshot,
                routed.ok_or_else(|| OpError::not_found("pool", service.pool_id))?,
                &service.domain,
                way,
                Family::V4,
                now,
                None,
            ))
        });
        told.collect()
    };
    // Scripts take milliseconds.
    tokio::task::spawn_blocking(run).await.map_err(OpError::internal)
}

/// The service of a draft that somebody wants to try.
///
/// # Errors
/// Everything that is wrong with what decides who gets what; a chain above the tier; a script without the permission.
pub(super) async fn checked(
    state: &AppState,
    actor: &Actor,
    id: Option<ServiceId>,
    Proposal { draft, mut problems }: Proposal<ServiceDraft>,
) -> Result<Service, OpError> {
    problems.retain(decides);
    let chain = draft.filter_chain.as_deref().unwrap_or_default();
    state
        .ops
        .gate_texts(actor, chain, draft.algorithm.as_deref(), id)
        .await?;
    let nobody = ServiceId(uuid::Uuid::nil());
    let service = service(&draft, id.unwrap_or(nobody), actor)
        .map_err(|list| problems.extend(list.into_iter().filter(decides)))
        .ok();
    problems.extend(state.ops.script_errors(actor, "filterChain", chain).await);
    match service {
        Some(service) if problems.is_empty() => Ok(service),
        _ => Err(OpError::Invalid(problems)),
    }
}

fn request(client: &str) -> Result<super::trace::Way, Vec<ValidationError>> {
    way(&TraceRequest {
        client: Some(client.to_owned()),
        ..TraceRequest::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor() -> Actor {
        Actor::system()
    }

    #[test]
    fn what_does_not_decide_takes_its_default() {
        let id = ServiceId(uuid::Uuid::nil());
        let draft = ServiceDraft {
            domain: Some("two..dots".to_owned()),
            ttl: Some(-4),
            pool_id: Some(uuid::Uuid::nil().to_string()),
            filter_chain: Some(vec!["geo-ip".to_owned()]),
            ..ServiceDraft::default()
        };
        let tried = service(&draft, id, &actor()).unwrap();
        assert_eq!(tried.domain.to_string(), NAMELESS);
        let wrong = ServiceDraft {
            filter_chain: Some(vec!["nonsense".to_owned()]),
            ..draft
        };
        let problems = service(&wrong, id, &actor()).unwrap_err();
        assert!(
            problems.iter().any(|problem| problem.field == "filterChain[0]"),
            "{problems:?}"
        );
    }
}
