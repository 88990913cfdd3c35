//! The stored objects in memory. What a change is about is found by its key: nothing here goes through all objects of a
//! kind, of which there may be a million.

use crate::store::closest;
use gslb_engine::model::{
    DomainName, Pool, PoolId, RecordId, RecordName, RecordSet, Service, ServiceId, Zone, ZoneId,
};
use gslb_engine::snapshot::Configuration;
use hashbrown::HashTable;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, Hash, RandomState};

/// An object that is found by its id.
trait Object {
    type Id: Hash + Eq + Copy;
    fn id(&self) -> Self::Id;
}

macro_rules! objects {
    ($($type:ty: $id:ty;)+) => {
        $(impl Object for $type {
            type Id = $id;
            fn id(&self) -> $id {
                self.id
            }
        })+
    };
}

objects! {
    Zone: ZoneId;
    Pool: PoolId;
    Service: ServiceId;
    RecordSet: RecordId;
}

/// Where in a list the object with an id is. Of an object it holds only its place: 4 octets.
#[derive(Debug, Default)]
struct Places {
    table: HashTable<u32>,
    state: RandomState,
}

/// No list is longer than the database can hold rows in memory.
fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn id_at<T: Object>(list: &[T], place: u32) -> Option<T::Id> {
    list.get(place as usize).map(Object::id)
}

impl Places {
    fn of<T: Object>(list: &[T]) -> Self {
        let mut places = Self {
            table: HashTable::with_capacity(list.len()),
            state: RandomState::new(),
        };
        for (index, object) in list.iter().enumerate() {
            places.insert(list, object.id(), place(index));
        }
        places
    }

    fn insert<T: Object>(&mut self, list: &[T], id: T::Id, at: u32) {
        let state = &self.state;
        let rehash = |at: &u32| id_at(list, *at).map_or(0, |id| state.hash_one(id));
        self.table.insert_unique(state.hash_one(id), at, rehash);
    }

    fn find<T: Object>(&self, list: &[T], id: T::Id) -> Option<usize> {
        let hash = self.state.hash_one(id);
        let found = self.table.find(hash, |at| id_at(list, *at) == Some(id));
        found.map(|at| *at as usize)
    }

    /// Puts an object in; returns the one whose place it takes.
    fn put<T: Object>(&mut self, list: &mut Vec<T>, object: T) -> Option<T> {
        if let Some(old) = self.find(list, object.id()).and_then(|at| list.get_mut(at)) {
            return Some(std::mem::replace(old, object));
        }
        let (id, at) = (object.id(), place(list.len()));
        list.push(object);
        self.insert(list, id, at);
        None
    }

    /// Takes an object out. The last of the list comes to be where it was.
    fn remove<T: Object>(&mut self, list: &mut Vec<T>, id: T::Id) -> Option<T> {
        let at = self.find(list, id)?;
        let hash = self.state.hash_one(id);
        if let Ok(entry) = self.table.find_entry(hash, |found| *found as usize == at) {
            entry.remove();
        }
        let last = list.len() - 1;
        if last != at {
            let moved = self.state.hash_one(list.get(last)?.id());
            if let Some(found) = self.table.find_mut(moved, |found| *found as usize == last) {
                *found = place(at);
            }
        }
        Some(list.swap_remove(at))
    }
}

/// The objects.
#[derive(Debug, Default)]
pub(super) struct Objects {
    config: Configuration,
    zones: Places,
    pools: Places,
    services: Places,
    records: Places,
    zone_names: HashMap<DomainName, ZoneId>,
    /// Places of record sets, to be found by their zone and name.
    owners: HashTable<u32>,
    state: RandomState,
    /// Made when somebody asks for the first time.
    of_pools: Option<HashMap<PoolId, BTreeSet<ServiceId>>>,
}

