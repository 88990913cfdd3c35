//! The record of one probe: its health, its history, and the members that share it.
//!
//! Everything about one probe is behind one lock that is held for microseconds: a result is in the members' slots,
//! and on its way to the listeners, before the probe's task ends.

use crate::clock::Moment;
use crate::error::ProbeError;
use crate::state::{Health, HealthState, Thresholds};
use crate::status::{HealthEvent, MemberStatus, ProbeResult, RECENT_RESULTS};
use crate::target::{ProbeKey, Target};
use gslb_engine::model::{MemberId, PoolId};
use gslb_engine::slots::{MemberSlot, RTT_MIN_PROBES};
use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// Where results go beside the slots.
pub(crate) struct Outlet {
    /// Change of the mean round-trip time that routing follows, nanoseconds.
    pub(crate) rtt_threshold_ns: AtomicU64,
    /// Transitions. Unbounded: there is at most one per probe, and none may be lost.
    pub(crate) events: UnboundedSender<HealthEvent>,
}

/// A member that takes part in a probe.
struct Subscriber {
    member_id: MemberId,
    pool_id: PoolId,
    slot: Arc<MemberSlot>,
}

impl Subscriber {
    fn is(&self, target: &Target) -> bool {
        self.member_id == target.member_id
            && self.pool_id == target.pool_id
            && Arc::ptr_eq(&self.slot, &target.slot)
    }
}

/// What a new subscriber was before.
#[derive(Clone, Copy)]
pub(crate) struct Previous {
    /// State it was in, or is assumed to have been in.
    pub(crate) state: HealthState,
    /// Whether its slot holds values of the same endpoint, to be kept until new ones come.
    pub(crate) keep_slot: bool,
}

struct Inner {
    /// Set when the probe is no longer wanted: a result that is on its way then counts for nothing.
    stopped: bool,
    health: Health,
    since_ms: u64,
    /// Start of the first probe of the present streak.
    streak_start: Option<Instant>,
    last_error: Option<String>,
    last_probe_ms: Option<u64>,
    recent: VecDeque<(u64, Option<NonZeroU64>)>,
    subscribers: Vec<Subscriber>,
}

/// One probe and what is known by it.
pub(crate) struct Record {
    pub(crate) key: Arc<ProbeKey>,
    inner: Mutex<Inner>,
}

impl Record {
    /// Nothing probed yet; `assumed` until probes decide.
    pub(crate) fn new(key: Arc<ProbeKey>, assumed: HealthState, now: Moment) -> Self {
        let health = Health::new(Thresholds::from(&key.check), assumed);
        Self::with(
            key,
            Inner {
                stopped: false,
                health,
                since_ms: now.unix_ms,
                streak_start: None,
                last_error: None,
                last_probe_ms: None,
                recent: VecDeque::new(),
                subscribers: Vec::new(),
            },
        )
    }

    /// Goes on where `old` is: the same probe with other times or thresholds.
    pub(crate) fn successor(key: Arc<ProbeKey>, old: &Self) -> Self {
        let inner = {
            let old = old.lock();
            Inner {
                stopped: false,
                health: old.health.clone().with_thresholds(Thresholds::from(&key.check)),
                since_ms: old.since_ms,
                streak_start: old.streak_start,
                last_error: old.last_error.clone(),
                last_probe_ms: old.last_probe_ms,
                recent: old.recent.clone(),
                subscribers: Vec::new(),
            }
        };
        Self::with(key, inner)
    }

