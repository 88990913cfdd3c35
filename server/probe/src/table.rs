//! The set of probes and the queue of their next starts, as plain data: time and chance come in as values.

use crate::clock::Moment;
use crate::record::{Outlet, Previous, Record};
use crate::state::HealthState;
use crate::status::MemberStatus;
use crate::target::{ProbeKey, Target};
use gslb_engine::model::MemberId;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

/// So many new probes start at once; more are spread.
const IMMEDIATE: usize = 32;
/// New probes beyond that start at this distance on average, so that ten thousand of them take ten seconds, but never
/// later than one interval.
const SPREAD_PER_PROBE: Duration = Duration::from_millis(1);
/// Shortest time from start to start, so that a zero in a check is no endless loop.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// Names a probe for as long as it is wanted; never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ProbeId(u64);

enum Run {
    /// Starts then.
    Waiting(Instant),
    /// On its way.
    Running {
        started: Instant,
        abort: Option<AbortHandle>,
    },
}

struct Entry {
    record: Arc<Record>,
    run: Run,
}

/// A probe to be started now.
pub(crate) struct Job {
    pub(crate) id: ProbeId,
    pub(crate) record: Arc<Record>,
    /// When it should have been started.
    pub(crate) due: Instant,
}

/// Every wanted probe, when it starts next, and which member it serves.
#[derive(Default)]
pub(crate) struct Table {
    entries: HashMap<ProbeId, Entry>,
    by_key: HashMap<Arc<ProbeKey>, ProbeId>,
    by_member: HashMap<MemberId, ProbeId>,
    queue: BTreeSet<(Instant, ProbeId)>,
    last_id: u64,
    /// Probes on their way, also those that are no longer wanted but have not ended yet.
    running: usize,
    /// When the task that starts probes will look again.
    pub(crate) wake_at: Option<Instant>,
}

impl Table {
    /// Makes `targets` the wanted set. What has the same address and check goes on as it is. Returns the tasks to
    /// abort: they belong to probes that nobody wants any more.
    ///
    /// `chance` gives numbers from 0 to 1.
    pub(crate) fn replace(
        &mut self,
        targets: Vec<Target>,
        now: Moment,
        mut chance: impl FnMut() -> f64,
        outlet: &Outlet,
    ) -> Vec<AbortHandle> {
        // What was is asked for all before anything changes: members may move from one probe to another.
        let groups = group(targets, |target, key| self.previous(target, key));
        let old_members = std::mem::take(&mut self.by_member);

        let mut kept = HashSet::with_capacity(groups.len());
        let mut new = Vec::new();
        for (key, members) in groups {
            let (id, record) = match self
                .by_key
                .get(&key)
                .and_then(|id| Some((*id, self.entries.get(id)?)))
            {
                Some((id, entry)) => (id, Arc::clone(&entry.record)),
                None => {
                    self.last_id += 1;
                    let key = Arc::new(key);
                    let predecessor = members
                        .iter()
                        .filter_map(|(t, _)| self.entries.get(old_members.get(&t.member_id)?))
                        .map(|entry| &entry.record)
                        .find(|r| r.key.address == key.address && r.key.check.kind == key.check.kind);
                    let record = match predecessor {
                        Some(old) => Record::successor(Arc::clone(&key), old),
                        None => {
                            let assumed = members
                                .iter()
                                .map(|(_, was)| was.state)
                                .find(|s| *s != HealthState::Unknown);
                            Record::new(key, assumed.unwrap_or(HealthState::Unknown), now)
                        }
                    };
                    let id = ProbeId(self.last_id);
                    new.push(id);
                    (id, Arc::new(record))
                }
            };
            record.subscribe(&members, now, outlet);
            self.by_member
                .extend(members.iter().map(|(target, _)| (target.member_id, id)));
            kept.insert(id);
            self.by_key.insert(Arc::clone(&record.key), id);
            // Due when all are known, below.
            self.entries.entry(id).or_insert(Entry {
                record,
                run: Run::Waiting(now.instant),
            });
        }

        let mut aborts = Vec::new();
        let queue = &mut self.queue;
        self.entries.retain(|id, entry| {
            if kept.contains(id) {
                return true;
            }
            entry.record.stop();
            match &mut entry.run {
                Run::Waiting(due) => {
                    queue.remove(&(*due, *id));
                }
                Run::Running { abort, .. } => aborts.extend(abort.take()),
            }
            false
        });
        self.by_key.retain(|_, id| kept.contains(id));

        let spread = SPREAD_PER_PROBE.saturating_mul(u32::try_from(new.len()).unwrap_or(u32::MAX));
        let immediate = new.len() <= IMMEDIATE;
        for id in new {
            let Some(entry) = self.entries.get_mut(&id) else {
                continue;
            };
            let window = if immediate {
                Duration::ZERO
            } else {
                spread.min(interval(&entry.record))
            };
            let due = now.instant + window.mul_f64(chance().clamp(0.0, 1.0));
            entry.run = Run::Waiting(due);
            self.queue.insert((due, id));
        }
        aborts
    }