impl Objects {
    /// These objects; no two of a kind have the same id.
    pub(super) fn new(config: Configuration) -> Self {
        let mut objects = Self {
            zones: Places::of(&config.zones),
            pools: Places::of(&config.pools),
            services: Places::of(&config.services),
            records: Places::of(&config.records),
            zone_names: config.zones.iter().map(|z| (z.name.clone(), z.id)).collect(),
            owners: HashTable::with_capacity(config.records.len()),
            state: RandomState::new(),
            of_pools: None,
            config,
        };
        for index in 0..objects.config.records.len() {
            objects.own(place(index));
        }
        objects
    }

    /// All of them, as a snapshot is compiled from them.
    pub(super) fn all(&self) -> &Configuration {
        &self.config
    }

    pub(super) fn zone(&self, id: ZoneId) -> Option<&Zone> {
        self.config.zones.get(self.zones.find(&self.config.zones, id)?)
    }

    pub(super) fn pool(&self, id: PoolId) -> Option<&Pool> {
        self.config.pools.get(self.pools.find(&self.config.pools, id)?)
    }

    pub(super) fn service(&self, id: ServiceId) -> Option<&Service> {
        let at = self.services.find(&self.config.services, id)?;
        self.config.services.get(at)
    }

    /// The sets of a name of a zone.
    pub(super) fn records_at(&self, zone: ZoneId, name: &RecordName) -> impl Iterator<Item = &RecordSet> {
        let places = self.owners.iter_hash(self.state.hash_one((zone, name)));
        let sets = places.filter_map(|at| self.config.records.get(*at as usize));
        sets.filter(move |set| set.zone_id == zone && set.name == *name)
    }

    /// The closest zone around a name.
    pub(super) fn zone_around(&self, name: &str) -> Option<ZoneId> {
        let zone = closest(name, |name| self.zone_names.contains_key(name))?;
        self.zone_names.get(zone).copied()
    }

    /// The services of a pool, each with the closest zone around its name.
    pub(super) fn services_of_pool(&mut self, pool: PoolId) -> Vec<(ServiceId, Option<ZoneId>)> {
        let all = &self.config.services;
        let of_pools = self.of_pools.get_or_insert_with(|| {
            let mut of_pools: HashMap<PoolId, BTreeSet<ServiceId>> = HashMap::new();
            for service in all {
                of_pools.entry(service.pool_id).or_default().insert(service.id);
            }
            of_pools
        });
        let services: Vec<ServiceId> = of_pools.get(&pool).into_iter().flatten().copied().collect();
        let services = services.into_iter().filter_map(|id| self.service(id));
        services
            .map(|service| (service.id, self.zone_around(service.domain.as_str())))
            .collect()
    }

    /// Gives a zone the next serial. False when there is no such zone.
    pub(super) fn raise_serial(&mut self, id: ZoneId) -> bool {
        let at = self.zones.find(&self.config.zones, id);
        let zone = at.and_then(|at| self.config.zones.get_mut(at));
        zone.map(|zone| zone.serial = zone.serial.wrapping_add(1))
            .is_some()
    }

    /// Puts a zone in; returns what it was.
    pub(super) fn put_zone(&mut self, zone: Zone) -> Option<Zone> {
        let (id, name) = (zone.id, zone.name.clone());
        let old = self.zones.put(&mut self.config.zones, zone);
        if let Some(old) = &old {
            self.forget_name(old);
        }
        self.zone_names.insert(name, id);
        old
    }

    /// Another zone may have come to have its name.
    fn forget_name(&mut self, zone: &Zone) {
        if self.zone_names.get(&zone.name) == Some(&zone.id) {
            self.zone_names.remove(&zone.name);
        }
    }

    /// Takes a zone out with its records, which are gone through, and returned.
    pub(super) fn remove_zone(&mut self, id: ZoneId) -> Vec<RecordSet> {
        if let Some(zone) = self.zones.remove(&mut self.config.zones, id) {
            self.forget_name(&zone);
        }
        let of_zone = self.config.records.iter().filter(|set| set.zone_id == id);
        let records: Vec<RecordId> = of_zone.map(|set| set.id).collect();
        let gone = records
            .into_iter()
            .filter_map(|record| self.remove_record(record));
        gone.collect()
    }

