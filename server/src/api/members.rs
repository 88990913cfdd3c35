//! `/pools/{id}/members` and `/members/{id}`.

use super::answer::{created, read, tagged, updated};
use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{Body, Id, Params, Patch, if_match};
use crate::state::AppState;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gslb_api_types::model::{Member, MemberDraft, MemberId, PoolId};
use gslb_api_types::{ErrorBody, ListQuery, Page, Stored};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, add, replace_all))
        .routes(routes!(get, replace, patch, delete))
}

/// Members of a pool in their order, in pages, with the pool's revision as `ETag`. `search` looks at address and
/// region; the order is the pool's, and `sort` is refused.
#[utoipa::path(get, path = "/pools/{id}/members", tag = "members", operation_id = "listMembers",
    params(("id" = String, Path), ListQuery),
    responses((status = 200, body = Page<Member>), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
    Params(query): Params<ListQuery>,
) -> ApiResult<Response> {
    let page = state.ops.member_page(&actor, id, &query).await?;
    Ok(tagged(page.revision, page.value))
}

/// Adds a member at the end of the pool.
#[utoipa::path(post, path = "/pools/{id}/members", tag = "members", operation_id = "addMember",
    params(("id" = String, Path)), request_body = MemberDraft,
    responses((status = 201, body = Stored<Member>), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn add(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
    headers: HeaderMap,
    Body(draft): Body<MemberDraft>,
) -> ApiResult<Response> {
    let written = state
        .ops
        .create_member(&actor, id, if_match(&headers), draft)
        .await?;
    Ok(created(&format!("/api/v1/members/{}", written.value.id), written))
}

/// Replaces the whole set of members at once. Members sent with the `id` they have keep their health and RTT. A page
/// as GET gives it is taken too, when all members are in it.
#[utoipa::path(put, path = "/pools/{id}/members", tag = "members", operation_id = "replaceMembers",
    params(("id" = String, Path)), request_body = Vec<MemberDraft>,
    responses((status = 200, body = Vec<Member>), (status = 404, body = ErrorBody),
        (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn replace_all(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<PoolId>,
    headers: HeaderMap,
    Body(drafts): Body<Vec<MemberDraft>>,
) -> ApiResult<Response> {
    let written = state
        .ops
        .put_members(&actor, id, if_match(&headers), drafts)
        .await?;
    // The members alone; the pool's revision is in the `ETag`.
    Ok(tagged(written.revision, written.value))
}

/// One member.
#[utoipa::path(get, path = "/members/{id}", tag = "members", operation_id = "getMember",
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<Member>), (status = 404, body = ErrorBody)))]
async fn get(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<MemberId>,
) -> ApiResult<Response> {
    Ok(read(&state.ops.get_member(&actor, id).await?.1))
}

/// Replaces a member; absent fields take their defaults.
#[utoipa::path(put, path = "/members/{id}", tag = "members", operation_id = "replaceMember",
    params(("id" = String, Path)), request_body = MemberDraft,
    responses((status = 200, body = Stored<Member>), (status = 404, body = ErrorBody), (status = 412, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn replace(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<MemberId>,
    headers: HeaderMap,
    Body(draft): Body<MemberDraft>,
) -> ApiResult<Response> {
    Ok(updated(
        state
            .ops
            .replace_member(&actor, id, if_match(&headers), draft)
            .await?,
    ))
}

/// Changes the fields that are sent (RFC 7396): `{"adminState":"drain"}`.
#[utoipa::path(patch, path = "/members/{id}", tag = "members", operation_id = "patchMember",
    params(("id" = String, Path)), request_body = MemberDraft,
    responses((status = 200, body = Stored<Member>), (status = 404, body = ErrorBody), (status = 412, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn patch(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<MemberId>,
    headers: HeaderMap,
    Patch(patch): Patch,
) -> ApiResult<Response> {
    Ok(updated(
        state
            .ops
            .patch_member(&actor, id, if_match(&headers), &patch)
            .await?,
    ))
}

/// Removes a member.
#[utoipa::path(delete, path = "/members/{id}", tag = "members", operation_id = "deleteMember",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 412, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<MemberId>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state.ops.delete_member(&actor, id, if_match(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}
