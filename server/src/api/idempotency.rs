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
/// Octets of all answers that are remembered; the oldest goes first.
const ROOM: usize = 32 << 20;
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
    /// SHA-256 of parameters and body: a key stands for one request.
    asked: [u8; 32],
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
    fn begin(&self, key: &Key, asked: [u8; 32], now: Instant) -> Known {
        let mut entries = self.lock();
        entries.retain(|_, entry| now.duration_since(entry.begun) < LIFE);
        match entries.get(key) {
            Some(entry) if entry.asked != asked => Known::Other,
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
                        asked,
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

/// Forgets the oldest answers until the others have room.
fn make_room(entries: &mut HashMap<Key, Entry>) {
    let size = |entry: &Entry| entry.given.as_ref().map_or(0, |given| given.body.len());
    let mut total: usize = entries.values().map(size).sum();
    while total > ROOM {
        let oldest = entries
            .iter()
            .filter(|(_, entry)| size(entry) > 0)
            .min_by_key(|(_, entry)| entry.begun)
            .map(|(key, _)| key.clone());
        let Some(gone) = oldest.and_then(|key| entries.remove(&key)) else {
            return;
        };
        total -= size(&gone);
    }
}

/// What a key stands for: a comparison and the change that it announced differ in nothing but a parameter.
fn asked(query: Option<&str>, body: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(query.unwrap_or_default());
    // No address has a line break in it.
    digest.update(b"\n");
    digest.update(body);
    digest.finalize().into()
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut entries = self.answers.lock();
        match (self.given.take(), entries.get_mut(self.key)) {
            (Some(given), Some(entry)) => {
                entry.given = Some(given);
                make_room(&mut entries);
            }
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
    let asked = asked(parts.uri.query(), &bytes);
    match answers.begin(&key, asked, Instant::now()) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        (String::new(), String::new(), text.to_owned())
    }

    #[test]
    fn a_key_stands_for_parameters_and_body() {
        assert_ne!(asked(None, b"a"), asked(Some("apply=true"), b"a"));
        assert_ne!(asked(Some("a"), b"b"), asked(Some("ab"), b""));
        assert_eq!(asked(Some("a"), b"b"), asked(Some("a"), b"b"));
    }

    #[test]
    fn large_answers_do_not_fill_the_memory() {
        let answers = Answers::default();
        for number in 0..40 {
            let key = key(&number.to_string());
            assert!(matches!(answers.begin(&key, [0; 32], Instant::now()), Known::New));
            drop(Running {
                answers: &answers,
                key: &key,
                given: Some(Given {
                    status: StatusCode::OK,
                    headers: HeaderMap::new(),
                    body: vec![0; 1 << 20].into(),
                }),
            });
        }
        let kept = |number: u32| answers.lock().contains_key(&key(&number.to_string()));
        assert_eq!(answers.lock().len(), ROOM >> 20);
        assert!(!kept(0) && kept(39), "the oldest goes first");
    }
}
