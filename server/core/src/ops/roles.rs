//! Roles: those that are built in, and those of a tenant's own.

use super::audit::check_list;
use super::users::checked_name;
use super::{Expected, Ops, expect, new_id, patch, require};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Listing, RoleRecord, RoleRef, Row, limit_of};
use gslb_api_types::{ListQuery, Page, RoleDraft, RoleView, Stored};
use gslb_engine::model::{Actor, ErrorCode, Permission, Role, RoleId, TenantId, ValidationError};
use serde_json::Value;

/// Most roles of a tenant's own.
const MAX_ROLES: usize = 200;

impl Ops {
    /// The tenant that system administrators belong to.
    pub(super) const HOME: TenantId = TenantId::DEFAULT;

    /// One page of the roles that accounts of the tenant can have, by name.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a wrong limit.
    pub async fn list_roles(
        &self,
        actor: &Actor,
        query: &ListQuery,
    ) -> Result<Page<Stored<RoleView>>, OpError> {
        require(actor, Permission::UsersRead)?;
        check_list(&Listing::NAMED, query)?;
        let built_in = Role::ALL.into_iter().map(built_in);
        let own = self.parts.store.own_roles(actor.tenant_id).await?;
        let mut all: Vec<_> = built_in.chain(own.into_iter().map(shown)).collect();
        let search = query.search.as_deref().unwrap_or_default().trim().to_lowercase();
        all.retain(|role| role.value.name.to_lowercase().contains(&search));
        all.sort_by(|a, b| a.value.name.cmp(&b.value.name));
        if query.sort.as_deref().is_some_and(|sort| sort.starts_with('-')) {
            all.reverse();
        }
        let total = all.len();
        // Few enough to be counted: the cursor is the name of the last one seen.
        let after = query.cursor.as_deref().filter(|cursor| !cursor.is_empty());
        if let Some(after) = after {
            let seen = all.iter().position(|role| role.value.name == after);
            let seen = seen.ok_or(crate::store::StoreError::Cursor)?;
            all.drain(..=seen);
        }
        let limit = usize::try_from(limit_of(query)).unwrap_or(usize::MAX);
        let more = all.len() > limit;
        all.truncate(limit);
        let next_cursor = all.last().filter(|_| more).map(|role| role.value.name.clone());
        Ok(Page {
            items: all,
            next_cursor,
            total: u64::try_from(total).unwrap_or_default(),
        })
    }

