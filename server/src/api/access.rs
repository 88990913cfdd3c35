//! `/session`, `/users`, `/tokens`, `/audit`, `/license`, `/settings`.

use super::auth::{Caller, HOLDER_KEY, Holder, source};
use super::error::ApiResult;
use super::extract::{Body, Id, Params};
use crate::state::{AppState, unix_seconds};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use gslb_api_types::model::{ActorKind, TokenId, UserId};
use gslb_api_types::{
    ApiError, AuditEntry, ErrorBody, LicenseDraft, LicenseView, ListQuery, LoginRequest, Page,
    PasswordChange, SessionView, SettingView, TokenCreated, TokenDraft, TokenView, UserDraft, UserView,
};
use gslb_core::auth::LoginError;
use gslb_core::store::AuditFilter;
use std::net::{IpAddr, Ipv4Addr};
use tower_sessions::Session;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(session, login, logout))
        .routes(routes!(change_password))
        .routes(routes!(list_users, create_user))
        .routes(routes!(delete_user))
        .routes(routes!(list_tokens, create_token))
        .routes(routes!(delete_token))
        .routes(routes!(audit))
        .routes(routes!(license, install_license))
        .routes(routes!(settings))
}

/// What part of the audit trail a list request wants.
#[must_use]
pub fn audit_filter(query: ListQuery) -> AuditFilter {
    // A whole id is looked up as one; anything else is text to find.
    let object_id = query.search.as_deref().and_then(|text| text.trim().parse().ok());
    AuditFilter {
        limit: query.limit,
        cursor: query.cursor,
        object_id,
        search: query.search.filter(|_| object_id.is_none()),
    }
}

fn login_error(error: LoginError) -> ApiError {
    match error {
        LoginError::Refused => ApiError::new("unauthorized", error.to_string()),
        LoginError::TooMany { .. } => ApiError::new("rate_limited", error.to_string()),
        LoginError::Fault(fault) => super::error::api_error(&fault),
    }
}

/// Starts a session for an account whose password is right; used by API and console.
///
/// # Errors
/// `unauthorized` without saying what was wrong, `rate_limited` after too many attempts.
pub async fn start_session(
    state: &AppState,
    session: &Session,
    request: &LoginRequest,
    from: Option<IpAddr>,
) -> Result<SessionView, ApiError> {
    // Without a network there is no address: all such callers share one in the limit of attempts.
    let address = from.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let actor = state
        .auth
        .login(&request.username, &request.password, address)
        .await
        .map_err(login_error)?;
    let ActorKind::User(user) = actor.kind else {
        return Err(ApiError::new("unauthorized", "only accounts log in"));
    };
    let stamp = state
        .auth
        .password_stamp(user)
        .await
        .map_err(|e| super::error::api_error(&e))?;
    let holder = Holder {
        user,
        stamp: stamp.unwrap_or_default(),
        since: unix_seconds(),
    };
    let failed = |error: tower_sessions::session::Error| {
        tracing::error!(%error, "the session could not be stored");
        ApiError::new("internal", "something went wrong inside; the log has the details")
    };
    // A new id at log-in, so that a session planted before is worth nothing (session fixation).
    session.cycle_id().await.map_err(failed)?;
    session.insert(HOLDER_KEY, holder).await.map_err(failed)?;
    Ok(state.session_view(&actor))
}

/// Who is calling, and the tier in force.
#[utoipa::path(get, path = "/session", tag = "session", operation_id = "getSession",
    responses((status = 200, body = SessionView), (status = 401, body = ErrorBody)))]
async fn session(State(state): State<AppState>, Caller(actor): Caller) -> Json<SessionView> {
    Json(state.session_view(&actor))
}

/// Logs in; the answer sets the session cookie.
#[utoipa::path(post, path = "/session", tag = "session", operation_id = "login", request_body = LoginRequest,
    responses((status = 200, body = SessionView), (status = 401, body = ErrorBody), (status = 429, body = ErrorBody)))]
async fn login(
    State(state): State<AppState>,
    Extension(session): Extension<Session>,
    request: Request,
) -> ApiResult<Json<SessionView>> {
    let from = source(request.extensions());
    let Body(login) =
        <Body<LoginRequest> as axum::extract::FromRequest<_>>::from_request(request, &state).await?;
    Ok(Json(start_session(&state, &session, &login, from).await?))
}

/// Logs out.
#[utoipa::path(delete, path = "/session", tag = "session", operation_id = "logout", responses((status = 204)))]
async fn logout(Extension(session): Extension<Session>) -> ApiResult<StatusCode> {
    session.flush().await.map_err(|error| {
        tracing::error!(%error, "the session could not be ended");
        ApiError::new("internal", "something went wrong inside; the log has the details")
    })?;
    Ok(StatusCode::NO_CONTENT)
}

