//! `/pools/{id}/members/{member}/load`: how busy a member is, for `shed-load`.

use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{Body, IdPair};
use crate::state::AppState;
use axum::extract::State;
use axum::http::StatusCode;
use gslb_api_types::model::{MemberId, PoolId};
use gslb_api_types::{ErrorBody, LoadDraft};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(put, delete))
}

/// Tells the load of a member, in the unit of its watermarks. It counts from the next query on, for `ttl` seconds or
/// until the next load; it is live state of this node, which a restart forgets.
#[utoipa::path(put, path = "/pools/{id}/members/{member}/load", tag = "members", operation_id = "putLoad",
    params(("id" = String, Path), ("member" = String, Path)), request_body = LoadDraft,
    responses((status = 204), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn put(
    State(state): State<AppState>,
    Caller(actor): Caller,
    IdPair(pool, member): IdPair<PoolId, MemberId>,
    Body(draft): Body<LoadDraft>,
) -> ApiResult<StatusCode> {
    state.ops.set_load(&actor, pool, member, draft)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Forgets the load of a member.
#[utoipa::path(delete, path = "/pools/{id}/members/{member}/load", tag = "members", operation_id = "deleteLoad",
    params(("id" = String, Path), ("member" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    IdPair(pool, member): IdPair<PoolId, MemberId>,
) -> ApiResult<StatusCode> {
    state.ops.clear_load(&actor, pool, member)?;
    Ok(StatusCode::NO_CONTENT)
}
