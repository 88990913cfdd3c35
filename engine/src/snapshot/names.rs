//! The tree of names: which name is answered from what.
//!
//! One hash look-up of the lower-cased wire name finds a name that exists; one more for each label above finds the
//! closest encloser of one that does not, and with it the wildcard (RFC 4592 §3.3.1). Empty non-terminals and
//! wildcards are worked out when the snapshot is compiled.

use crate::model::ZoneId;
use crate::snapshot::service::CompiledService;
use crate::snapshot::shards::{Entry, Shards};
use crate::snapshot::zone::CompiledZone;
use std::hash::BuildHasher;
use std::sync::Arc;

/// What a name is answered from.
#[derive(Debug, Clone, Copy)]
pub enum Found<'a> {
    /// A service, by its own name or its wildcard. It may be at the zone's apex: SOA and NS then come from the zone.
    Service {
        /// The service.
        service: &'a CompiledService,
        /// Its zone; synthetic when the service lies outside every zone.
        zone: &'a CompiledZone,
    },
    /// A zone's apex without a service.
    Apex(&'a CompiledZone),
    /// Exists without data, because a name below it has some (an empty non-terminal): NODATA (RFC 4592 §2.2.2).
    Empty(&'a CompiledZone),
    /// Does not exist in this zone: NXDOMAIN.
    Missing(&'a CompiledZone),
    /// Outside every zone and service: REFUSED.
    Outside,
}

/// The zone of a name. Stored zones by their place in a list, so that a new serial of a zone with a million names
/// changes one place.
#[derive(Debug, Clone)]
pub(crate) enum ZoneOf {
    Stored(u32),
    Synthetic(Arc<CompiledZone>),
}

/// A name that exists.
#[derive(Debug, Clone)]
struct Name {
    wire: Arc<[u8]>,
    hash: u64,
    zone: ZoneOf,
    apex: bool,
    service: Option<Arc<CompiledService>>,
    /// The service at `*` directly below this name.
    wildcard: Option<Arc<CompiledService>>,
    /// Names directly below that exist.
    children: u32,
}

impl Entry for Name {
    fn hash(&self) -> u64 {
        self.hash
    }
}

/// The tree.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    names: Shards<Name>,
    /// The stored zones.
    zones: Vec<Arc<CompiledZone>>,
    hasher: foldhash::fast::FixedState,
    /// Most labels any name has: names above that need no look-up.
    deepest: u8,
}

/// The name without its first label; `None` at the root.
pub(crate) fn parent(wire: &[u8]) -> Option<&[u8]> {
    let length = usize::from(*wire.first()?);
    if length == 0 {
        return None;
    }
    wire.get(length + 1..)
}

fn count_labels(mut wire: &[u8]) -> u8 {
    let mut count = 0_u8;
    while let Some(rest) = parent(wire) {
        count = count.saturating_add(1);
        wire = rest;
    }
    count
}

fn is_wildcard(wire: &[u8]) -> bool {
    wire.starts_with(b"\x01*")
}

impl Names {
    /// No names; `entropy` seeds the hash, so that nobody can prepare names that collide.
    pub(crate) fn new(entropy: u64) -> Self {
        Self {
            names: Shards::new(),
            zones: Vec::new(),
            hasher: foldhash::fast::FixedState::with_seed(entropy),
            deepest: 0,
        }
    }

    fn hash(&self, wire: &[u8]) -> u64 {
        self.hasher.hash_one(wire)
    }

    fn get(&self, wire: &[u8]) -> Option<&Name> {
        self.names.find(self.hash(wire), |name| *name.wire == *wire)
    }

    fn get_mut(&mut self, wire: &[u8]) -> Option<&mut Name> {
        self.names.find_mut(self.hash(wire), |name| *name.wire == *wire)
    }

    fn zone_of_name<'a>(&'a self, name: &'a Name) -> Option<&'a CompiledZone> {
        match &name.zone {
            ZoneOf::Stored(place) => self.zones.get(*place as usize).map(|zone| &**zone),
            ZoneOf::Synthetic(zone) => Some(zone),
        }
    }

    /// Every stored zone.
    pub(crate) fn zones(&self) -> impl Iterator<Item = &CompiledZone> {
        self.zones.iter().map(|zone| &**zone)
    }

    /// Finds what answers a lower-cased uncompressed wire name.
    pub(crate) fn find(&self, qname: &[u8]) -> Found<'_> {
        let found = match self.get(qname) {
            Some(name) => self.zone_of_name(name).map(|zone| match &name.service {
                Some(service) => Found::Service { service, zone },
                None if name.apex && !zone.synthetic => Found::Apex(zone),
                None => Found::Empty(zone),
            }),
            None => self.closest_encloser(qname).and_then(|encloser| {
                let zone = self.zone_of_name(encloser)?;
                Some(match &encloser.wildcard {
                    Some(service) => Found::Service { service, zone },
                    None => Found::Missing(zone),
                })
            }),
        };
        found.unwrap_or(Found::Outside)
    }

    /// The longest name above that exists.
    fn closest_encloser(&self, qname: &[u8]) -> Option<&Name> {
        let mut labels = count_labels(qname);
        let mut rest = qname;
        while let Some(above) = parent(rest) {
            rest = above;
            labels = labels.saturating_sub(1);
            if labels > self.deepest {
                continue;
            }
            if let Some(name) = self.get(rest) {
                return Some(name);
            }
        }
        None
    }

    /// The zone of a name, whether it exists or not: that of the closest name that does.
    pub(crate) fn zone_of(&self, wire: &[u8]) -> Option<&ZoneOf> {
        let name = self.get(wire).or_else(|| self.closest_encloser(wire));
        name.map(|name| &name.zone)
    }

    /// Adds a stored zone's apex. Zones go in before services, those with fewer labels first; the caller has checked
    /// that no two have the same name.
    pub(crate) fn insert_zone(&mut self, zone: Arc<CompiledZone>) {
        let place = ZoneOf::Stored(u32::try_from(self.zones.len()).unwrap_or(u32::MAX));
        let wire = Arc::clone(&zone.wire);
        self.zones.push(zone);
        self.insert_apex(&wire, &place);
    }

    /// Puts a stored zone in the place of the one with its id. False when there is none with that id and name.
    pub(crate) fn replace_zone(&mut self, zone: Arc<CompiledZone>) -> bool {
        let place = self
            .zones
            .iter_mut()
            .find(|old| old.id == zone.id && old.name == zone.name);
        place.map(|place| *place = zone).is_some()
    }

    /// A stored zone by its id.
    pub(crate) fn zone_by_id(&self, id: ZoneId) -> Option<&CompiledZone> {
        self.zones().find(|zone| zone.id == Some(id))
    }

    /// Makes the apex of a zone exist.
    pub(crate) fn insert_apex(&mut self, wire: &Arc<[u8]>, zone: &ZoneOf) {
        self.insert(wire, zone, true);
        if let Some(name) = self.get_mut(wire) {
            name.apex = true;
            name.zone = zone.clone();
        }
    }

    /// Adds a service's name. False when another service has it already.
    pub(crate) fn insert_service(&mut self, service: &Arc<CompiledService>, zone: &ZoneOf) -> bool {
        self.insert(&service.wire, zone, false);
        let Some(name) = self.get_mut(&service.wire) else {
            return false;
        };
        if name.service.is_some() {
            return false;
        }
        self.set_service(&service.wire, Some(service));
        true
    }

    /// Puts another form of the same service in its place.
    pub(crate) fn replace_service(&mut self, service: &Arc<CompiledService>) {
        self.set_service(&service.wire, Some(service));
    }

    /// Takes a service's name out, and names above that existed only for it.
    pub(crate) fn remove_service(&mut self, wire: &[u8]) {
        self.set_service(wire, None);
        let mut rest = wire;
        while let Some(name) = self.get(rest) {
            if name.apex || name.service.is_some() || name.children > 0 {
                return;
            }
            let hash = name.hash;
            self.names.remove(hash, |name| *name.wire == *rest);
            let Some(above) = parent(rest) else { return };
            if let Some(name) = self.get_mut(above) {
                name.children = name.children.saturating_sub(1);
            }
            rest = above;
        }
    }

    fn set_service(&mut self, wire: &[u8], service: Option<&Arc<CompiledService>>) {
        if let Some(name) = self.get_mut(wire) {
            name.service = service.map(Arc::clone);
        }
        if is_wildcard(wire)
            && let Some(above) = parent(wire).and_then(|above| self.get_mut(above))
        {
            above.wildcard = service.map(Arc::clone);
        }
    }

    /// Makes a name exist, and with it the names between it and the closest apex above.
    fn insert(&mut self, wire: &Arc<[u8]>, zone: &ZoneOf, apex: bool) {
        if self.get(wire).is_some() {
            return;
        }
        self.deepest = self.deepest.max(count_labels(wire));
        self.add(Arc::clone(wire), zone);
        let Some(mut above) = parent(wire) else { return };
        // An apex belongs to its own zone; the names above it to the enclosing one, if there is one.
        let enclosing = if apex {
            self.zone_of(above).cloned()
        } else {
            Some(zone.clone())
        };
        let Some(enclosing) = enclosing else { return };
        loop {
            if let Some(name) = self.get_mut(above) {
                name.children += 1;
                return;
            }
            self.add(above.into(), &enclosing);
            if let Some(name) = self.get_mut(above) {
                name.children = 1;
            }
            let Some(next) = parent(above) else { return };
            above = next;
        }
    }

    fn add(&mut self, wire: Arc<[u8]>, zone: &ZoneOf) {
        let hash = self.hash(&wire);
        self.names.insert(Name {
            wire,
            hash,
            zone: zone.clone(),
            apex: false,
            service: None,
            wildcard: None,
            children: 0,
        });
    }
}
