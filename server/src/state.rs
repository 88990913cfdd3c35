//! What handlers and pages work on.

use crate::rate::RateLog;
use crate::shares::ShareLog;
use crate::web::origin::Scheme;
use axum::extract::FromRef;
use gslb_api_types::SessionView;
use gslb_core::auth::Auth;
use gslb_core::events::EventBus;
use gslb_core::metrics::Metrics;
use gslb_core::reconciler::Reconciler;
use gslb_core::store::Store;
use gslb_core::{OpError, Ops};
use gslb_dns::DnsStats;
use gslb_engine::model::{Actor, ActorKind};
use gslb_engine::snapshot::SnapshotCell;
use gslb_probe::Prober;
use leptos::config::LeptosOptions;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio_util::sync::CancellationToken;

/// Shared parts of a running daemon.
pub struct Shared {
    /// The use cases.
    pub ops: Arc<Ops>,
    /// Accounts, tokens, log-ins.
    pub auth: Arc<Auth>,
    /// The database, for sessions.
    pub store: Store,
    /// The routing snapshot.
    pub snapshot: Arc<SnapshotCell>,
    /// The stream of events.
    pub events: EventBus,
    /// The one writer of the snapshot.
    pub reconciler: Reconciler,
    /// The health probes.
    pub prober: Arc<Prober>,
    /// Query rates.
    pub rate: Arc<RateLog>,
    /// What the DNS server counts, and the latest queries.
    pub dns: Arc<DnsStats>,
    /// Answers by member.
    pub shares: Arc<ShareLog>,
    /// The metrics catalogue.
    pub metrics: Metrics,
    /// Options of the console.
    pub leptos: LeptosOptions,
    /// Name of this node.
    pub node_id: String,
    /// When the daemon started.
    pub started: Instant,
    /// Whether the console speaks TLS.
    pub secure: bool,
    /// What the `Origin` of the console's own pages begins with.
    pub scheme: Scheme,
    /// Cancelled when the daemon stops: ends the streams that would keep connections open.
    pub stop: CancellationToken,
}

/// [`Shared`] by reference, as axum wants its state.
#[derive(Clone)]
pub struct AppState(pub Arc<Shared>);

impl Deref for AppState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl FromRef<AppState> for LeptosOptions {
    fn from_ref(state: &AppState) -> Self {
        state.leptos.clone()
    }
}

impl Shared {
    /// What a caller may know about itself.
    ///
    /// # Errors
    /// The database fails.
    pub async fn session_view(&self, actor: &Actor) -> Result<SessionView, OpError> {
        Ok(SessionView {
            name: actor.name.clone(),
            user_id: match actor.kind {
                ActorKind::User(id) => Some(id),
                _ => None,
            },
            tenant_id: actor.tenant_id,
            tenant: self.ops.tenant_name(actor.tenant_id).await?,
            permissions: actor.permissions.clone(),
            tier: self.ops.tier(),
        })
    }

    /// Whether DNS answers from the stored configuration, and signs what is to be signed.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.reconciler.status().is_ready()
    }
}

/// Unix time, seconds.
#[must_use]
pub fn unix_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs())
}

/// Random bits for one trace.
#[must_use]
pub fn entropy() -> u64 {
    // No secret hangs on them: the hasher's keys are random for each call and cost nothing.
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0_u8)
}
