//! The tree of names: which name is answered from what.
//!
//! One hash look-up of the lower-cased wire name finds a name that exists; one more for each label above finds the
//! closest encloser of one that does not, and with it the wildcard (RFC 4592 §3.3.1). Empty non-terminals and
//! wildcards are worked out when the snapshot is compiled. Delegations cost look-ups only in zones that have some.

use crate::model::ZoneId;
use crate::snapshot::contents::{ZoneRecord, push_service, push_set};
pub(crate) use crate::snapshot::name::ZoneOf;
use crate::snapshot::name::{Name, Node};
use crate::snapshot::pools::{Pools, RoutedService};
use crate::snapshot::records::NodeRecords;
use crate::snapshot::seats::{Seated, Seats};
use crate::snapshot::service::CompiledService;
use crate::snapshot::shards::Shards;
use crate::snapshot::zone::CompiledZone;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;
use uuid::Uuid;

/// What a name is answered from.
#[derive(Debug, Clone, Copy)]
pub enum Found<'a> {
    /// A service, by its own name or its wildcard. It may be at the zone's apex: SOA and NS then come from the zone.
    Service {
        /// The service, with its pool.
        service: RoutedService<'a>,
        /// Records of other types at the name.
        records: Option<&'a NodeRecords>,
        /// Its zone; synthetic when the service lies outside every zone.
        zone: &'a CompiledZone,
    },
    /// Static records, at the name or at its wildcard.
    Records {
        /// The records.
        records: &'a NodeRecords,
        /// Their zone.
        zone: &'a CompiledZone,
    },
    /// A zone's apex without a service.
    Apex {
        /// Records beside SOA and NS.
        records: Option<&'a NodeRecords>,
        /// The zone.
        zone: &'a CompiledZone,
    },
    /// At or below a name that is delegated to other servers (RFC 1034 §4.3.2, 3b).
    Delegated {
        /// The delegated name, in wire form: a tail of the name asked for.
        cut: &'a [u8],
        /// Its NS and DS records.
        records: &'a NodeRecords,
        /// The zone that delegates.
        zone: &'a CompiledZone,
    },
    /// Exists without data, because a name below it has some (an empty non-terminal): NODATA (RFC 4592 §2.2.2).
    Empty(&'a CompiledZone),
    /// Does not exist in this zone: NXDOMAIN.
    Missing(&'a CompiledZone),
    /// Outside every zone and service: REFUSED.
    Outside,
}

impl<'a> Found<'a> {
    /// The zone that answers, if any does.
    #[must_use]
    pub fn zone(&self) -> Option<&'a CompiledZone> {
        match *self {
            Found::Service { zone, .. }
            | Found::Records { zone, .. }
            | Found::Apex { zone, .. }
            | Found::Delegated { zone, .. }
            | Found::Empty(zone)
            | Found::Missing(zone) => Some(zone),
            Found::Outside => None,
        }
    }
}

/// A stored zone in its place.
#[derive(Debug, Clone)]
struct Place {
    zone: Arc<CompiledZone>,
    /// Names in it that are delegated.
    cuts: u32,
}

impl Seated for Place {
    fn id(&self) -> Uuid {
        self.zone.id.map_or(Uuid::nil(), |id| id.0)
    }
}

/// What the zone at a place says of a name in a zone below.
type Above = (u32, Arc<NodeRecords>);

