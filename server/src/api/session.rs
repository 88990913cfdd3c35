//! `/session` and `/sessions`: logging in and out, one's own password, the tenant acted in, the sessions that are open.

use super::auth::{Anywhere, Caller, HOLDER_KEY, Holder, holder, source};
use super::error::{ApiFailure, ApiResult, api_error};
use super::extract::{Body, Id, Params};
use crate::state::{AppState, unix_seconds};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use gslb_api_types::model::{Actor, ActorKind, SessionId, UserId};
use gslb_api_types::{
    ApiError, ErrorBody, LoginRequest, OpenSession, PasswordChange, SessionQuery, SessionView, TenantChoice,
};
use gslb_core::OpError;
use gslb_core::auth::LoginError;
use gslb_core::draft::Proposal;
use std::net::{IpAddr, Ipv4Addr};
use tower_sessions::Session;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Characters that are kept of what a browser calls itself.
const MAX_AGENT: usize = 200;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(session, login, logout))
        .routes(routes!(change_password))
        .routes(routes!(choose_tenant))
        .routes(routes!(list_sessions))
        .routes(routes!(end_session))
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
    let agent = headers.get(header::USER_AGENT).and_then(|v| v.to_str().ok());
    let holder = Holder {
        user,
        stamp: stamp.unwrap_or_default(),
        since: unix_seconds(),
        from,
        agent: agent.map(|text| text.chars().take(MAX_AGENT).collect()),
        tenant: None,
    };
    keep(session, holder).await?;
    Ok(Started {
        view: state.session_view(&actor).await.map_err(inside)?,
        mark: mark.and_then(|mark| mark_cookie(&mark, state.secure)),
    })
}

/// Writes whose a session is, under a new id, so that one that was planted before is worth nothing (session fixation).
/// Saved here, and not behind the answer, so that a failure is told.
async fn keep(session: &Session, holder: Holder) -> Result<(), ApiError> {
    let failed = |error| session_error("stored", &error);
    session.cycle_id().await.map_err(failed)?;
    session.insert(HOLDER_KEY, holder).await.map_err(failed)?;
    session.save().await.map_err(failed)
}

/// Changes the caller's own password. All his sessions end, but for the one that asks.
///
/// # Errors
/// As for the use case; `rate_limited` after too many wrong ones; the session cannot be written.
pub async fn change_own_password(
    state: &AppState,
    session: Option<&Session>,
    actor: &Actor,
    change: impl Into<Proposal<PasswordChange>>,
) -> Result<(), ApiFailure> {
    let own = match actor.kind {
        ActorKind::User(id) => Some(id),
        _ => None,
    };
    if let Some(id) = own {
        state.auth.try_password(id).map_err(login_error)?;
    }
    let written = state.ops.change_password(actor, change).await;
    let known = match &written {
        Ok(_) => true,
        Err(OpError::Invalid(problems)) => problems.iter().all(|problem| problem.field != "current"),
        Err(_) => false,
    };
    if let (Some(id), true) = (own, known) {
        state.auth.password_was_right(id);
    }
    let written = written?;
    let Some(session) = session else {
        return Ok(());
    };
    let Some(holder) = holder(session).await? else {
        return Ok(());
    };
    let stamp = state.auth.password_stamp(written.value.id).await?;
    let stamp = stamp.unwrap_or_default();
    Ok(keep(session, Holder { stamp, ..holder }).await?)
}

/// Lets a session act in another tenant from now on.
///
/// # Errors
/// `forbidden` for who may not pick, and for tokens, which name the tenant in each request; `not_found`.
pub async fn pick_tenant(
    state: &AppState,
    session: &Session,
    actor: Actor,
    wanted: &str,
) -> Result<SessionView, ApiError> {
    let inside = |error: OpError| api_error(&error);
    let Some(holder) = holder(session).await? else {
        return Err(inside(OpError::NoAccount));
    };
    let actor = state.ops.in_tenant(actor, wanted).await.map_err(inside)?;
    let tenant = Some(actor.tenant_id);
    let failed = |error| session_error("stored", &error);
    let holder = Holder { tenant, ..holder };
    session.insert(HOLDER_KEY, holder).await.map_err(failed)?;
    session.save().await.map_err(failed)?;
    state.session_view(&actor).await.map_err(inside)
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
async fn session(State(state): State<AppState>, Anywhere(actor): Anywhere) -> ApiResult<Json<SessionView>> {
    Ok(Json(state.session_view(&actor).await?))
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

/// Changes the caller's own password and ends his other sessions; 403 for tokens, which have none.
#[utoipa::path(put, path = "/session/password", tag = "session", operation_id = "changePassword",
    request_body = PasswordChange, responses((status = 204), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody), (status = 422, body = ErrorBody),
        (status = 429, body = ErrorBody)))]
async fn change_password(
    State(state): State<AppState>,
    Anywhere(actor): Anywhere,
    Extension(session): Extension<Session>,
    Body(change): Body<PasswordChange>,
) -> ApiResult<StatusCode> {
    change_own_password(&state, Some(&session), &actor, change).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lets this session act in another tenant, for system administrators. Programs with a token name the tenant in the
/// header `X-Gslb-Tenant` of each request.
#[utoipa::path(put, path = "/session/tenant", tag = "session", operation_id = "pickTenant",
    request_body = TenantChoice, responses((status = 200, body = SessionView), (status = 401, body = ErrorBody),
        (status = 403, body = ErrorBody), (status = 404, body = ErrorBody)))]
async fn choose_tenant(
    State(state): State<AppState>,
    Anywhere(actor): Anywhere,
    Extension(session): Extension<Session>,
    Body(choice): Body<TenantChoice>,
) -> ApiResult<Json<SessionView>> {
    if !choice.problems.is_empty() {
        return Err(OpError::Invalid(choice.problems).into());
    }
    Ok(Json(
        pick_tenant(&state, &session, actor, &choice.draft.tenant).await?,
    ))
}

/// Sessions that have not ended: one's own, or with `user` those of an account.
#[utoipa::path(get, path = "/sessions", tag = "session", operation_id = "listSessions", params(SessionQuery),
    responses((status = 200, body = Vec<OpenSession>), (status = 403, body = ErrorBody), (status = 404, body = ErrorBody)))]
async fn list_sessions(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Extension(session): Extension<Session>,
    Params(query): Params<SessionQuery>,
) -> ApiResult<Json<Vec<OpenSession>>> {
    Ok(Json(open_sessions(&state, &session, &actor, query.user).await?))
}

/// Sessions of an account, with the one that asks marked.
///
/// # Errors
/// As for the use case.
pub async fn open_sessions(
    state: &AppState,
    session: &Session,
    actor: &Actor,
    user: Option<UserId>,
) -> Result<Vec<OpenSession>, OpError> {
    let mut sessions = state.ops.list_sessions(actor, user).await?;
    let this = crate::web::sessions::shown(session);
    for open in &mut sessions {
        open.current = Some(open.id) == this;
    }
    Ok(sessions)
}

/// Ends a session: one's own, or with `users:write` one of an account that may not do more than oneself.
#[utoipa::path(delete, path = "/sessions/{id}", tag = "session", operation_id = "endSession",
    params(("id" = String, Path)), responses((status = 204), (status = 403, body = ErrorBody), (status = 404, body = ErrorBody)))]
async fn end_session(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<SessionId>,
) -> ApiResult<StatusCode> {
    state.ops.end_session(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
