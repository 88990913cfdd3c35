//! Static records of zones.

use super::{Expected, Ops, expect, new_id, patch, require};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Listing, Row};
use gslb_api_types::{ListQuery, Page, Stored};
use gslb_engine::model::{
    Actor, DomainName, ErrorCode, Permission, RecordDraft, RecordId, RecordName, RecordSet, RecordType,
    Subject, Surroundings, ValidationError, Zone, ZoneId,
};
use gslb_engine::snapshot::{Changes, Slots};
use tokio::sync::MutexGuard;

/// The names from this one up to, but without, the zone's own.
pub(super) fn names_to(apex: &RecordName, name: &RecordName) -> Vec<RecordName> {
    let mut names = Vec::new();
    let mut at = Some(name.clone());
    while let Some(name) = at.filter(|name| name != apex && name.is_within(apex)) {
        at = name.parent();
        names.push(name);
    }
    names
}

impl Ops {
    /// One page of the records of a zone, sorted by name from the apex down; `search` looks at name, type and data.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`]; [`OpError::Invalid`] for a bad cursor or sort field.
    pub async fn list_records(
        &self,
        actor: &Actor,
        zone: ZoneId,
        query: &ListQuery,
    ) -> Result<Page<Stored<RecordSet>>, OpError> {
        require(actor, Permission::ZonesRead)?;
        self.stored_zone(actor, zone).await?;
        let only = Some(("zone_id", zone.to_string()));
        let page = self.page_where(actor, &Listing::RECORDS, only, query).await?;
        Ok(page.map(Stored::from))
    }

