//! `/roles`.

use super::answer::{created, read, updated};
use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{Body, Id, Params, Patch, if_match};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gslb_api_types::{ErrorBody, ListQuery, Page, RoleDraft, RoleView, Stored};
use gslb_core::store::RoleRef;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, patch, delete))
}

/// Roles that accounts of the tenant can have: those that are built in, and the tenant's own.
#[utoipa::path(get, path = "/roles", tag = "access", operation_id = "listRoles", params(ListQuery),
    responses((status = 200, body = Page<Stored<RoleView>>), (status = 403, body = ErrorBody)))]
async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<Stored<RoleView>>>> {
    Ok(Json(state.ops.list_roles(&actor, &query).await?))
}

/// Makes a role. Nobody puts into it what he may not do himself.
#[utoipa::path(post, path = "/roles", tag = "access", operation_id = "createRole", request_body = RoleDraft,
    responses((status = 201, body = Stored<RoleView>), (status = 403, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn create(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(draft): Body<RoleDraft>,
) -> ApiResult<Response> {
    let written = state.ops.create_role(&actor, draft).await?;
    let path = format!("/api/v1/roles/{}", written.value.id);
    Ok(created(&path, written))
}

/// One role; the id of one that is built in is its name.
#[utoipa::path(get, path = "/roles/{id}", tag = "access", operation_id = "getRole", params(("id" = String, Path)),
    responses((status = 200, body = Stored<RoleView>), (status = 404, body = ErrorBody)))]
async fn get(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<RoleRef>,
) -> ApiResult<Response> {
    Ok(read(&state.ops.get_role(&actor, id).await?))
}

/// Replaces a role of the tenant's own.
#[utoipa::path(put, path = "/roles/{id}", tag = "access", operation_id = "replaceRole", request_body = RoleDraft,
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<RoleView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn replace(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<RoleRef>,
    headers: HeaderMap,
    Body(draft): Body<RoleDraft>,
) -> ApiResult<Response> {
    let written = state
        .ops
        .replace_role(&actor, id, if_match(&headers), draft)
        .await?;
    Ok(updated(written))
}

/// Changes some fields of a role of the tenant's own (RFC 7396).
#[utoipa::path(patch, path = "/roles/{id}", tag = "access", operation_id = "patchRole", request_body = RoleDraft,
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<RoleView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn patch(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<RoleRef>,
    headers: HeaderMap,
    Patch(patch): Patch,
) -> ApiResult<Response> {
    let written = state
        .ops
        .patch_role(&actor, id, if_match(&headers), &patch)
        .await?;
    Ok(updated(written))
}

/// Deletes a role of the tenant's own. 409 while an account has it.
#[utoipa::path(delete, path = "/roles/{id}", tag = "access", operation_id = "deleteRole", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 412, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<RoleRef>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state.ops.delete_role(&actor, id, if_match(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}
