//! `/zones/{id}/records`.

use super::answer::{created, read, updated};
use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{Body, Id, IdPair, Params, Patch, if_match};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gslb_api_types::model::{RecordDraft, RecordId, ZoneId};
use gslb_api_types::{ErrorBody, ListQuery, Page, RecordView, Stored};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, patch, delete))
}

/// Static records of a zone, in pages: a set is all records of one type at one name. SOA and the name servers of the
/// zone itself are part of the zone. `search` looks at name, type and data; `sort` takes `name` (from the zone's own
/// name down) and `type`.
#[utoipa::path(get, path = "/zones/{id}/records", tag = "zones", operation_id = "listRecords",
    params(("id" = String, Path), ListQuery),
    responses((status = 200, body = Page<Stored<RecordView>>), (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(zone): Id<ZoneId>,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<Stored<RecordView>>>> {
    Ok(Json(state.ops.list_records(&actor, zone, &query).await?))
}

/// Adds a record set. 409 when it collides: with a CNAME at its name, with a service that answers for the name's
/// addresses, with a delegation above it, or when an alias would lead back to itself.
#[utoipa::path(post, path = "/zones/{id}/records", tag = "zones", operation_id = "createRecord",
    params(("id" = String, Path)), request_body = RecordDraft,
    responses((status = 201, body = Stored<RecordView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn create(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(zone): Id<ZoneId>,
    Body(draft): Body<RecordDraft>,
) -> ApiResult<Response> {
    let written = state.ops.create_record(&actor, zone, draft).await?;
    let location = format!("/api/v1/zones/{zone}/records/{}", written.value.id);
    Ok(created(&location, written))
}

/// One record set, with its revision as `ETag`.
#[utoipa::path(get, path = "/zones/{id}/records/{record}", tag = "zones", operation_id = "getRecord",
    params(("id" = String, Path), ("record" = String, Path)),
    responses((status = 200, body = Stored<RecordView>), (status = 404, body = ErrorBody)))]
async fn get(
    State(state): State<AppState>,
    Caller(actor): Caller,
    IdPair(zone, id): IdPair<ZoneId, RecordId>,
) -> ApiResult<Response> {
    Ok(read(&state.ops.get_record(&actor, zone, id).await?))
}

/// Replaces a record set; absent fields take their defaults. `If-Match` guards against lost updates.
#[utoipa::path(put, path = "/zones/{id}/records/{record}", tag = "zones", operation_id = "replaceRecord",
    params(("id" = String, Path), ("record" = String, Path)), request_body = RecordDraft,
    responses((status = 200, body = Stored<RecordView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn replace(
    State(state): State<AppState>,
    Caller(actor): Caller,
    IdPair(zone, id): IdPair<ZoneId, RecordId>,
    headers: HeaderMap,
    Body(draft): Body<RecordDraft>,
) -> ApiResult<Response> {
    let expected = if_match(&headers);
    Ok(updated(
        state
            .ops
            .replace_record(&actor, zone, id, expected, draft)
            .await?,
    ))
}

/// Changes the fields that are sent (RFC 7396): `{"ttl":60}`.
#[utoipa::path(patch, path = "/zones/{id}/records/{record}", tag = "zones", operation_id = "patchRecord",
    params(("id" = String, Path), ("record" = String, Path)), request_body = RecordDraft,
    responses((status = 200, body = Stored<RecordView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn patch(
    State(state): State<AppState>,
    Caller(actor): Caller,
    IdPair(zone, id): IdPair<ZoneId, RecordId>,
    headers: HeaderMap,
    Patch(patch): Patch,
) -> ApiResult<Response> {
    let expected = if_match(&headers);
    Ok(updated(
        state.ops.patch_record(&actor, zone, id, expected, &patch).await?,
    ))
}

/// Deletes a record set.
#[utoipa::path(delete, path = "/zones/{id}/records/{record}", tag = "zones", operation_id = "deleteRecord",
    params(("id" = String, Path), ("record" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 412, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    IdPair(zone, id): IdPair<ZoneId, RecordId>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state
        .ops
        .delete_record(&actor, zone, id, if_match(&headers))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