    /// One role.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn get_role(&self, actor: &Actor, role: RoleRef) -> Result<Stored<RoleView>, OpError> {
        require(actor, Permission::UsersRead)?;
        match role {
            RoleRef::BuiltIn(role) => Ok(built_in(role)),
            RoleRef::Own(id) => Ok(shown(self.stored_role(actor, id).await?)),
        }
    }

    /// Makes a role.
    ///
    /// # Errors
    /// [`OpError::Invalid`] with every problem, also for permissions that the actor does not have;
    /// [`OpError::Conflict`] when the name is taken.
    pub async fn create_role(
        &self,
        actor: &Actor,
        draft: impl Into<Proposal<RoleDraft>>,
    ) -> Result<Written<RoleView>, OpError> {
        require(actor, Permission::UsersWrite)?;
        let guard = self.lock().await;
        let id = RoleId(new_id());
        let own = self.parts.store.own_roles(actor.tenant_id).await?;
        if own.len() >= MAX_ROLES {
            return Err(OpError::conflict(
                "",
                format!("a tenant has at most {MAX_ROLES} roles"),
            ));
        }
        let role = self.checked_role(actor, id, &draft.into(), &own)?;
        let view = view(&role);
        self.put(guard, actor, None, Document::Role(role), view, Vec::new())
            .await
    }

    /// Replaces a role of the tenant's own. Those who have it may do what it says from their next request on.
    ///
    /// # Errors
    /// As for [`create_role`](Self::create_role); [`OpError::NotFound`], [`OpError::Stale`];
    /// [`OpError::Conflict`] for a built-in role.
    pub async fn replace_role(
        &self,
        actor: &Actor,
        role: RoleRef,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<RoleDraft>>,
    ) -> Result<Written<RoleView>, OpError> {
        let draft = draft.into();
        self.write_role(actor, role, expected.into(), |_| Ok(draft)).await
    }

    /// Changes some fields of a role of the tenant's own (RFC 7396).
    ///
    /// # Errors
    /// As for [`replace_role`](Self::replace_role).
    pub async fn patch_role(
        &self,
        actor: &Actor,
        role: RoleRef,
        expected: impl Into<Expected>,
        patch: &Value,
    ) -> Result<Written<RoleView>, OpError> {
        let draft = |stored: &RoleDraft| patch::apply(stored, patch);
        self.write_role(actor, role, expected.into(), draft).await
    }

    /// Deletes a role that no account has.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`]; [`OpError::Conflict`] while an account has
    /// it, and for a built-in role.
    pub async fn delete_role(
        &self,
        actor: &Actor,
        role: RoleRef,
        expected: impl Into<Expected>,
    ) -> Result<(), OpError> {
        require(actor, Permission::UsersWrite)?;
        let id = own(role)?;
        let guard = self.lock().await;
        let row = self.stored_role(actor, id).await?;
        expect(expected, row.revision)?;
        check_rank(actor, &row.value)?;
        let users = self.parts.store.users_with_role(id).await?;
        if users > 0 {
            let message = format!("{users} accounts have this role; give them another first");
            return Err(OpError::conflict("", message));
        }
        self.delete(guard, actor, Document::Role(row.value), row.revision)
            .await
    }

    async fn write_role(
        &self,
        actor: &Actor,
        role: RoleRef,
        expected: Expected,
        proposal: impl FnOnce(&RoleDraft) -> Result<Proposal<RoleDraft>, OpError>,
    ) -> Result<Written<RoleView>, OpError> {
        require(actor, Permission::UsersWrite)?;
        let id = own(role)?;
        let guard = self.lock().await;
        let row = self.stored_role(actor, id).await?;
        expect(expected, row.revision)?;
        check_rank(actor, &row.value)?;
        let stored = RoleDraft {
            name: Some(row.value.name.clone()),
            permissions: Some(row.value.permissions.iter().map(ToString::to_string).collect()),
        };
        let proposal = proposal(&stored)?;
        let mut others = self.parts.store.own_roles(actor.tenant_id).await?;
        others.retain(|other| other.value.id != id);
        let role = self.checked_role(actor, id, &proposal, &others)?;
        let view = view(&role);
        let before = Some((Document::Role(row.value), row.revision));
        self.put(guard, actor, before, Document::Role(role), view, Vec::new())
            .await
    }

    fn checked_role(
        &self,
        actor: &Actor,
        id: RoleId,
        proposal: &Proposal<RoleDraft>,
        others: &[Row<RoleRecord>],
    ) -> Result<RoleRecord, OpError> {
        let draft = &proposal.draft;
        let mut errors = Vec::new();
        let name = checked_name(&mut errors, draft.name.as_deref());
        if name.to_lowercase().parse::<RoleRef>().is_ok() {
            let message = "is the name of a built-in role, or an id; take another";
            errors.push(ValidationError::new("name", ErrorCode::Conflict, message));
        }
        let permissions = checked_permissions(&mut errors, actor, draft.permissions.as_deref());
        for (index, permission) in permissions.iter().enumerate() {
            if permission.is_for_installation() {
                let message =
                    format!("`{permission}` concerns the installation, and belongs to system-admin");
                let field = format!("permissions[{index}]");
                errors.push(ValidationError::new(field, ErrorCode::Conflict, message));
            }
        }
        let errors = proposal.with(errors);
        if !errors.is_empty() {
            return Err(OpError::Invalid(errors));
        }
        let folded = name.to_lowercase();
        if others.iter().any(|role| role.value.name.to_lowercase() == folded) {
            return Err(OpError::conflict("name", format!("the name `{name}` is taken")));
        }
        Ok(RoleRecord {
            id,
            tenant_id: actor.tenant_id,
            name,
            permissions,
        })
    }

    async fn stored_role(&self, actor: &Actor, id: RoleId) -> Result<Row<RoleRecord>, OpError> {
        let row = self.parts.store.get(actor.tenant_id, id.0).await?;
        row.ok_or_else(|| OpError::not_found("role", id))
    }

    /// The role that a text names: a built-in one, or one of the tenant's own by name or id.
    pub(super) async fn find_role(&self, actor: &Actor, text: &str) -> Result<Option<RoleRef>, OpError> {
        if let Some(role) = Role::parse(text) {
            return Ok(Some(RoleRef::BuiltIn(role)));
        }
        let own = self.parts.store.own_roles(actor.tenant_id).await?;
        let found = own
            .iter()
            .find(|row| row.value.name == text || row.value.id.to_string() == text);
        Ok(found.map(|row| RoleRef::Own(row.value.id)))
    }

    /// Name of a role; the id of one that is gone.
    pub(super) async fn role_name(&self, role: RoleRef) -> Result<String, OpError> {
        match role {
            RoleRef::BuiltIn(role) => Ok(role.as_str().to_owned()),
            RoleRef::Own(id) => {
                let row = self.parts.store.role_by_id(id).await?;
                Ok(row.map_or_else(|| id.to_string(), |row| row.value.name))
            }
        }
    }
}

