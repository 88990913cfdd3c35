//! `Idempotency-Key`: a POST that is sent again gets the first answer again, and nothing is made twice.
//!
//! A client that got no answer cannot know whether its object was made. With a key of its own choosing it may just send
//! the request again. Keys are remembered per caller and path, on this node, for a day at most.

use super::auth::Identity;
use super::error::ApiFailure;
use super::extract::MAX_BODY;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use gslb_api_types::ApiError;
use gslb_api_types::model::{ErrorCode, ValidationError};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Header that carries the key.
const HEADER: &str = "idempotency-key";
/// Longest key, characters.
const MAX_KEY: usize = 128;
/// Answers remembered at once; the oldest goes first.
const CAPACITY: usize = 4096;
/// How long an answer is remembered.
const LIFE: Duration = Duration::from_secs(86_400);

/// What a key stands for: who, where, and the caller's own text.
type Key = (String, String, String);

/// An answer as it was first given.
#[derive(Debug, Clone)]
struct Given {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

#[derive(Debug)]
struct Entry {
    /// SHA-256 of the body: a key stands for one request.
    body: [u8; 32],
    begun: Instant,
    /// `None` while the first request is being answered.
    given: Option<Given>,
}

/// Answers by key.
#[derive(Debug, Clone, Default)]
pub struct Answers(Arc<Mutex<HashMap<Key, Entry>>>);

/// What is known about a key.
enum Known {
    New,
    Running,
    Other,
    Given(Given),
}

impl Answers {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks a key up, and notes that its request has begun if it is new.
    fn begin(&self, key: &Key, body: [u8; 32], now: Instant) -> Known {
        let mut entries = self.lock();
        entries.retain(|_, entry| now.duration_since(entry.begun) < LIFE);
        match entries.get(key) {
            Some(entry) if entry.body != body => Known::Other,
            Some(Entry {
                given: Some(given), ..
            }) => Known::Given(given.clone()),
            Some(_) => Known::Running,
            None => {
                if entries.len() >= CAPACITY {
                    let oldest = entries
                        .iter()
                        .min_by_key(|(_, entry)| entry.begun)
                        .map(|(key, _)| key.clone());
                    oldest.and_then(|key| entries.remove(&key));
                }
                entries.insert(
                    key.clone(),
                    Entry {
                        body,
                        begun: now,
                        given: None,
                    },
                );
                Known::New
            }
        }
    }
}

/// Forgets a request that ended without an answer to remember: the caller hung up, or the fault was ours.
struct Running<'a> {
    answers: &'a Answers,
    key: &'a Key,
    given: Option<Given>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut entries = self.answers.lock();
        match (self.given.take(), entries.get_mut(self.key)) {
            (Some(given), Some(entry)) => entry.given = Some(given),
            _ => drop(entries.remove(self.key)),
        }
    }
}

fn failure(code: &str, message: &str) -> Response {
    ApiFailure::from(ApiError::new(code, message)).into_response()
}

fn wrong_key(message: &str) -> Response {
    let detail = ValidationError::new("Idempotency-Key", ErrorCode::Invalid, message);
    let error = ApiError {
        details: vec![detail],
        ..ApiError::new("validation_failed", message)
    };
    ApiFailure::from(error).into_response()
}

/// Answers a repeated POST with what the first one got.
pub async fn middleware(State(answers): State<Answers>, request: Request, next: Next) -> Response {
    let caller = match request.extensions().get::<Identity>() {
        Some(Identity(Ok(actor))) => format!("{:?} {}", actor.kind, actor.tenant_id),
        _ => return next.run(request).await,
    };
    let Some(text) = request
        .headers()
        .get(HEADER)
        .filter(|_| request.method() == Method::POST)
    else {
        return next.run(request).await;
    };
    let text = match text.to_str() {
        Ok(text) if !text.is_empty() && text.len() <= MAX_KEY => text.to_owned(),
        _ => return wrong_key("must be 1 to 128 visible ASCII characters"),
    };
    let key = (caller, request.uri().path().to_owned(), text);
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, MAX_BODY).await else {
        return failure("too_large", "the body is larger than this server takes");
    };
    match answers.begin(&key, Sha256::digest(&bytes).into(), Instant::now()) {
        Known::Given(given) => {
            let mut response = Response::new(Body::from(given.body));
            *response.status_mut() = given.status;
            *response.headers_mut() = given.headers;
            return response;
        }
        Known::Running => {
            return failure(
                "conflict",
                "the first request with this Idempotency-Key is still running",
            );
        }
        Known::Other => return wrong_key("was used for another request; take a new key for each"),
        Known::New => {}
    }
    let mut running = Running {
        answers: &answers,
        key: &key,
        given: None,
    };
    let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
    let (head, body) = response.into_parts();
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return failure("internal", "the answer could not be made");
    };
    if !head.status.is_server_error() {
        running.given = Some(Given {
            status: head.status,
            headers: head.headers.clone(),
            body: body.clone(),
        });
    }
    Response::from_parts(head, Body::from(body))
}
