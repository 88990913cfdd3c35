//! `/tsig-keys`.

use super::answer::{created, read};
use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{Body, Id, Params, if_match};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gslb_api_types::model::TsigKeyId;
use gslb_api_types::{ErrorBody, ListQuery, Page, Stored, TsigKeyCreated, TsigKeyDraft, TsigKeyView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, delete))
}

/// Keys of the tenant for transfers, NOTIFY and signed queries, without their secrets.
#[utoipa::path(get, path = "/tsig-keys", tag = "zones", operation_id = "listTsigKeys", params(ListQuery),
    responses((status = 200, body = Page<Stored<TsigKeyView>>)))]
async fn list(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<Stored<TsigKeyView>>>> {
    Ok(Json(state.ops.list_tsig_keys(&actor, &query).await?))
}

/// Makes a key. Its secret is in this answer, and never again.
#[utoipa::path(post, path = "/tsig-keys", tag = "zones", operation_id = "createTsigKey",
    request_body = TsigKeyDraft,
    responses((status = 201, body = Stored<TsigKeyCreated>),
        (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn create(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(draft): Body<TsigKeyDraft>,
) -> ApiResult<Response> {
    let written = state.ops.create_tsig_key(&actor, draft).await?;
    let path = format!("/api/v1/tsig-keys/{}", written.value.key.id);
    Ok(created(&path, written))
}

/// One key, without its secret.
#[utoipa::path(get, path = "/tsig-keys/{id}", tag = "zones", operation_id = "getTsigKey",
    params(("id" = String, Path)),
    responses((status = 200, body = Stored<TsigKeyView>), (status = 404, body = ErrorBody)))]
async fn get(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<TsigKeyId>,
) -> ApiResult<Response> {
    Ok(read(&state.ops.get_tsig_key(&actor, id).await?))
}

/// Deletes a key. 409 while the transfers of a zone name it.
#[utoipa::path(delete, path = "/tsig-keys/{id}", tag = "zones", operation_id = "deleteTsigKey",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 412, body = ErrorBody)))]
async fn delete(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<TsigKeyId>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    state.ops.delete_tsig_key(&actor, id, if_match(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}
