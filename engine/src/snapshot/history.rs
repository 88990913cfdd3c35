//! How zones came to be what they are: the differences between their last serials, for incremental transfers (RFC 1995).
//!
//! Whoever puts a snapshot in the place of another compares the two. What both share (most of the tree, after a small
//! change) is passed over unread. The history is in memory only and bounded: to whom it does not reach back, the zone is
//! sent as a whole.

use super::contents::{ZoneRecord, push_service};
use super::{Changes, Snapshot};
use crate::hash;
use crate::model::{ServiceId, ZoneId};
use crate::snapshot::shards::{Entry, Shards};
use crate::snapshot::zone::CompiledZone;
use std::collections::HashSet;
use std::sync::Arc;

/// Octets of the differences that are kept of one zone.
const MAX_OCTETS: usize = 1 << 20;
/// Octets of the differences that are kept of all zones: some hundred MiB of memory at most. Of zones that have not
/// changed for longest nothing is kept then, and they are sent as a whole.
const MAX_OCTETS_OF_ALL: usize = 64 << 20;
/// Differences that are kept of one zone.
const MAX_DIFFERENCES: usize = 256;

/// What one serial has to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// SOA before.
    pub before: ZoneRecord,
    /// Records that are gone.
    pub removed: Box<[ZoneRecord]>,
    /// SOA after.
    pub after: ZoneRecord,
    /// Records that are new.
    pub added: Box<[ZoneRecord]>,
    from: u32,
    octets: usize,
}

/// Differences of a zone, each from where the one before leads to; the last leads to the serial in force.
type History = Arc<[Arc<Difference>]>;

/// The history of one zone.
#[derive(Debug, Clone)]
struct OfZone {
    id: ZoneId,
    differences: History,
    octets: usize,
    /// Grows with each change of a zone.
    age: u64,
}

impl OfZone {
    fn hash_of(id: ZoneId) -> u64 {
        hash::id(id.0)
    }
}

impl Entry for OfZone {
    fn hash(&self) -> u64 {
        Self::hash_of(self.id)
    }
}

/// The histories of all zones that are transferred.
#[derive(Debug, Clone)]
pub(super) struct Histories {
    zones: Shards<OfZone>,
    octets: usize,
    /// Age of the latest.
    age: u64,
}

impl Histories {
    /// None.
    pub(super) fn new() -> Self {
        Self {
            zones: Shards::new(),
            octets: 0,
            age: 0,
        }
    }

    fn of(&self, zone: ZoneId) -> Option<&OfZone> {
        self.zones
            .find(OfZone::hash_of(zone), |history| history.id == zone)
    }

    fn remove(&mut self, zone: ZoneId) {
        let old = self
            .zones
            .remove(OfZone::hash_of(zone), |history| history.id == zone);
        self.octets -= old.map_or(0, |old| old.octets);
    }

    /// Adds a history, and forgets old ones when all together are more than `most` octets.
    fn insert(&mut self, history: OfZone, most: usize) {
        self.octets += history.octets;
        self.age = self.age.max(history.age);
        self.zones.insert(history);
        if self.octets <= most {
            return;
        }
        // So many that it will be long until the next time.
        let mut ages: Vec<(u64, ZoneId)> = self.zones.iter().map(|zone| (zone.age, zone.id)).collect();
        ages.sort_unstable();
        for (_, zone) in ages {
            if self.octets <= most / 2 {
                return;
            }
            self.remove(zone);
        }
    }
}

/// Whether one serial is newer than another (RFC 1982 §3.2). Half-way round the circle neither is.
#[must_use]
pub const fn is_newer(serial: u32, than: u32) -> bool {
    let ahead = serial.wrapping_sub(than);
    ahead != 0 && ahead < 1 << 31
}

impl Snapshot {
    /// This snapshot with the histories of its zones, as it follows on `before`. One that was made of it
    /// [with changes](Self::with_changes) has them already.
    #[must_use]
    pub fn following(mut self, before: &Self) -> Self {
        let mut histories = Histories::new();
        histories.age = before.histories.age;
        for (place, zone) in self.names.zones() {
            if let Some(history) = self.history(place, zone, before, &[]) {
                histories.insert(history, MAX_OCTETS_OF_ALL);
            }
        }
        self.histories = histories;
        self
    }

    /// As [`following`](Self::following), for one that differs from `before` by these changes only.
    pub(super) fn following_in(mut self, before: &Self, changes: &Changes) -> Self {
        let mut histories = before.histories.clone();
        let changed = changes.zones.iter().map(|zone| zone.id);
        for id in changed.chain(changes.removed_zones.iter().copied()) {
            histories.remove(id);
            let place = self.names.place_of(id);
            let zone = place.and_then(|place| Some((place, self.names.zone_at(place)?)));
            if let Some(history) = zone.and_then(|(at, zone)| self.history(at, zone, before, &changes.moved))
            {
                histories.insert(history, MAX_OCTETS_OF_ALL);
            }
        }
        self.histories = histories;
        self
    }

