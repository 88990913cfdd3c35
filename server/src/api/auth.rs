//! Who is calling: the bearer token or the session of a request becomes an [`Actor`].

use super::error::{ApiFailure, ApiResult, api_error};
use crate::state::{AppState, unix_seconds};
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;
use gslb_api_types::ApiError;
use gslb_core::auth::Auth;
use gslb_engine::model::{Actor, UserId};
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
}

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

/// Who sends these headers in this session.
///
/// # Errors
/// `unauthorized` for nobody, an unknown or expired token, a session that is over.
pub async fn identify(
    auth: &Auth,
    headers: &HeaderMap,
    session: Option<&Session>,
    from: Option<IpAddr>,
) -> Result<Actor, ApiError> {
    if headers.contains_key(header::AUTHORIZATION) {
        let token = bearer(headers)
            .ok_or_else(|| unauthorized("the Authorization header must be `Bearer gslb_…`"))?;
        let actor = auth
            .actor_of_token(token, from)
            .await
            .map_err(|e| api_error(&e))?;
        return actor.ok_or_else(|| unauthorized("this token is not known, or has expired"));
    }
    let nobody = || unauthorized("log in, or send an API token");
    let session = session.ok_or_else(nobody)?;
    let holder: Option<Holder> = session
        .get(HOLDER_KEY)
        .await
        .map_err(|error| super::access::session_error("read", &error))?;
    let holder = holder.ok_or_else(nobody)?;
    let stamp = auth
        .password_stamp(holder.user)
        .await
        .map_err(|e| api_error(&e))?;
    let over = unix_seconds().saturating_sub(holder.since) > ABSOLUTE_LIMIT;
    if over || stamp.as_deref() != Some(holder.stamp.as_str()) {
        return Err(unauthorized("this session is over; log in again"));
    }
    let actor = auth
        .actor_of_user(holder.user, from)
        .await
        .map_err(|e| api_error(&e))?;
    actor.ok_or_else(nobody)
}

/// Finds out who calls and leaves the result in the request; whether that is enough is for the handlers to say.
pub async fn middleware(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let session = parts.extensions.get::<Session>();
    let identity = identify(&state.auth, &parts.headers, session, source(&parts.extensions)).await;
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
