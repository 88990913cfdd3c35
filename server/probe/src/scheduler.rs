//! Runs the probes: one task starts what is due, each probe is a task of its own that ends within its timeout.

use crate::clock::Clock;
use crate::error::{ProbeError, Progress};
use crate::record::{Outlet, Record};
use crate::stats::ProbeStats;
use crate::status::{HealthEvent, MemberStatus};
use crate::table::{self, Job, ProbeId, Table};
use crate::target::{ProbeKey, Target};
use crate::tls::TlsClients;
use crate::wanted::Wanted;
use crate::{http, tcp};
use gslb_engine::model::{CheckKind, MemberId};
use rustls::RootCertStore;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How the prober runs.
#[derive(Debug, Clone)]
pub struct ProberSettings {
    /// Routing follows a member's mean round-trip time when it has moved by this much (`minRTTThresholdMs`).
    pub rtt_threshold: Duration,
    /// Most probes on their way at once: each is a file descriptor. More wait, and are shown as lag.
    pub max_in_flight: usize,
    /// Roots that https checks trust; the machine's own when `None`.
    pub roots: Option<Arc<RootCertStore>>,
}

impl Default for ProberSettings {
    fn default() -> Self {
        Self {
            rtt_threshold: Duration::from_millis(5),
            max_in_flight: 4096,
            roots: None,
        }
    }
}

struct Shared {
    table: Mutex<Table>,
    outlet: Outlet,
    clock: Arc<dyn Clock>,
    tls: TlsClients,
    stats: Arc<ProbeStats>,
    max_in_flight: usize,
    /// Wakes the task that starts probes.
    wake: Notify,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// Probes members and writes what it finds into their slots. Dropping it stops it too, without waiting.
pub struct Prober {
    shared: Arc<Shared>,
}

impl Prober {
    /// Starts with nothing to probe. Transitions are sent to `events`.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use]
    pub fn start(
        settings: ProberSettings,
        clock: Arc<dyn Clock>,
        events: UnboundedSender<HealthEvent>,
    ) -> Self {
        let shared = Arc::new(Shared {
            table: Mutex::default(),
            outlet: Outlet {
                rtt_threshold_ns: AtomicU64::new(nanos(settings.rtt_threshold)),
                events,
            },
            clock,
            tls: TlsClients::new(settings.roots),
            stats: Arc::default(),
            max_in_flight: settings.max_in_flight.max(1),
            wake: Notify::new(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        shared.tasks.spawn(Arc::clone(&shared).run());
        Self { shared }
    }

    /// Makes `targets` the wanted set. When this returns, no result of a probe that is not in it can reach a slot,
    /// and none is started; what is in it unchanged has not noticed.
    pub fn set_targets(&self, targets: Vec<Target>) {
        let shared = &self.shared;
        let wanted = Wanted::from(targets);
        let aborts = {
            let mut table = shared.table();
            if shared.stop.is_cancelled() {
                return;
            }
            let aborts = table.replace(wanted, shared.clock.now(), fastrand::f64, &shared.outlet);
            shared.stats.set_targets(table.len());
            aborts
        };
        // Without the lock: the end of a task takes it.
        for task in aborts {
            task.abort();
        }
        shared.wake.notify_one();
    }

    /// The status of a member; `None` when it is not checked.
    #[must_use]
    pub fn status(&self, member_id: MemberId) -> Option<MemberStatus> {
        let record = self.shared.table().record(member_id)?;
        record.status(member_id)
    }

    /// The status of every checked member, by id.
    #[must_use]
    pub fn statuses(&self) -> Vec<MemberStatus> {
        let records = self.shared.table().records();
        table::statuses(&records)
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> Arc<ProbeStats> {
        Arc::clone(&self.shared.stats)
    }

    /// Another threshold of the round-trip time that routing follows, from the next probe on.
    pub fn set_rtt_threshold(&self, threshold: Duration) {
        self.shared
            .outlet
            .rtt_threshold_ns
            .store(nanos(threshold), Ordering::Relaxed);
    }

    /// Stops every probe and waits until the last task is gone. Slots keep what they have.
    pub async fn shutdown(&self) {
        self.shared.halt();
        self.shared.tasks.wait().await;
    }
}

impl Drop for Prober {
    fn drop(&mut self) {
        self.shared.halt();
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No more probes; those on their way are cut off.
    fn halt(&self) {
        let aborts = {
            let mut table = self.table();
            self.stop.cancel();
            table.replace(Wanted::default(), self.clock.now(), || 0.0, &self.outlet)
        };
        for task in aborts {
            task.abort();
        }
        self.stats.set_targets(0);
        self.tasks.close();
    }

    /// Starts what is due, for ever.
    async fn run(self: Arc<Self>) {
        loop {
            let (jobs, wake_at) = {
                let mut table = self.table();
                let jobs = table.take_due(self.clock.now().instant, self.max_in_flight);
                (jobs, table.wake_at)
            };
            self.launch(jobs);
            let sleep = async {
                match wake_at {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return,
                () = self.wake.notified() => {}
                () = sleep => {}
            }
        }
    }

    fn launch(self: &Arc<Self>, jobs: Vec<Job>) {
        let started: Vec<_> = jobs
            .into_iter()
            .map(|job| {
                self.stats
                    .started(self.clock.now().instant.saturating_duration_since(job.due));
                let ending = Ending {
                    shared: Arc::clone(self),
                    id: job.id,
                };
                let task = self
                    .tasks
                    .spawn(async move { ending.shared.probe(&job.record).await });
                (job.id, task.abort_handle())
            })
            .collect();
        if started.is_empty() {
            return;
        }
        let unwanted: Vec<_> = {
            let mut table = self.table();
            started
                .into_iter()
                .filter_map(|(id, task)| table.started(id, task))
                .collect()
        };
        for task in unwanted {
            task.abort();
        }
    }

    /// One probe, and its result into the record.
    async fn probe(&self, record: &Record) {
        // Between the queue and here it may have been stopped: nothing may be sent then.
        if record.is_stopped() {
            return;
        }
        let started = self.clock.now().instant;
        let result = self.attempt(&record.key).await;
        record.finish(&result, started, self.clock.now(), &self.outlet);
        match &result {
            Err(error) if error.is_local() => {
                let count = self.stats.local_error();
                // Shortages come in thousands: the first, then each time their number doubles.
                if count.is_power_of_two() {
                    tracing::warn!(%error, count, "probes cannot be sent from this machine; members keep their state");
                }
            }
            _ => self.stats.ended(result.is_ok()),
        }
    }

    /// Probes, for no longer than the check's timeout whatever the other side does.
    async fn attempt(&self, key: &ProbeKey) -> Result<Duration, ProbeError> {
        let progress = Progress::default();
        let ms = key.check.timeout_ms;
        let attempt = async {
            match &key.check.kind {
                CheckKind::Tcp => tcp::probe(key.address).await,
                CheckKind::Http(check) => http::probe(key.address, check, &self.tls, &progress).await,
            }
        };
        tokio::time::timeout(Duration::from_millis(ms.into()), attempt)
            .await
            .unwrap_or_else(|_| {
                Err(ProbeError::Timeout {
                    ms,
                    phase: progress.phase(),
                })
            })
    }
}

/// Tells the table that a probe's task is over, however it ended: done, aborted or by a panic.
struct Ending {
    shared: Arc<Shared>,
    id: ProbeId,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let shared = &self.shared;
        shared.stats.left();
        let now = shared.clock.now().instant;
        if shared.table().ended(self.id, now, shared.max_in_flight) {
            shared.wake.notify_one();
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