    /// The history of a zone that is transferred.
    fn history(&self, place: u32, zone: &CompiledZone, before: &Self, moved: &[ServiceId]) -> Option<OfZone> {
        let id = zone.id.filter(|_| !zone.transfer.peers.is_empty())?;
        let old = before.names.place_of(id)?;
        let was = before.names.zone_at(old).filter(|was| was.name == zone.name)?;
        let known = before.histories.of(id);
        if was.serial == zone.serial {
            return known.cloned();
        }
        if !is_newer(zone.serial, was.serial) {
            return None;
        }
        let difference = self.difference((zone, place), before, (was, old), moved)?;
        let known = known.map(|known| &*known.differences).unwrap_or_default();
        let differences = continued(known, difference);
        Some(OfZone {
            id,
            octets: differences.iter().map(|difference| difference.octets).sum(),
            differences,
            age: before.histories.age + 1,
        })
    }

    /// What leads a zone from a serial to the one in force. `None`: that is not known.
    #[must_use]
    pub fn since(&self, zone: ZoneId, serial: u32) -> Option<&[Arc<Difference>]> {
        let history = &self.histories.of(zone)?.differences;
        let at = history.iter().position(|difference| difference.from == serial)?;
        history.get(at..)
    }

    /// Compares two forms of a zone. `None`: the difference is too large to be kept.
    fn difference(
        &self,
        (zone, place): (&CompiledZone, u32),
        before: &Self,
        (was, old): (&CompiledZone, u32),
        moved: &[ServiceId],
    ) -> Option<Difference> {
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        let (mut there, mut here) = (Vec::new(), Vec::new());
        let (before_soa, after) = (was.soa_record()?, zone.soa_record()?);
        let mut octets = before_soa.octets() + after.octets();
        let parts = self.names.parts().max(before.names.parts());
        for part in 0..parts {
            if place == old && self.names.shares(&before.names, part) {
                continue;
            }
            there.clear();
            here.clear();
            before.names.part(&before.pools, old, part, parts, &mut there);
            self.names.part(&self.pools, place, part, parts, &mut here);
            octets += compare(&there, &here, &mut removed, &mut added);
            if octets > MAX_OCTETS {
                return None;
            }
        }
        for id in moved {
            let Some(service) = self.service(*id).filter(|service| service.enabled) else {
                continue;
            };
            // What is not shared was compared above.
            let part = self.names.part_of(&service.wire);
            let shared = place == old && self.names.shares(&before.names, part);
            if !shared || self.names.place_of_name(&service.wire) != Some(place) {
                continue;
            }
            there.clear();
            here.clear();
            if let Some(was) = before.route(service.service()) {
                push_service(&was.wire, was, &mut there);
            }
            push_service(&service.wire, service, &mut here);
            octets += compare(&there, &here, &mut removed, &mut added);
            if octets > MAX_OCTETS {
                return None;
            }
        }
        Some(Difference {
            before: before_soa,
            removed: removed.into(),
            after,
            added: added.into(),
            from: was.serial,
            octets,
        })
    }
}

/// Appends what two lists of records do not have in common. Returns its octets.
fn compare(
    there: &[ZoneRecord],
    here: &[ZoneRecord],
    removed: &mut Vec<ZoneRecord>,
    added: &mut Vec<ZoneRecord>,
) -> usize {
    let mut octets = 0;
    for (from, others, to) in [(there, here, removed), (here, there, added)] {
        let others: HashSet<&ZoneRecord> = others.iter().collect();
        for record in from.iter().filter(|record| !others.contains(record)) {
            octets += record.octets();
            to.push(record.clone());
        }
    }
    octets
}

/// A history with one more difference, and without the oldest ones when there are too many.
fn continued(known: &[Arc<Difference>], latest: Difference) -> History {
    let mut octets = latest.octets;
    let mut kept = 0;
    for difference in known.iter().rev().take(MAX_DIFFERENCES - 1) {
        octets += difference.octets;
        if octets > MAX_OCTETS {
            break;
        }
        kept += 1;
    }
    let skipped = known.len() - kept;
    known
        .iter()
        .skip(skipped)
        .cloned()
        .chain([Arc::new(latest)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_histories_the_oldest_go_when_there_is_too_much() {
        let zone = |number: u64| ZoneId(uuid::Uuid::from_u128(u128::from(number)));
        let mut histories = Histories::new();
        let insert = |histories: &mut Histories, number: u64| {
            let history = OfZone {
                id: zone(number),
                differences: Arc::new([]),
                octets: 100,
                age: number,
            };
            histories.insert(history, 1000);
        };
        for number in 1..=10 {
            insert(&mut histories, number);
        }
        assert_eq!((histories.octets, histories.zones.len()), (1000, 10));
        insert(&mut histories, 11);
        let kept = |histories: &Histories| {
            (1..=11)
                .filter(|n| histories.of(zone(*n)).is_some())
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(&histories), [7, 8, 9, 10, 11]);
        assert_eq!((histories.octets, histories.age), (500, 11));
        histories.remove(zone(8));
        histories.remove(zone(8));
        assert_eq!(histories.octets, 400);
    }

    #[test]
    fn rfc_1982_3_2_serials_go_round() {
        assert!(is_newer(2, 1) && !is_newer(1, 2) && !is_newer(1, 1));
        assert!(is_newer(0, u32::MAX) && !is_newer(u32::MAX, 0));
        assert!(is_newer(0x7fff_ffff, 0) && !is_newer(0x8000_0000, 0) && !is_newer(0, 0x8000_0000));
    }
}