/// The permissions that a draft names, if the actor may give them.
pub(super) fn checked_permissions(
    errors: &mut Vec<ValidationError>,
    actor: &Actor,
    texts: Option<&[String]>,
) -> Vec<Permission> {
    let texts = texts.unwrap_or_default();
    let mut permissions = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let field = format!("permissions[{index}]");
        match Permission::parse(text) {
            None => errors.push(ValidationError::new(
                field,
                ErrorCode::Unknown,
                format!("unknown permission `{text}`"),
            )),
            Some(permission) if !actor.may(permission) => errors.push(ValidationError::new(
                field,
                ErrorCode::Conflict,
                format!("`{permission}` cannot be given: you do not have it"),
            )),
            Some(permission) if permissions.contains(&permission) => {}
            Some(permission) => permissions.push(permission),
        }
    }
    if texts.is_empty() {
        errors.push(ValidationError::new(
            "permissions",
            ErrorCode::Required,
            "at least one permission must be given",
        ));
    }
    permissions
}

fn own(role: RoleRef) -> Result<RoleId, OpError> {
    match role {
        RoleRef::Own(id) => Ok(id),
        RoleRef::BuiltIn(role) => {
            let message = format!("`{}` is built in, and cannot change", role.as_str());
            Err(OpError::conflict("", message))
        }
    }
}

/// A role that allows more than the actor may is out of reach, as the accounts that have it are.
fn check_rank(actor: &Actor, role: &RoleRecord) -> Result<(), OpError> {
    let above = role
        .permissions
        .iter()
        .find(|permission| !actor.may(**permission));
    above.map_or(Ok(()), |permission| Err(OpError::Forbidden(*permission)))
}

fn view(role: &RoleRecord) -> RoleView {
    RoleView {
        id: role.id.to_string(),
        name: role.name.clone(),
        built_in: false,
        permissions: role.permissions.clone(),
    }
}

fn shown(row: Row<RoleRecord>) -> Stored<RoleView> {
    Stored {
        value: view(&row.value),
        revision: row.revision,
        warnings: Vec::new(),
    }
}

fn built_in(role: Role) -> Stored<RoleView> {
    Stored {
        value: RoleView {
            id: role.as_str().to_owned(),
            name: role.as_str().to_owned(),
            built_in: true,
            permissions: role.permissions(),
        },
        revision: 0,
        warnings: Vec::new(),
    }
}
