//! `/events`: what happens, as a stream of server-sent events.
//!
//! `event: event` carries an [`Event`] with its id, so that a browser that comes back names the last one it saw and gets
//! what it missed. `event: rate` carries a [`RatePoint`](gslb_api_types::RatePoint) each second, without an id: a missed one is not made up for.

use super::auth::{Caller, identify};
use super::error::{ApiFailure, ApiResult};
use crate::state::AppState;
use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use futures_util::{Stream, StreamExt, stream};
use gslb_api_types::model::{Permission, TenantId};
use gslb_api_types::{ApiError, ErrorBody, Event};
use gslb_core::OpError;
use std::convert::Infallible;
use std::time::Duration;
use tokio_stream::wrappers::BroadcastStream;
use tower_sessions::Session;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// A stream whose token or session has ended is closed within this time.
const CHECK: Duration = Duration::from_secs(5);
/// A stream whose token or session cannot be checked this many times in a row is closed too: nobody knows whether it is
/// still good. Who opens it anew is checked then.
const UNKNOWN: u32 = 3;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(events))
}

fn encode(event: &Event) -> SseEvent {
    let id = event.id.to_string();
    // Events are made of serialisable parts.
    let data = serde_json::to_string(event).unwrap_or_default();
    SseEvent::default().event("event").id(id).data(data)
}

/// What a look at a credential found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checked {
    Good,
    Over,
    /// The database could not be read.
    Unknown,
}

/// Ends when a look says that the credential is over, or too many in a row could not say.
async fn until_over<F: Future<Output = Checked>>(pause: Duration, mut look: impl FnMut() -> F) {
    let mut unknown = 0;
    while unknown < UNKNOWN {
        tokio::time::sleep(pause).await;
        match look().await {
            Checked::Good => unknown = 0,
            Checked::Over => return,
            Checked::Unknown => unknown += 1,
        }
    }
}

/// Whether the token or session that opened the stream is still good, and stands for what it did.
async fn check(
    state: &AppState,
    headers: &HeaderMap,
    session: Option<&Session>,
    began_as: (TenantId, bool),
) -> Checked {
    // What was read when the stream was opened is forgotten: the session may have ended elsewhere.
    if let Some(session) = session
        && session.load().await.is_err()
    {
        return Checked::Unknown;
    }
    let actor = match identify(state, headers, session, None).await {
        Ok(actor) => actor,
        Err(error) if matches!(error.code.as_str(), "internal" | "unavailable") => return Checked::Unknown,
        Err(_) => return Checked::Over,
    };
    if !actor.may(Permission::EventsRead) {
        return Checked::Over;
    }
    match state.ops.may_see_rate(&actor).await {
        Ok(rate) if (actor.tenant_id, rate) == began_as => Checked::Good,
        Ok(_) => Checked::Over,
        Err(_) => Checked::Unknown,
    }
}

/// The id in `Last-Event-ID`. An empty one is what a browser sends that has seen none.
fn last_event_id(headers: &HeaderMap) -> ApiResult<Option<u64>> {
    let Some(value) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or("?").trim();
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        let message = format!("`{text}` is no Last-Event-ID of this stream; leave it out to begin anew");
        ApiError::new("malformed", message).into()
    })
}

/// Health transitions and configuration changes of the tenant, and the query rate each second (where there are several
/// tenants: for who may read metrics), as they happen.
/// `Last-Event-ID` brings what was missed, as far back as the node remembers; one that is no number is refused.
#[utoipa::path(get, path = "/events", tag = "events", operation_id = "streamEvents",
    params(("Last-Event-ID" = Option<u64>, Header, description = "The last id seen")),
    responses((status = 200, body = Event, content_type = "text/event-stream"), (status = 400, body = ErrorBody)))]
async fn events(
    State(state): State<AppState>,
    Caller(actor): Caller,
    session: Option<Extension<Session>>,
    headers: HeaderMap,
) -> ApiResult<Sse<impl Stream<Item = Result<SseEvent, Infallible>>>> {
    if !actor.may(Permission::EventsRead) {
        return Err(ApiFailure::from(OpError::Forbidden(Permission::EventsRead)));
    }
    let tenant: TenantId = actor.tenant_id;
    let last = last_event_id(&headers)?;
    // Subscribed before the past is read: an event in between is in both, and the ids tell.
    let live = state.events.subscribe();
    // An id that was not given out yet comes from another database: nothing is held back until it is reached.
    let last = last.map(|id| id.min(state.events.newest()));
    let missed = last.map(|id| state.events.since(id, tenant)).unwrap_or_default();
    let seen = missed.last().map(|e| e.id).or(last).unwrap_or_default();
    let live = BroadcastStream::new(live)
        // A reader too slow for the channel has lost events: it ends here, comes back, and catches up by id.
        .take_while(|item| std::future::ready(item.is_ok()))
        .filter_map(move |item| {
            let event = item.ok().filter(|e| e.id > seen && e.tenant_id == tenant);
            std::future::ready(event.map(|e| encode(&e)))
        });
    let with_rate = state.ops.may_see_rate(&actor).await?;
    let rate = BroadcastStream::new(state.rate.subscribe()).filter_map(move |point| {
        let point = point.ok().filter(|_| with_rate);
        let data = point.and_then(|point| serde_json::to_string(&point).ok());
        std::future::ready(data.map(|data| SseEvent::default().event("rate").data(data)))
    });
    let missed = stream::iter(missed.iter().map(encode).collect::<Vec<_>>());
    let opening = stream::iter([SseEvent::default().retry(Duration::from_secs(2)).comment("open")]);
    let stream = opening.chain(missed).chain(stream::select(live, rate)).map(Ok);
    let stop = state.stop.clone();
    let over = async move {
        let session = session.map(|Extension(session)| session);
        tokio::select! {
            () = stop.cancelled() => {}
            () = until_over(CHECK, || check(&state, &headers, session.as_ref(), (tenant, with_rate))) => {}
        }
    };
    let stream = stream.take_until(Box::pin(over));
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    /// How many looks it takes until a stream is closed, when they find this, and nothing from then on.
    async fn looks(found: &[Checked], then: Checked) -> usize {
        let mut count = 0;
        until_over(Duration::ZERO, || {
            count += 1;
            std::future::ready(found.get(count - 1).copied().unwrap_or(then))
        })
        .await;
        count
    }

    #[tokio::test]
    async fn a_stream_whose_credential_cannot_be_checked_does_not_stay_open() {
        use Checked::{Good, Over, Unknown};
        assert_eq!(looks(&[Good, Good], Over).await, 3);
        assert_eq!(looks(&[], Unknown).await, 3);
        // A short trouble ends nothing.
        assert_eq!(
            looks(&[Unknown, Unknown, Good, Unknown, Unknown, Good], Over).await,
            7
        );
    }

    #[test]
    fn the_last_id_is_a_number_or_nothing() {
        let id = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("last-event-id", HeaderValue::from_static(text));
            last_event_id(&headers).map_err(|failure| failure.status().as_u16())
        };
        assert_eq!(id("42"), Ok(Some(42)));
        assert_eq!(id(""), Ok(None));
        for text in ["abc", "-1", "1.5", "99999999999999999999"] {
            assert_eq!(id(text), Err(400), "{text}");
        }
        assert_eq!(last_event_id(&HeaderMap::new()).unwrap(), None);
    }
}
