//! `/session`, `/users`, `/tokens`, `/audit`, `/license`, `/settings`.

use super::auth::{Caller, HOLDER_KEY, Holder, source};
use super::error::{ApiResult, api_error};
use super::extract::{Body, Id, Params};
use crate::state::{AppState, unix_seconds};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use gslb_api_types::model::{ActorKind, TokenId, UserId};
use gslb_api_types::{
    ApiError, AuditEntry, ErrorBody, LicenseDraft, LicenseView, ListQuery, LoginRequest, Page,
    PasswordChange, SessionView, SettingView, TokenCreated, TokenDraft, TokenView, UserDraft, UserView,
};
use gslb_core::OpError;
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
        LoginError::TooMany { wait } => ApiError {
            retry_after: Some(wait.as_secs().max(1)),
            ..ApiError::new("rate_limited", error.to_string())
        },
        LoginError::Fault(fault) => api_error(&fault),
    }
}

/// A session that has begun.
#[derive(Debug)]
pub struct Started {
    /// Who logged in.
    pub view: SessionView,
    /// Cookie that marks the browser as one of this account, see [`Auth::device_mark`](gslb_core::auth::Auth::device_mark).
    pub mark: Option<HeaderValue>,
}

/// Name of the cookie that marks a browser.
const MARK: &str = "gslb_device";
/// Life of that cookie, seconds.
const MARK_LIFE: u32 = 180 * 86_400;

fn mark_of(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == MARK)
        .map(|(_, value)| value)
}

fn mark_cookie(mark: &str, secure: bool) -> Option<HeaderValue> {
    let secure = if secure { "; Secure" } else { "" };
    HeaderValue::from_str(&format!(
        "{MARK}={mark}; HttpOnly; SameSite=Lax; Path=/; Max-Age={MARK_LIFE}{secure}"
    ))
    .ok()
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
    headers: &HeaderMap,
) -> Result<Started, ApiError> {
    // Without a network there is no address: all such callers share one in the limit of attempts.
    let address = from.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let actor = state
        .auth
        .login_with_mark(&request.username, &request.password, address, mark_of(headers))
        .await
        .map_err(login_error)?;
    let ActorKind::User(user) = actor.kind else {
        return Err(ApiError::new("unauthorized", "only accounts log in"));
    };
    let inside = |error: OpError| api_error(&error);
    let stamp = state.auth.password_stamp(user).await.map_err(inside)?;
    let mark = state.auth.device_mark(user).await.map_err(inside)?;
    let holder = Holder {
        user,
        stamp: stamp.unwrap_or_default(),
        since: unix_seconds(),
    };
    // A new id at log-in, so that a session planted before is worth nothing (session fixation). Saved here, and not
    // behind the answer, so that a failure is told.
    let failed = |error| session_error("stored", &error);
    session.cycle_id().await.map_err(failed)?;
    session.insert(HOLDER_KEY, holder).await.map_err(failed)?;
    session.save().await.map_err(failed)?;
    Ok(Started {
        view: state.session_view(&actor),
        mark: mark.and_then(|mark| mark_cookie(&mark, state.secure)),
    })
}

/// A session that could not be read or written.
#[must_use]
pub fn session_error(what: &str, error: &tower_sessions::session::Error) -> ApiError {
    tracing::error!(%error, "a session could not be {what}");
    if crate::web::sessions::is_disk_full(error) {
        return ApiError::new("disk_full", crate::web::sessions::DISK_FULL);
    }
    ApiError::new("internal", "something went wrong inside; the log has the details")
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
) -> ApiResult<Response> {
    let from = source(request.extensions());
    let headers = request.headers().clone();
    let Body(login) =
        <Body<LoginRequest> as axum::extract::FromRequest<_>>::from_request(request, &state).await?;
    if !login.problems.is_empty() {
        return Err(OpError::Invalid(login.problems).into());
    }
    let started = start_session(&state, &session, &login.draft, from, &headers).await?;
    let mut response = Json(started.view).into_response();
    if let Some(mark) = started.mark {
        response.headers_mut().append(header::SET_COOKIE, mark);
    }
    Ok(response)
}

/// Logs out.
#[utoipa::path(delete, path = "/session", tag = "session", operation_id = "logout", responses((status = 204)))]
async fn logout(Extension(session): Extension<Session>) -> ApiResult<StatusCode> {
    session
        .flush()
        .await
        .map_err(|error| session_error("ended", &error))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Changes the caller's own password; 403 for tokens, which have none.
#[utoipa::path(put, path = "/session/password", tag = "session", operation_id = "changePassword",
    request_body = PasswordChange, responses((status = 204), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn change_password(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(change): Body<PasswordChange>,
) -> ApiResult<StatusCode> {
    state.ops.change_password(&actor, change).await?;
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
        Json(state.ops.create_user(&actor, draft).await?.value),
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
        Json(state.ops.create_token(&actor, draft).await?.value),
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
    Ok(Json(state.ops.put_license(&actor, draft).await?.value))
}

/// Every setting with its value and where it came from.
#[utoipa::path(get, path = "/settings", tag = "settings", operation_id = "listSettings",
    responses((status = 200, body = Vec<SettingView>)))]
async fn settings(State(state): State<AppState>, Caller(actor): Caller) -> ApiResult<Json<Vec<SettingView>>> {
    Ok(Json(state.ops.list_settings(&actor)?))
}
