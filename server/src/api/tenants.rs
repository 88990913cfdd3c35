//! `/tenants`.

use super::answer::{created, read, updated};
use super::auth::{Anywhere, Caller};
use super::error::ApiResult;
use super::extract::{Body, Id, Params, Patch, if_match};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gslb_api_types::model::TenantId;
use gslb_api_types::{ErrorBody, ListQuery, Page, Stored, TenantDraft, TenantView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, patch, delete))
}

/// All tenants, for system administrators.
#[utoipa::path(get, path = "/tenants", tag = "access", operation_id = "listTenants", params(ListQuery),
    responses((status = 200, body = Page<Stored<TenantView>>), (status = 403, body = ErrorBody)))]
async fn list(
    State(state): State<AppState>,
    Anywhere(actor): Anywhere,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<Stored<TenantView>>>> {
    Ok(Json(state.ops.list_tenants(&actor, &query).await?))
}

/// Makes a tenant. It is empty; send `X-Gslb-Tenant` to make accounts and everything else in it.
#[utoipa::path(post, path = "/tenants", tag = "access", operation_id = "createTenant", request_body = TenantDraft,
    responses((status = 201, body = Stored<TenantView>), (status = 403, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn create(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(draft): Body<TenantDraft>,
) -> ApiResult<Response> {
    let written = state.ops.create_tenant(&actor, draft).await?;
    let path = format!("/api/v1/tenants/{}", written.value.id);
    Ok(created(&path, written))
}

/// One tenant.
#[utoipa::path(get, path = "/tenants/{id}", tag = "access", operation_id = "getTenant", params(("id" = String, Path)),
    responses((status = 200, body = Stored<TenantView>), (status = 404, body = ErrorBody)))]
async fn get(
    State(state): State<AppState>,
    Anywhere(actor): Anywhere,
    Id(id): Id<TenantId>,
) -> ApiResult<Response> {
    Ok(read(&state.ops.get_tenant(&actor, id).await?))
}

/// Replaces a tenant: gives it another name.
#[utoipa::path(put, path = "/tenants/{id}", tag = "access", operation_id = "replaceTenant", request_body = TenantDraft,
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<TenantView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn replace(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<TenantId>,
    headers: HeaderMap,
    Body(draft): Body<TenantDraft>,
) -> ApiResult<Response> {
    let written = state
        .ops
        .replace_tenant(&actor, id, if_match(&headers), draft)
        .await?;
    Ok(updated(written))
}

/// Changes some fields of a tenant (RFC 7396).
#[utoipa::path(patch, path = "/tenants/{id}", tag = "access", operation_id = "patchTenant", request_body = TenantDraft,
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<TenantView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn patch(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<TenantId>,
    headers: HeaderMap,
    Patch(patch): Patch,
) -> ApiResult<Response> {
    let written = state
        .ops
        .patch_tenant(&actor, id, if_match(&headers), &patch)
        .await?;
    Ok(updated(written))
}

/// Deletes a tenant. 409 while something belongs to it, and for the first one.
#[utoipa::path(delete, path = "/tenants/{id}", tag = "access", operation_id = "deleteTenant", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 412, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<TenantId>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state.ops.delete_tenant(&actor, id, if_match(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}
