//! The tree of names: which name is answered from what.
//!
//! One hash look-up of the lower-cased wire name finds a name that exists; one more for each label above finds the
//! closest encloser of one that does not, and with it the wildcard (RFC 4592 §3.3.1). Empty non-terminals and
//! wildcards are worked out when the snapshot is compiled.

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

/// A name that exists.
#[derive(Debug, Clone)]
struct Name {
    wire: Arc<[u8]>,
    hash: u64,
    zone: Arc<CompiledZone>,
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

impl Name {
    fn found(&self) -> Found<'_> {
        match &self.service {
            Some(service) => Found::Service {
                service,
                zone: &self.zone,
            },
            None if self.apex && !self.zone.synthetic => Found::Apex(&self.zone),
            None => Found::Empty(&self.zone),
        }
    }
}

/// The tree.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    names: Shards<Name>,
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

    /// Finds what answers a lower-cased uncompressed wire name.
    pub(crate) fn find(&self, qname: &[u8]) -> Found<'_> {
        if let Some(name) = self.get(qname) {
            return name.found();
        }
        let mut labels = count_labels(qname);
        let mut rest = qname;
        while let Some(above) = parent(rest) {
            rest = above;
            labels = labels.saturating_sub(1);
            if labels > self.deepest || labels == 0 {
                continue;
            }
            if let Some(encloser) = self.get(rest) {
                return match &encloser.wildcard {
                    Some(service) => Found::Service {
                        service,
                        zone: &encloser.zone,
                    },
                    None => Found::Missing(&encloser.zone),
                };
            }
        }
        Found::Outside
    }

    /// The closest enclosing apex, the name itself included.
    pub(crate) fn zone_of(&self, wire: &[u8]) -> Option<&Arc<CompiledZone>> {
        let mut rest = wire;
        loop {
            if let Some(name) = self.get(rest) {
                return Some(&name.zone);
            }
            rest = parent(rest)?;
        }
    }

    /// Adds a zone's apex. Zones go in before services, those with fewer labels first; the caller has checked that
    /// no two have the same name.
    pub(crate) fn insert_zone(&mut self, zone: &Arc<CompiledZone>) {
        self.insert(&zone.wire, zone, true);
        if let Some(name) = self.get_mut(&zone.wire) {
            name.apex = true;
            name.zone = Arc::clone(zone);
        }
    }

    /// Adds a service's name. False when another service has it already.
    pub(crate) fn insert_service(&mut self, service: &Arc<CompiledService>) -> bool {
        self.insert(&service.wire, &service.zone, false);
        let Some(name) = self.get_mut(&service.wire) else {
            return false;
        };
        if name.service.is_some() {
            return false;
        }
        name.service = Some(Arc::clone(service));
        if is_wildcard(&service.wire)
            && let Some(above) = parent(&service.wire).and_then(|above| self.get_mut(above))
        {
            above.wildcard = Some(Arc::clone(service));
        }
        true
    }

    /// Makes a name exist, and with it the names between it and the closest apex above.
    fn insert(&mut self, wire: &Arc<[u8]>, zone: &Arc<CompiledZone>, apex: bool) {
        if self.get(wire).is_some() {
            return;
        }
        self.deepest = self.deepest.max(count_labels(wire));
        self.add(Arc::clone(wire), zone, apex);
        // An apex belongs to its own zone; the names above it to the enclosing one.
        let own_apex = apex || **wire == *zone.wire;
        let enclosing = match (own_apex, parent(wire)) {
            (_, None) => None,
            (true, Some(above)) => self.zone_of(above).map(Arc::clone),
            (false, Some(_)) => Some(Arc::clone(zone)),
        };
        let Some(enclosing) = enclosing else { return };
        let mut rest: &[u8] = wire;
        while let Some(above) = parent(rest) {
            if let Some(name) = self.get_mut(above) {
                name.children += 1;
                return;
            }
            let depth = wire.len() - above.len();
            let between: Arc<[u8]> = wire.get(depth..).unwrap_or_default().into();
            self.add(between, &enclosing, false);
            if let Some(name) = self.get_mut(above) {
                name.children = 1;
            }
            rest = above;
        }
    }

    fn add(&mut self, wire: Arc<[u8]>, zone: &Arc<CompiledZone>, apex: bool) {
        let hash = self.hash(&wire);
        self.names.insert(Name {
            wire,
            hash,
            zone: Arc::clone(zone),
            apex,
            service: None,
            wildcard: None,
            children: 0,
        });
    }
}
