//! `/pools`: pools as aggregates with their members and health check.

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
use gslb_api_types::model::{HealthCheckDraft, PoolDraft, PoolId};
use gslb_api_types::{
    ApiError, CheckView, ErrorBody, Event, ListQuery, Page, PoolStatus, PoolSummary, PoolView, Stored,
};
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, patch, delete))
        .routes(routes!(status))
        .routes(routes!(events))
        .routes(routes!(get_check, put_check, delete_check))
}

/// Pools of the tenant with the health of their members counted, in pages.
#[utoipa::path(get, path = "/pools", tag = "pools", operation_id = "listPools", params(ListQuery),
    responses((status = 200, body = Page<PoolSummary>)))]
async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<PoolSummary>>> {
    Ok(Json(state.ops.pool_summaries(&actor, &query).await?))
}

/// Makes a pool, with members and health check if they are sent along.
#[utoipa::path(post, path = "/pools", tag = "pools", operation_id = "createPool", request_body = PoolDraft,
    responses((status = 201, body = Stored<PoolView>), (status = 409, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn create(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(draft): Body<PoolDraft>,
) -> ApiResult<Response> {
    let written = state.ops.create_pool(&actor, draft).await?;
    Ok(created(
        &format!("/api/v1/pools/{}", written.value.id),
        written.map(|pool| PoolView::from(&pool)),
    ))
}

/// One pool with its members, with its revision as `ETag`.
#[utoipa::path(get, path = "/pools/{id}", tag = "pools", operation_id = "getPool", params(("id" = String, Path)),
    responses((status = 200, body = Stored<PoolView>), (status = 404, body = ErrorBody)))]
async fn get(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
) -> ApiResult<Response> {
    Ok(read(&views::pool_view(state.ops.get_pool(&actor, id).await?)))
}

/// Replaces a pool. Absent `members` and `healthCheck` stay as they are; `healthCheck: null` in a PATCH removes it.
#[utoipa::path(put, path = "/pools/{id}", tag = "pools", operation_id = "replacePool", params(("id" = String, Path)),
    request_body = PoolDraft,
    responses((status = 200, body = Stored<PoolView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn replace(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
    headers: HeaderMap,
    Body(draft): Body<PoolDraft>,
) -> ApiResult<Response> {
    let written = state
        .ops
        .replace_pool(&actor, id, if_match(&headers), draft)
        .await?;
    Ok(updated(written.map(|pool| PoolView::from(&pool))))
}

/// Changes the fields that are sent (RFC 7396).
#[utoipa::path(patch, path = "/pools/{id}", tag = "pools", operation_id = "patchPool", params(("id" = String, Path)),
    request_body = PoolDraft,
    responses((status = 200, body = Stored<PoolView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn patch(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
    headers: HeaderMap,
    Patch(patch): Patch,
) -> ApiResult<Response> {
    let written = state
        .ops
        .patch_pool(&actor, id, if_match(&headers), &patch)
        .await?;
    Ok(updated(written.map(|pool| PoolView::from(&pool))))
}

/// Whether deleting a pool takes its members and check with it.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
struct DeletePool {
    /// Delete the members and the check too. A pool that a service uses is never deleted.
    cascade: bool,
}

/// Deletes a pool. 409 while a service uses it, or while it has members and `cascade` is not set.
#[utoipa::path(delete, path = "/pools/{id}", tag = "pools", operation_id = "deletePool",
    params(("id" = String, Path), DeletePool),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 412, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
    Params(query): Params<DeletePool>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state
        .ops
        .delete_pool(&actor, id, if_match(&headers), query.cascade)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Live state of the members, by address.
#[utoipa::path(get, path = "/pools/{id}/status", tag = "pools", operation_id = "getPoolStatus",
    params(("id" = String, Path)),
    responses((status = 200, body = PoolStatus), (status = 404, body = ErrorBody)))]
async fn status(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
) -> ApiResult<Json<PoolStatus>> {
    let pool = state.ops.get_pool(&actor, id).await?;
    Ok(Json(views::pool_status(&state, &pool.value)))
}

/// Health transitions of the pool's members, newest first, in pages.
#[utoipa::path(get, path = "/pools/{id}/events", tag = "pools", operation_id = "listPoolEvents",
    params(("id" = String, Path), ListQuery),
    responses((status = 200, body = Page<Event>), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn events(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<Event>>> {
    Ok(Json(state.ops.list_events(&actor, id, &query).await?))
}

/// The pool's health check, with the pool's revision as `ETag`; 404 when it has none.
#[utoipa::path(get, path = "/pools/{id}/healthcheck", tag = "pools", operation_id = "getHealthCheck",
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<HealthCheckDraft>), (status = 404, body = ErrorBody)))]
async fn get_check(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
) -> ApiResult<Response> {
    let stored = state.ops.get_health_check(&actor, id).await?;
    let Some(check) = &stored.value else {
        return Err(ApiError::new("not_found", "this pool has no health check").into());
    };
    let check = CheckView::from(check);
    Ok(read(&stored.map(|_| check)))
}

/// Sets the pool's health check.
#[utoipa::path(put, path = "/pools/{id}/healthcheck", tag = "pools", operation_id = "putHealthCheck",
    params(("id" = String, Path)), request_body = HealthCheckDraft,
    responses((status = 200, body = Stored<HealthCheckDraft>), (status = 404, body = ErrorBody),
        (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn put_check(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
    headers: HeaderMap,
    Body(draft): Body<HealthCheckDraft>,
) -> ApiResult<Response> {
    let written = state
        .ops
        .put_health_check(&actor, id, if_match(&headers), draft)
        .await?;
    Ok(updated(written.map(|check| CheckView::from(&check))))
}

/// Removes the pool's health check: its members count as healthy.
#[utoipa::path(delete, path = "/pools/{id}/healthcheck", tag = "pools", operation_id = "deleteHealthCheck",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 412, body = ErrorBody)))]
async fn delete_check(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state
        .ops
        .delete_health_check(&actor, id, if_match(&headers))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
