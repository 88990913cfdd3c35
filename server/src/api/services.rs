//! `/services`.

use super::answer::{created, read, updated};
use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{Body, Id, Params, Patch, if_match};
use crate::state::AppState;
use crate::views;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gslb_api_types::model::{ServiceDraft, ServiceId};
use gslb_api_types::{
    ErrorBody, ListQuery, Page, Preview, PreviewRequest, ServiceDetail, ServiceRow, Stored,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, patch, delete))
        .routes(routes!(preview))
}

/// Services of the tenant, in pages.
#[utoipa::path(get, path = "/services", tag = "services", operation_id = "listServices", params(ListQuery),
    responses((status = 200, body = Page<ServiceRow>)))]
async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<ServiceRow>>> {
    Ok(Json(state.ops.service_rows(&actor, &query).await?))
}

/// Makes a service. A `filterChain` that is not empty wins over `algorithm` and needs tier pro.
#[utoipa::path(post, path = "/services", tag = "services", operation_id = "createService",
    request_body = ServiceDraft,
    responses((status = 201, body = Stored<ServiceDetail>), (status = 403, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn create(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(draft): Body<ServiceDraft>,
) -> ApiResult<Response> {
    let written = state.ops.create_service(&actor, draft).await?;
    let written = state.ops.service_detail(&actor, written).await?;
    Ok(created(
        &format!("/api/v1/services/{}", written.value.service.id),
        written,
    ))
}

/// One service, with its revision as `ETag`.
#[utoipa::path(get, path = "/services/{id}", tag = "services", operation_id = "getService",
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<ServiceDetail>), (status = 404, body = ErrorBody)))]
async fn get(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<ServiceId>,
) -> ApiResult<Response> {
    let stored = state.ops.get_service(&actor, id).await?;
    Ok(read(&state.ops.service_detail(&actor, stored).await?))
}

/// Replaces a service; absent fields take their defaults. `If-Match` guards against lost updates.
#[utoipa::path(put, path = "/services/{id}", tag = "services", operation_id = "replaceService",
    params(("id" = String, Path)), request_body = ServiceDraft,
    responses((status = 200, body = Stored<ServiceDetail>), (status = 403, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 412, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn replace(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<ServiceId>,
    headers: HeaderMap,
    Body(draft): Body<ServiceDraft>,
) -> ApiResult<Response> {
    let written = state
        .ops
        .replace_service(&actor, id, if_match(&headers), draft)
        .await?;
    Ok(updated(state.ops.service_detail(&actor, written).await?))
}

/// Changes the fields that are sent (RFC 7396: null takes a field back to its default).
#[utoipa::path(patch, path = "/services/{id}", tag = "services", operation_id = "patchService",
    params(("id" = String, Path)), request_body = ServiceDraft,
    responses((status = 200, body = Stored<ServiceDetail>), (status = 403, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 412, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn patch(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<ServiceId>,
    headers: HeaderMap,
    Patch(patch): Patch,
) -> ApiResult<Response> {
    let written = state
        .ops
        .patch_service(&actor, id, if_match(&headers), &patch)
        .await?;
    Ok(updated(state.ops.service_detail(&actor, written).await?))
}

/// Deletes a service: its name is absent from then on.
#[utoipa::path(delete, path = "/services/{id}", tag = "services", operation_id = "deleteService",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 412, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<ServiceId>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state.ops.delete_service(&actor, id, if_match(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What a change would do: recent queries to the service, answered once more as it is and as it would be. Nothing is stored
/// or counted, and an empty request tells where the queries go now.
#[utoipa::path(post, path = "/services/{id}/preview", tag = "services", operation_id = "previewService",
    params(("id" = String, Path)), request_body = PreviewRequest,
    responses((status = 200, body = Preview), (status = 403, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn preview(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<ServiceId>,
    Body(request): Body<PreviewRequest>,
) -> ApiResult<Json<Preview>> {
    Ok(Json(views::preview(&state, &actor, id, request).await?))
}
