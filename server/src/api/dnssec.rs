//! `/zones/{id}/dnssec`.

use super::answer::{read, updated};
use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{Body, Id, IdPair, Params, if_match};
use crate::state::AppState;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gslb_api_types::model::ZoneId;
use gslb_api_types::{DnssecDraft, DnssecKeyDraft, DnssecView, ErrorBody, RollQuery, Stored};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(get, put, delete))
        .routes(routes!(add_key))
        .routes(routes!(activate_key))
        .routes(routes!(remove_key))
}

/// How a zone is signed: its public keys, and the DS record for the zone above. 404 for a zone that is not signed.
#[utoipa::path(get, path = "/zones/{id}/dnssec", tag = "zones", operation_id = "getDnssec",
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<DnssecView>), (status = 404, body = ErrorBody)))]
async fn get(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(zone): Id<ZoneId>,
) -> ApiResult<Response> {
    Ok(read(&state.ops.get_dnssec(&actor, zone).await?))
}

/// Signs a zone with new keys. The same request again changes nothing; another mode or algorithm is 409 as long as there
/// are keys, because other keys would cut off everybody who has the DS of these.
#[utoipa::path(put, path = "/zones/{id}/dnssec", tag = "zones", operation_id = "putDnssec",
    params(("id" = String, Path)), request_body = DnssecDraft,
    responses((status = 200, body = Stored<DnssecView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn put(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(zone): Id<ZoneId>,
    headers: HeaderMap,
    Body(draft): Body<DnssecDraft>,
) -> ApiResult<Response> {
    let expected = if_match(&headers);
    Ok(updated(
        state.ops.put_dnssec(&actor, zone, expected, draft).await?,
    ))
}

/// Deletes the keys of a zone, which is signed no longer. Its DS must have left the zone above, and all caches, before.
#[utoipa::path(delete, path = "/zones/{id}/dnssec", tag = "zones", operation_id = "deleteDnssec",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 412, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(zone): Id<ZoneId>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state.ops.delete_dnssec(&actor, zone, if_match(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes another key and publishes it, as the first step of a roll-over. One that a DS can name signs the key set from now on,
/// together with the one in use.
#[utoipa::path(post, path = "/zones/{id}/dnssec/keys", tag = "zones", operation_id = "addDnssecKey",
    params(("id" = String, Path)), request_body = DnssecKeyDraft,
    responses((status = 200, body = Stored<DnssecView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn add_key(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(zone): Id<ZoneId>,
    headers: HeaderMap,
    Body(draft): Body<DnssecKeyDraft>,
) -> ApiResult<Response> {
    let expected = if_match(&headers);
    Ok(updated(state.ops.add_key(&actor, zone, expected, draft).await?))
}

/// Lets a published key sign, and retires the one that did: 409 before `safeAt`, unless forced.
#[utoipa::path(post, path = "/zones/{id}/dnssec/keys/{tag}/activate", tag = "zones", operation_id = "activateDnssecKey",
    params(("id" = String, Path), ("tag" = String, Path), RollQuery),
    responses((status = 200, body = Stored<DnssecView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody)))]
async fn activate_key(
    State(state): State<AppState>,
    Caller(actor): Caller,
    IdPair(zone, tag): IdPair<ZoneId, String>,
    headers: HeaderMap,
    Params(RollQuery { force }): Params<RollQuery>,
) -> ApiResult<Response> {
    let expected = if_match(&headers);
    Ok(updated(
        state
            .ops
            .activate_key(&actor, zone, &tag, expected, force)
            .await?,
    ))
}

/// Removes a retired key (409 before `safeAt`, unless forced), or a published one that is not wanted after all.
#[utoipa::path(delete, path = "/zones/{id}/dnssec/keys/{tag}", tag = "zones", operation_id = "removeDnssecKey",
    params(("id" = String, Path), ("tag" = String, Path), RollQuery),
    responses((status = 200, body = Stored<DnssecView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody)))]
async fn remove_key(
    State(state): State<AppState>,
    Caller(actor): Caller,
    IdPair(zone, tag): IdPair<ZoneId, String>,
    headers: HeaderMap,
    Params(RollQuery { force }): Params<RollQuery>,
) -> ApiResult<Response> {
    let expected = if_match(&headers);
    Ok(updated(
        state.ops.remove_key(&actor, zone, &tag, expected, force).await?,
    ))
}
