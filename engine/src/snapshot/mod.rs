//! The snapshot: an immutable, compiled configuration that queries read without a lock.
//!
//! One writer compiles snapshots and swaps them in as a whole through a [`SnapshotCell`]. What changes between
//! configurations (health, round-trip times, counters) lives beside it in slots of atomics, see [`Slots`].

mod ahead;
mod chains;
mod change;
mod compile;
mod contents;
mod facts;
mod fingerprint;
mod history;
mod lane;
mod map;
mod name;
mod names;
mod pool;
mod pools;
mod proposal;
mod records;
mod registry;
mod rows;
mod seats;
mod service;
mod shards;
mod signing;
mod tsig;
mod zone;
mod zones;

pub use change::Changes;
pub use contents::{ZoneContents, ZoneRecord};
pub use history::{Difference, is_newer};
pub use names::Found;
pub use pool::{CompiledMember, CompiledPool};
pub use pools::RoutedService;
pub use records::{CompiledSet, NodeRecords};
pub use registry::Slots;
pub use service::CompiledService;
pub use signing::{SIGNATURE, SignData, SignedZone, SigningKey, ZoneKeys};
pub use tsig::{TsigKey, TsigKeys};
pub use zone::CompiledZone;

pub(crate) use facts::{Facts, MemberSet};
pub(crate) use lane::Hot;
pub(crate) use map::{CompiledMap, Target};

use crate::environment::{Environment, LatencySettings, Signals};
use crate::geo::Geo;
use crate::model::{
    Pool, PoolId, Rdata, RecordSet, RecordType, Region, Service, ServiceId, Tier, Zone, ZoneId,
};
use arc_swap::{ArcSwap, Guard};
use chains::Chains;
use history::Histories;
use names::Names;
use pools::Pools;
use shards::Shards;
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

/// Most aliases (CNAME) that are followed for one answer. Loops are refused when they are stored; what makes one all the
/// same (a wildcard that comes to light) ends here.
pub const MAX_ALIASES: u8 = 16;

/// The stored objects that a snapshot is compiled from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Zones.
    pub zones: Vec<Zone>,
    /// Pools with their members.
    pub pools: Vec<Pool>,
    /// Services.
    pub services: Vec<Service>,
    /// Static records.
    pub records: Vec<RecordSet>,
}

/// The environment, with what the steps need of it.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) env: Environment,
    pub(crate) geo: Arc<dyn Geo>,
    pub(crate) map: CompiledMap,
    pub(crate) signal_weight: f64,
    pub(crate) latency: LatencySettings,
}

impl Settings {
    fn new(env: &Environment) -> Self {
        let weight = env.signals.weight;
        Self {
            geo: Arc::clone(&env.geo),
            map: CompiledMap::new(&env.map),
            signal_weight: if weight.is_finite() {
                weight.clamp(0.0, 1.0)
            } else {
                0.0
            },
            latency: env.latency.clone(),
            env: env.clone(),
        }
    }
}

/// An immutable configuration, ready to answer.
#[derive(Debug, Clone)]
pub struct Snapshot {
    names: Names,
    services: Shards<service::ById>,
    pools: Pools,
    chains: Arc<Chains>,
    /// Services whose chain the licence holds back.
    held_back: usize,
    /// Another one whenever a pool is another.
    pools_mark: Arc<()>,
    pub(crate) settings: Arc<Settings>,
    histories: Histories,
}