    /// What a target was before it gets the probe `key`.
    fn previous(&self, target: &Target, key: &ProbeKey) -> Previous {
        match self.record(target.member_id) {
            None => Previous {
                state: HealthState::from_last_known(target.last_known),
                keep_slot: false,
            },
            Some(old) if old.key.address == key.address => old.previous(&target.slot),
            // Another address is another machine: nothing that was known holds for it.
            Some(_) => Previous {
                state: HealthState::Unknown,
                keep_slot: false,
            },
        }
    }

    /// The probes to be started at `now`, longest due first, as long as no more than `limit` are on their way.
    pub(crate) fn take_due(&mut self, now: Instant, limit: usize) -> Vec<Job> {
        let mut jobs = Vec::new();
        while self.running < limit {
            let Some(&(due, id)) = self.queue.first().filter(|(due, _)| *due <= now) else {
                break;
            };
            self.queue.pop_first();
            let Some(entry) = self.entries.get_mut(&id) else {
                continue;
            };
            entry.run = Run::Running {
                started: now,
                abort: None,
            };
            self.running += 1;
            jobs.push(Job {
                id,
                record: Arc::clone(&entry.record),
                due,
            });
        }
        // With no room left, the end of a probe is what to wait for.
        self.wake_at = self
            .queue
            .first()
            .map(|(due, _)| *due)
            .filter(|_| self.running < limit);
        jobs
    }

    /// Notes the task of a started probe; gives it back to be aborted when the probe is no longer wanted.
    pub(crate) fn started(&mut self, id: ProbeId, task: AbortHandle) -> Option<AbortHandle> {
        match self.entries.get_mut(&id) {
            None => Some(task),
            Some(Entry {
                run: Run::Running { abort, .. },
                ..
            }) => {
                *abort = Some(task);
                None
            }
            // Ended already.
            Some(_) => None,
        }
    }

    /// A started probe's task is over. Returns whether the task that starts probes has to look earlier than it means
    /// to.
    pub(crate) fn ended(&mut self, id: ProbeId, now: Instant, limit: usize) -> bool {
        let was_full = self.running >= limit;
        self.running = self.running.saturating_sub(1);
        if let Some(entry) = self.entries.get_mut(&id)
            && let Run::Running { started, .. } = entry.run
        {
            // From start to start, so that the rate is never above one per interval; a late probe is not caught up.
            let due = (started + interval(&entry.record)).max(now);
            entry.run = Run::Waiting(due);
            self.queue.insert((due, id));
        }
        was_full
            || self
                .first_due()
                .is_some_and(|due| self.wake_at.is_none_or(|wake| due < wake))
    }

    /// When the next probe is to be started.
    pub(crate) fn first_due(&self) -> Option<Instant> {
        self.queue.first().map(|(due, _)| *due)
    }

    /// Distinct probes.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The status of a member, if it is checked.
    pub(crate) fn record(&self, member_id: MemberId) -> Option<Arc<Record>> {
        let id = self.by_member.get(&member_id)?;
        self.entries.get(id).map(|entry| Arc::clone(&entry.record))
    }

    /// All records.
    pub(crate) fn records(&self) -> Vec<Arc<Record>> {
        self.entries
            .values()
            .map(|entry| Arc::clone(&entry.record))
            .collect()
    }
}

/// The status of every member of `records`, by id.
pub(crate) fn statuses(records: &[Arc<Record>]) -> Vec<MemberStatus> {
    let mut all = Vec::with_capacity(records.len());
    for record in records {
        record.statuses(&mut all);
    }
    all.sort_unstable_by_key(|status| status.member_id);
    all
}

fn interval(record: &Record) -> Duration {
    Duration::from_millis(record.key.check.interval_ms.into()).max(MIN_INTERVAL)
}

/// Members that share a probe, and what each was before.
type Members = Vec<(Target, Previous)>;

/// The targets by probe, in the order of their first appearance. Of two with one member id the first counts. The
/// slots of members that are not checked go back to healthy.
fn group(
    targets: Vec<Target>,
    previous: impl Fn(&Target, &ProbeKey) -> Previous,
) -> Vec<(ProbeKey, Members)> {
    let mut seen = HashSet::with_capacity(targets.len());
    let mut places = HashMap::with_capacity(targets.len());
    let mut groups: Vec<(ProbeKey, Members)> = Vec::new();
    for mut target in targets {
        if !seen.insert(target.member_id) {
            continue;
        }
        let Some(check) = target.check.take() else {
            target.slot.reset();
            continue;
        };
        let key = ProbeKey::new(target.address, check);
        let was = previous(&target, &key);
        let place = *places.entry(key.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, members)) => members.push((target, was)),
            None => groups.push((key, vec![(target, was)])),
        }
    }
    groups
}

#[cfg(test)]
mod tests;
