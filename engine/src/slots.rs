//! Live state beside the snapshot: health, round-trip times and counters, in atomics.
//!
//! Probes write here as they end and queries read here, so that a change of health needs no new snapshot. A slot
//! lives as long as its member or service does, through any number of snapshots.

use crate::host::HostAddresses;
use crate::model::{MemberId, ServiceId};
use crate::sampling::Sampling;
use crate::snapshot::Hot;
use arc_swap::{ArcSwapOption, Guard};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Successful probes after which a round-trip time counts for routing.
pub const RTT_MIN_PROBES: u32 = 3;

/// Health and round-trip time of one member of one pool.
#[derive(Debug)]
pub struct MemberSlot {
    /// The member.
    pub member_id: MemberId,
    /// Health score 0.0 to 1.0 as `f32` bits. 1.0 until the first probe ends.
    score: AtomicU32,
    /// Where else it is written to: beside the scores of the other members, in every snapshot that is in use.
    places: Mutex<Vec<(Weak<[Hot]>, usize)>>,
    /// Mean of the last 5 successful probes, nanoseconds; 0 is unknown.
    rtt_ns: AtomicU64,
    /// The mean that routing uses: follows `rtt_ns` only when that has moved by the configured threshold.
    routing_rtt_ns: AtomicU64,
    /// Successful probes so far, saturating.
    successes: AtomicU32,
    /// Whether a probe has ended, or the state of before a restart was taken over.
    known: AtomicBool,
    /// Load that somebody has pushed, as `f64` bits; NaN is none.
    load: AtomicU64,
    /// Until when that load counts, Unix seconds.
    load_until: AtomicU64,
    /// Answers that carried this member.
    answers: AtomicU64,
    /// What its host name leads to, if it is one and somebody has asked.
    addresses: ArcSwapOption<HostAddresses>,
}

impl MemberSlot {
    /// A member nobody has probed yet: counts as healthy.
    #[must_use]
    pub fn new(member_id: MemberId) -> Self {
        Self {
            member_id,
            score: AtomicU32::new(1.0_f32.to_bits()),
            places: Mutex::default(),
            rtt_ns: AtomicU64::new(0),
            routing_rtt_ns: AtomicU64::new(0),
            successes: AtomicU32::new(0),
            known: AtomicBool::new(false),
            load: AtomicU64::new(f64::NAN.to_bits()),
            load_until: AtomicU64::new(0),
            answers: AtomicU64::new(0),
            addresses: ArcSwapOption::empty(),
        }
    }

    /// Health score, 0.0 (down) to 1.0.
    #[must_use]
    #[inline]
    pub fn score(&self) -> f32 {
        f32::from_bits(self.score.load(Ordering::Relaxed))
    }

    /// Sets the health score; values outside 0.0 to 1.0 are clamped, NaN counts as 0.
    pub fn set_score(&self, score: f32) {
        let score = if score.is_nan() {
            0.0
        } else {
            score.clamp(0.0, 1.0)
        };
        self.put_score(score);
        self.known.store(true, Ordering::Relaxed);
    }

