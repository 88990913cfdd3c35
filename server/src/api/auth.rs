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

/// Whose the credential is, even when the tenant that the session has picked is gone: for what concerns no tenant, such as
/// picking another.
#[derive(Debug, Clone)]
pub struct Account(pub Result<Actor, ApiError>);

/// The caller by [`Account`].
#[derive(Debug, Clone)]
pub struct Anywhere(pub Actor);

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

/// Whom a credential belongs to.
#[derive(Debug)]
struct Found {
    /// The caller, in the tenant that the request is for.
    actor: Actor,
    /// An error when that tenant is gone, which the session had picked: what is of a tenant would go somewhere else than
    /// meant.
    tenant: Result<(), ApiError>,
}

/// Who sends these headers in this session, and in which tenant.
///
/// # Errors
/// `unauthorized` for nobody, an unknown or expired token, a session that is over, an account that is disabled;
/// `forbidden` or `not_found` for a tenant that the caller may not pick, or that is not there; `conflict` when the tenant
/// that the session has picked is gone.
pub async fn identify(
    state: &AppState,
    headers: &HeaderMap,
    session: Option<&Session>,
    from: Option<IpAddr>,
) -> Result<Actor, ApiError> {
    let found = find(state, headers, session, from).await?;
    found.tenant.map(|()| found.actor)
}

async fn find(
    state: &AppState,
    headers: &HeaderMap,
    session: Option<&Session>,
    from: Option<IpAddr>,
) -> Result<Found, ApiError> {
    let (actor, picked) = match headers.contains_key(header::AUTHORIZATION) {
        true => (of_token(state, headers, from).await?, None),
        false => of_session(state, session, from).await?,
    };
    let mut named = headers.get_all(TENANT_HEADER).iter();
    if let Some(wanted) = named.next() {
        if named.next().is_some() {
            let message = "X-Gslb-Tenant stands in the request twice: name one tenant";
            return Err(ApiError::new("malformed", message));
        }
        let wanted = std::str::from_utf8(wanted.as_bytes())
            .map_err(|_| ApiError::new("malformed", "X-Gslb-Tenant is no text in UTF-8"))?;
        let actor = state.ops.in_tenant(actor, wanted).await;
        return actor.map_err(|e| api_error(&e)).map(Found::from);
    }
    match picked {
        Some(picked) => in_picked(state, actor, picked).await,
        None => Ok(actor.into()),
    }
}

/// The caller in the tenant that his session has picked. When he cannot act there any more, his own would be the wrong
/// one for what he sends.
async fn in_picked(state: &AppState, actor: Actor, picked: TenantId) -> Result<Found, ApiError> {
    match state.ops.in_tenant(actor.clone(), &picked.to_string()).await {
        Ok(actor) => Ok(actor.into()),
        Err(OpError::NotFound { .. }) => {
            let message = format!(
                "the tenant `{picked}`, which this session had picked, is gone, and nothing was done; pick another: \
                 PUT /api/v1/session/tenant, or on the page of tenants"
            );
            Ok(Found {
                actor: Actor {
                    tenant_id: picked,
                    ..actor
                },
                tenant: Err(ApiError::new("conflict", message)),
            })
        }
        Err(OpError::Forbidden(_)) => Err(unauthorized(
            "you may not act any more in the tenant that this session had picked; log in again",
        )),
        Err(error) => Err(api_error(&error)),
    }
}

impl From<Actor> for Found {
    fn from(actor: Actor) -> Self {
        Self {
            actor,
            tenant: Ok(()),
        }
    }
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
) -> Result<(Actor, Option<TenantId>), ApiError> {
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
    Ok((actor, holder.tenant))
}

/// Finds out who calls and leaves the result in the request; whether that is enough is for the handlers to say.
pub async fn middleware(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let session = parts.extensions.get::<Session>();
    let found = find(&state, &parts.headers, session, source(&parts.extensions)).await;
    if let (Ok(_), Some(session), false) =
        (&found, session, parts.headers.contains_key(header::AUTHORIZATION))
    {
        sessions::touch(&state.store, session).await;
    }
    let (account, identity) = match found {
        Ok(Found { actor, tenant }) => (Ok(actor.clone()), tenant.map(|()| actor)),
        Err(error) => (Err(error.clone()), Err(error)),
    };
    parts.extensions.insert(Account(account));
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

impl<S: Send + Sync> FromRequestParts<S> for Anywhere {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        match parts.extensions.get::<Account>() {
            Some(Account(Ok(actor))) => Ok(Self(actor.clone())),
            Some(Account(Err(error))) => Err(error.clone().into()),
            None => Err(unauthorized("log in, or send an API token").into()),
        }
    }
}