    /// Puts a pool in; returns what it was.
    pub(super) fn put_pool(&mut self, pool: Pool) -> Option<Pool> {
        self.pools.put(&mut self.config.pools, pool)
    }

    pub(super) fn remove_pool(&mut self, id: PoolId) {
        self.pools.remove(&mut self.config.pools, id);
    }

    /// Puts a service in; returns what it was.
    pub(super) fn put_service(&mut self, service: Service) -> Option<Service> {
        let (id, pool) = (service.id, service.pool_id);
        let old = self.services.put(&mut self.config.services, service);
        if let Some(old) = &old {
            self.leave_pool(old);
        }
        if let Some(of_pools) = &mut self.of_pools {
            of_pools.entry(pool).or_default().insert(id);
        }
        old
    }

    pub(super) fn remove_service(&mut self, id: ServiceId) {
        if let Some(service) = self.services.remove(&mut self.config.services, id) {
            self.leave_pool(&service);
        }
    }

    fn leave_pool(&mut self, service: &Service) {
        let Some(of_pools) = &mut self.of_pools else {
            return;
        };
        if let Some(services) = of_pools.get_mut(&service.pool_id) {
            services.remove(&service.id);
            if services.is_empty() {
                of_pools.remove(&service.pool_id);
            }
        }
    }

    /// Puts a record set in; returns what it was.
    pub(super) fn put_record(&mut self, set: RecordSet) -> Option<RecordSet> {
        let records = &mut self.config.records;
        let at = place(self.records.find(records, set.id).unwrap_or(records.len()));
        self.disown(at);
        let old = self.records.put(&mut self.config.records, set);
        self.own(at);
        old
    }

    /// Takes a record set out; returns what it was.
    pub(super) fn remove_record(&mut self, id: RecordId) -> Option<RecordSet> {
        let at = self.records.find(&self.config.records, id)?;
        let last = self.config.records.len() - 1;
        self.disown(place(at));
        if last != at {
            self.disown(place(last));
        }
        let old = self.records.remove(&mut self.config.records, id);
        if last != at {
            self.own(place(at));
        }
        old
    }

    /// Lets the record set at a place be found by its name.
    fn own(&mut self, at: u32) {
        let (records, state) = (&self.config.records, &self.state);
        let hash = |at: &u32| {
            let set = records.get(*at as usize);
            set.map_or(0, |set| state.hash_one((set.zone_id, &set.name)))
        };
        self.owners.insert_unique(hash(&at), at, hash);
    }

