//! Stored objects and environment in, snapshot out.

use super::{Configuration, Settings, Snapshot};
use crate::environment::Environment;
use crate::hash::mix;
use crate::model::{
    DomainName, ErrorCode, MAX_MEMBERS, Pool, RecordName, RecordSet, Service, ValidationError, Zone, ZoneId,
};
use crate::snapshot::chains::Chains;
use crate::snapshot::history::Histories;
use crate::snapshot::names::{Names, ZoneOf, parent};
use crate::snapshot::pool::CompiledPool;
use crate::snapshot::pools::Pools;
use crate::snapshot::records::NodeRecords;
use crate::snapshot::registry::Slots;
use crate::snapshot::service::{self, CompiledService};
use crate::snapshot::shards::Shards;
use crate::snapshot::zone::CompiledZone;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The zone a service lies in; outside every zone one is made up, at the service's name or above its `*`.
fn zone_for(names: &Names, service: &Service, wire: &Arc<[u8]>) -> Option<ZoneOf> {
    if let Some(stored @ ZoneOf::Stored(_)) = names.zone_of(wire) {
        return Some(stored.clone());
    }
    let (name, apex): (DomainName, Arc<[u8]>) = match service.domain.as_str().strip_prefix("*.") {
        None => (service.domain.clone(), Arc::clone(wire)),
        Some(above) => (DomainName::parse("domain", above).ok()?, parent(wire)?.into()),
    };
    match names.zone_of(&apex) {
        Some(ZoneOf::Synthetic(zone)) if zone.wire == apex => Some(ZoneOf::Synthetic(Arc::clone(zone))),
        _ => Some(ZoneOf::Synthetic(Arc::new(CompiledZone::synthetic(name, apex)))),
    }
}

pub(super) fn labels(name: &DomainName) -> usize {
    name.labels().count()
}

/// Compiles one pool; `field` names it in errors.
pub(super) fn compile_pool(
    stored: &Pool,
    field: &str,
    env: &Environment,
    slots: &mut Slots,
) -> Result<Arc<CompiledPool>, ValidationError> {
    if stored.members.len() > MAX_MEMBERS {
        return Err(ValidationError::new(
            format!("{field}.members"),
            ErrorCode::OutOfRange,
            format!("{} members; {MAX_MEMBERS} are the limit", stored.members.len()),
        ));
    }
    Ok(Arc::new(CompiledPool::new(stored, env, slots)))
}

/// Record sets by name and zone.
pub(super) type ByName<'a> = BTreeMap<(&'a RecordName, ZoneId), Vec<&'a RecordSet>>;

/// A snapshot in the making.
pub(super) struct Builder<'a> {
    pub(super) names: Names,
    pub(super) pools: Pools,
    pub(super) services: Shards<service::ById>,
    pub(super) chains: Arc<Chains>,
    pub(super) held_back: usize,
    pub(super) env: &'a Environment,
    pub(super) entropy: u64,
}

impl Builder<'_> {
    /// Compiles one service and puts it under its name; `field` names it in errors.
    pub(super) fn add_service(
        &mut self,
        stored: &Service,
        field: &str,
        slots: &mut Slots,
    ) -> Result<(), ValidationError> {
        let Some(pool) = self.pools.place_of(stored.pool_id) else {
            return Err(ValidationError::new(
                format!("{field}.poolId"),
                ErrorCode::NotFound,
                format!(
                    "{} names the pool {}, which does not exist",
                    stored.domain, stored.pool_id
                ),
            ));
        };
        let wire: Arc<[u8]> = stored.domain.to_wire().into();
        let Some(zone) = zone_for(&self.names, stored, &wire) else {
            return Err(ValidationError::new(
                format!("{field}.domain"),
                ErrorCode::Invalid,
                format!("{} is a wildcard of the root", stored.domain),
            ));
        };
        let slot = slots.service(stored.id, self.entropy);
        let at_apex = self.names.is_apex(&wire);
        let compiled = Arc::new(CompiledService::new(
            stored,
            wire,
            pool,
            self.env,
            slot,
            at_apex,
            &mut self.chains,
        ));
        if compiled.enabled {
            if let ZoneOf::Synthetic(synthetic) = &zone {
                self.names.insert_apex(&synthetic.wire, &zone);
            }
            if !self.names.insert_service(&compiled, &zone) {
                return Err(ValidationError::new(
                    format!("{field}.domain"),
                    ErrorCode::Duplicate,
                    format!("another service answers {} already", stored.domain),
                ));
            }
        }
        self.held_back += usize::from(compiled.licence_fallback);
        self.services.insert(service::ById(compiled));
        self.pools.count_user(pool, true);
        Ok(())
    }

    /// Compiles static records, name by name. A name without any loses those it had.
    pub(super) fn add_records(&mut self, names: ByName<'_>, errors: &mut Vec<ValidationError>) {
        for ((name, zone), sets) in names {
            let compiled = match &*sets {
                [] => Ok(None),
                sets => NodeRecords::compile(sets.iter().copied()).map(Some),
            };
            match compiled {
                Ok(compiled) => {
                    if !self.names.set_records(zone, name.as_wire(), compiled) && !sets.is_empty() {
                        errors.push(ValidationError::new(
                            "records",
                            ErrorCode::NotFound,
                            format!("the records of {name} name the zone {zone}, which does not exist"),
                        ));
                    }
                }
                Err(found) => errors.extend(found),
            }
        }
    }
}