impl Snapshot {
    /// No zone, no service: everything is refused.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            names: Names::new(0, 0),
            services: Shards::new(),
            pools: Pools::for_many(0),
            chains: Arc::default(),
            held_back: 0,
            pools_mark: Arc::default(),
            settings: Arc::new(Settings::new(&Environment::default())),
            histories: Histories::new(),
        }
    }

    /// Finds what answers a name, given in lower-case uncompressed wire form.
    #[must_use]
    pub fn find(&self, qname: &[u8]) -> Found<'_> {
        self.names.find(&self.pools, qname)
    }

    /// What the zone above says of the apex of a zone that is here too: its DS records (RFC 4035 §3.1.4.1).
    #[must_use]
    pub fn above(&self, apex: &[u8]) -> Option<&NodeRecords> {
        self.names.above(apex)
    }

    /// Whether the aliases that begin at a name come to an end within [`MAX_ALIASES`], whatever services choose.
    #[must_use]
    pub fn aliases_end(&self, name: &[u8]) -> bool {
        self.ends_within(name, MAX_ALIASES, &mut HashMap::new())
    }

    /// As [`aliases_end`](Self::aliases_end) within `most` more aliases. A service with host names leads to all of them;
    /// `known` keeps each name from being followed again with fewer left.
    fn ends_within<'a>(&'a self, name: &'a [u8], most: u8, known: &mut HashMap<&'a [u8], u8>) -> bool {
        if known.get(name).is_some_and(|before| *before <= most) {
            return true;
        }
        let targets: Vec<&[u8]> = match self.find(name) {
            Found::Service { service, .. } if service.pool.by_name => {
                let members = service.pool.members.iter();
                members
                    .filter_map(|member| member.host.as_ref().map(Rdata::as_wire))
                    .collect()
            }
            Found::Records { records, .. } => {
                let set = records.get(RecordType::CNAME.0);
                set.and_then(CompiledSet::alias).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let ends = targets.is_empty()
            || most > 0
                && targets
                    .into_iter()
                    .all(|target| self.ends_within(target, most - 1, known));
        if ends {
            known.insert(name, most);
        }
        ends
    }

    /// Static records of a name itself, also where it is delegated: the addresses of name servers (glue).
    #[must_use]
    pub fn records_at(&self, name: &[u8]) -> Option<&NodeRecords> {
        self.names.records_at(name)
    }

    /// A service by its id; disabled ones too.
    #[must_use]
    pub fn service(&self, id: ServiceId) -> Option<RoutedService<'_>> {
        let found = self.services.find(service::ById::hash_of(id), |s| s.0.id == id);
        self.pools.route(&found?.0)
    }

    /// A service with its pool as it is in this snapshot.
    #[must_use]
    pub fn route<'a>(&'a self, service: &'a CompiledService) -> Option<RoutedService<'a>> {
        self.pools.route(service)
    }

    /// Every service, in no particular order; disabled ones too.
    pub fn services(&self) -> impl Iterator<Item = RoutedService<'_>> {
        let services = self.services.iter();
        services.filter_map(|entry| self.pools.route(&entry.0))
    }

    /// Number of services.
    #[must_use]
    pub fn service_count(&self) -> usize {
        self.services.len()
    }

    /// A pool by its id.
    #[must_use]
    pub fn pool(&self, id: PoolId) -> Option<&CompiledPool> {
        self.pools.get(id).map(|pool| &**pool)
    }

    /// Every pool, in no particular order.
    pub fn pools(&self) -> impl Iterator<Item = &CompiledPool> {
        self.pools.iter().map(|pool| &**pool)
    }

    /// What two snapshots have in common as long as no pool has changed between them: the same memory.
    #[must_use]
    pub fn pools_mark(&self) -> &Arc<()> {
        &self.pools_mark
    }

    /// Number of services that answer by round-robin because the licence does not allow their chain.
    #[must_use]
    pub fn held_back(&self) -> usize {
        self.held_back
    }

    /// A stored zone by its id.
    #[must_use]
    pub fn zone(&self, id: ZoneId) -> Option<&CompiledZone> {
        self.names.zone_by_id(id)
    }

    /// Every stored zone.
    pub fn zones(&self) -> impl Iterator<Item = &CompiledZone> {
        self.names.zones().map(|(_, zone)| zone)
    }

    /// The key of a name in lower-case wire form.
    #[must_use]
    pub fn tsig_key(&self, name: &[u8]) -> Option<&Arc<TsigKey>> {
        self.settings.env.tsig.get(name)
    }

    /// The geo databases in use.
    #[must_use]
    pub fn geo(&self) -> &Arc<dyn Geo> {
        &self.settings.geo
    }

    /// The signals in use.
    #[must_use]
    pub fn signals(&self) -> &Signals {
        &self.settings.env.signals
    }

    /// The tier in force.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.settings.env.tier
    }

    /// Names of regions, besides those of countries, that something steers by: targets of the map file, zones with a
    /// signal, the region of clients that nobody can place. In order, each once.
    #[must_use]
    pub fn named_regions(&self) -> BTreeSet<&str> {
        let env = &self.settings.env;
        let targets = env.map.iter().flat_map(|rule| &rule.targets).map(String::as_str);
        let zones = env.signals.zones.keys().map(|zone| &**zone);
        targets
            .chain(zones)
            .chain([&*env.latency.fallback_region])
            .filter(|name| *name != Region::UNKNOWN && name.parse::<IpAddr>().is_err())
            .collect()
    }
}

/// Where the current snapshot is: one swap replaces it for every reader.
#[derive(Debug)]
pub struct SnapshotCell(ArcSwap<Snapshot>);

impl SnapshotCell {
    /// A cell with its first snapshot.
    #[must_use]
    pub fn new(snapshot: Snapshot) -> Self {
        Self(ArcSwap::from_pointee(snapshot))
    }

    /// The current snapshot, without waiting; hold it for a batch, not longer.
    #[must_use]
    pub fn load(&self) -> Guard<Arc<Snapshot>> {
        self.0.load()
    }

    /// The current snapshot, to keep.
    #[must_use]
    pub fn load_full(&self) -> Arc<Snapshot> {
        self.0.load_full()
    }

    /// Puts a new snapshot in and returns the old one, so that its writer frees it rather than a reader.
    pub fn store(&self, snapshot: Arc<Snapshot>) -> Arc<Snapshot> {
        self.0.swap(snapshot)
    }

    /// The cell itself, for an [`arc_swap::Cache`] per thread.
    #[must_use]
    pub fn as_arc_swap(&self) -> &ArcSwap<Snapshot> {
        &self.0
    }
}

impl Default for SnapshotCell {
    fn default() -> Self {
        Self::new(Snapshot::empty())
    }
}
