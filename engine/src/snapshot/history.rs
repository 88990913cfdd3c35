//! How zones came to be what they are: the differences between their last serials, for incremental transfers (RFC 1995).
//!
//! Whoever puts a snapshot in the place of another compares the two. What both share (most of the tree, after a small
//! change) is passed over unread. The history is in memory only and bounded: to whom it does not reach back, the zone is
//! sent as a whole.

use super::Snapshot;
use super::contents::ZoneRecord;
use crate::model::ZoneId;
use crate::snapshot::zone::CompiledZone;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Octets of the differences that are kept of one zone.
const MAX_OCTETS: usize = 1 << 20;
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

/// The histories of all zones that are transferred.
#[derive(Debug, Clone, Default)]
pub(super) struct Histories(HashMap<ZoneId, History>);

/// Whether one serial is newer than another (RFC 1982 §3.2). Half-way round the circle neither is.
#[must_use]
pub const fn is_newer(serial: u32, than: u32) -> bool {
    let ahead = serial.wrapping_sub(than);
    ahead != 0 && ahead < 1 << 31
}

impl Snapshot {
    /// This snapshot with the histories of its zones, as it follows on `before`.
    #[must_use]
    pub fn following(mut self, before: &Self) -> Self {
        let mut histories = HashMap::new();
        for (place, zone) in self.names.zones().enumerate() {
            let Some(id) = zone.id.filter(|_| !zone.transfer.peers.is_empty()) else {
                continue;
            };
            let known = before.histories.0.get(&id);
            let Some(old) = before.names.place_with(id, place) else {
                continue;
            };
            let Some(was) = before.names.zone_at(old).filter(|was| was.name == zone.name) else {
                continue;
            };
            if was.serial == zone.serial {
                histories.extend(known.map(|known| (id, Arc::clone(known))));
            } else if is_newer(zone.serial, was.serial) {
                let place = u32::try_from(place).unwrap_or(u32::MAX);
                let difference = self.difference((zone, place), before, (was, old));
                let known = known.map(|known| &**known).unwrap_or_default();
                histories.extend(difference.map(|difference| (id, continued(known, difference))));
            }
        }
        self.histories = Arc::new(Histories(histories));
        self
    }

    /// What leads a zone from a serial to the one in force. `None`: that is not known.
    #[must_use]
    pub fn since(&self, zone: ZoneId, serial: u32) -> Option<&[Arc<Difference>]> {
        let history = self.histories.0.get(&zone)?;
        let at = history.iter().position(|difference| difference.from == serial)?;
        history.get(at..)
    }

    /// Compares two forms of a zone. `None`: the difference is too large to be kept.
    fn difference(
        &self,
        (zone, place): (&CompiledZone, u32),
        before: &Self,
        (was, old): (&CompiledZone, u32),
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
            before.names.part(old, part, parts, &mut there);
            self.names.part(place, part, parts, &mut here);
            for (from, others, to) in [(&there, &here, &mut removed), (&here, &there, &mut added)] {
                let others: HashSet<&ZoneRecord> = others.iter().collect();
                for record in from.iter().filter(|record| !others.contains(record)) {
                    octets += record.octets();
                    to.push(record.clone());
                }
            }
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
    fn rfc_1982_3_2_serials_go_round() {
        assert!(is_newer(2, 1) && !is_newer(1, 2) && !is_newer(1, 1));
        assert!(is_newer(0, u32::MAX) && !is_newer(u32::MAX, 0));
        assert!(is_newer(0x7fff_ffff, 0) && !is_newer(0x8000_0000, 0) && !is_newer(0, 0x8000_0000));
    }
}