    fn with(key: Arc<ProbeKey>, inner: Inner) -> Self {
        Self {
            key,
            inner: Mutex::new(inner),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `targets` are just the members that share this probe, in this order.
    pub(crate) fn serves(&self, targets: &[Target]) -> bool {
        let inner = self.lock();
        inner.subscribers.len() == targets.len()
            && inner.subscribers.iter().zip(targets).all(|(s, t)| s.is(t))
    }

    /// Lets go of all members but `staying`.
    pub(crate) fn keep_only(&self, staying: &[(Target, Previous)]) {
        self.lock()
            .subscribers
            .retain(|s| staying.iter().any(|(target, _)| s.is(target)));
    }

    /// Adds members. Who takes part already goes on undisturbed; who is new gets what is known by now, with an event
    /// if that differs from what it was before.
    pub(crate) fn join(&self, joining: &[(Target, Previous)], now: Moment, outlet: &Outlet) {
        let mut inner = self.lock();
        let mut old = std::mem::take(&mut inner.subscribers);
        for (target, was) in joining {
            if let Some(at) = old.iter().position(|s| s.is(target)) {
                inner.subscribers.push(old.swap_remove(at));
                continue;
            }
            inner.join(target, was.keep_slot, outlet);
            let state = inner.health.state();
            if state != HealthState::Unknown && state != was.state {
                let event = HealthEvent {
                    member_id: target.member_id,
                    pool_id: target.pool_id,
                    address: self.key.address,
                    from: was.state,
                    to: state,
                    at_ms: now.unix_ms,
                    reason: format!("the same check already runs for another member, which is {state}"),
                    detection_ms: 0,
                };
                // Nobody listens: the prober's owner has no use for events.
                let _ = outlet.events.send(event);
            }
        }
    }

    /// Takes in the end of a probe, unless it has been stopped meanwhile.
    pub(crate) fn finish(
        &self,
        result: &Result<Duration, ProbeError>,
        started: Instant,
        now: Moment,
        outlet: &Outlet,
    ) {
        let mut inner = self.lock();
        if inner.stopped {
            return;
        }
        inner.last_probe_ms = Some(now.unix_ms);
        inner.last_error = result.as_ref().err().map(ToString::to_string);
        if result.as_ref().is_err_and(ProbeError::is_local) {
            return;
        }
        let rtt_ns = result
            .as_ref()
            .ok()
            .map(|rtt| u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX).max(1));
        if inner.recent.len() == RECENT_RESULTS {
            inner.recent.pop_front();
        }
        inner
            .recent
            .push_back((now.unix_ms, rtt_ns.and_then(NonZeroU64::new)));
        let transition = inner.health.apply(rtt_ns);
        if inner.health.streak() == 1 {
            inner.streak_start = Some(started);
        }
        let score = inner.health.score();
        let mean = rtt_ns.and(inner.health.rtt_ns());
        let threshold = outlet.rtt_threshold_ns.load(Ordering::Relaxed);
        for subscriber in &inner.subscribers {
            // An undecided member keeps counting as never probed, unless the score window says otherwise.
            if inner.health.state() != HealthState::Unknown || score < 1.0 {
                subscriber.slot.set_score(score);
            }
            if let Some(mean) = mean {
                subscriber.slot.set_rtt(mean, threshold);
            }
        }
        let Some(transition) = transition else { return };
        inner.since_ms = now.unix_ms;
        let reason = transition.reason(inner.last_error.as_deref());
        let took = inner.streak_start.map_or(Duration::ZERO, |start| {
            now.instant.saturating_duration_since(start)
        });
        for subscriber in &inner.subscribers {
            let event = HealthEvent {
                member_id: subscriber.member_id,
                pool_id: subscriber.pool_id,
                address: self.key.address,
                from: transition.from,
                to: transition.to,
                at_ms: now.unix_ms,
                reason: reason.clone(),
                detection_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            };
            // As above: nobody listens.
            let _ = outlet.events.send(event);
        }
    }

    /// No result counts any more.
    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
    }

    /// Whether the probe is no longer wanted.
    pub(crate) fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// State and use of the slot, for a member that has taken part until now.
    pub(crate) fn previous(&self, slot: &Arc<MemberSlot>) -> Previous {
        let inner = self.lock();
        let keep_slot = inner.subscribers.iter().any(|s| Arc::ptr_eq(&s.slot, slot));
        Previous {
            state: inner.health.state(),
            keep_slot,
        }
    }

    /// The status of one member that takes part.
    pub(crate) fn status(&self, member_id: MemberId) -> Option<MemberStatus> {
        let inner = self.lock();
        inner
            .subscribers
            .iter()
            .find(|s| s.member_id == member_id)
            .map(|s| self.describe(&inner, s))
    }

    /// The status of each member that takes part.
    pub(crate) fn statuses(&self, into: &mut Vec<MemberStatus>) {
        let inner = self.lock();
        into.extend(inner.subscribers.iter().map(|s| self.describe(&inner, s)));
    }

    fn describe(&self, inner: &Inner, subscriber: &Subscriber) -> MemberStatus {
        let result = |&(at_ms, rtt): &(u64, Option<NonZeroU64>)| ProbeResult {
            at_ms,
            rtt_ns: rtt.map(Into::into),
        };
        MemberStatus {
            member_id: subscriber.member_id,
            pool_id: subscriber.pool_id,
            address: self.key.address,
            state: inner.health.state(),
            since_ms: inner.since_ms,
            streak: inner.health.streak(),
            last_error: inner.last_error.clone(),
            last_probe_ms: inner.last_probe_ms,
            score: inner.health.score(),
            rtt_ns: inner.health.rtt_ns(),
            recent: inner.recent.iter().map(result).collect(),
        }
    }
}

impl Inner {
    /// Adds a member and brings its slot up to what is known.
    fn join(&mut self, target: &Target, keep_slot: bool, outlet: &Outlet) {
        let slot = &target.slot;
        if !keep_slot {
            slot.reset();
            if let Some(mean) = self.health.rtt_ns() {
                // The mean stands for that many probes, which the slot has not seen.
                let probes = self.health.successes().min(RTT_MIN_PROBES.into());
                for _ in 0..probes {
                    slot.set_rtt(mean, outlet.rtt_threshold_ns.load(Ordering::Relaxed));
                }
            }
        }
        if self.health.state() != HealthState::Unknown {
            slot.set_score(self.health.score());
        }
        self.subscribers.push(Subscriber {
            member_id: target.member_id,
            pool_id: target.pool_id,
            slot: Arc::clone(slot),
        });
    }
}