    /// One record set of a zone.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn get_record(
        &self,
        actor: &Actor,
        zone: ZoneId,
        id: RecordId,
    ) -> Result<Stored<RecordSet>, OpError> {
        require(actor, Permission::ZonesRead)?;
        Ok(self.stored_record(actor, zone, id).await?.into())
    }

    /// Adds a record set to a zone, whose serial grows.
    ///
    /// # Errors
    /// [`OpError::Invalid`] with every problem, [`OpError::Conflict`] with every collision, [`OpError::NotFound`].
    pub async fn create_record(
        &self,
        actor: &Actor,
        zone: ZoneId,
        draft: impl Into<Proposal<RecordDraft>>,
    ) -> Result<Written<RecordSet>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let zone = self.stored_zone(actor, zone).await?.value;
        let set = checked(&draft.into(), RecordId(new_id()), &zone)?;
        self.check_records(&zone, None, Some(&set)).await?;
        self.put(guard, actor, None, Document::Record(set.clone()), set, Vec::new())
            .await
    }

    /// Replaces a record set; it may get another name or type.
    ///
    /// # Errors
    /// As for [`create_record`](Self::create_record); [`OpError::Stale`].
    pub async fn replace_record(
        &self,
        actor: &Actor,
        zone: ZoneId,
        id: RecordId,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<RecordDraft>>,
    ) -> Result<Written<RecordSet>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let stored = self.stored_record(actor, zone, id).await?;
        expect(expected, stored.revision)?;
        self.write_record(guard, actor, stored, &draft.into()).await
    }

    /// Changes some fields of a record set (RFC 7396).
    ///
    /// # Errors
    /// As for [`replace_record`](Self::replace_record).
    pub async fn patch_record(
        &self,
        actor: &Actor,
        zone: ZoneId,
        id: RecordId,
        expected: impl Into<Expected>,
        patch: &serde_json::Value,
    ) -> Result<Written<RecordSet>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let stored = self.stored_record(actor, zone, id).await?;
        expect(expected, stored.revision)?;
        let draft = patch::apply(&RecordDraft::from(&stored.value), patch)?;
        self.write_record(guard, actor, stored, &draft).await
    }

    /// Deletes a record set.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`]; [`OpError::Conflict`] when another set needs
    /// it: a DS the NS set of its delegation.
    pub async fn delete_record(
        &self,
        actor: &Actor,
        zone: ZoneId,
        id: RecordId,
        expected: impl Into<Expected>,
    ) -> Result<(), OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let stored = self.stored_record(actor, zone, id).await?;
        expect(expected, stored.revision)?;
        let zone = self.stored_zone(actor, zone).await?.value;
        self.check_records(&zone, Some(&stored.value), None).await?;
        self.delete(guard, actor, Document::Record(stored.value), stored.revision)
            .await
    }

    async fn stored_record(
        &self,
        actor: &Actor,
        zone: ZoneId,
        id: RecordId,
    ) -> Result<Row<RecordSet>, OpError> {
        let row: Option<Row<RecordSet>> = self.parts.store.get(actor.tenant_id, id.0).await?;
        row.filter(|row| row.value.zone_id == zone)
            .ok_or_else(|| OpError::not_found("record", id))
    }

    async fn write_record(
        &self,
        guard: MutexGuard<'_, ()>,
        actor: &Actor,
        stored: Row<RecordSet>,
        draft: &Proposal<RecordDraft>,
    ) -> Result<Written<RecordSet>, OpError> {
        let zone = self.stored_zone(actor, stored.value.zone_id).await?.value;
        let set = checked(draft, stored.value.id, &zone)?;
        if set != stored.value {
            self.check_records(&zone, Some(&stored.value), Some(&set)).await?;
        }
        let before = Some((Document::Record(stored.value), stored.revision));
        self.put(
            guard,
            actor,
            before,
            Document::Record(set.clone()),
            set,
            Vec::new(),
        )
        .await
    }

    /// The rules between records, services and zones, for one set that goes and one that comes.
    async fn check_records(
        &self,
        zone: &Zone,
        old: Option<&RecordSet>,
        new: Option<&RecordSet>,
    ) -> Result<(), OpError> {
        let store = &self.parts.store;
        let apex = RecordName::from(&zone.name);
        let mut near: Vec<Row<RecordSet>> = Vec::new();
        let mut services = Vec::new();
        for set in [old, new].into_iter().flatten() {
            let mut names = names_to(&apex, &set.name);
            names.push(set.name.clone());
            near.extend(store.records_at(zone.id, &names).await?);
            if set.rtype == RecordType::NS {
                // A delegation changes what everything below may be.
                near.extend(store.records_below(zone.id, &set.name).await?);
                services.extend(store.domains_below(&set.name.to_string()).await?);
            } else if let Some((domain, _)) = self.service_at(&set.name).await? {
                services.push(domain);
            }
        }
        near.sort_by_key(|row| row.value.id);
        near.dedup_by_key(|row| row.value.id);
        let gone = old.map(|set| set.id);
        let mut around = Surroundings {
            aliases: self.aliases_among(&services).await?,
            records: near
                .iter()
                .map(|row| &row.value)
                .filter(|set| Some(set.id) != gone)
                .chain(new)
                .collect(),
            services: services.iter().map(RecordName::from).collect(),
            zones: inner(&store.zones_below(zone.name.as_str()).await?, &zone.name),
            apex: Some(apex),
        };
        around.services.sort();
        around.services.dedup();
        let found = around.problems();
        let is_new = |set: &RecordSet| Some(set.id) == new.map(|new| new.id);
        let own: Vec<&str> = found
            .iter()
            .filter(|problem| matches!(problem.subject, Subject::Record(set) if is_new(set)))
            .map(|problem| problem.message.as_str())
            .collect();
        let mut problems: Vec<ValidationError> = found
            .iter()
            .filter_map(|problem| {
                let message = match problem.subject {
                    // Both sets say that they are two.
                    Subject::Record(set) if !is_new(set) && own.contains(&problem.message.as_str()) => {
                        return None;
                    }
                    Subject::Record(set) if !is_new(set) => {
                        format!("{} {}: {}", set.name, set.rtype, problem.message)
                    }
                    _ => problem.message.clone(),
                };
                Some(ValidationError::new("name", ErrorCode::Conflict, message))
            })
            .collect();
        problems.dedup();
        if let Some(new) = new.filter(|new| new.rtype == RecordType::CNAME) {
            problems.extend(
                self.endless(
                    zone,
                    &[new],
                    &around,
                    old.map(std::slice::from_ref).unwrap_or_default(),
                )
                .await?,
            );
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(OpError::Conflict(problems)),
        }
    }

    /// The service with this domain, if there is one, and its tenant's id.
    async fn service_at(
        &self,
        name: &RecordName,
    ) -> Result<Option<(DomainName, gslb_engine::model::TenantId)>, OpError> {
        let Ok(domain) = DomainName::parse("name", &name.to_string()) else {
            return Ok(None);
        };
        let holder = self.parts.store.holder(domain.as_str()).await?;
        Ok(holder.map(|(tenant, _)| (domain, tenant)))
    }

    /// Aliases among these sets that lead to no end, or to too many others, once the zone has these records and not those that are gone.
    pub(super) async fn endless(
        &self,
        zone: &Zone,
        aliases: &[&RecordSet],
        around: &Surroundings<'_>,
        gone: &[RecordSet],
    ) -> Result<Vec<ValidationError>, OpError> {
        // The snapshot knows every name and wildcard, once it has caught up with the changes before this one.
        self.parts
            .reconciler
            .settled(self.parts.store.revision().await?)
            .await;
        let sets = around.records.iter().copied().chain(gone);
        let mut names: Vec<_> = sets.map(|set| (zone.id, set.name.clone())).collect();
        names.sort();
        names.dedup();
        let changes = Changes {
            records: around.records.iter().map(|set| (*set).clone()).collect(),
            names,
            ..Changes::default()
        };
        let snapshot = self.parts.snapshot.load_full();
        let Ok(Some(snapshot)) = snapshot.with_changes(&changes, &mut Slots::new(), 0) else {
            // One that does not compile says so to everybody; DNS bounds what it follows.
            return Ok(Vec::new());
        };
        let endless = aliases
            .iter()
            .filter(|set| !snapshot.aliases_end(set.name.as_wire()));
        Ok(endless
            .map(|set| {
                ValidationError::new(
                    "data[0]",
                    ErrorCode::Conflict,
                    format!(
                        "`{}` would lead back to itself, or over more than {} aliases",
                        set.name,
                        gslb_engine::snapshot::MAX_ALIASES
                    ),
                )
            })
            .collect())
    }

    /// What collides with a service of this domain in its zone.
    pub(super) async fn record_collisions(
        &self,
        zone: &Zone,
        domain: &DomainName,
        alias: bool,
    ) -> Result<Vec<String>, OpError> {
        let (apex, name) = (RecordName::from(&zone.name), RecordName::from(domain));
        let mut names = names_to(&apex, &name);
        names.push(name.clone());
        let near = self.parts.store.records_at(zone.id, &names).await?;
        let around = Surroundings {
            apex: Some(apex),
            records: near.iter().map(|row| &row.value).collect(),
            aliases: alias.then(|| name.clone()).into_iter().collect(),
            services: vec![name],
            zones: Vec::new(),
        };
        Ok(around
            .problems()
            .into_iter()
            .map(|problem| match problem.subject {
                Subject::Record(set) if alias => format!(
                    "`{domain}` has a static {} record, and the service would answer with a CNAME, which stands alone \
                     (with `flatten` it answers with addresses)",
                    set.rtype
                ),
                Subject::Record(set) => format!("`{domain}` has a static {} record", set.rtype),
                _ => problem.message,
            })
            .collect())
    }
}

/// The zones below another one.
pub(super) fn inner(zones: &[DomainName], apex: &DomainName) -> Vec<RecordName> {
    zones
        .iter()
        .filter(|name| *name != apex)
        .map(RecordName::from)
        .collect()
}

fn checked(draft: &Proposal<RecordDraft>, id: RecordId, zone: &Zone) -> Result<RecordSet, OpError> {
    draft
        .checked(draft.draft.validate(id, zone), Vec::new())
        .map_err(OpError::Invalid)
}
