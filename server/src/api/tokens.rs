//! `/tokens`.

use super::answer::{created, read};
use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{Body, Id, Params, if_match};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gslb_api_types::model::TokenId;
use gslb_api_types::{ErrorBody, ListQuery, Page, Stored, TokenCreated, TokenDraft, TokenView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, delete))
}

/// API tokens of the tenant, without their secrets.
#[utoipa::path(get, path = "/tokens", tag = "access", operation_id = "listTokens", params(ListQuery),
    responses((status = 200, body = Page<Stored<TokenView>>), (status = 403, body = ErrorBody)))]
async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<Stored<TokenView>>>> {
    Ok(Json(state.ops.list_tokens(&actor, &query).await?))
}

/// Makes an API token. The answer holds its secret, which is shown this once. It may do what its maker may and no more,
/// also later, and ends with the account of its maker.
#[utoipa::path(post, path = "/tokens", tag = "access", operation_id = "createToken", request_body = TokenDraft,
    responses((status = 201, body = Stored<TokenCreated>), (status = 403, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn create(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(draft): Body<TokenDraft>,
) -> ApiResult<Response> {
    let written = state.ops.create_token(&actor, draft).await?;
    let path = format!("/api/v1/tokens/{}", written.value.token.id);
    Ok(created(&path, written))
}

/// One API token, without its secret.
#[utoipa::path(get, path = "/tokens/{id}", tag = "access", operation_id = "getToken", params(("id" = String, Path)),
    responses((status = 200, body = Stored<TokenView>), (status = 404, body = ErrorBody)))]
async fn get(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<TokenId>,
) -> ApiResult<Response> {
    Ok(read(&state.ops.get_token(&actor, id).await?))
}

/// Revokes an API token.
#[utoipa::path(delete, path = "/tokens/{id}", tag = "access", operation_id = "deleteToken", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 412, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<TokenId>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state.ops.delete_token(&actor, id, if_match(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}
