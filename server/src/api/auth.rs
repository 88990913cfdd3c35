//! Who is calling: the bearer token or the session of a request becomes an [`Actor`].

use super::error::{ApiFailure, ApiResult, api_error};
use crate::state::{AppState, unix_seconds};
use crate::web::sessions;
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;
use gslb_api_types::ApiError;
use gslb_core::OpError;
use gslb_engine::model::{Actor, TenantId, UserId};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use tower_sessions::Session;

/// Key of the [`Holder`] in the session.
pub const HOLDER_KEY: &str = "holder";

/// Whose session it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The account.
    pub user: UserId,
    /// Stamp of the password that was in force at log-in: a changed password ends the sessions of before.
    pub stamp: String,
    /// Unix seconds of the log-in: a session ends [`ABSOLUTE_LIMIT`] later, however busy it is.
    pub since: u64,
    /// Where the log-in came from.
    #[serde(default)]
    pub from: Option<IpAddr>,
    /// What the browser called itself then.
    #[serde(default)]
    pub agent: Option<String>,
    /// The tenant that was picked; none is the account's own.
    #[serde(default)]
    pub tenant: Option<TenantId>,
}

/// Header in which a caller who may act in every tenant names the one that a request is for, by id or name.
pub const TENANT_HEADER: &str = "x-gslb-tenant";

/// Longest life of a session, seconds.
pub const ABSOLUTE_LIMIT: u64 = 7 * 86_400;

/// The authenticated caller of a request.
#[derive(Debug, Clone)]
pub struct Caller(pub Actor);

/// The caller as the middleware found it, for handlers and pages alike.
#[derive(Debug, Clone)]
pub struct Identity(pub Result<Actor, ApiError>);

/// Source address of a request, when it came over the network.
#[must_use]
pub fn source(extensions: &http::Extensions) -> Option<IpAddr> {
    extensions
        .get::<ConnectInfo<SocketAddr>>()
        .map(|ConnectInfo(address)| address.ip().to_canonical())
}

fn unauthorized(message: &str) -> ApiError {
    ApiError::new("unauthorized", message)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// What a session says of whose it is.
pub async fn holder(session: &Session) -> Result<Option<Holder>, ApiError> {
    session
        .get(HOLDER_KEY)
        .await
        .map_err(|error| super::session::session_error("read", &error))
}

/// Who sends these headers in this session, and in which tenant.
///
/// # Errors
/// `unauthorized` for nobody, an unknown or expired token, a session that is over, an account that is disabled;
/// `forbidden` or `not_found` for a tenant that the caller may not pick, or that is not there.
pub async fn identify(
    state: &AppState,
    headers: &HeaderMap,
    session: Option<&Session>,
    from: Option<IpAddr>,
) -> Result<Actor, ApiError> {
    let actor = match headers.contains_key(header::AUTHORIZATION) {
        true => of_token(state, headers, from).await?,
        false => of_session(state, session, from).await?,
    };
    let Some(wanted) = headers.get(TENANT_HEADER) else {
        return Ok(actor);
    };
    let wanted = std::str::from_utf8(wanted.as_bytes())
        .map_err(|_| ApiError::new("malformed", "X-Gslb-Tenant is no text in UTF-8"))?;
    state
        .ops
        .in_tenant(actor, wanted)
        .await
        .map_err(|e| api_error(&e))
}

async fn of_token(state: &AppState, headers: &HeaderMap, from: Option<IpAddr>) -> Result<Actor, ApiError> {
    let token =
        bearer(headers).ok_or_else(|| unauthorized("the Authorization header must be `Bearer gslb_…`"))?;
    let actor = state.auth.actor_of_token(token, from).await;
    actor
        .map_err(|e| api_error(&e))?
        .ok_or_else(|| unauthorized("this token is not known, or has expired"))
}

async fn of_session(
    state: &AppState,
    session: Option<&Session>,
    from: Option<IpAddr>,
) -> Result<Actor, ApiError> {
    let nobody = || unauthorized("log in, or send an API token");
    let session = session.ok_or_else(nobody)?;
    let holder = holder(session).await?.ok_or_else(nobody)?;
    let over = || unauthorized("this session is over; log in again");
    if unix_seconds().saturating_sub(holder.since) > ABSOLUTE_LIMIT {
        return Err(over());
    }
    let actor = state
        .auth
        .actor_of_session(holder.user, &holder.stamp, from)
        .await
        .map_err(|e| api_error(&e))?
        .ok_or_else(over)?;
    let Some(picked) = holder.tenant else {
        return Ok(actor);
    };
    // A tenant that is gone, or that one may pick no more, is as if it had not been picked.
    match state.ops.in_tenant(actor.clone(), &picked.to_string()).await {
        Ok(actor) => Ok(actor),
        Err(OpError::NotFound { .. } | OpError::Forbidden(_)) => Ok(actor),
        Err(error) => Err(api_error(&error)),
    }
}

/// Finds out who calls and leaves the result in the request; whether that is enough is for the handlers to say.
pub async fn middleware(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let session = parts.extensions.get::<Session>();
    let identity = identify(&state, &parts.headers, session, source(&parts.extensions)).await;
    if let (Ok(_), Some(session), false) = (
        &identity,
        session,
        parts.headers.contains_key(header::AUTHORIZATION),
    ) {
        sessions::touch(&state.store, session).await;
    }
    parts.extensions.insert(Identity(identity));
    next.run(Request::from_parts(parts, body)).await
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        match parts.extensions.get::<Identity>() {
            Some(Identity(Ok(actor))) => Ok(Self(actor.clone())),
            Some(Identity(Err(error))) => Err(error.clone().into()),
            None => Err(unauthorized("log in, or send an API token").into()),
        }
    }
}
