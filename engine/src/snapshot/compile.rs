//! Stored objects and environment in, snapshot out.

use super::{Configuration, Settings, Snapshot};
use crate::environment::Environment;
use crate::hash::mix;
use crate::model::{DomainName, ErrorCode, MAX_MEMBERS, Service, ValidationError, Zone};
use crate::snapshot::names::{Names, parent};
use crate::snapshot::pool::{self, CompiledPool};
use crate::snapshot::registry::Slots;
use crate::snapshot::service::{self, CompiledService};
use crate::snapshot::shards::Shards;
use crate::snapshot::zone::{self, CompiledZone};
use std::collections::HashSet;
use std::sync::Arc;

/// The name above a wildcard's `*`, or the name itself, in text and on the wire.
fn apex_of(service: &Service, wire: &Arc<[u8]>) -> Option<(DomainName, Arc<[u8]>)> {
    match service.domain.as_str().strip_prefix("*.") {
        None => Some((service.domain.clone(), Arc::clone(wire))),
        Some(above) => Some((DomainName::parse("domain", above).ok()?, parent(wire)?.into())),
    }
}

/// The zone a service lies in; outside every zone one is made up.
fn zone_for(names: &mut Names, service: &Service, wire: &Arc<[u8]>) -> Option<Arc<CompiledZone>> {
    if let Some(zone) = names.zone_of(wire).filter(|zone| !zone.synthetic) {
        return Some(Arc::clone(zone));
    }
    let (name, apex) = apex_of(service, wire)?;
    if let Some(zone) = names.zone_of(&apex).filter(|zone| zone.wire == apex) {
        return Some(Arc::clone(zone));
    }
    Some(Arc::new(CompiledZone::synthetic(name, apex)))
}

fn labels(name: &DomainName) -> usize {
    name.labels().count()
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
        let mut names = Names::new(mix(entropy));

        let mut zones = Shards::new();
        let mut seen = HashSet::new();
        let mut stored: Vec<(usize, &Zone)> = config.zones.iter().enumerate().collect();
        stored.sort_by_key(|(_, zone)| labels(&zone.name));
        for (index, stored) in stored {
            if !seen.insert(&stored.name) {
                errors.push(ValidationError::new(
                    format!("zones[{index}].name"),
                    ErrorCode::Duplicate,
                    format!("another zone is named {} already", stored.name),
                ));
                continue;
            }
            let compiled = Arc::new(CompiledZone::new(stored));
            names.insert_zone(&compiled);
            zones.insert(zone::ById(compiled));
        }

        let mut pools: Shards<pool::ById> = Shards::new();
        for (index, stored) in config.pools.iter().enumerate() {
            if stored.members.len() > MAX_MEMBERS {
                errors.push(ValidationError::new(
                    format!("pools[{index}].members"),
                    ErrorCode::OutOfRange,
                    format!("{} members; {MAX_MEMBERS} are the limit", stored.members.len()),
                ));
                continue;
            }
            pools.insert(pool::ById(Arc::new(CompiledPool::new(stored, env, slots))));
        }

        let mut services = Shards::new();
        // Names with fewer labels first: whether a name between two services exists must not depend on their order.
        let mut stored: Vec<(usize, &Service)> = config.services.iter().enumerate().collect();
        stored.sort_by_key(|(_, service)| labels(&service.domain));
        for (index, stored) in stored {
            let Some(pool::ById(pool)) = pools.find(pool::ById::hash_of(stored.pool_id), |pool| {
                pool.0.id == stored.pool_id
            }) else {
                errors.push(ValidationError::new(
                    format!("services[{index}].poolId"),
                    ErrorCode::NotFound,
                    format!(
                        "{} names the pool {}, which does not exist",
                        stored.domain, stored.pool_id
                    ),
                ));
                continue;
            };
            let wire: Arc<[u8]> = stored.domain.to_wire().into();
            let Some(zone) = zone_for(&mut names, stored, &wire) else {
                errors.push(ValidationError::new(
                    format!("services[{index}].domain"),
                    ErrorCode::Invalid,
                    format!("{} is a wildcard of the root", stored.domain),
                ));
                continue;
            };
            let slot = slots.service(stored.id, entropy);
            let compiled = Arc::new(CompiledService::new(
                stored,
                wire,
                Arc::clone(pool),
                zone,
                env.tier,
                slot,
            ));
            if compiled.enabled {
                if compiled.zone.synthetic {
                    names.insert_zone(&compiled.zone);
                }
                if !names.insert_service(&compiled) {
                    errors.push(ValidationError::new(
                        format!("services[{index}].domain"),
                        ErrorCode::Duplicate,
                        format!("another service answers {} already", stored.domain),
                    ));
                    continue;
                }
            }
            services.insert(service::ById(compiled));
        }

        if !errors.is_empty() {
            return Err(errors);
        }
        let members = config
            .pools
            .iter()
            .flat_map(|pool| pool.members.iter().map(|m| m.id))
            .collect();
        slots.retain(&members, &config.services.iter().map(|s| s.id).collect());
        Ok(Self {
            names,
            services,
            pools,
            zones,
            settings: Arc::new(Settings::new(env)),
        })
    }
}
