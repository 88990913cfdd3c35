//! The stream of events: a bounded ring with ids (so that a client can resume), a broadcast to live listeners, and a
//! table in which health transitions outlive a restart.

use crate::clock::{Clock, to_millis};
use crate::store::{Store, StoreError};
use gslb_api_types::{Event, EventKind};
use gslb_engine::model::TenantId;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Events kept for clients that come back.
const RING: usize = 4096;
/// Events that a slow listener may lag behind before it loses some.
const BACKLOG: usize = 1024;
/// Transitions written to the database at once.
const BATCH: usize = 1024;

#[derive(Debug)]
struct State {
    next_id: u64,
    ring: VecDeque<Event>,
}

#[derive(Debug)]
struct Inner {
    clock: Clock,
    state: Mutex<State>,
    live: broadcast::Sender<Event>,
    keep: mpsc::UnboundedSender<Event>,
}

/// Publishes events and hands them out. Cheap to clone.
#[derive(Debug, Clone)]
pub struct EventBus(Arc<Inner>);

impl EventBus {
    /// Opens the bus over a database, and starts the task that keeps transitions there until `stop`.
    ///
    /// # Errors
    /// The database fails.
    pub async fn open(
        store: Store,
        clock: Clock,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Result<Self, StoreError> {
        let ring: VecDeque<Event> = store.recent_events(512).await?.into();
        // Ids of changes are not kept: the time of the start puts new ids above all that were given out before, and
        // leaves them exact in a JSON number (below 2^53) for some centuries.
        let floor = u64::try_from(to_millis(clock.now()))
            .unwrap_or_default()
            .saturating_mul(1000);
        let next_id = floor.max(store.last_event_id().await? + 1);
        let (live, _) = broadcast::channel(BACKLOG);
        let (keep, kept) = mpsc::unbounded_channel();
        tasks.spawn(keeper(store, kept, stop));
        Ok(Self(Arc::new(Inner {
            clock,
            state: Mutex::new(State { next_id, ring }),
            live,
            keep,
        })))
    }

    /// Publishes an event.
    pub fn publish(&self, tenant_id: TenantId, kind: EventKind) -> Event {
        let inner = &*self.0;
        let at = u64::try_from(to_millis(inner.clock.now())).unwrap_or_default();
        // Id, ring and broadcast in one step: every listener sees ids grow.
        let mut state = inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        let event = Event {
            id: state.next_id,
            at,
            tenant_id,
            kind,
        };
        state.next_id += 1;
        if state.ring.len() == RING {
            state.ring.pop_front();
        }
        state.ring.push_back(event.clone());
        if matches!(event.kind, EventKind::Health { .. }) {
            // The keeper is gone only when the daemon stops.
            let _ = inner.keep.send(event.clone());
        }
        // Nobody listening is no fault.
        let _ = inner.live.send(event.clone());
        event
    }

    /// Events from now on, of all tenants: the listener takes those of its own. One that lags behind too far loses
    /// some, is told so, and catches up with [`since`](Self::since).
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.0.live.subscribe()
    }

    /// Events of a tenant after the one with an id, oldest first, as far back as the ring goes. Subscribe first: an
    /// event in between is in both, and the ids tell.
    #[must_use]
    pub fn since(&self, id: u64, tenant: TenantId) -> Vec<Event> {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state
            .ring
            .iter()
            .filter(|e| e.id > id && e.tenant_id == tenant)
            .cloned()
            .collect()
    }

    /// Id of the last event, of whatever tenant; 0 before the first.
    #[must_use]
    pub fn newest(&self) -> u64 {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.next_id.saturating_sub(1)
    }

    /// The latest events of a tenant, newest first.
    #[must_use]
    pub fn latest(&self, tenant: TenantId, limit: usize) -> Vec<Event> {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state
            .ring
            .iter()
            .rev()
            .filter(|e| e.tenant_id == tenant)
            .take(limit)
            .cloned()
            .collect()
    }
}

async fn keeper(store: Store, mut kept: mpsc::UnboundedReceiver<Event>, stop: CancellationToken) {
    let mut batch = Vec::new();
    loop {
        let count = tokio::select! {
            count = kept.recv_many(&mut batch, BATCH) => count,
            () = stop.cancelled() => {
                // What was published before the stop is still written.
                while batch.len() < BATCH && let Ok(event) = kept.try_recv() {
                    batch.push(event);
                }
                0
            }
        };
        if !batch.is_empty()
            && let Err(error) = store.keep_events(&batch).await
        {
            tracing::error!(error = %crate::error::Chain(&error), events = batch.len(), "cannot keep health events");
        }
        batch.clear();
        if count == 0 {
            return;
        }
    }
}
