//! Services.

use super::routing::ScriptVerdicts;
use super::{Expected, Ops, expect, new_id, patch, require, rules};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Row};
use gslb_api_types::{ListQuery, Page, ServiceDetail, ServiceRow, Stored};
use gslb_engine::model::{
    Actor, DomainName, ErrorCode, Permission, Pool, PoolId, Routing, Service, ServiceDraft, ServiceId,
    ValidationError, Warning,
};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

fn chain_of(draft: &ServiceDraft) -> &[String] {
    draft.filter_chain.as_deref().unwrap_or_default()
}

impl Ops {
    /// One page of the tenant's services.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a bad cursor or sort field.
    pub async fn list_services(
        &self,
        actor: &Actor,
        query: &ListQuery,
    ) -> Result<Page<Stored<Service>>, OpError> {
        Ok(self.service_page(actor, query).await?.map(Stored::from))
    }

    /// As [`list_services`](Self::list_services), with what a table shows beside them.
    ///
    /// # Errors
    /// As for [`list_services`](Self::list_services).
    pub async fn service_rows(&self, actor: &Actor, query: &ListQuery) -> Result<Page<ServiceRow>, OpError> {
        let page = self.service_page(actor, query).await?;
        let mut names: HashMap<PoolId, String> = HashMap::new();
        for row in &page.items {
            let id = row.value.pool_id;
            if let Entry::Vacant(place) = names.entry(id) {
                let pool = self.parts.store.get::<Pool>(actor.tenant_id, id.0).await?;
                place.insert(pool.map(|p| p.value.name).unwrap_or_default());
            }
        }
        let tier = self.tier();
        Ok(page.map(|row| ServiceRow {
            pool_name: names.get(&row.value.pool_id).cloned().unwrap_or_default(),
            license_fallback: row.value.routing.required_tier() > tier,
            revision: row.revision,
            service: row.value,
        }))
    }

    /// A service with the name of its pool, and whether the licence holds its chain back.
    ///
    /// # Errors
    /// The database fails.
    pub async fn service_detail(
        &self,
        actor: &Actor,
        stored: Stored<Service>,
    ) -> Result<Stored<ServiceDetail>, OpError> {
        let id = stored.value.pool_id;
        let pool = self.parts.store.get::<Pool>(actor.tenant_id, id.0).await?;
        let tier = self.tier();
        Ok(stored.map(|service| ServiceDetail {
            pool_name: pool.map(|row| row.value.name).unwrap_or_default(),
            license_fallback: service.routing.required_tier() > tier,
            service,
        }))
    }

    async fn service_page(&self, actor: &Actor, query: &ListQuery) -> Result<Page<Row<Service>>, OpError> {
        require(actor, Permission::ServicesRead)?;
        self.page(actor, &crate::store::Listing::SERVICES, query).await
    }

