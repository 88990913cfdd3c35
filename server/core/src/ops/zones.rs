//! Zones.

use super::{Expected, Ops, expect, new_id, patch, require, rules};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Listing, Row};
use gslb_api_types::{ListQuery, Page, Stored};
use gslb_engine::model::{
    Actor, DomainName, ErrorCode, Permission, RecordName, Surroundings, ValidationError, Zone, ZoneDraft,
    ZoneId,
};
use tokio::sync::MutexGuard;

impl Ops {
    /// One page of the tenant's zones.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a bad cursor or sort field.
    pub async fn list_zones(&self, actor: &Actor, query: &ListQuery) -> Result<Page<Stored<Zone>>, OpError> {
        require(actor, Permission::ZonesRead)?;
        Ok(self.page(actor, &Listing::NAMED, query).await?.map(Stored::from))
    }

    /// One zone.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn get_zone(&self, actor: &Actor, id: ZoneId) -> Result<Stored<Zone>, OpError> {
        require(actor, Permission::ZonesRead)?;
        Ok(self.stored_zone(actor, id).await?.into())
    }

    /// Makes a zone.
    ///
    /// # Errors
    /// [`OpError::Invalid`] with every problem, [`OpError::Conflict`] when the apex is taken.
    pub async fn create_zone(
        &self,
        actor: &Actor,
        draft: impl Into<Proposal<ZoneDraft>>,
    ) -> Result<Written<Zone>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let zone = self
            .checked_zone(actor, ZoneId(new_id()), 1, &draft.into())
            .await?;
        self.put(guard, actor, None, Document::Zone(zone.clone()), zone, Vec::new())
            .await
    }

    /// Replaces a zone. Its serial grows.
    ///
    /// # Errors
    /// As for [`create_zone`](Self::create_zone); [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn replace_zone(
        &self,
        actor: &Actor,
        id: ZoneId,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<ZoneDraft>>,
    ) -> Result<Written<Zone>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let stored = self.stored_zone(actor, id).await?;
        expect(expected, stored.revision)?;
        self.write_zone(guard, actor, stored, &draft.into()).await
    }

    /// Changes some fields of a zone (RFC 7396). Its serial grows.
    ///
    /// # Errors
    /// As for [`replace_zone`](Self::replace_zone).
    pub async fn patch_zone(
        &self,
        actor: &Actor,
        id: ZoneId,
        expected: impl Into<Expected>,
        patch: &serde_json::Value,
    ) -> Result<Written<Zone>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let stored = self.stored_zone(actor, id).await?;
        expect(expected, stored.revision)?;
        let draft = patch::apply(&ZoneDraft::from(&stored.value), patch)?;
        self.write_zone(guard, actor, stored, &draft).await
    }

    /// Deletes a zone with its records. Services in it go on answering, as services outside every zone do.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn delete_zone(
        &self,
        actor: &Actor,
        id: ZoneId,
        expected: impl Into<Expected>,
    ) -> Result<(), OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let stored = self.stored_zone(actor, id).await?;
        expect(expected, stored.revision)?;
        self.delete(guard, actor, Document::Zone(stored.value), stored.revision)
            .await
    }

    pub(super) async fn stored_zone(&self, actor: &Actor, id: ZoneId) -> Result<Row<Zone>, OpError> {
        let row = self.parts.store.get(actor.tenant_id, id.0).await?;
        row.ok_or_else(|| OpError::not_found("zone", id))
    }

    async fn write_zone(
        &self,
        guard: MutexGuard<'_, ()>,
        actor: &Actor,
        stored: Row<Zone>,
        draft: &Proposal<ZoneDraft>,
    ) -> Result<Written<Zone>, OpError> {
        let serial = stored.value.serial;
        let mut zone = self.checked_zone(actor, stored.value.id, serial, draft).await?;
        if zone != stored.value {
            zone.serial = serial.wrapping_add(1);
        }
        let before = Some((Document::Zone(stored.value), stored.revision));
        self.put(
            guard,
            actor,
            before,
            Document::Zone(zone.clone()),
            zone,
            Vec::new(),
        )
        .await
    }

    async fn checked_zone(
        &self,
        actor: &Actor,
        id: ZoneId,
        serial: u32,
        proposal: &Proposal<ZoneDraft>,
    ) -> Result<Zone, OpError> {
        let draft = &proposal.draft;
        let mut validated = draft.validate(id, actor.tenant_id, serial);
        if let Ok(zone) = &validated {
            let problems = self.unknown_keys(actor, zone).await?;
            if !problems.is_empty() {
                validated = Err(problems);
            }
        }
        let name = DomainName::parse("name", draft.name.as_deref().unwrap_or_default());
        let holder = match &name {
            Ok(name) => self.parts.store.zone_by_name(name.as_str()).await?,
            Err(_) => None,
        };
        let collision = holder.filter(|holder| holder.value.id != id).map(|holder| {
            let whose = if holder.value.tenant_id == actor.tenant_id {
                ""
            } else {
                ": it is not yours"
            };
            let message = format!("the zone `{}` is taken{whose}", holder.value.name);
            ValidationError::new("name", ErrorCode::Conflict, message)
        });
        let mut collisions: Vec<ValidationError> = collision.into_iter().collect();
        if let (Ok(name), true) = (&name, collisions.is_empty()) {
            collisions = self.apex_collisions(actor, id, name).await?;
        }
        match proposal.checked(validated, rules::zone(draft)) {
            Ok(zone) if collisions.is_empty() => Ok(zone),
            Ok(_) => Err(OpError::Conflict(collisions)),
            Err(mut errors) => {
                errors.extend(collisions);
                Err(OpError::Invalid(errors))
            }
        }
    }

    /// Records that would end up outside their zone, if this one had this apex.
    async fn apex_collisions(
        &self,
        actor: &Actor,
        id: ZoneId,
        apex: &DomainName,
    ) -> Result<Vec<ValidationError>, OpError> {
        let store = &self.parts.store;
        let stored: Option<Row<Zone>> = store.get(actor.tenant_id, id.0).await?;
        if let Some(stored) = stored {
            if stored.value.name == *apex {
                return Ok(Vec::new());
            }
            if !store.records_of_zone(id).await?.is_empty() {
                return Ok(vec![ValidationError::new(
                    "name",
                    ErrorCode::Conflict,
                    "a zone with records cannot get another name",
                )]);
            }
        }
        let above = apex.as_str().split_once('.').map_or("", |(_, above)| above);
        let Ok(above) = DomainName::parse("name", above) else {
            return Ok(Vec::new());
        };
        let Some(outer) = self.enclosing_zone(&above).await? else {
            return Ok(Vec::new());
        };
        // Or whoever guesses a name in another's zone could take it over. A system administrator may hand a part out.
        if outer.tenant_id != actor.tenant_id && !actor.may(Permission::TenantsWrite) {
            return Ok(vec![ValidationError::new(
                "name",
                ErrorCode::Conflict,
                format!("the zone `{apex}` lies in a zone that is not yours"),
            )]);
        }
        let name = RecordName::from(apex);
        let below = store.records_below(outer.id, &name).await?;
        let around = Surroundings {
            aliases: Vec::new(),
            apex: Some(RecordName::from(&outer.name)),
            records: below.iter().map(|row| &row.value).collect(),
            services: Vec::new(),
            zones: vec![name],
        };
        Ok(around
            .problems()
            .into_iter()
            .map(|problem| ValidationError::new("name", ErrorCode::Conflict, problem.message))
            .collect())
    }
}
