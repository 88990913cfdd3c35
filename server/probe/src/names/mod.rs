//! Members that are host names: asks resolvers what they lead to, and keeps that fresh.
//!
//! One task looks each name up when its TTL has passed and writes the addresses into the slots of its members, where
//! queries and probes read them. When resolvers fail the last good addresses stay.

mod lookup;
mod table;

use crate::clock::{Clock, Moment};
use gslb_engine::model::DomainName;
use gslb_engine::slots::MemberSlot;
use hickory_resolver::TokioResolver;
use lookup::{Answer, look_up};
pub use lookup::{Upstream, UpstreamError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use table::Table;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Names that are looked up at the same time.
const MAX_RUNNING: usize = 32;

/// A member that is a host name.
#[derive(Debug, Clone)]
pub struct Host {
    /// The name.
    pub name: DomainName,
    /// Where its addresses are written.
    pub slot: Arc<MemberSlot>,
}

/// Counters since the start, and the present state.
#[derive(Debug, Default)]
pub struct NameStats {
    lookups: AtomicU64,
    failures: AtomicU64,
    names: AtomicU64,
    stale: AtomicU64,
}

impl NameStats {
    /// Look-ups that have ended.
    #[must_use]
    pub fn lookups(&self) -> u64 {
        self.lookups.load(Ordering::Relaxed)
    }

    /// Look-ups that have failed for one family or both. (That a name does not exist is an answer.)
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Names that are kept fresh.
    #[must_use]
    pub fn names(&self) -> u64 {
        self.names.load(Ordering::Relaxed)
    }

    /// Names whose last look-up has failed: their addresses are the last good ones, or none.
    #[must_use]
    pub fn stale(&self) -> u64 {
        self.stale.load(Ordering::Relaxed)
    }
}

struct Shared {
    /// Set when there is a new set of members.
    wanted: Mutex<Option<Vec<Host>>>,
    wake: Notify,
    changes: watch::Sender<u64>,
    stats: Arc<NameStats>,
}

/// Keeps the addresses of host names fresh until it is shut down.
pub struct Names {
    shared: Arc<Shared>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").finish_non_exhaustive()
    }
}

impl Names {
    /// Starts the task; it asks nobody before there are members.
    ///
    /// # Errors
    /// The system's resolvers cannot be found out.
    pub fn start(upstream: &Upstream, clock: Arc<dyn Clock>) -> Result<Self, UpstreamError> {
        let resolver = upstream.resolver()?;
        let shared = Arc::new(Shared {
            wanted: Mutex::default(),
            wake: Notify::new(),
            changes: watch::Sender::new(0),
            stats: Arc::default(),
        });
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let work = run(Arc::clone(&shared), resolver, clock);
        tasks.spawn(stop.clone().run_until_cancelled_owned(work));
        tasks.close();
        Ok(Self { shared, stop, tasks })
    }

    /// Makes these the members that are kept fresh. What is known of names that stay is kept.
    pub fn set_hosts(&self, hosts: Vec<Host>) {
        let mut wanted = self.shared.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        *wanted = Some(hosts);
        drop(wanted);
        self.shared.wake.notify_one();
    }

    /// Counts how often what is known of some name has become another.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> Arc<NameStats> {
        Arc::clone(&self.shared.stats)
    }

    /// Ends the task and waits for it.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        self.tasks.wait().await;
    }
}

fn seconds(moment: Moment) -> u64 {
    moment.unix_ms / 1000
}

async fn run(shared: Arc<Shared>, resolver: TokioResolver, clock: Arc<dyn Clock>) {
    let mut table = Table::default();
    let mut running: JoinSet<(DomainName, Answer)> = JoinSet::new();
    loop {
        let wanted = shared
            .wanted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let now = clock.now();
        if let Some(hosts) = wanted {
            table.replace(hosts, now.instant);
        }
        while running.len() < MAX_RUNNING
            && let Some(name) = table.take_due(now.instant)
        {
            let resolver = resolver.clone();
            running.spawn(async move {
                let answer = look_up(&resolver, &name).await;
                (name, answer)
            });
        }
        shared.stats.names.store(table.len(), Ordering::Relaxed);
        shared.stats.stale.store(table.stale(), Ordering::Relaxed);
        let due = table.first_due().filter(|_| running.len() < MAX_RUNNING);
        let sleep = async {
            match due {
                Some(due) => tokio::time::sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = shared.wake.notified() => {}
            () = sleep => {}
            Some(done) = running.join_next() => {
                // One that panicked has been told of; its name rests until the next change of its members.
                let Ok((name, answer)) = done else { continue };
                let now = clock.now();
                let failed = answer.failure().is_some();
                let changed = table.done(&name, answer, now.instant, seconds(now));
                let stats = &shared.stats;
                stats.stale.store(table.stale(), Ordering::Relaxed);
                stats.failures.fetch_add(u64::from(failed), Ordering::Relaxed);
                stats.lookups.fetch_add(1, Ordering::Relaxed);
                if changed {
                    shared.changes.send_modify(|count| *count += 1);
                }
            }
        }
    }
}