    /// The reverse.
    fn disown(&mut self, at: u32) {
        let Some(set) = self.config.records.get(at as usize) else {
            return;
        };
        let hash = self.state.hash_one((set.zone_id, &set.name));
        if let Ok(entry) = self.owners.find_entry(hash, |found| *found == at) {
            entry.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gslb_engine::testing::{Site, member};
    use proptest::prelude::*;
    use uuid::Uuid;

    fn service(template: &Service, id: u128, pool: u128) -> Service {
        let mut service = template.clone();
        service.id = ServiceId(Uuid::from_u128(id));
        service.pool_id = PoolId(Uuid::from_u128(pool));
        service.domain = DomainName::parse("domain", &format!("s{id}.z{}.test.", id % 3)).unwrap();
        service
    }

    fn zone(template: &Zone, id: u128) -> Zone {
        let mut zone = template.clone();
        zone.id = ZoneId(Uuid::from_u128(id));
        zone.name = DomainName::parse("name", &format!("z{id}.test.")).unwrap();
        zone
    }

    fn record(id: u128, zone: u128, owner: u128) -> RecordSet {
        serde_json::from_value(serde_json::json!({
            "id": Uuid::from_u128(id), "tenantId": Uuid::from_u128(1), "zoneId": Uuid::from_u128(zone),
            "name": format!("r{owner}.test."), "type": "TXT", "ttl": 60, "data": ["x"],
        }))
        .unwrap()
    }

    fn sorted<T: Clone, K: Ord>(list: &[T], key: impl Fn(&T) -> K) -> Vec<T> {
        let mut list = list.to_vec();
        list.sort_by_key(key);
        list
    }

    proptest! {
        #[test]
        fn after_any_changes_everything_is_found_as_if_it_had_been_looked_for_one_by_one(
            ops in prop::collection::vec((0_u8..6, 0_u128..8, 0_u128..3, 0_u128..3), 0..60),
        ) {
            let site = Site::new().zone_named("a.test.").pool("web", 0, vec![member("10.0.0.1", "DE")])
                .chain("www.a.test.", "web", &["geo-ip"]);
            let (a_service, a_zone) = (site.config.services[0].clone(), site.config.zones[0].clone());
            let mut objects = Objects::default();
            let mut naive = Configuration::default();
            for (op, id, other, third) in ops {
                match op {
                    0 => {
                        let new = service(&a_service, id, other);
                        let old = naive.services.iter().position(|s| s.id == new.id).map(|at| naive.services.remove(at));
                        naive.services.push(new.clone());
                        prop_assert_eq!(objects.put_service(new), old);
                    }
                    1 => {
                        let id = ServiceId(Uuid::from_u128(id));
                        naive.services.retain(|s| s.id != id);
                        objects.remove_service(id);
                    }
                    2 => {
                        let new = record(id, other, third);
                        let old = naive.records.iter().position(|s| s.id == new.id).map(|at| naive.records.remove(at));
                        naive.records.push(new.clone());
                        prop_assert_eq!(objects.put_record(new), old);
                    }
                    3 => {
                        let id = RecordId(Uuid::from_u128(id));
                        let old = naive.records.iter().position(|s| s.id == id).map(|at| naive.records.remove(at));
                        prop_assert_eq!(objects.remove_record(id), old);
                    }
                    4 => {
                        let new = zone(&a_zone, other);
                        naive.zones.retain(|z| z.id != new.id);
                        naive.zones.push(new.clone());
                        objects.put_zone(new);
                    }
                    _ => {
                        let id = ZoneId(Uuid::from_u128(other));
                        naive.zones.retain(|z| z.id != id);
                        naive.records.retain(|r| r.zone_id != id);
                        objects.remove_zone(id);
                    }
                }
                let all = objects.all();
                prop_assert_eq!(sorted(&all.services, |s| s.id), sorted(&naive.services, |s| s.id));
                prop_assert_eq!(sorted(&all.zones, |z| z.id), sorted(&naive.zones, |z| z.id));
                prop_assert_eq!(sorted(&all.records, |r| r.id), sorted(&naive.records, |r| r.id));
                for id in (0..8).map(Uuid::from_u128) {
                    prop_assert_eq!(objects.service(ServiceId(id)), naive.services.iter().find(|s| s.id.0 == id));
                    prop_assert_eq!(objects.zone(ZoneId(id)), naive.zones.iter().find(|z| z.id.0 == id));
                }
                for (zone, owner) in (0..9).map(|n| (ZoneId(Uuid::from_u128(n / 3)), record(0, 0, n % 3).name)) {
                    let found: Vec<RecordSet> = objects.records_at(zone, &owner).cloned().collect();
                    let all: Vec<RecordSet> =
                        naive.records.iter().filter(|r| r.zone_id == zone && r.name == owner).cloned().collect();
                    prop_assert_eq!(sorted(&found, |r| r.id), sorted(&all, |r| r.id));
                }
                for pool in (0..3).map(|n| PoolId(Uuid::from_u128(n))) {
                    let around = |s: &Service| {
                        let zone = naive.zones.iter().find(|z| s.domain.is_within(&z.name));
                        (s.id, zone.map(|z| z.id))
                    };
                    let all: BTreeSet<_> =
                        naive.services.iter().filter(|s| s.pool_id == pool).map(around).collect();
                    let found: BTreeSet<_> = objects.services_of_pool(pool).into_iter().collect();
                    prop_assert_eq!(found, all);
                }
            }
        }
    }
}
