//! Zones.

use super::{Expected, Ops, expect, new_id, patch, require, rules};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Listing, Row};
use gslb_api_types::{ListQuery, Page, Stored};
use gslb_engine::model::{
    Actor, DomainName, ErrorCode, Permission, ValidationError, Zone, ZoneDraft, ZoneId,
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

    /// Deletes a zone. Services in it go on answering, as services outside every zone do.
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

    async fn stored_zone(&self, actor: &Actor, id: ZoneId) -> Result<Row<Zone>, OpError> {
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
        let validated = draft.validate(id, actor.tenant_id, serial);
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
        match (proposal.checked(validated, rules::zone(draft)), collision) {
            (Ok(zone), None) => Ok(zone),
            (Ok(_), Some(collision)) => Err(OpError::Conflict(vec![collision])),
            (Err(mut errors), collision) => {
                errors.extend(collision);
                Err(OpError::Invalid(errors))
            }
        }
    }
}
