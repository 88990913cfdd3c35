//! Whether the aliases of a whole configuration lead somewhere: the same rule as for each record and service by itself.

use super::Ops;
use super::config_file::Current;
use super::config_rules::Proposed;
use crate::error::OpError;
use gslb_engine::environment::Environment;
use gslb_engine::model::{
    Actor, Endpoint, ErrorCode, Pool, RecordName, RecordType, Service, ValidationError,
};
use gslb_engine::snapshot::{Changes, Configuration, MAX_ALIASES, Slots, Snapshot};
use std::sync::Arc;

impl Ops {
    /// Refuses a configuration whose aliases lead back to themselves, or over too many others.
    pub(super) async fn check_ends(
        &self,
        actor: &Actor,
        current: &Current,
        proposed: &Proposed,
    ) -> Result<(), OpError> {
        let by_name = |service: &&Service| service.enabled && names(proposed, service).is_some();
        let has_aliases = proposed.records.iter().any(|set| set.rtype == RecordType::CNAME)
            || proposed.services.iter().any(|service| by_name(&service));
        if !has_aliases {
            return Ok(());
        }
        // Aliases may lead on through what others have: that the snapshot knows, once it has caught up.
        let revision = self.parts.store.revision().await?;
        self.parts.reconciler.settled(revision).await;
        let snapshot = self.parts.snapshot.load_full();
        let changed = snapshot.with_changes(&changes(current, proposed), &mut Slots::new(), 0);
        let snapshot = match changed {
            Ok(Some(snapshot)) => Ok(snapshot),
            // Zones come or go: that takes the whole.
            Ok(None) => self.compiled(actor, proposed).await?,
            Err(problems) => Err(problems),
        };
        let Ok(snapshot) = snapshot else {
            // One that does not compile says so to everybody; DNS bounds what it follows.
            return Ok(());
        };
        let mut problems = Vec::new();
        let mut endless = |field: String, name: String| {
            let message =
                format!("`{name}` would lead back to itself, or over more than {MAX_ALIASES} aliases");
            problems.push(ValidationError::new(field, ErrorCode::Conflict, message));
        };
        for (index, set) in proposed.records.iter().enumerate() {
            if set.rtype == RecordType::CNAME && !snapshot.aliases_end(set.name.as_wire()) {
                endless(format!("records[{index}].data[0]"), set.name.to_string());
            }
        }
        for (index, service) in proposed.services.iter().enumerate() {
            let own = |pool: &Pool| {
                let mut endpoints = pool.members.iter().map(|member| &member.endpoint);
                endpoints.any(|endpoint: &Endpoint| endpoint.hostname() == Some(&service.domain))
            };
            if by_name(&service)
                && (names(proposed, service).is_some_and(own)
                    || !snapshot.aliases_end(&service.domain.to_wire()))
            {
                endless(format!("services[{index}].poolId"), service.domain.to_string());
            }
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(OpError::Conflict(problems)),
        }
    }

    /// Everything, with this configuration in the place of the tenant's own.
    async fn compiled(
        &self,
        actor: &Actor,
        proposed: &Proposed,
    ) -> Result<Result<Snapshot, Vec<ValidationError>>, OpError> {
        let stored = self.parts.store.configuration().await?;
        let mut all = Configuration {
            zones: stored.zones,
            pools: stored.pools,
            services: stored.services,
            records: stored.records,
        };
        let mine = actor.tenant_id;
        all.zones.retain(|zone| zone.tenant_id != mine);
        all.records.retain(|set| set.tenant_id != mine);
        all.pools.retain(|pool| pool.tenant_id != mine);
        all.services.retain(|service| service.tenant_id != mine);
        all.zones.extend_from_slice(&proposed.zones);
        all.records.extend_from_slice(&proposed.records);
        all.pools.extend_from_slice(&proposed.pools);
        all.services.extend_from_slice(&proposed.services);
        let env = Environment {
            tier: self.tier(),
            scripts: Arc::clone(&self.parts.scripts),
            ..Environment::default()
        };
        Ok(Snapshot::compile(&all, &env, &mut Slots::new(), 0))
    }
}

/// The pool of a service, if its members are host names.
fn names<'a>(proposed: &'a Proposed, service: &Service) -> Option<&'a Pool> {
    let pool = proposed.pools.iter().find(|pool| pool.id == service.pool_id);
    pool.filter(|pool| pool.is_by_name())
}

/// What leads from one configuration to the other, for the snapshot.
fn changes(current: &Current, proposed: &Proposed) -> Changes {
    let old = current.records.iter().map(|row| &row.value);
    let mut names: Vec<(_, RecordName)> = old
        .chain(&proposed.records)
        .filter(|set| proposed.zones.iter().any(|zone| zone.id == set.zone_id))
        .map(|set| (set.zone_id, set.name.clone()))
        .collect();
    names.sort();
    names.dedup();
    let zones = current.zones.iter().map(|row| row.value.id);
    let pools = current.pools.iter().map(|row| row.value.id);
    let services = current.services.iter().map(|row| row.value.id);
    Changes {
        removed_zones: zones
            .filter(|id| !proposed.zones.iter().any(|zone| zone.id == *id))
            .collect(),
        removed_pools: pools
            .filter(|id| !proposed.pools.iter().any(|pool| pool.id == *id))
            .collect(),
        removed_services: services
            .filter(|id| !proposed.services.iter().any(|service| service.id == *id))
            .collect(),
        zones: proposed.zones.clone(),
        pools: proposed.pools.clone(),
        services: proposed.services.clone(),
        records: proposed.records.clone(),
        names,
        // All services are among the changed ones, and no transfer is made of this.
        moved: Vec::new(),
    }
}