/// Changes the caller's own password.
#[utoipa::path(put, path = "/session/password", tag = "session", operation_id = "changePassword",
    request_body = PasswordChange, responses((status = 204), (status = 401, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn change_password(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(change): Body<PasswordChange>,
) -> ApiResult<StatusCode> {
    state.ops.change_password(&actor, &change).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// User accounts of the tenant.
#[utoipa::path(get, path = "/users", tag = "access", operation_id = "listUsers", params(ListQuery),
    responses((status = 200, body = Page<UserView>)))]
async fn list_users(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<UserView>>> {
    Ok(Json(state.ops.list_users(&actor, &query).await?))
}

/// Makes a user account.
#[utoipa::path(post, path = "/users", tag = "access", operation_id = "createUser", request_body = UserDraft,
    responses((status = 201, body = UserView), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn create_user(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(draft): Body<UserDraft>,
) -> ApiResult<(StatusCode, Json<UserView>)> {
    Ok((
        StatusCode::CREATED,
        Json(state.ops.create_user(&actor, &draft).await?.value),
    ))
}

/// Deletes a user account. The last system administrator cannot be deleted.
#[utoipa::path(delete, path = "/users/{id}", tag = "access", operation_id = "deleteUser", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
async fn delete_user(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<UserId>,
) -> ApiResult<StatusCode> {
    state.ops.delete_user(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// API tokens of the tenant, without their secrets.
#[utoipa::path(get, path = "/tokens", tag = "access", operation_id = "listTokens", params(ListQuery),
    responses((status = 200, body = Page<TokenView>)))]
async fn list_tokens(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<TokenView>>> {
    Ok(Json(state.ops.list_tokens(&actor, &query).await?))
}

/// Makes an API token. The answer holds its secret, which is shown this once.
#[utoipa::path(post, path = "/tokens", tag = "access", operation_id = "createToken", request_body = TokenDraft,
    responses((status = 201, body = TokenCreated), (status = 422, body = ErrorBody)))]
async fn create_token(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(draft): Body<TokenDraft>,
) -> ApiResult<(StatusCode, Json<TokenCreated>)> {
    Ok((
        StatusCode::CREATED,
        Json(state.ops.create_token(&actor, &draft).await?.value),
    ))
}

/// Revokes an API token.
#[utoipa::path(delete, path = "/tokens/{id}", tag = "access", operation_id = "deleteToken",
    params(("id" = String, Path)), responses((status = 204), (status = 404, body = ErrorBody)))]
async fn delete_token(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<TokenId>,
) -> ApiResult<StatusCode> {
    state.ops.delete_token(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The audit trail, newest first. With `Accept: application/x-ndjson` as JSON lines.
#[utoipa::path(get, path = "/audit", tag = "access", operation_id = "listAudit", params(ListQuery),
    responses((status = 200, body = Page<AuditEntry>)))]
async fn audit(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ListQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let page = state.ops.list_audit(&actor, &audit_filter(query)).await?;
    let lines = headers
        .get(header::ACCEPT)
        .and_then(|v| v.to_str().ok())
        .is_some_and(|a| a.contains("x-ndjson"));
    if !lines {
        return Ok(Json(page).into_response());
    }
    let mut text = String::new();
    for entry in &page.items {
        // A row that came out of the database as JSON serialises again.
        text.push_str(&serde_json::to_string(entry).unwrap_or_default());
        text.push('\n');
    }
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], text).into_response())
}

/// The licence in force.
#[utoipa::path(get, path = "/license", tag = "license", operation_id = "getLicense",
    responses((status = 200, body = LicenseView)))]
async fn license(State(state): State<AppState>, Caller(actor): Caller) -> ApiResult<Json<LicenseView>> {
    Ok(Json(state.ops.get_license(&actor)?))
}

/// Installs a licence.
#[utoipa::path(put, path = "/license", tag = "license", operation_id = "putLicense", request_body = LicenseDraft,
    responses((status = 200, body = LicenseView), (status = 422, body = ErrorBody)))]
async fn install_license(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(draft): Body<LicenseDraft>,
) -> ApiResult<Json<LicenseView>> {
    Ok(Json(state.ops.put_license(&actor, &draft).await?.value))
}

/// Every setting with its value and where it came from.
#[utoipa::path(get, path = "/settings", tag = "settings", operation_id = "listSettings",
    responses((status = 200, body = Vec<SettingView>)))]
async fn settings(State(state): State<AppState>, Caller(actor): Caller) -> ApiResult<Json<Vec<SettingView>>> {
    Ok(Json(state.ops.list_settings(&actor)?))
}
