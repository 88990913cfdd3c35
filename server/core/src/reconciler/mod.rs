//! The only writer of the routing snapshot: one task, one queue.
//!
//! Changes of the configuration, new settings, changed files, the end of a licence all come in here; what they touch
//! is compiled anew and swapped in as a whole. When it does not compile, the old snapshot stays and the status says
//! why.

mod keys;
mod objects;
mod serials;
mod state;
mod touched;

use crate::clock::Clock;
use crate::config::Settings;
use crate::events::EventBus;
use crate::license::LicenseStatus;
use crate::store::{Commit, Store, StoreError};
use arc_swap::ArcSwap;
use gslb_engine::script::Scripts;
use gslb_engine::snapshot::{Snapshot, SnapshotCell};
use state::State;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the licence is looked at, and retired snapshots are freed.
const TICK: Duration = Duration::from_secs(1);

/// What the reconciler is doing, for `/ready`, metrics and those who wait for a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Revision up to which changes have been looked at.
    pub revision: u64,
    /// Revision of the configuration in the snapshot in force; lags behind `revision` while that does not compile.
    pub in_force: u64,
    /// Number of swaps so far; a new one means a new snapshot.
    pub generation: u64,
    /// Why the latest configuration is not in force.
    pub compile_error: Option<Arc<str>>,
    /// Compilations that failed since the start.
    pub compile_errors: u64,
    /// Files that could not be used: geo databases, map file, licence file. What was good before stays in use.
    pub file_errors: Vec<String>,
    /// Zones that are to be signed and are not, because their keys cannot be read.
    pub key_errors: Vec<String>,
}

impl Status {
    /// Whether DNS answers from the stored configuration, and signs what is to be signed.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.compile_error.is_none() && self.key_errors.is_empty()
    }
}

/// Messages of the queue.
#[derive(Debug)]
enum Message {
    Changed(Commit),
    Settings(Arc<Settings>),
    Files(Vec<PathBuf>),
    Everything,
}

/// Speaks to the reconciler. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Reconciler {
    queue: mpsc::UnboundedSender<Message>,
    status: watch::Receiver<Status>,
}

/// What the reconciler works with.
#[derive(Debug)]
pub struct Inputs {
    /// The database, read at the start.
    pub store: Store,
    /// Settings.
    pub settings: Arc<Settings>,
    /// Where the snapshot goes.
    pub snapshot: Arc<SnapshotCell>,
    /// Where the licence in force goes.
    pub license: Arc<ArcSwap<LicenseStatus>>,
    /// Told of a change of tier.
    pub events: EventBus,
    /// Time of day.
    pub clock: Clock,
    /// Where script steps are compiled.
    pub scripts: Arc<dyn Scripts>,
}

impl Reconciler {
    /// Compiles the first snapshot from the database, and starts the task.
    ///
    /// # Errors
    /// The database fails. A configuration that does not compile is no error here: see [`Status::compile_error`].
    pub async fn start(
        inputs: Inputs,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Result<Self, StoreError> {
        let state = Arc::new(Mutex::new(State::load(&inputs).await?));
        let (queue, messages) = mpsc::unbounded_channel();
        let (status_out, status) = watch::channel(Status::default());
        let worker = Worker {
            state,
            snapshot: inputs.snapshot,
            status: status_out,
            retired: Vec::new(),
        };
        let mut worker = worker.work(vec![Message::Everything]).await;
        worker.free();
        tasks.spawn(worker.run(messages, stop));
        Ok(Self { queue, status })
    }

    /// A change was applied to the database. Calls come in the order of revisions.
    pub fn changed(&self, commit: Commit) {
        self.send(Message::Changed(commit));
    }

    /// New settings: signals, latency, files, licence.
    pub fn settings(&self, settings: Arc<Settings>) {
        self.send(Message::Settings(settings));
    }

    /// These files may have another content.
    pub fn files(&self, files: Vec<PathBuf>) {
        self.send(Message::Files(files));
    }

    fn send(&self, message: Message) {
        // The task is gone only when the daemon stops: then nobody needs the snapshot.
        let _ = self.queue.send(message);
    }

    /// Waits until a revision has been looked at. `Some` says why it is not in force.
    pub async fn settled(&self, revision: u64) -> Option<Arc<str>> {
        let mut status = self.status.clone();
        match status.wait_for(|status| status.revision >= revision).await {
            Ok(status) => status.compile_error.clone(),
            Err(_) => Some("the daemon is stopping".into()),
        }
    }

    /// The status now.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// The status as it changes: each swap of the snapshot raises its generation.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Status> {
        self.status.clone()
    }
}

/// The task.
#[derive(Debug)]
struct Worker {
    /// Locked by one compilation at a time; behind a lock so that a panic in one does not lose it.
    state: Arc<Mutex<State>>,
    snapshot: Arc<SnapshotCell>,
    status: watch::Sender<Status>,
    /// Snapshots out of force that a reader may still hold. They are freed here, never by a reader.
    retired: Vec<Arc<Snapshot>>,
}

impl Worker {
    async fn run(mut self, mut messages: mpsc::UnboundedReceiver<Message>, stop: CancellationToken) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let mut batch = Vec::new();
            tokio::select! {
                count = messages.recv_many(&mut batch, 10_000) => if count == 0 { return },
                _ = tick.tick() => {}
                () = stop.cancelled() => return,
            }
            self = self.work(batch).await;
            self.free();
        }
    }

    /// Takes a batch of messages into the state, compiles if anything has changed, and swaps.
    async fn work(mut self, batch: Vec<Message>) -> Self {
        let (state, base) = (Arc::clone(&self.state), self.snapshot.load_full());
        let work = move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let dirty = state.take(batch);
            let compiled = dirty.then(|| state.compile(&base));
            (
                compiled,
                state.revision(),
                [state.file_errors(), state.key_errors()],
            )
        };
        // Reading files and compiling a large configuration take longer than a task may keep its thread.
        let result = tokio::task::spawn_blocking(work).await;
        let (compiled, revision, [file_errors, key_errors]) = match result {
            Ok(done) => done,
            Err(error) => {
                tracing::error!(%error, "compiling the snapshot panicked; the old one stays in force");
                let revision = self
                    .state
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .revision();
                (
                    Some(Err("internal error while compiling".to_owned())),
                    revision,
                    Default::default(),
                )
            }
        };
        let mut status = self.status.borrow().clone();
        match compiled {
            None => {}
            Some(Ok(snapshot)) => {
                self.retired.push(self.snapshot.store(Arc::new(snapshot)));
                status.generation += 1;
                status.in_force = revision;
                status.compile_error = None;
            }
            Some(Err(error)) => {
                tracing::error!(%error, revision, "the configuration does not compile; the old snapshot stays in force");
                status.compile_errors += 1;
                status.compile_error = Some(error.into());
            }
        }
        status.revision = revision;
        status.file_errors = file_errors;
        status.key_errors = key_errors;
        self.status.send_if_modified(|old| {
            let changed = *old != status;
            *old = status;
            changed
        });
        self
    }

    /// Frees retired snapshots that no reader holds any more.
    fn free(&mut self) {
        self.retired.retain(|snapshot| Arc::strong_count(snapshot) > 1);
    }
}
