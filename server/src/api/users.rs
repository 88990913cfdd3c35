//! `/users`.

use super::answer::{created, read, updated};
use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{Body, Id, Params, Patch, if_match};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gslb_api_types::model::UserId;
use gslb_api_types::{ErrorBody, ListQuery, Page, Stored, UserDraft, UserView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, patch, delete))
}

/// User accounts of the tenant.
#[utoipa::path(get, path = "/users", tag = "access", operation_id = "listUsers", params(ListQuery),
    responses((status = 200, body = Page<Stored<UserView>>), (status = 403, body = ErrorBody)))]
async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<Stored<UserView>>>> {
    Ok(Json(state.ops.list_users(&actor, &query).await?))
}

/// Makes a user account. Nobody gives a role that may do more than himself.
#[utoipa::path(post, path = "/users", tag = "access", operation_id = "createUser", request_body = UserDraft,
    responses((status = 201, body = Stored<UserView>), (status = 403, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn create(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(draft): Body<UserDraft>,
) -> ApiResult<Response> {
    let written = state.ops.create_user(&actor, draft).await?;
    let path = format!("/api/v1/users/{}", written.value.id);
    Ok(created(&path, written))
}

/// One user account.
#[utoipa::path(get, path = "/users/{id}", tag = "access", operation_id = "getUser", params(("id" = String, Path)),
    responses((status = 200, body = Stored<UserView>), (status = 404, body = ErrorBody)))]
async fn get(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<UserId>,
) -> ApiResult<Response> {
    Ok(read(&state.ops.get_user(&actor, id).await?))
}

/// Replaces role and state of an account, and its password if one is given. Its name cannot change; the last system
/// administrator that can be used stays one.
#[utoipa::path(put, path = "/users/{id}", tag = "access", operation_id = "replaceUser", request_body = UserDraft,
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<UserView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn replace(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<UserId>,
    headers: HeaderMap,
    Body(draft): Body<UserDraft>,
) -> ApiResult<Response> {
    let written = state
        .ops
        .replace_user(&actor, id, if_match(&headers), draft)
        .await?;
    Ok(updated(written))
}

/// Changes some fields of an account (RFC 7396). A new password and `enabled: false` end its sessions at once.
#[utoipa::path(patch, path = "/users/{id}", tag = "access", operation_id = "patchUser", request_body = UserDraft,
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<UserView>), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn patch(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<UserId>,
    headers: HeaderMap,
    Patch(patch): Patch,
) -> ApiResult<Response> {
    let written = state
        .ops
        .patch_user(&actor, id, if_match(&headers), &patch)
        .await?;
    Ok(updated(written))
}

/// Deletes a user account with its sessions; its tokens are refused. The last system administrator cannot be deleted.
#[utoipa::path(delete, path = "/users/{id}", tag = "access", operation_id = "deleteUser", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 412, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<UserId>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state.ops.delete_user(&actor, id, if_match(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}
