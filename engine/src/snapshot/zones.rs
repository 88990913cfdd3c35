//! Zones that come and go in a tree of names that is there already.
//!
//! Most zones are made empty, and are empty when they go: nothing else in the tree has to change then. Zones that names lie
//! in already, or that others lie in, change whose those are: that is left to whoever compiles the whole.

use crate::model::ZoneId;
use crate::snapshot::names::{Names, parent};
use crate::snapshot::zone::CompiledZone;
use std::sync::Arc;

fn is_below(wire: &[u8], apex: &[u8]) -> bool {
    let mut rest = wire;
    while let Some(above) = parent(rest) {
        rest = above;
        if rest == apex {
            return true;
        }
    }
    false
}

impl Names {
    /// Puts a stored zone in the place of the one with its id, or makes one that no name lies in yet. False when it would
    /// change more than itself.
    pub(super) fn put_zone(&mut self, zone: Arc<CompiledZone>) -> bool {
        let Some(id) = zone.id else { return false };
        if let Some(old) = self.zone_by_id(id) {
            return old.name == zone.name && self.replace_zone(zone);
        }
        if self.exists(&zone.wire)
            || self.synthetic_zones() > 0
            || self.zones().any(|(_, other)| is_below(&other.wire, &zone.wire))
        {
            return false;
        }
        self.insert_zone(zone);
        true
    }

    /// Takes a stored zone out that nothing lies in any more. False when something does, or the zone above has records
    /// there, which would come to light.
    pub(super) fn remove_zone(&mut self, id: ZoneId) -> bool {
        let Some(zone) = self.zone_by_id(id) else {
            return true;
        };
        let wire = Arc::clone(&zone.wire);
        let comes_to_light = |name: &[u8]| *name == *wire || is_below(name, &wire);
        if !self.is_bare_apex(&wire) || self.twice().any(comes_to_light) {
            return false;
        }
        self.drop_apex(&wire);
        self.forget_zone(id);
        true
    }
}