    /// One service.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn get_service(&self, actor: &Actor, id: ServiceId) -> Result<Stored<Service>, OpError> {
        require(actor, Permission::ServicesRead)?;
        Ok(self.stored_service(actor, id).await?.into())
    }

    /// Makes a service.
    ///
    /// # Errors
    /// [`OpError::LicenseRequired`] for routing above the tier, [`OpError::Invalid`] with every problem,
    /// [`OpError::Conflict`] when the name or domain is taken.
    pub async fn create_service(
        &self,
        actor: &Actor,
        draft: impl Into<Proposal<ServiceDraft>>,
    ) -> Result<Written<Service>, OpError> {
        require(actor, Permission::ServicesWrite)?;
        let draft = draft.into();
        self.gate(actor, &draft.draft, None)?;
        let scripts = self.compile_scripts(actor, chain_of(&draft.draft)).await;
        let guard = self.lock().await;
        let service = self
            .checked_service(actor, ServiceId(new_id()), &draft, None, &scripts)
            .await?;
        let warnings = self.service_warnings(&service).await?;
        self.put(
            guard,
            actor,
            None,
            Document::Service(service.clone()),
            service,
            warnings,
        )
        .await
    }

    /// Replaces a service.
    ///
    /// # Errors
    /// As for [`create_service`](Self::create_service); [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn replace_service(
        &self,
        actor: &Actor,
        id: ServiceId,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<ServiceDraft>>,
    ) -> Result<Written<Service>, OpError> {
        require(actor, Permission::ServicesWrite)?;
        let draft = draft.into();
        let scripts = self.compile_scripts(actor, chain_of(&draft.draft)).await;
        let guard = self.lock().await;
        let stored = self.stored_service(actor, id).await?;
        expect(expected, stored.revision)?;
        self.write_service(guard, actor, stored, &draft, &scripts).await
    }

    /// Changes some fields of a service (RFC 7396).
    ///
    /// # Errors
    /// As for [`replace_service`](Self::replace_service); [`OpError::Invalid`] for an algorithm alone on a service
    /// with a chain: the chain would go on winning.
    pub async fn patch_service(
        &self,
        actor: &Actor,
        id: ServiceId,
        expected: impl Into<Expected>,
        patch: &serde_json::Value,
    ) -> Result<Written<Service>, OpError> {
        require(actor, Permission::ServicesWrite)?;
        // A patch replaces the whole chain or leaves it.
        let chain = patch.get("filterChain").cloned().unwrap_or_default();
        let chain: Vec<String> = serde_json::from_value(chain).unwrap_or_default();
        let scripts = self.compile_scripts(actor, &chain).await;
        let guard = self.lock().await;
        let stored = self.stored_service(actor, id).await?;
        expect(expected, stored.revision)?;
        let mut draft = patch::apply(&ServiceDraft::from(&stored.value), patch)?;
        let names_algorithm = patch
            .get("algorithm")
            .and_then(|v| v.as_str())
            .is_some_and(|text| !text.is_empty());
        if matches!(stored.value.routing, Routing::Chain(_)) && patch.get("filterChain").is_none() {
            if names_algorithm {
                draft.problems.push(ValidationError::new(
                    "algorithm",
                    ErrorCode::Conflict,
                    "this service has a filter chain, which wins over an algorithm; \
                     send `filterChain: []` as well to go back to a single algorithm",
                ));
            }
            draft.draft.algorithm = None;
        }
        self.write_service(guard, actor, stored, &draft, &scripts).await
    }

    /// Deletes a service.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn delete_service(
        &self,
        actor: &Actor,
        id: ServiceId,
        expected: impl Into<Expected>,
    ) -> Result<(), OpError> {
        require(actor, Permission::ServicesWrite)?;
        let guard = self.lock().await;
        let stored = self.stored_service(actor, id).await?;
        expect(expected, stored.revision)?;
        self.delete(guard, actor, Document::Service(stored.value), stored.revision)
            .await
    }

    async fn stored_service(&self, actor: &Actor, id: ServiceId) -> Result<Row<Service>, OpError> {
        let row = self.parts.store.get(actor.tenant_id, id.0).await?;
        row.ok_or_else(|| OpError::not_found("service", id))
    }

    async fn write_service(
        &self,
        guard: tokio::sync::MutexGuard<'_, ()>,
        actor: &Actor,
        stored: Row<Service>,
        draft: &Proposal<ServiceDraft>,
        scripts: &ScriptVerdicts,
    ) -> Result<Written<Service>, OpError> {
        self.gate(actor, &draft.draft, Some(&stored.value))?;
        let service = self
            .checked_service(actor, stored.value.id, draft, Some(&stored.value), scripts)
            .await?;
        let warnings = self.service_warnings(&service).await?;
        let before = Some((Document::Service(stored.value), stored.revision));
        self.put(
            guard,
            actor,
            before,
            Document::Service(service.clone()),
            service,
            warnings,
        )
        .await
    }

    /// Validates a draft, and the rules that need other objects: the pool, the name, the domain.
    async fn checked_service(
        &self,
        actor: &Actor,
        id: ServiceId,
        proposal: &Proposal<ServiceDraft>,
        stored: Option<&Service>,
        scripts: &ScriptVerdicts,
    ) -> Result<Service, OpError> {
        let draft = &proposal.draft;
        let validated = draft.validate(id, actor.tenant_id, self.default_algorithm());
        let (service, mut errors) = match proposal.checked(validated, rules::service(draft)) {
            Ok(service) => (Some(service), Vec::new()),
            Err(errors) => (None, errors),
        };
        errors.extend(scripts.errors("filterChain", chain_of(draft), stored));
        // The other objects are looked at also when fields are wrong: every problem at once.
        let pool_id = draft
            .pool_id
            .as_deref()
            .and_then(|text| text.trim().parse::<PoolId>().ok());
        let pool = match pool_id {
            Some(id) => self.parts.store.get::<Pool>(actor.tenant_id, id.0).await?,
            None => None,
        };
        if let Some(pool_id) = pool_id
            && pool.is_none()
        {
            errors.push(ValidationError::new(
                "poolId",
                ErrorCode::NotFound,
                format!("there is no pool `{pool_id}`"),
            ));
        }
        let pool = pool.map(|row| row.value);
        let alias = !draft.flatten.unwrap_or(false) && pool.as_ref().is_some_and(Pool::is_by_name);
        let mut collisions = self.service_collisions(actor, id, draft, alias).await?;
        if let (Some(service), Some(pool)) = (&service, &pool) {
            collisions.extend(self.circles(service, pool).await?);
        }
        match service {
            Some(_) if errors.is_empty() && !collisions.is_empty() => Err(OpError::Conflict(collisions)),
            Some(service) if errors.is_empty() => Ok(service),
            _ => {
                errors.extend(collisions);
                Err(OpError::Invalid(errors))
            }
        }
    }

    /// What of a draft is taken by other services or lies in the zones of others.
    async fn service_collisions(
        &self,
        actor: &Actor,
        id: ServiceId,
        draft: &ServiceDraft,
        alias: bool,
    ) -> Result<Vec<ValidationError>, OpError> {
        let store = &self.parts.store;
        let mut found = Vec::new();
        let mut taken = |field: &str, message: String| {
            found.push(ValidationError::new(field, ErrorCode::Conflict, message));
        };
        let name = draft.name.as_deref().map(str::trim).unwrap_or_default();
        let holder = store.id_by_name::<Service>(actor.tenant_id, name).await?;
        if holder.is_some_and(|holder| holder != id.0) {
            taken("name", format!("the name `{name}` is taken"));
        }
        let domain = DomainName::parse("domain", draft.domain.as_deref().unwrap_or_default());
        let Ok(domain) = domain else {
            return Ok(found);
        };
        match store.holder(domain.as_str()).await? {
            Some((tenant, holder)) if holder != id && tenant == actor.tenant_id => {
                taken(
                    "domain",
                    format!("the domain `{domain}` is taken by another service"),
                );
            }
            Some((_, holder)) if holder != id => {
                taken(
                    "domain",
                    format!("the domain `{domain}` is taken: it is not yours"),
                );
            }
            _ => match self.enclosing_zone(&domain).await? {
                Some(zone) if zone.tenant_id != actor.tenant_id => taken(
                    "domain",
                    format!("the domain `{domain}` lies in a zone that is not yours"),
                ),
                Some(zone) => {
                    for message in self.record_collisions(&zone, &domain, alias).await? {
                        taken("domain", message);
                    }
                }
                None => {}
            },
        }
        Ok(found)
    }

    /// The closest zone around a name, of whatever tenant.
    pub(super) async fn enclosing_zone(
        &self,
        domain: &DomainName,
    ) -> Result<Option<gslb_engine::model::Zone>, OpError> {
        let mut rest = domain.as_str();
        while !rest.is_empty() {
            if let Some(zone) = self.parts.store.zone_by_name(rest).await? {
                return Ok(Some(zone.value));
            }
            rest = rest.split_once('.').map_or("", |(_, parent)| parent);
        }
        Ok(None)
    }

    /// What is stored and probably has not the effect that was meant.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn service_warnings(&self, service: &Service) -> Result<Vec<Warning>, OpError> {
        let pool = self
            .parts
            .store
            .get::<Pool>(service.tenant_id, service.pool_id.0)
            .await?;
        let mut warnings = match pool {
            Some(pool) => service.routing.warnings_with(&pool.value),
            None => service.routing.warnings(),
        };
        if self.enclosing_zone(&service.domain).await?.is_none() {
            warnings.push(Warning {
                field: "domain".to_owned(),
                message: format!(
                    "`{}` lies in no zone of this server: it is answered, with a made-up SOA",
                    service.domain
                ),
            });
        }
        Ok(warnings)
    }
}
