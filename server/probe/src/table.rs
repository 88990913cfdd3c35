//! The set of probes and the queue of their next starts, as plain data: time and chance come in as values.

use crate::clock::Moment;
use crate::record::{Outlet, Previous, Record};
use crate::state::HealthState;
use crate::status::MemberStatus;
use crate::target::{ProbeKey, Target};
use crate::wanted::Wanted;
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
    /// Makes `wanted` the set that is probed. What has the same address and check goes on as it is. Returns the tasks
    /// to abort: they belong to probes that nobody wants any more.
    ///
    /// `chance` gives numbers from 0 to 1.
    pub(crate) fn replace(
        &mut self,
        wanted: Wanted,
        now: Moment,
        chance: impl FnMut() -> f64,
        outlet: &Outlet,
    ) -> Vec<AbortHandle> {
        // What was is asked for all before anything changes: members may move from one probe to another.
        let mut kept = HashSet::with_capacity(wanted.groups.len());
        let mut members = HashMap::with_capacity(wanted.groups.len());
        let mut changed = Vec::new();
        for (key, targets) in wanted.groups {
            let id = self.by_key.get(&key).copied();
            kept.extend(id);
            match id.and_then(|id| Some((id, self.entries.get(&id)?))) {
                Some((id, entry)) if entry.record.serves(&targets) => {
                    members.extend(targets.iter().map(|t| (t.member_id, id)));
                }
                _ => {
                    let joining: Vec<_> = targets
                        .into_iter()
                        .map(|target| {
                            let was = self.previous(&target, &key);
                            (target, was)
                        })
                        .collect();
                    changed.push((id, key, joining));
                }
            }
        }

        // Then everyone leaves who does, so that no old probe writes into a slot that has a new one.
        let aborts = self.silence(&kept);
        for (id, _, joining) in &changed {
            if let Some(entry) = id.and_then(|id| self.entries.get(&id)) {
                entry.record.keep_only(joining);
            }
        }
        for slot in &wanted.unchecked {
            slot.reset();
        }

        let mut new = Vec::new();
        for (id, key, joining) in changed {
            let known = id.and_then(|id| Some((id, Arc::clone(&self.entries.get(&id)?.record))));
            let (id, record) = known.unwrap_or_else(|| {
                self.last_id += 1;
                new.push(ProbeId(self.last_id));
                (ProbeId(self.last_id), Arc::new(self.create(key, &joining, now)))
            });
            record.join(&joining, now, outlet);
            members.extend(joining.iter().map(|(t, _)| (t.member_id, id)));
            kept.insert(id);
            self.by_key.insert(Arc::clone(&record.key), id);
            // When it is due is decided when all are known.
            self.entries.entry(id).or_insert(Entry {
                record,
                run: Run::Waiting(now.instant),
            });
        }
        self.by_member = members;
        self.entries.retain(|id, _| kept.contains(id));
        self.by_key.retain(|_, id| kept.contains(id));
        self.schedule(&new, now.instant, chance);
        aborts
    }

    /// Stops every probe but `kept`, and returns its tasks.
    fn silence(&mut self, kept: &HashSet<ProbeId>) -> Vec<AbortHandle> {
        let mut aborts = Vec::new();
        for (id, entry) in self.entries.iter_mut().filter(|(id, _)| !kept.contains(id)) {
            entry.record.stop();
            match &mut entry.run {
                Run::Waiting(due) => {
                    self.queue.remove(&(*due, *id));
                }
                Run::Running { abort, .. } => aborts.extend(abort.take()),
            }
        }
        aborts
    }

    /// The record of a new probe. It goes on where that of the same request to the same address was.
    fn create(&self, key: ProbeKey, joining: &[(Target, Previous)], now: Moment) -> Record {
        let predecessor = joining
            .iter()
            .filter_map(|(target, _)| self.entries.get(self.by_member.get(&target.member_id)?))
            .map(|entry| &entry.record)
            .find(|old| old.key.address == key.address && old.key.check.kind == key.check.kind);
        let key = Arc::new(key);
        match predecessor {
            Some(old) => Record::successor(key, old),
            None => {
                let assumed = joining
                    .iter()
                    .map(|(_, was)| was.state)
                    .find(|s| *s != HealthState::Unknown);
                Record::new(key, assumed.unwrap_or(HealthState::Unknown), now)
            }
        }
    }

    /// Plans the first starts of new probes.
    fn schedule(&mut self, new: &[ProbeId], now: Instant, mut chance: impl FnMut() -> f64) {
        let spread = SPREAD_PER_PROBE.saturating_mul(u32::try_from(new.len()).unwrap_or(u32::MAX));
        let spread = if new.len() <= IMMEDIATE {
            Duration::ZERO
        } else {
            spread
        };
        for id in new {
            let Some(entry) = self.entries.get_mut(id) else {
                continue;
            };
            let window = spread.min(interval(&entry.record));
            let due = now + window.mul_f64(chance().clamp(0.0, 1.0));
            entry.run = Run::Waiting(due);
            self.queue.insert((due, *id));
        }
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

#[cfg(test)]
mod tests;
