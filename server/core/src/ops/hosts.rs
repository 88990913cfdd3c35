//! Services whose members are host names: what cannot stand beside the CNAME they answer with, and where it must not lead.

use super::Ops;
use crate::error::OpError;
use gslb_engine::model::{
    Actor, DomainName, Endpoint, ErrorCode, Pool, RecordName, Service, ValidationError,
};
use gslb_engine::snapshot::{Changes, MAX_ALIASES, Slots};

impl Ops {
    /// The services among these domains that answer with a CNAME.
    pub(super) async fn aliases_among(&self, domains: &[DomainName]) -> Result<Vec<RecordName>, OpError> {
        let store = &self.parts.store;
        let mut aliases = Vec::new();
        for domain in domains {
            let Some((tenant, id)) = store.holder(domain.as_str()).await? else {
                continue;
            };
            let service = store.get::<Service>(tenant, id.0).await?;
            let Some(service) = service.map(|row| row.value).filter(|service| !service.flatten) else {
                continue;
            };
            let pool = store.get::<Pool>(tenant, service.pool_id.0).await?;
            if pool.is_some_and(|pool| pool.value.is_by_name()) {
                aliases.push(RecordName::from(domain));
            }
        }
        Ok(aliases)
    }

    /// Checks a pool whose host names change against the services that use it.
    pub(super) async fn check_names(&self, actor: &Actor, old: &Pool, new: &Pool) -> Result<(), OpError> {
        let names = |pool: &Pool| -> Vec<Endpoint> {
            let endpoints = pool.members.iter().map(|member| member.endpoint.clone());
            endpoints.collect()
        };
        if !new.is_by_name() || names(old) == names(new) {
            return Ok(());
        }
        let mut problems = Vec::new();
        for service in self.parts.store.services_of_pool(new.id).await? {
            let service = service.value;
            if let Some(zone) = self.enclosing_zone(&service.domain).await?
                && zone.tenant_id == actor.tenant_id
                && !service.flatten
            {
                let found = self.record_collisions(&zone, &service.domain, true).await?;
                problems.extend(
                    found
                        .into_iter()
                        .map(|message| ValidationError::new("members", ErrorCode::Conflict, message)),
                );
            }
            problems.extend(self.circles(&service, new).await?.into_iter().map(|mut problem| {
                problem.field = "members".to_owned();
                problem
            }));
        }
        problems.dedup();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(OpError::Conflict(problems)),
        }
    }

    /// Whether a service would lead back to itself by the host names of its pool, or over too many aliases.
    pub(super) async fn circles(
        &self,
        service: &Service,
        pool: &Pool,
    ) -> Result<Option<ValidationError>, OpError> {
        if !pool.is_by_name() || !service.enabled {
            return Ok(None);
        }
        let wire = service.domain.to_wire();
        let own = |endpoint: &Endpoint| endpoint.hostname() == Some(&service.domain);
        let mut ends = !pool.members.iter().any(|member| own(&member.endpoint));
        if ends {
            // The snapshot knows every name and wildcard, once it has caught up with the changes before this one.
            let revision = self.parts.store.revision().await?;
            self.parts.reconciler.settled(revision).await;
            let changes = Changes {
                pools: vec![pool.clone()],
                services: vec![service.clone()],
                ..Changes::default()
            };
            let snapshot = self.parts.snapshot.load_full();
            // One that does not compile says so to everybody; DNS bounds what it follows.
            if let Ok(Some(snapshot)) = snapshot.with_changes(&changes, &mut Slots::new(), 0) {
                ends = snapshot.aliases_end(&wire);
            }
        }
        Ok((!ends).then(|| {
            ValidationError::new(
                "poolId",
                ErrorCode::Conflict,
                format!(
                    "by the host names of `{}`, `{}` would lead back to itself, or over more than {MAX_ALIASES} aliases",
                    pool.name, service.domain
                ),
            )
        }))
    }
}
