//! Sessions of the console in the database, for tower-sessions.
//!
//! The table holds the hash of an id, not the id: whoever reads the database cannot take a session over.

use crate::api::auth::{ABSOLUTE_LIMIT, HOLDER_KEY, Holder};
use async_trait::async_trait;
use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use gslb_core::store::{SessionRecord, Store, StoreError, shown_id};
use gslb_core::{Chain, OpError};
use gslb_engine::model::SessionId;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write;
use time::OffsetDateTime;
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::{Error, Result};
use tower_sessions::{Expiry, Session, SessionManagerLayer, SessionStore};

/// Name of the cookie.
const NAME: &str = "gslb_session";
/// A session ends after this long without a request.
const IDLE: time::Duration = time::Duration::hours(12);
/// Uses of a session are noted this often, seconds.
const MINUTE: i64 = 60;
/// Key under which a session that was read says when it was used last. It is not kept there.
const SEEN_KEY: &str = "seen";
/// Longest life of a session, which is that of its cookie; how long it may be idle, the database knows.
const LIFE: time::Duration = time::Duration::seconds(ABSOLUTE_LIMIT.cast_signed());

/// [`SessionStore`] on the daemon's database.
#[derive(Debug, Clone)]
pub struct Sessions(Store);

fn key(id: Id) -> String {
    Sha256::digest(id.0.to_be_bytes())
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a String does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// What a caller is told when a session cannot be kept for want of room.
pub const DISK_FULL: &str = "the disk with the database is full: nobody can log in until there is room";

/// Whether a session could not be written because the disk is full. tower-sessions carries a text and nothing else.
#[must_use]
pub fn is_disk_full(error: &tower_sessions::session::Error) -> bool {
    matches!(error, tower_sessions::session::Error::Store(Error::Backend(text)) if text.starts_with(DISK_FULL))
}

fn backend(error: StoreError) -> Error {
    let text = Chain(&error).to_string();
    match OpError::from(error) {
        OpError::DiskFull(_) => Error::Backend(format!("{DISK_FULL}: {text}")),
        _ => Error::Backend(text),
    }
}

/// A record as a row: whose it is stands in columns of its own, so that sessions can be listed and ended.
fn to_row(record: &Record) -> Result<SessionRecord> {
    let holder: Option<Holder> = record
        .data
        .get(HOLDER_KEY)
        .and_then(|value| serde_json::from_value(value.clone()).ok());
    let mut content = record.data.clone();
    content.remove(SEEN_KEY);
    let data = serde_json::to_vec(&content).map_err(|e| Error::Encode(e.to_string()))?;
    let now = OffsetDateTime::now_utc().unix_timestamp();
    let since = holder
        .as_ref()
        .and_then(|holder| i64::try_from(holder.since).ok())
        .unwrap_or(now);
    Ok(SessionRecord {
        id: key(record.id),
        data,
        expiry: end(now),
        user_id: holder.as_ref().map(|holder| holder.user.to_string()),
        address: holder
            .as_ref()
            .and_then(|holder| holder.from)
            .map(|from| from.to_string()),
        agent: holder.and_then(|holder| holder.agent),
        created_at: since,
        seen_at: now,
    })
}

/// When a session ends that is used now, Unix seconds.
fn end(now: i64) -> i64 {
    now.saturating_add(IDLE.whole_seconds())
}

/// Puts the end of a session off, once a minute at most. One that cannot be written is used all the same: reading goes
/// on when the disk is full.
pub async fn touch(store: &Store, session: &Session) {
    let (Some(id), Ok(Some(seen))) = (session.id(), session.get::<i64>(SEEN_KEY).await) else {
        return;
    };
    let now = OffsetDateTime::now_utc().unix_timestamp();
    if now.saturating_sub(seen) < MINUTE {
        return;
    }
    if let Err(error) = store.touch_session(&key(id), now, end(now)).await {
        tracing::debug!(error = %Chain(&error), "the use of a session could not be noted");
    }
}

/// The id of a session that may be shown.
#[must_use]
pub fn shown(session: &Session) -> Option<SessionId> {
    session.id().map(|id| shown_id(&key(id)))
}

#[async_trait]
impl SessionStore for Sessions {
    async fn create(&self, record: &mut Record) -> Result<()> {
        // 128 random bits do not meet twice; the loop is for the one time that they do.
        while !self.0.create_session(&to_row(record)?).await.map_err(backend)? {
            record.id = Id::default();
        }
        Ok(())
    }

    async fn save(&self, record: &Record) -> Result<()> {
        self.0.save_session(&to_row(record)?).await.map_err(backend)
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let now = OffsetDateTime::now_utc().unix_timestamp();
        let Some(row) = self.0.load_session(&key(*id), now).await.map_err(backend)? else {
            return Ok(None);
        };
        let mut data: HashMap<String, serde_json::Value> =
            serde_json::from_slice(&row.data).map_err(|e| Error::Decode(e.to_string()))?;
        data.insert(SEEN_KEY.to_owned(), row.seen_at.into());
        let expiry_date =
            OffsetDateTime::from_unix_timestamp(row.expiry).map_err(|e| Error::Decode(e.to_string()))?;
        Ok(Some(Record {
            id: *id,
            data,
            expiry_date,
        }))
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        self.0.delete_session(&key(*id)).await.map_err(backend)
    }
}

/// The layer that gives every request its session. `secure` when the console speaks TLS.
#[must_use]
pub fn layer(store: Store, secure: bool) -> SessionManagerLayer<Sessions> {
    SessionManagerLayer::new(Sessions(store))
        .with_name(NAME)
        .with_http_only(true)
        .with_same_site(tower_sessions::cookie::SameSite::Lax)
        .with_secure(secure)
        .with_expiry(Expiry::OnInactivity(LIFE))
}

/// Takes the cookies out of a request that brings a token: one request has one caller. A session that comes along
/// beside a token is neither read nor written nor ended.
pub async fn token_without_cookies(mut request: Request, next: Next) -> Response {
    if request.headers().contains_key(header::AUTHORIZATION) {
        request.headers_mut().remove(header::COOKIE);
    }
    next.run(request).await
}

/// Puts the cookie of the session in front of others, for programs that look at the first one only.
pub async fn session_cookie_first(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let mut cookies: Vec<_> = headers.get_all(header::SET_COOKIE).iter().cloned().collect();
    if cookies.len() > 1 {
        cookies.sort_by_key(|cookie| !cookie.as_bytes().starts_with(NAME.as_bytes()));
        headers.remove(header::SET_COOKIE);
        for cookie in cookies {
            headers.append(header::SET_COOKIE, cookie);
        }
    }
    response
}
