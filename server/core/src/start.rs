//! Puts the parts together in the right order, and takes them apart again.

use crate::auth::{Auth, FirstAdmin};
use crate::clock::{Clock, to_millis};
use crate::config::{ConfigError, Reload, Settings, Sources};
use crate::error::OpError;
use crate::events::EventBus;
use crate::license::{self, LicenseStatus};
use crate::metrics::{CoreSource, Metrics, Source};
use crate::ops::{Ops, Parts};
use crate::reconciler::{Inputs, Reconciler};
use crate::store::{ConfigLog, Store, StoreError};
use crate::watch::FileWatch;
use arc_swap::ArcSwap;
use gslb_api_types::SignalsAt;
use gslb_engine::model::{Actor, ZoneDraft};
use gslb_engine::script::Scripts;
use gslb_engine::snapshot::SnapshotCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often sessions that are over leave the database.
const CLEANUP: Duration = Duration::from_secs(600);

/// Why the daemon cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Making what a first start makes.
    #[error("cannot prepare the first start")]
    First(#[from] OpError),
}

/// Everything behind the sockets, running.
#[derive(Debug)]
pub struct Core {
    /// The use cases.
    pub ops: Arc<Ops>,
    /// Accounts and tokens.
    pub auth: Arc<Auth>,
    /// The database, for what is local to the node (sessions, history).
    pub store: Store,
    /// The snapshot in force.
    pub snapshot: Arc<SnapshotCell>,
    /// The stream of events.
    pub events: EventBus,
    /// The one writer of the snapshot: its status, and a watch on its swaps.
    pub reconciler: Reconciler,
    /// Settings in force.
    pub settings: Arc<ArcSwap<Settings>>,
    /// Licence in force.
    pub license: Arc<ArcSwap<LicenseStatus>>,
    /// The administrator, if this was a first start.
    pub first_admin: Option<FirstAdmin>,
    clock: Clock,
    watch: FileWatch,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Core {
    /// Opens the database, makes what a first start makes (administrator, the zone of `dns.domain`), compiles the
    /// first snapshot, and watches the files that settings name. `scripts` is where script steps are compiled.
    ///
    /// # Errors
    /// The database cannot be opened or migrated, or the first start cannot be prepared.
    pub async fn start(
        settings: Settings,
        clock: Clock,
        scripts: Arc<dyn Scripts>,
    ) -> Result<Self, StartError> {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let store = Store::open(&settings.database.path).await?;
        let log = ConfigLog::alone(store.clone());
        let auth = Arc::new(Auth::new(store.clone(), clock.clone(), settings.api.key.as_ref()));
        let fresh = store.revision().await? == 0;
        let first_admin = auth.first_start(&log, settings.admin.password.as_ref()).await?;
        // Every exit after this stops the tasks.
        let events = EventBus::open(store.clone(), clock.clone(), &tasks, stop.clone()).await?;
        let snapshot = Arc::new(SnapshotCell::default());
        let license = Arc::new(ArcSwap::from_pointee(license::evaluate(None, &[], clock.now())));
        let domain = settings.dns.domain.clone();
        let settings = Arc::new(ArcSwap::from_pointee(settings));
        let inputs = Inputs {
            store: store.clone(),
            settings: settings.load_full(),
            snapshot: Arc::clone(&snapshot),
            license: Arc::clone(&license),
            events: events.clone(),
            clock: clock.clone(),
            scripts: Arc::clone(&scripts),
        };
        let reconciler = Reconciler::start(inputs, &tasks, stop.clone())
            .await
            .inspect_err(|_| stop.cancel())?;
        let parts = Parts {
            store: store.clone(),
            log,
            settings: Arc::clone(&settings),
            license: Arc::clone(&license),
            reconciler: reconciler.clone(),
            events: events.clone(),
            snapshot: Arc::clone(&snapshot),
            clock: clock.clone(),
            scripts,
        };
        let ops = Arc::new(Ops::new(parts));
        if let Some(domain) = domain.filter(|_| fresh) {
            let draft = ZoneDraft {
                name: Some(domain.to_string()),
                ..ZoneDraft::default()
            };
            ops.create_zone(&Actor::system(), &draft)
                .await
                .inspect_err(|_| stop.cancel())?;
        }
        let to_reconciler = reconciler.clone();
        let watch = FileWatch::start(&tasks, stop.clone(), move |files| {
            tracing::info!(?files, "files changed: reloading");
            to_reconciler.files(files);
        });
        watch.set(watched_files(&settings.load()));
        keep_signals(&store, signals_at(&settings.load(), &clock)).await;
        tasks.spawn(cleanup(store.clone(), clock.clone(), stop.clone()));
        Ok(Self {
            ops,
            auth,
            store,
            snapshot,
            events,
            reconciler,
            settings,
            license,
            first_admin,
            clock,
            watch,
            tasks,
            stop,
        })
    }

    /// Reads the settings again and applies what a reload may change, files included.
    ///
    /// # Errors
    /// The new settings are wrong; the old ones stay.
    pub fn reload(&self, sources: &Sources) -> Result<Reload, ConfigError> {
        let new = sources.load()?;
        let mut settings = Settings::clone(&self.settings.load());
        let outcome = settings.reload(new);
        let settings = Arc::new(settings);
        self.settings.store(Arc::clone(&settings));
        self.watch.set(watched_files(&settings));
        let (store, table) = (self.store.clone(), signals_at(&settings, &self.clock));
        self.tasks.spawn(async move { keep_signals(&store, table).await });
        self.reconciler.settings(settings);
        Ok(outcome)
    }

    /// Metrics of this crate's parts and of `others` (DNS, probes).
    #[must_use]
    pub fn metrics(&self, others: Vec<Arc<dyn Source>>) -> Metrics {
        let own = CoreSource::new(
            Arc::clone(&self.snapshot),
            Arc::clone(&self.settings),
            Arc::clone(&self.license),
            self.reconciler.clone(),
            &self.clock,
        );
        let own: Arc<dyn Source> = Arc::new(own);
        Metrics::new(std::iter::once(own).chain(others).collect())
    }

    /// Stops the tasks, waits for them, and closes the database.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.store.close().await;
    }
}

fn watched_files(settings: &Settings) -> Vec<PathBuf> {
    let latency = &settings.latency;
    [
        &latency.geoip_db_path,
        &latency.asn_db_path,
        &latency.city_db_path,
        &settings.routing.map_file,
        &settings.license.file,
    ]
    .into_iter()
    .flatten()
    .cloned()
    .collect()
}

/// The signal table of settings that are in force from now on.
fn signals_at(settings: &Settings, clock: &Clock) -> SignalsAt {
    let signals = settings.signal_settings();
    SignalsAt {
        at: u64::try_from(to_millis(clock.now())).unwrap_or_default(),
        weight: signals.weight,
        zones: signals.zones,
    }
}

/// Keeps a signal table for its history, which nothing depends on.
async fn keep_signals(store: &Store, table: SignalsAt) {
    if let Err(error) = store.keep_signals(&table).await {
        tracing::warn!(error = %crate::error::Chain(&error), "the signal table is missing in its history");
    }
}

async fn cleanup(store: Store, clock: Clock, stop: CancellationToken) {
    let mut timer = tokio::time::interval(CLEANUP);
    loop {
        tokio::select! {
            _ = timer.tick() => {}
            () = stop.cancelled() => return,
        }
        if let Err(error) = store.cleanup_sessions(clock.now().unix_timestamp()).await {
            tracing::warn!(error = %crate::error::Chain(&error), "cannot remove sessions that are over");
        }
    }
}
