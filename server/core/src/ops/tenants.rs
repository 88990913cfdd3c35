//! Tenants, and picking one to act in.

use super::users::checked_name;
use super::{Expected, Ops, expect, new_id, patch, require};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Listing, Row, TenantRecord};
use gslb_api_types::{ListQuery, Page, Stored, TenantDraft, TenantView};
use gslb_engine::model::{Actor, Permission, TenantId};
use serde_json::Value;

impl Ops {
    /// One page of all tenants.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a bad cursor.
    pub async fn list_tenants(
        &self,
        actor: &Actor,
        query: &ListQuery,
    ) -> Result<Page<Stored<TenantView>>, OpError> {
        require(actor, Permission::TenantsRead)?;
        super::audit::check_list(&Listing::NAMED, query)?;
        let store = &self.parts.store;
        let page: Page<Row<TenantRecord>> = store.list_where(None, &Listing::NAMED, None, query).await?;
        Ok(page.map(shown))
    }

    /// One tenant.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn get_tenant(&self, actor: &Actor, id: TenantId) -> Result<Stored<TenantView>, OpError> {
        require(actor, Permission::TenantsRead)?;
        Ok(shown(self.stored_tenant(id).await?))
    }

    /// Makes a tenant. It is empty: accounts and everything else are made in it by who picks it.
    ///
    /// # Errors
    /// [`OpError::Invalid`] with every problem; [`OpError::Conflict`] when the name is taken.
    pub async fn create_tenant(
        &self,
        actor: &Actor,
        draft: impl Into<Proposal<TenantDraft>>,
    ) -> Result<Written<TenantView>, OpError> {
        require(actor, Permission::TenantsWrite)?;
        let guard = self.lock().await;
        let tenant = self.checked_tenant(TenantId(new_id()), &draft.into()).await?;
        let view = view(&tenant);
        self.put(guard, actor, None, Document::Tenant(tenant), view, Vec::new())
            .await
    }

    /// Replaces a tenant: gives it another name.
    ///
    /// # Errors
    /// As for [`create_tenant`](Self::create_tenant); [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn replace_tenant(
        &self,
        actor: &Actor,
        id: TenantId,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<TenantDraft>>,
    ) -> Result<Written<TenantView>, OpError> {
        let draft = draft.into();
        self.write_tenant(actor, id, expected.into(), |_| Ok(draft)).await
    }

    /// Changes some fields of a tenant (RFC 7396).
    ///
    /// # Errors
    /// As for [`replace_tenant`](Self::replace_tenant).
    pub async fn patch_tenant(
        &self,
        actor: &Actor,
        id: TenantId,
        expected: impl Into<Expected>,
        patch: &Value,
    ) -> Result<Written<TenantView>, OpError> {
        let draft = |stored: &TenantDraft| patch::apply(stored, patch);
        self.write_tenant(actor, id, expected.into(), draft).await
    }

    /// Deletes a tenant that owns nothing any more. The first one stays.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`]; [`OpError::Conflict`] while something
    /// belongs to it.
    pub async fn delete_tenant(
        &self,
        actor: &Actor,
        id: TenantId,
        expected: impl Into<Expected>,
    ) -> Result<(), OpError> {
        require(actor, Permission::TenantsWrite)?;
        let guard = self.lock().await;
        let row = self.stored_tenant(id).await?;
        expect(expected, row.revision)?;
        if id == Self::HOME {
            let message = "this is the first tenant, which system administrators belong to: it stays";
            return Err(OpError::conflict("", message));
        }
        let belongings = self.parts.store.belongings(id).await?;
        if !belongings.is_empty() {
            let message = format!(
                "the tenant still owns {}; delete them first",
                belongings.join(", ")
            );
            return Err(OpError::conflict("", message));
        }
        self.delete(guard, actor, Document::Tenant(row.value), row.revision)
            .await
    }

    /// The actor, acting in the tenant with this id or name. Whoever may not pick is told the same about tenants that
    /// there are and that there are not.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::NotFound`] for who may pick.
    pub async fn in_tenant(&self, actor: Actor, wanted: &str) -> Result<Actor, OpError> {
        let found = self.parts.store.tenant_named(wanted.trim()).await?;
        match found.map(|row| row.value.id) {
            Some(id) if id == actor.tenant_id => Ok(actor),
            _ if !actor.may(Permission::TenantsRead) => Err(OpError::Forbidden(Permission::TenantsRead)),
            Some(tenant_id) => Ok(Actor { tenant_id, ..actor }),
            None => Err(OpError::not_found("tenant", wanted)),
        }
    }

    /// Whether the actor may see how many queries the whole node answers: where there are several tenants, that tells
    /// of the others.
    ///
    /// # Errors
    /// The database fails.
    pub async fn may_see_rate(&self, actor: &Actor) -> Result<bool, OpError> {
        if actor.may(Permission::MetricsRead) {
            return Ok(true);
        }
        Ok(self.parts.store.all::<TenantRecord>().await?.len() == 1)
    }

    /// Name of a tenant, for people; its id when it is gone.
    ///
    /// # Errors
    /// The database fails.
    pub async fn tenant_name(&self, id: TenantId) -> Result<String, OpError> {
        let row = self.parts.store.tenant(id).await?;
        Ok(row.map_or_else(|| id.to_string(), |row| row.value.name))
    }

    async fn write_tenant(
        &self,
        actor: &Actor,
        id: TenantId,
        expected: Expected,
        proposal: impl FnOnce(&TenantDraft) -> Result<Proposal<TenantDraft>, OpError>,
    ) -> Result<Written<TenantView>, OpError> {
        require(actor, Permission::TenantsWrite)?;
        let guard = self.lock().await;
        let row = self.stored_tenant(id).await?;
        expect(expected, row.revision)?;
        let stored = TenantDraft {
            name: Some(row.value.name.clone()),
        };
        let tenant = self.checked_tenant(id, &proposal(&stored)?).await?;
        let view = view(&tenant);
        let before = Some((Document::Tenant(row.value), row.revision));
        self.put(guard, actor, before, Document::Tenant(tenant), view, Vec::new())
            .await
    }

    async fn checked_tenant(
        &self,
        id: TenantId,
        proposal: &Proposal<TenantDraft>,
    ) -> Result<TenantRecord, OpError> {
        let mut errors = Vec::new();
        let name = checked_name(&mut errors, proposal.draft.name.as_deref());
        if name.parse::<TenantId>().is_ok() {
            let message = "looks like an id; take a name";
            errors.push(gslb_engine::model::ValidationError::new(
                "name",
                gslb_engine::model::ErrorCode::Invalid,
                message,
            ));
        }
        let errors = proposal.with(errors);
        if !errors.is_empty() {
            return Err(OpError::Invalid(errors));
        }
        let folded = name.to_lowercase();
        let all = self.parts.store.all::<TenantRecord>().await?;
        if all
            .iter()
            .any(|other| other.value.id != id && other.value.name.to_lowercase() == folded)
        {
            return Err(OpError::conflict("name", format!("the name `{name}` is taken")));
        }
        Ok(TenantRecord { id, name })
    }

    async fn stored_tenant(&self, id: TenantId) -> Result<Row<TenantRecord>, OpError> {
        let row = self.parts.store.tenant(id).await?;
        row.ok_or_else(|| OpError::not_found("tenant", id))
    }
}

fn view(tenant: &TenantRecord) -> TenantView {
    TenantView {
        id: tenant.id,
        name: tenant.name.clone(),
    }
}

fn shown(row: Row<TenantRecord>) -> Stored<TenantView> {
    Stored {
        value: view(&row.value),
        revision: row.revision,
        warnings: Vec::new(),
    }
}
