//! A snapshot with a few objects changed: what is not changed is shared with the old one.

use super::Snapshot;
use super::compile::{Builder, ByName, compile_pool, labels};
use crate::model::{
    ErrorCode, MemberId, Pool, PoolId, RecordName, RecordSet, Service, ServiceId, ValidationError, Zone,
    ZoneId,
};
use crate::snapshot::history::Histories;
use crate::snapshot::names::ZoneOf;
use crate::snapshot::pool::CompiledPool;
use crate::snapshot::registry::Slots;
use crate::snapshot::service;
use crate::snapshot::zone::CompiledZone;
use std::collections::HashSet;
use std::sync::Arc;

/// What differs between two configurations: new and changed objects in their new form, and the ids of deleted ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// New and changed zones.
    pub zones: Vec<Zone>,
    /// New and changed pools.
    pub pools: Vec<Pool>,
    /// New and changed services.
    pub services: Vec<Service>,
    /// Deleted zones.
    pub removed_zones: Vec<ZoneId>,
    /// Deleted pools.
    pub removed_pools: Vec<PoolId>,
    /// Deleted services.
    pub removed_services: Vec<ServiceId>,
    /// Names with new, changed or deleted records, in their zones.
    pub names: Vec<(ZoneId, RecordName)>,
    /// All records that these names have now.
    pub records: Vec<RecordSet>,
    /// Services that stay as they are while the addresses of their pool change: a transfer holds other records of them.
    pub moved: Vec<ServiceId>,
}

fn member_ids(pool: &CompiledPool) -> impl Iterator<Item = MemberId> {
    pool.members.iter().map(|member| member.stored.id)
}

impl Snapshot {
    /// This snapshot with some objects changed, in the same environment. It copies as much as the change touches: one
    /// service among a million costs about 0.1 ms, a pool less, however many services use it.
    ///
    /// `None` when the change reaches further and the whole must be compiled: zones that come around names that are there or
    /// go from around them, services outside every zone.
    ///
    /// # Errors
    /// As [`compile`](Self::compile); `slots` may then hold slots that nobody uses, until the next success of either.
    pub fn with_changes(
        &self,
        changes: &Changes,
        slots: &mut Slots,
        entropy: u64,
    ) -> Result<Option<Self>, Vec<ValidationError>> {
        let mut builder = Builder {
            names: self.names.clone(),
            pools: self.pools.clone(),
            services: self.services.clone(),
            chains: Arc::clone(&self.chains),
            held_back: self.held_back,
            env: &self.settings.env,
            entropy,
        };
        let mut errors = Vec::new();
        // A zone that comes before those that it lies in would have to be made again.
        let mut zones: Vec<&Zone> = changes.zones.iter().collect();
        zones.sort_by_cached_key(|zone| labels(&zone.name));
        for zone in zones {
            let zone = Arc::new(CompiledZone::new(zone, builder.env));
            if !builder.names.put_zone(zone) {
                return Ok(None);
            }
        }
        let mut gone = HashSet::new();
        let mut kept = HashSet::new();
        for stored in &changes.pools {
            match compile_pool(stored, &format!("pools[{}]", stored.id), builder.env, slots) {
                Ok(new) => {
                    gone.extend(
                        builder
                            .pools
                            .get(stored.id)
                            .into_iter()
                            .flat_map(|old| member_ids(old)),
                    );
                    kept.extend(member_ids(&new));
                    builder.pools.put(new);
                }
                Err(error) => errors.push(error),
            }
        }
        // Old names go before new ones come, so that services can swap names.
        let ids = changes.services.iter().map(|service| service.id);
        for id in ids.chain(changes.removed_services.iter().copied()) {
            if !builder.take_service(id) {
                return Ok(None);
            }
        }
        for stored in &changes.services {
            let wire: Arc<[u8]> = stored.domain.to_wire().into();
            if stored.enabled && !matches!(builder.names.zone_of(&wire), Some(ZoneOf::Stored(_))) {
                return Ok(None);
            }
            if let Err(error) = builder.add_service(stored, &format!("services[{}]", stored.id), slots) {
                errors.push(error);
            }
        }
        let mut records = ByName::new();
        for (zone, name) in &changes.names {
            records.insert((name, *zone), Vec::new());
        }
        for set in &changes.records {
            records.entry((&set.name, set.zone_id)).or_default().push(set);
        }
        builder.add_records(records, &mut errors);
        for id in &changes.removed_zones {
            if !builder.names.remove_zone(*id) {
                return Ok(None);
            }
        }
        // Last: services that used them may be gone too.
        for id in &changes.removed_pools {
            gone.extend(builder.pools.get(*id).into_iter().flat_map(|old| member_ids(old)));
            builder.remove_pool(*id, &mut errors);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        gone.difference(&kept).for_each(|id| slots.remove_member(*id));
        changes
            .removed_services
            .iter()
            .for_each(|id| slots.remove_service(*id));
        let Builder {
            names,
            pools,
            services,
            chains,
            held_back,
            ..
        } = builder;
        let pools_mark = if changes.pools.is_empty() && changes.removed_pools.is_empty() {
            Arc::clone(&self.pools_mark)
        } else {
            Arc::default()
        };
        let snapshot = Self {
            names,
            services,
            pools,
            chains,
            held_back,
            pools_mark,
            settings: Arc::clone(&self.settings),
            histories: Histories::new(),
        };
        Ok(Some(snapshot.following_in(self, changes)))
    }
}

impl Builder<'_> {
    /// Takes a service and its name out, if it is there. False when names outside every zone would be touched.
    fn take_service(&mut self, id: ServiceId) -> bool {
        let Some(old) = self
            .services
            .remove(service::ById::hash_of(id), |service| service.0.id == id)
        else {
            return true;
        };
        self.pools.count_user(old.0.pool, false);
        self.held_back -= usize::from(old.0.licence_fallback);
        if old.0.enabled {
            if !matches!(self.names.zone_of(&old.0.wire), Some(ZoneOf::Stored(_))) {
                return false;
            }
            self.names.remove_service(&old.0.wire);
        }
        true
    }

    /// Takes a pool out. One that services still use is an error.
    fn remove_pool(&mut self, id: PoolId, errors: &mut Vec<ValidationError>) {
        let Some(place) = self.pools.place_of(id) else {
            return;
        };
        if self.pools.users(place) == 0 {
            self.pools.remove(id);
            return;
        }
        let users = self.services.iter().filter(|service| service.0.pool == place);
        errors.extend(users.map(|service| {
            ValidationError::new(
                format!("services[{}].poolId", service.0.id),
                ErrorCode::NotFound,
                format!("{} names the pool {id}, which does not exist", service.0.domain),
            )
        }));
    }
}
