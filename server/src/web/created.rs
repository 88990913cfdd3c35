//! Tokens that were just made, until the next page has shown their secret: in memory alone, for a minute, once.

use gslb_api_types::TokenCreated;
use gslb_engine::model::SessionId;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a secret waits to be shown.
const LIFE: Duration = Duration::from_secs(60);

/// By the session that made them.
#[derive(Debug, Default)]
pub struct Created(Mutex<HashMap<SessionId, (Instant, TokenCreated)>>);

impl Created {
    /// Keeps one for the next page of its session.
    pub fn keep(&self, session: Option<SessionId>, token: TokenCreated) {
        let Some(session) = session else { return };
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, (since, _)| since.elapsed() < LIFE);
        waiting.insert(session, (Instant::now(), token));
    }

    /// Hands it out, and forgets it.
    pub fn take(&self, session: Option<SessionId>) -> Option<TokenCreated> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, (since, _)| since.elapsed() < LIFE);
        waiting.remove(&session?).map(|(_, token)| token)
    }
}