    /// Writes the score into this place of a pool too, now and as long as the pool is in use: queries read it there, where
    /// all scores of the pool are in one cache line.
    pub(crate) fn write_also_to(&self, lane: &Arc<[Hot]>, place: usize) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.retain(|(lane, _)| lane.strong_count() > 0);
        places.reserve_exact(1);
        places.push((Arc::downgrade(lane), place));
        // Nobody else writes a score while the list is held: none is lost, and the last one is everywhere.
        if let Some(hot) = lane.get(place) {
            hot.set_score(self.score());
        }
    }

    fn put_score(&self, score: f32) {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        self.score.store(score.to_bits(), Ordering::Relaxed);
        for (lane, place) in &*places {
            if let Some(lane) = lane.upgrade()
                && let Some(hot) = lane.get(*place)
            {
                hot.set_score(score);
            }
        }
    }

    /// Whether the score comes from a probe rather than from the assumption that a new member is healthy.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }

    /// Back to "nobody has probed yet": the check was removed.
    pub fn reset(&self) {
        self.put_score(1.0);
        self.rtt_ns.store(0, Ordering::Relaxed);
        self.routing_rtt_ns.store(0, Ordering::Relaxed);
        self.successes.store(0, Ordering::Relaxed);
        self.known.store(false, Ordering::Relaxed);
    }

    /// Records the mean round-trip time after a successful probe. Routing follows it only when it has moved by at
    /// least `threshold_ns` from the value in use.
    pub fn set_rtt(&self, mean_ns: u64, threshold_ns: u64) {
        self.rtt_ns.store(mean_ns, Ordering::Relaxed);
        let successes = self.successes.load(Ordering::Relaxed).saturating_add(1);
        self.successes.store(successes, Ordering::Relaxed);
        let used = self.routing_rtt_ns.load(Ordering::Relaxed);
        if used == 0 || successes <= RTT_MIN_PROBES || used.abs_diff(mean_ns) >= threshold_ns {
            self.routing_rtt_ns.store(mean_ns, Ordering::Relaxed);
        }
    }

    /// Mean round-trip time for display, nanoseconds, once any probe has succeeded.
    #[must_use]
    pub fn rtt_ns(&self) -> Option<u64> {
        Some(self.rtt_ns.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
    }

    /// Round-trip time that routing may use, nanoseconds: after at least [`RTT_MIN_PROBES`] successes.
    #[must_use]
    #[inline]
    pub fn routing_rtt_ns(&self) -> Option<u64> {
        if self.successes.load(Ordering::Relaxed) < RTT_MIN_PROBES {
            return None;
        }
        Some(self.routing_rtt_ns.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
    }

    /// Sets the load, in the unit of its watermarks; it counts until `until` (Unix seconds), without one for good. What
    /// is not finite, or nothing, is no load.
    pub fn set_load(&self, load: Option<f64>, until: Option<u64>) {
        let load = load.filter(|load| load.is_finite()).unwrap_or(f64::NAN);
        // A query in between sees the old load until the new time, or the new one until the old: either was true.
        self.load_until
            .store(until.unwrap_or(u64::MAX), Ordering::Relaxed);
        self.load.store(load.to_bits(), Ordering::Relaxed);
    }

    /// The load that counts at `now` (Unix seconds).
    #[must_use]
    #[inline]
    pub fn load(&self, now: u64) -> Option<f64> {
        let load = f64::from_bits(self.load.load(Ordering::Relaxed));
        (!load.is_nan() && now < self.load_until.load(Ordering::Relaxed)).then_some(load)
    }

    /// Until when the load counts, Unix seconds; none for good, or without a load.
    #[must_use]
    pub fn load_until(&self) -> Option<u64> {
        Some(self.load_until.load(Ordering::Relaxed)).filter(|until| *until > 0 && *until < u64::MAX)
    }

    /// What its host name leads to; nothing for an address, and before the first look-up.
    #[must_use]
    pub fn addresses(&self) -> Guard<Option<Arc<HostAddresses>>> {
        self.addresses.load()
    }

    /// Puts in what its host name leads to. A reader that holds the old addresses may be the one that frees them.
    pub fn set_addresses(&self, addresses: Option<Arc<HostAddresses>>) {
        self.addresses.store(addresses);
    }

    /// Counts an answer that carried this member.
    #[inline]
    pub fn count_answer(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    /// Answers that carried this member since the daemon started.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }
}

/// Round-robin tickets of one service.
#[derive(Debug)]
struct Turns {
    /// One counter per address family and candidate set.
    turns: [AtomicU64; Turns::COUNT],
    /// The candidate set that each counter belongs to, as a hash; 0 is a free counter.
    sets: [AtomicU64; Turns::COUNT],
    /// When each counter was last used, Unix seconds.
    used: [AtomicU32; Turns::COUNT],
}

impl Turns {
    const COUNT: usize = 16;

    fn new(offset: u64) -> Self {
        Self {
            turns: std::array::from_fn(|_| AtomicU64::new(offset)),
            sets: Default::default(),
            used: Default::default(),
        }
    }

    /// Sets that take turns with each other on one counter would each see only every other ticket, so each has its
    /// own. Health makes ever new sets: when all counters are in use, the one unused longest is taken over.
    #[inline]
    fn turn(&self, set: u64, now: u64, take: bool) -> u64 {
        let set = set | 1;
        let cell = self.cell(set, take);
        let (Some(turn), Some(used)) = (self.turns.get(cell), self.used.get(cell)) else {
            return 0;
        };
        if !take {
            return turn.load(Ordering::Relaxed);
        }
        // Truncated: only the order of recent times matters.
        let now = now as u32;
        if used.load(Ordering::Relaxed) != now {
            used.store(now, Ordering::Relaxed);
        }
        turn.fetch_add(1, Ordering::Relaxed)
    }

    #[inline]
    fn cell(&self, set: u64, take: bool) -> usize {
        let home = (set >> 32) as usize % Self::COUNT;
        for step in 0..Self::COUNT {
            let cell = (home + step) % Self::COUNT;
            let Some(owner) = self.sets.get(cell) else {
                break;
            };
            let found = owner.load(Ordering::Relaxed);
            if found == set {
                return cell;
            }
            if found == 0 {
                if !take {
                    return cell;
                }
                match owner.compare_exchange(0, set, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return cell,
                    Err(other) if other == set => return cell,
                    Err(_) => {}
                }
            }
        }
        let oldest = self
            .used
            .iter()
            .enumerate()
            .min_by_key(|(_, used)| used.load(Ordering::Relaxed));
        let cell = oldest.map_or(home, |(cell, _)| cell);
        if take && let Some(owner) = self.sets.get(cell) {
            owner.store(set, Ordering::Relaxed);
        }
        cell
    }
}

/// Counters of one service. What every query writes comes first, in one cache line.
#[derive(Debug)]
#[repr(C)]
pub struct ServiceSlot {
    /// Queries that found this service, by outcome: see [`Outcome`](crate::decision::Outcome).
    outcomes: [AtomicU64; crate::decision::Outcome::COUNT],
    /// Which of its queries are kept.
    pub sampling: Sampling,
    /// Round-robin tickets. Of a million services few take turns, and for the others this would be most of their memory.
    turns: OnceLock<Box<Turns>>,
    /// Where round-robin begins.
    offset: u64,
    /// The service.
    pub service_id: ServiceId,
    /// Queries whose first candidate `signal-weight` changed.
    pub signal_steered: AtomicU64,
    /// Script steps that failed open.
    pub script_errors: AtomicU64,
    /// When such a failure was last logged, Unix seconds; 0 is never.
    pub script_error_logged: AtomicU64,
}

impl ServiceSlot {
    /// A service nobody has asked for yet. `offset` is where round-robin begins: random, so that nodes that start
    /// together do not all begin with the first member.
    #[must_use]
    pub fn new(service_id: ServiceId, offset: u64) -> Self {
        Self {
            outcomes: Default::default(),
            sampling: Sampling::default(),
            turns: OnceLock::new(),
            offset,
            service_id,
            signal_steered: AtomicU64::new(0),
            script_errors: AtomicU64::new(0),
            script_error_logged: AtomicU64::new(0),
        }
    }

    /// The round-robin ticket of a candidate set, given as a hash of family and members. `take` uses it up; without,
    /// it is the ticket that the next query will take.
    #[inline]
    pub fn turn(&self, set: u64, now: u64, take: bool) -> u64 {
        match self.turns.get() {
            Some(turns) => turns.turn(set, now, take),
            None if take => self.turns().turn(set, now, true),
            None => self.offset,
        }
    }

    /// Makes the tickets, so that no query has to.
    pub(crate) fn prepare_turns(&self) {
        self.turns();
    }

    /// Tickets that were taken.
    #[cfg(test)]
    pub(crate) fn tickets(&self) -> u64 {
        let turns = self.turns().turns.iter();
        turns.map(|turn| turn.load(Ordering::Relaxed) - self.offset).sum()
    }

    fn turns(&self) -> &Turns {
        self.turns.get_or_init(|| Box::new(Turns::new(self.offset)))
    }

    /// Reads what a query will count in, for nothing but to have it in the cache.
    #[inline]
    pub(crate) fn approach(&self) -> u64 {
        self.queries(crate::decision::Outcome::Answered)
    }

    /// Counts a query.
    #[inline]
    pub fn count(&self, outcome: crate::decision::Outcome) {
        if let Some(counter) = self.outcomes.get(outcome as usize) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Queries since the daemon started.
    #[must_use]
    pub fn all_queries(&self) -> u64 {
        let outcomes = self.outcomes.iter();
        outcomes.map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// Queries with this outcome since the daemon started.
    #[must_use]
    pub fn queries(&self, outcome: crate::decision::Outcome) -> u64 {
        self.outcomes
            .get(outcome as usize)
            .map_or(0, |c| c.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn service() -> ServiceSlot {
        ServiceSlot::new(ServiceId(Uuid::from_u128(1)), 5)
    }

    #[test]
    fn each_candidate_set_has_a_counter_of_its_own() {
        let slot = service();
        // Sets with the same home.
        let sets: Vec<u64> = (0..16).map(|n| (3 << 32) + (n << 40) + 1).collect();
        for round in 0..5 {
            for set in &sets {
                assert_eq!(slot.turn(*set, 100, false), 5 + round);
                assert_eq!(slot.turn(*set, 100, true), 5 + round);
            }
        }
    }

    #[test]
    fn when_all_counters_are_in_use_the_oldest_is_taken_over() {
        let slot = service();
        for set in 0..16 {
            slot.turn((set << 32) + 1, 100 + set, true);
        }
        // All but one have been asked for since.
        for set in (0..16).filter(|set| *set != 9) {
            slot.turn((set << 32) + 1, 150, true);
            slot.turn((set << 32) + 1, 150, true);
        }
        // The new set goes on with the counter of that one, in a trace too.
        assert_eq!(slot.turn((99 << 32) + 1, 200, false), 6);
        assert_eq!(slot.turn((99 << 32) + 1, 200, true), 6);
        assert_eq!(slot.turn((99 << 32) + 1, 200, true), 7);
        // The others kept theirs.
        assert_eq!(slot.turn((7 << 32) + 1, 201, true), 8);
        assert_eq!(slot.turn(1, 201, true), 8);
    }

    #[test]
    fn routing_follows_a_round_trip_time_only_when_it_moved_far_enough() {
        let slot = MemberSlot::new(MemberId(Uuid::from_u128(1)));
        slot.set_rtt(10, 5);
        slot.set_rtt(11, 5);
        assert_eq!((slot.rtt_ns(), slot.routing_rtt_ns()), (Some(11), None));
        slot.set_rtt(12, 5);
        assert_eq!(slot.routing_rtt_ns(), Some(12));
        slot.set_rtt(16, 5);
        assert_eq!((slot.rtt_ns(), slot.routing_rtt_ns()), (Some(16), Some(12)));
        slot.set_rtt(17, 5);
        assert_eq!(slot.routing_rtt_ns(), Some(17));
        slot.reset();
        assert_eq!(
            (slot.rtt_ns(), slot.routing_rtt_ns(), slot.score()),
            (None, None, 1.0)
        );
    }

    #[test]
    fn a_load_counts_until_its_time() {
        let slot = MemberSlot::new(MemberId(Uuid::from_u128(1)));
        assert_eq!(slot.load(0), None);
        slot.set_load(Some(0.75), Some(100));
        assert_eq!((slot.load(99), slot.load(100)), (Some(0.75), None));
        assert_eq!(slot.load_until(), Some(100));
        slot.set_load(Some(0.0), None);
        assert_eq!((slot.load(u64::MAX - 1), slot.load_until()), (Some(0.0), None));
        for none in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            slot.set_load(none, None);
            assert_eq!(slot.load(0), None);
        }
    }

    #[test]
    fn a_score_is_in_every_place_that_is_in_use() {
        let slot = MemberSlot::new(MemberId(Uuid::from_u128(1)));
        let lane = || -> Arc<[Hot]> { (0..3).map(|_| Hot::new(1, 0, None)).collect() };
        let scores = |lane: &[Hot]| lane.iter().map(Hot::score).collect::<Vec<_>>();
        slot.set_score(0.5);
        let (old, new) = (lane(), lane());
        slot.write_also_to(&old, 0);
        assert_eq!(scores(&old), [0.5, 1.0, 1.0]);
        slot.write_also_to(&new, 2);
        slot.set_score(0.25);
        assert_eq!(
            (scores(&old), scores(&new)),
            (vec![0.25, 1.0, 1.0], vec![1.0, 1.0, 0.25])
        );
        drop(old);
        slot.write_also_to(&lane(), 1);
        slot.write_also_to(&new, 1);
        assert_eq!(slot.places.lock().unwrap().len(), 2);
        slot.reset();
        assert_eq!(scores(&new), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn scores_are_clamped() {
        let slot = MemberSlot::new(MemberId(Uuid::from_u128(1)));
        assert!(!slot.is_known());
        for (given, kept) in [(2.0, 1.0), (-1.0, 0.0), (f32::NAN, 0.0), (0.25, 0.25)] {
            slot.set_score(given);
            assert_eq!(slot.score(), kept);
        }
        assert!(slot.is_known());
    }
}