impl Snapshot {
    /// Compiles a configuration. `slots` keeps live state from one snapshot to the next; after success it holds
    /// exactly the members and services of `config`. `entropy` seeds the hash of names and the starts of round-robin.
    ///
    /// # Errors
    /// Everything that does not fit together, by field: a pool that does not exist, a name given twice, a pool with
    /// too many members.
    pub fn compile(
        config: &Configuration,
        env: &Environment,
        slots: &mut Slots,
        entropy: u64,
    ) -> Result<Self, Vec<ValidationError>> {
        let mut errors = Vec::new();
        slots.reserve(config.services.len());
        let mut builder = Builder {
            names: Names::new(mix(entropy), config.services.len() + config.records.len()),
            pools: Pools::for_many(config.pools.len()),
            services: Shards::for_many(config.services.len()),
            chains: Arc::default(),
            held_back: 0,
            env,
            entropy,
        };

        let mut seen = HashSet::new();
        let mut zones: Vec<(usize, &Zone)> = config.zones.iter().enumerate().collect();
        zones.sort_by_key(|(_, zone)| labels(&zone.name));
        for (index, stored) in zones {
            if seen.insert(&stored.name) {
                builder
                    .names
                    .insert_zone(Arc::new(CompiledZone::new(stored, env)));
            } else {
                errors.push(ValidationError::new(
                    format!("zones[{index}].name"),
                    ErrorCode::Duplicate,
                    format!("another zone is named {} already", stored.name),
                ));
            }
        }
        for (index, stored) in config.pools.iter().enumerate() {
            match compile_pool(stored, &format!("pools[{index}]"), env, slots) {
                Ok(pool) => {
                    builder.pools.put(pool);
                }
                Err(error) => errors.push(error),
            }
        }
        // Names with fewer labels first: whether a name between two services exists must not depend on their order.
        let mut services: Vec<(usize, &Service)> = config.services.iter().enumerate().collect();
        services.sort_by_cached_key(|(_, service)| labels(&service.domain));
        for (index, stored) in services {
            if let Err(error) = builder.add_service(stored, &format!("services[{index}]"), slots) {
                errors.push(error);
            }
        }

        let mut records = ByName::new();
        for set in &config.records {
            records.entry((&set.name, set.zone_id)).or_default().push(set);
        }
        builder.add_records(records, &mut errors);

        if !errors.is_empty() {
            return Err(errors);
        }
        // Each of these has a slot now: only when there are more of them, some belong to nobody.
        let members = || config.pools.iter().flat_map(|pool| &pool.members);
        if slots.len() != (members().count(), config.services.len()) {
            slots.retain(
                &members().map(|member| member.id).collect(),
                &config.services.iter().map(|s| s.id).collect(),
            );
        }
        let Builder {
            names,
            pools,
            services,
            chains,
            held_back,
            ..
        } = builder;
        Ok(Self {
            names,
            services,
            pools,
            chains,
            held_back,
            pools_mark: Arc::default(),
            settings: Arc::new(Settings::new(env)),
            histories: Histories::new(),
        })
    }
}