/// The tree.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    names: Shards<Name>,
    /// The stored zones.
    zones: Seats<Place>,
    /// What a zone (by its place) says of names in a zone below it that is here too: of its records only the DS set of the
    /// apex is ever answered.
    above: Arc<HashMap<Arc<[u8]>, Above>>,
    hasher: foldhash::fast::FixedState,
    /// Most labels any name has: names above that need no look-up.
    deepest: u8,
    /// Apexes of made-up zones.
    synthetic: u32,
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
    /// No names, with room for so many; `entropy` seeds the hash, so that nobody can prepare names that collide.
    pub(crate) fn new(entropy: u64, room: usize) -> Self {
        Self {
            names: Shards::for_many(room),
            zones: Seats::for_many(0),
            above: Arc::default(),
            hasher: foldhash::fast::FixedState::with_seed(entropy),
            deepest: 0,
            synthetic: 0,
        }
    }

    /// Hash of a name.
    pub(crate) fn hash(&self, wire: &[u8]) -> u64 {
        self.hasher.hash_one(wire)
    }

    /// Reads what looking up a name with this hash will read first.
    #[inline]
    pub(crate) fn approach(&self, hash: u64) -> usize {
        self.names.approach(hash)
    }

    fn get(&self, wire: &[u8]) -> Option<&Name> {
        self.get_hashed(wire, self.hash(wire))
    }

    #[inline]
    fn get_hashed(&self, wire: &[u8], hash: u64) -> Option<&Name> {
        self.names.find(hash, |name| *name.wire == *wire)
    }

    fn get_mut(&mut self, wire: &[u8]) -> Option<&mut Name> {
        self.names.find_mut(self.hash(wire), |name| *name.wire == *wire)
    }

    fn zone_of_name<'a>(&'a self, name: &'a Name) -> Option<&'a CompiledZone> {
        match &name.zone {
            ZoneOf::Stored(place) => self.zone_at(*place),
            ZoneOf::Synthetic(zone) => Some(zone),
        }
    }

    /// Every stored zone.
    pub(crate) fn zones(&self) -> impl Iterator<Item = (u32, &CompiledZone)> {
        self.zones.iter().map(|(place, zone)| (place, &*zone.zone))
    }

    /// The service that answers a name, given with its hash.
    #[inline]
    pub(crate) fn service<'a>(
        &'a self,
        pools: &'a Pools,
        qname: &[u8],
        hash: u64,
    ) -> Option<(&'a CompiledService, &'a CompiledZone)> {
        let Some(name) = self.get_hashed(qname, hash) else {
            return match self.find_missing(pools, qname)? {
                Found::Service { service, zone, .. } => Some((service.service(), zone)),
                _ => None,
            };
        };
        Some((name.node.service.as_deref()?, self.zone_of_name(name)?))
    }

    /// Finds what answers a lower-cased uncompressed wire name.
    pub(crate) fn find<'a>(&'a self, pools: &'a Pools, qname: &[u8]) -> Found<'a> {
        match self.get(qname) {
            Some(name) => self.find_existing(pools, name),
            None => self.find_missing(pools, qname),
        }
        .unwrap_or(Found::Outside)
    }

    #[inline]
    fn find_existing<'a>(&'a self, pools: &'a Pools, name: &'a Name) -> Option<Found<'a>> {
        let zone = self.zone_of_name(name)?;
        let records = name.node.records.as_deref();
        if let Some(service) = &name.node.service {
            return Some(Found::Service {
                service: pools.route(service)?,
                records,
                zone,
            });
        }
        if name.apex && !zone.synthetic {
            return Some(Found::Apex { records, zone });
        }
        if let Some(found) = self.delegation(name, zone) {
            return Some(found);
        }
        Some(match records {
            Some(records) => Found::Records { records, zone },
            None => Found::Empty(zone),
        })
    }

    fn find_missing<'a>(&'a self, pools: &'a Pools, qname: &[u8]) -> Option<Found<'a>> {
        let encloser = self.closest_encloser(qname)?;
        let zone = self.zone_of_name(encloser)?;
        if let Some(found) = self.delegation(encloser, zone) {
            return Some(found);
        }
        let Node { service, records } = &encloser.wildcard;
        let records = records.as_deref();
        Some(match (service, records) {
            (Some(service), _) => Found::Service {
                service: pools.route(service)?,
                records,
                zone,
            },
            (None, Some(records)) => Found::Records { records, zone },
            (None, None) if encloser.has_wildcard => Found::Empty(zone),
            (None, None) => Found::Missing(zone),
        })
    }

    /// The delegation that a name lies at or below, closest to the apex.
    fn delegation<'a>(&'a self, name: &'a Name, zone: &'a CompiledZone) -> Option<Found<'a>> {
        let ZoneOf::Stored(place) = name.zone else {
            return None;
        };
        if self.zones.at(place).is_none_or(|place| place.cuts == 0) {
            return None;
        }
        let (mut found, mut at) = (None, name);
        while !at.apex {
            if let Some(records) = at
                .node
                .records
                .as_deref()
                .filter(|records| records.is_delegation())
            {
                found = Some(Found::Delegated {
                    cut: &at.wire,
                    records,
                    zone,
                });
            }
            // Every name between this one and its apex exists.
            at = self.get(parent(&at.wire)?)?;
        }
        found
    }

    /// Static records at a name that exists, delegated or not.
    pub(crate) fn records_at(&self, wire: &[u8]) -> Option<&NodeRecords> {
        self.get(wire)?.node.records.as_deref()
    }

    /// What the zone above says of an apex that is here too.
    pub(crate) fn above(&self, apex: &[u8]) -> Option<&NodeRecords> {
        self.above.get(apex).map(|(_, records)| &**records)
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

    /// Whether a name is the apex of a stored zone.
    pub(crate) fn is_apex(&self, wire: &[u8]) -> bool {
        self.get(wire)
            .is_some_and(|name| name.apex && matches!(name.zone, ZoneOf::Stored(_)))
    }

    /// Adds a stored zone's apex. Zones go in before services, those with fewer labels first; the caller has checked
    /// that no two have the same name.
    pub(crate) fn insert_zone(&mut self, zone: Arc<CompiledZone>) {
        let wire = Arc::clone(&zone.wire);
        let place = self.zones.put(Place { zone, cuts: 0 });
        self.insert_apex(&wire, &ZoneOf::Stored(place));
    }

    /// Puts a stored zone in the place of the one with its id. False when there is none with that id and name.
    pub(crate) fn replace_zone(&mut self, zone: Arc<CompiledZone>) -> bool {
        let Some(at) = zone.id.and_then(|id| self.place_of(id)) else {
            return false;
        };
        let place = self.zones.at_mut(at).filter(|old| old.zone.name == zone.name);
        place.map(|place| place.zone = zone).is_some()
    }

    /// A stored zone by its id.
    pub(crate) fn zone_by_id(&self, id: ZoneId) -> Option<&CompiledZone> {
        self.zone_at(self.place_of(id)?)
    }

    /// Where a stored zone is in the list.
    pub(super) fn place_of(&self, zone: ZoneId) -> Option<u32> {
        self.zones.place_of(zone.0)
    }

    /// The stored zone at a place.
    pub(super) fn zone_at(&self, place: u32) -> Option<&CompiledZone> {
        self.zones.at(place).map(|place| &*place.zone)
    }

    /// Number of parts that the names of a zone may be in: its name servers, what it says of zones below, and the shards.
    pub(super) fn parts(&self) -> usize {
        2 + self.names.count()
    }

    /// Appends the records of a stored zone in one part of so many, which are no less than there are.
    pub(super) fn part(
        &self,
        pools: &Pools,
        place: u32,
        part: usize,
        parts: usize,
        records: &mut Vec<ZoneRecord>,
    ) {
        match part {
            0 => {
                let zone = self.zone_at(place);
                if let Some((zone, set)) = zone.and_then(|zone| Some((zone, zone.name_servers.as_ref()?))) {
                    push_set(&zone.wire, set, records);
                }
            }
            1 => {
                for (wire, (_, node)) in self.above.iter().filter(|(_, (of, _))| *of == place) {
                    node.sets().iter().for_each(|set| push_set(wire, set, records));
                }
            }
            _ => {
                let names = self.names.part(part - 2, parts - 2);
                for name in names.filter(|name| matches!(name.zone, ZoneOf::Stored(of) if of == place)) {
                    let Node {
                        service,
                        records: node,
                    } = &name.node;
                    if let Some(service) = service.as_deref().and_then(|service| pools.route(service)) {
                        push_service(&service.wire, service, records);
                    }
                    if let Some(node) = node {
                        let wire = name.wire.shared();
                        node.sets().iter().for_each(|set| push_set(&wire, set, records));
                    }
                }
            }
        }
    }

    /// The part that a name is in.
    pub(super) fn part_of(&self, wire: &[u8]) -> usize {
        2 + self.names.index(self.hash(wire))
    }

    /// Where the stored zone of a name that exists is in the list.
    pub(super) fn place_of_name(&self, wire: &[u8]) -> Option<u32> {
        match self.get(wire)?.zone {
            ZoneOf::Stored(place) => Some(place),
            ZoneOf::Synthetic(_) => None,
        }
    }

    /// Whether a part is the same memory in another tree: then it holds the same.
    pub(super) fn shares(&self, other: &Self, part: usize) -> bool {
        match part {
            0 => false,
            1 => Arc::ptr_eq(&self.above, &other.above),
            _ => self.names.shares(&other.names, part - 2),
        }
    }

    /// Whether a name exists.
    pub(super) fn exists(&self, wire: &[u8]) -> bool {
        self.get(wire).is_some()
    }

    /// Names in zones that are here, of which a zone above has records too.
    pub(super) fn twice(&self) -> impl Iterator<Item = &[u8]> {
        self.above.keys().map(|wire| &**wire)
    }

    /// Number of made-up zones, at least.
    pub(super) fn synthetic_zones(&self) -> u32 {
        self.synthetic
    }

    /// Whether nothing is at an apex or below it.
    pub(super) fn is_bare_apex(&self, wire: &[u8]) -> bool {
        self.get(wire).is_some_and(|name| {
            name.apex && name.children == 0 && name.node.is_empty() && name.wildcard.is_empty()
        })
    }

    /// Takes a bare apex out, and names above that existed only for it.
    pub(super) fn drop_apex(&mut self, wire: &[u8]) {
        if let Some(name) = self.get_mut(wire) {
            name.apex = false;
        }
        self.prune(wire);
    }

    /// Takes a stored zone out of the list. No name may be in it any more.
    pub(super) fn forget_zone(&mut self, id: ZoneId) {
        self.zones.remove(id.0);
    }

    /// Makes the apex of a zone exist.
    pub(crate) fn insert_apex(&mut self, wire: &Arc<[u8]>, zone: &ZoneOf) {
        self.synthetic += u32::from(matches!(zone, ZoneOf::Synthetic(_)));
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
        if name.node.service.is_some() {
            return false;
        }
        self.set_service(&service.wire, Some(service));
        true
    }

    /// Takes a service's name out, and names above that existed only for it.
    pub(crate) fn remove_service(&mut self, wire: &[u8]) {
        self.set_service(wire, None);
        self.prune(wire);
    }

    /// Takes a name out when nothing needs it any more, and those above that existed only for it.
    fn prune(&mut self, wire: &[u8]) {
        let mut rest = wire;
        while let Some(name) = self.get(rest) {
            if name.apex || name.children > 0 || !name.node.is_empty() {
                return;
            }
            let hash = name.hash;
            self.names.remove(hash, |name| *name.wire == *rest);
            let Some(above) = parent(rest) else { return };
            if let Some(name) = self.get_mut(above) {
                name.children = name.children.saturating_sub(1);
                name.has_wildcard &= !is_wildcard(rest);
            }
            rest = above;
        }
    }

    fn set_service(&mut self, wire: &[u8], service: Option<&Arc<CompiledService>>) {
        self.each_node(wire, |node| node.service = service.map(Arc::clone));
    }

    /// Changes what a name holds, and what the name above knows of it when it is a wildcard.
    fn each_node(&mut self, wire: &[u8], change: impl Fn(&mut Node)) {
        if let Some(name) = self.get_mut(wire) {
            change(&mut name.node);
        }
        if is_wildcard(wire)
            && let Some(above) = parent(wire).and_then(|above| self.get_mut(above))
        {
            change(&mut above.wildcard);
        }
    }

    /// Puts the static records of a name of a stored zone in the place of those it has; without any it may cease to
    /// exist. False when there is no such zone.
    pub(crate) fn set_records(
        &mut self,
        zone: ZoneId,
        wire: &[u8],
        records: Option<Arc<NodeRecords>>,
    ) -> bool {
        let Some(at) = self.place_of(zone) else {
            return false;
        };
        if !matches!(self.zone_of(wire), Some(ZoneOf::Stored(place)) if *place == at) {
            // A zone below is here too, and answers for itself.
            let above = Arc::make_mut(&mut self.above);
            match records {
                Some(records) => above.insert(wire.into(), (at, records)),
                None => above.remove(wire),
            };
            return true;
        }
        let delegates = |records: &Option<Arc<NodeRecords>>, apex: bool| {
            u32::from(!apex && records.as_ref().is_some_and(|records| records.is_delegation()))
        };
        let (before, apex) = self.get(wire).map_or((0, false), |name| {
            (delegates(&name.node.records, name.apex), name.apex)
        });
        let after = delegates(&records, apex);
        if before != after
            && let Some(place) = self.zones.at_mut(at)
        {
            place.cuts = (place.cuts + after).saturating_sub(before);
        }
        let gone = records.is_none();
        if !gone {
            self.insert(&wire.into(), &ZoneOf::Stored(at), false);
        }
        self.each_node(wire, |node| node.records.clone_from(&records));
        if gone {
            self.prune(wire);
        }
        true
    }

    /// Makes a name exist, and with it the names between it and the closest apex above.
    fn insert(&mut self, wire: &Arc<[u8]>, zone: &ZoneOf, apex: bool) {
        if self.get(wire).is_some() {
            return;
        }
        self.deepest = self.deepest.max(count_labels(wire));
        self.add(wire, zone);
        let Some(mut above) = parent(wire) else { return };
        // An apex belongs to its own zone; the names above it to the enclosing one, if there is one.
        let enclosing = if apex {
            self.zone_of(above).cloned()
        } else {
            Some(zone.clone())
        };
        let Some(enclosing) = enclosing else { return };
        let mut wildcard = is_wildcard(wire);
        loop {
            if let Some(name) = self.get_mut(above) {
                name.children += 1;
                name.has_wildcard |= wildcard;
                return;
            }
            self.add(&above.into(), &enclosing);
            if let Some(name) = self.get_mut(above) {
                name.children = 1;
                name.has_wildcard = wildcard;
            }
            wildcard = is_wildcard(above);
            let Some(next) = parent(above) else { return };
            above = next;
        }
    }

    fn add(&mut self, wire: &Arc<[u8]>, zone: &ZoneOf) {
        let hash = self.hash(wire);
        self.names.insert(Name::new(wire, hash, zone.clone()));
    }
}
