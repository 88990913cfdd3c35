//! `/zones`.

use super::answer::{created, read, updated};
use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{Body, Id, Params, Patch, if_match};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gslb_api_types::model::{ZoneDraft, ZoneId};
use gslb_api_types::{ErrorBody, ListQuery, Page, Stored, ZoneView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, patch, delete))
}

/// Zones of the tenant, in pages.
#[utoipa::path(get, path = "/zones", tag = "zones", operation_id = "listZones", params(ListQuery),
    responses((status = 200, body = Page<Stored<ZoneView>>)))]
async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<Stored<ZoneView>>>> {
    Ok(Json(state.ops.list_zones(&actor, &query).await?))
}

/// Makes a zone. The serial is kept by the server.
#[utoipa::path(post, path = "/zones", tag = "zones", operation_id = "createZone",
    request_body = ZoneDraft,
    responses((status = 201, body = Stored<ZoneView>),
        (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn create(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(draft): Body<ZoneDraft>,
) -> ApiResult<Response> {
    let written = state.ops.create_zone(&actor, draft).await?;
    Ok(created(&format!("/api/v1/zones/{}", written.value.id), written))
}

/// One zone, with its revision as `ETag`.
#[utoipa::path(get, path = "/zones/{id}", tag = "zones", operation_id = "getZone",
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<ZoneView>), (status = 404, body = ErrorBody)))]
async fn get(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<ZoneId>,
) -> ApiResult<Response> {
    Ok(read(&state.ops.get_zone(&actor, id).await?))
}

/// Replaces a zone; absent fields take their defaults. `If-Match` guards against lost updates.
#[utoipa::path(put, path = "/zones/{id}", tag = "zones", operation_id = "replaceZone",
    params(("id" = String, Path)), request_body = ZoneDraft,
    responses((status = 200, body = Stored<ZoneView>),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 412, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn replace(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<ZoneId>,
    headers: HeaderMap,
    Body(draft): Body<ZoneDraft>,
) -> ApiResult<Response> {
    Ok(updated(
        state
            .ops
            .replace_zone(&actor, id, if_match(&headers), draft)
            .await?,
    ))
}

/// Changes the fields that are sent (RFC 7396: null takes a field back to its default).
#[utoipa::path(patch, path = "/zones/{id}", tag = "zones", operation_id = "patchZone",
    params(("id" = String, Path)), request_body = ZoneDraft,
    responses((status = 200, body = Stored<ZoneView>),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 412, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn patch(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<ZoneId>,
    headers: HeaderMap,
    Patch(patch): Patch,
) -> ApiResult<Response> {
    Ok(updated(
        state
            .ops
            .patch_zone(&actor, id, if_match(&headers), &patch)
            .await?,
    ))
}

/// Deletes a zone with its records. Services in it stay, and are answered with a SOA of their own.
#[utoipa::path(delete, path = "/zones/{id}", tag = "zones", operation_id = "deleteZone",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 412, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<ZoneId>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state.ops.delete_zone(&actor, id, if_match(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}
