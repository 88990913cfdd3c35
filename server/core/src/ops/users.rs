//! User accounts.

use super::passwords::check_password;
use super::{Expected, MAX_PASSWORD, Ops, expect, new_id, patch, require};
use crate::auth::password;
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Listing, RoleRef, Row, UserRecord};
use gslb_api_types::{ListQuery, Page, Stored, UserDraft, UserView};
use gslb_engine::model::{Actor, ErrorCode, Permission, Role, UserId, ValidationError};
use serde_json::Value;

/// Checks the name of an account, role, token or tenant: 1 to 64 printable characters.
pub(super) fn checked_name(errors: &mut Vec<ValidationError>, name: Option<&str>) -> String {
    let name = name.map(str::trim).unwrap_or_default();
    let count = name.chars().count();
    if count == 0 {
        errors.push(ValidationError::new("name", ErrorCode::Required, "must be given"));
    } else if count > 64 {
        let message = format!("has {count} characters; 64 are the limit");
        errors.push(ValidationError::new("name", ErrorCode::OutOfRange, message));
    } else if let Some(bad) = name.chars().find(|c| c.is_control()) {
        let message = format!("contains the control character {bad:?}; use printable characters");
        errors.push(ValidationError::new("name", ErrorCode::Invalid, message));
    } else {
        super::rules::visible(errors, "name", Some(name));
        if let Some(other) = look_alike(name) {
            let message = format!(
                "has `{other}` (U+{:04X}) in it, which can pass for a Latin letter: keep to letters of one script",
                u32::from(other)
            );
            errors.push(ValidationError::new("name", ErrorCode::Invalid, message));
        }
    }
    name.to_owned()
}

/// A character by which a name could pass for another one: `\u{430}dmin` is not `admin`. Letters of scripts that have the
/// shapes of Latin ones are fine among themselves, not beside them; forms for typesetting never are.
fn look_alike(name: &str) -> Option<char> {
    let latin = name.chars().any(|c| c.is_ascii_alphabetic());
    name.chars().find(|c| match u32::from(*c) {
        // Greek, Cyrillic, Armenian, Cherokee.
        0x0370..=0x058f | 0x13a0..=0x13ff | 0x1f00..=0x1fff => latin,
        // Letterlike symbols, ligatures, full and half width, mathematical letters.
        0x2100..=0x214f | 0xfb00..=0xfb4f | 0xff00..=0xffef | 0x1d400..=0x1d7ff => true,
        _ => false,
    })
}

/// The hash of a new password, made before the lock of writes is taken: it takes long. One that no rule lets through
/// is not hashed.
async fn hashed(name: &str, password: Option<&str>) -> Result<Option<String>, OpError> {
    match password {
        Some(text) if super::weakness(name, text).is_none() && text.len() <= MAX_PASSWORD => {
            password::hash(text).await.map(Some).map_err(OpError::internal)
        }
        _ => Ok(None),
    }
}

impl Ops {
    /// One page of the tenant's accounts.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a bad cursor.
    pub async fn list_users(
        &self,
        actor: &Actor,
        query: &ListQuery,
    ) -> Result<Page<Stored<UserView>>, OpError> {
        require(actor, Permission::UsersRead)?;
        let page: Page<Row<UserRecord>> = self.page(actor, &Listing::NAMED, query).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for row in page.items {
            items.push(self.shown_user(row).await?);
        }
        Ok(Page {
            items,
            next_cursor: page.next_cursor,
            total: page.total,
        })
    }

    /// One account.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn get_user(&self, actor: &Actor, id: UserId) -> Result<Stored<UserView>, OpError> {
        require(actor, Permission::UsersRead)?;
        let row = self.stored_user(actor, id).await?;
        self.shown_user(row).await
    }

    /// Makes an account.
    ///
    /// # Errors
    /// [`OpError::Invalid`] with every problem, also for a role above the actor's own; [`OpError::Conflict`] when
    /// the name is taken.
    pub async fn create_user(
        &self,
        actor: &Actor,
        draft: impl Into<Proposal<UserDraft>>,
    ) -> Result<Written<UserView>, OpError> {
        require(actor, Permission::UsersWrite)?;
        let proposal = draft.into();
        let draft = &proposal.draft;
        let mut errors = Vec::new();
        let name = checked_name(&mut errors, draft.name.as_deref());
        check_password(&mut errors, "password", &name, draft.password.as_deref());
        let hash = hashed(&name, draft.password.as_deref()).await?;
        let guard = self.lock().await;
        let role = self
            .granted_role(actor, draft.role.as_deref(), &mut errors)
            .await?;
        let errors = proposal.with(errors);
        let Some(hash) = hash.filter(|_| errors.is_empty()) else {
            return Err(OpError::Invalid(errors));
        };
        let user = UserRecord {
            id: UserId(new_id()),
            tenant_id: actor.tenant_id,
            name,
            role,
            enabled: draft.enabled.unwrap_or(true),
            password_hash: hash,
        };
        if let Some(holder) = self.parts.store.user_by_name(&user.name).await? {
            let whose = if holder.value.tenant_id == actor.tenant_id {
                "taken"
            } else {
                "not yours to use"
            };
            let message = format!("the name `{}` is {whose}", user.name);
            return Err(OpError::conflict("name", message));
        }
        let view = self.user_view(user.clone()).await?;
        self.put(guard, actor, None, Document::User(user), view, Vec::new())
            .await
    }

    /// Replaces role and state of an account, and its password if one is given. The name cannot change.
    ///
    /// # Errors
    /// As for [`create_user`](Self::create_user); [`OpError::NotFound`], [`OpError::Stale`];
    /// [`OpError::Conflict`] when no system administrator would be left.
    pub async fn replace_user(
        &self,
        actor: &Actor,
        id: UserId,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<UserDraft>>,
    ) -> Result<Written<UserView>, OpError> {
        require(actor, Permission::UsersWrite)?;
        let proposal = draft.into();
        let name = self.stored_user(actor, id).await?.value.name;
        let hash = hashed(&name, proposal.draft.password.as_deref()).await?;
        self.write_user(actor, id, expected.into(), hash, |_| Ok(proposal))
            .await
    }

    /// Changes some fields of an account (RFC 7396).
    ///
    /// # Errors
    /// As for [`replace_user`](Self::replace_user).
    pub async fn patch_user(
        &self,
        actor: &Actor,
        id: UserId,
        expected: impl Into<Expected>,
        patch: &Value,
    ) -> Result<Written<UserView>, OpError> {
        require(actor, Permission::UsersWrite)?;
        let name = self.stored_user(actor, id).await?.value.name;
        let hash = hashed(&name, patch.get("password").and_then(Value::as_str)).await?;
        let draft = |stored: &UserDraft| patch::apply(stored, patch);
        self.write_user(actor, id, expected.into(), hash, draft).await
    }

    async fn write_user(
        &self,
        actor: &Actor,
        id: UserId,
        expected: Expected,
        hash: Option<String>,
        proposal: impl FnOnce(&UserDraft) -> Result<Proposal<UserDraft>, OpError>,
    ) -> Result<Written<UserView>, OpError> {
        let guard = self.lock().await;
        let row = self.stored_user(actor, id).await?;
        expect(expected, row.revision)?;
        self.check_rank(actor, &row.value).await?;
        let before = row.value;
        let stored = UserDraft {
            name: Some(before.name.clone()),
            password: None,
            role: Some(self.role_name(before.role).await?),
            enabled: Some(before.enabled),
        };
        let proposal = proposal(&stored)?;
        let draft = &proposal.draft;
        let mut errors = Vec::new();
        if draft.password.is_some() {
            check_password(&mut errors, "password", &before.name, draft.password.as_deref());
        }
        let role = if draft.role == stored.role {
            before.role
        } else {
            self.granted_role(actor, draft.role.as_deref(), &mut errors)
                .await?
        };
        if draft
            .name
            .as_deref()
            .is_some_and(|name| name.trim() != before.name)
        {
            errors.push(ValidationError::new(
                "name",
                ErrorCode::Conflict,
                "the name of an account cannot change",
            ));
        }
        let errors = proposal.with(errors);
        if !errors.is_empty() {
            return Err(OpError::Invalid(errors));
        }
        let user = UserRecord {
            role,
            enabled: draft.enabled.unwrap_or(true),
            password_hash: hash.unwrap_or_else(|| before.password_hash.clone()),
            ..before.clone()
        };
        if !user.is_usable_system_admin() {
            self.check_not_last(&before).await?;
        }
        let view = self.user_view(user.clone()).await?;
        let before = Some((Document::User(before), row.revision));
        self.put(guard, actor, before, Document::User(user), view, Vec::new())
            .await
    }

    /// Deletes an account: its sessions end, and its tokens are refused from then on.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`]; [`OpError::Conflict`] for the last system
    /// administrator.
    pub async fn delete_user(
        &self,
        actor: &Actor,
        id: UserId,
        expected: impl Into<Expected>,
    ) -> Result<(), OpError> {
        require(actor, Permission::UsersWrite)?;
        let guard = self.lock().await;
        let row = self.stored_user(actor, id).await?;
        expect(expected, row.revision)?;
        self.check_rank(actor, &row.value).await?;
        self.check_not_last(&row.value).await?;
        self.delete(guard, actor, Document::User(row.value), row.revision)
            .await
    }

    pub(super) async fn stored_user(&self, actor: &Actor, id: UserId) -> Result<Row<UserRecord>, OpError> {
        let row = self.parts.store.get(actor.tenant_id, id.0).await?;
        row.ok_or_else(|| OpError::not_found("user", id))
    }

    /// An account that may do more than the actor is out of reach: a new password would be a way up. What counts is
    /// the role, also of an account that is disabled.
    pub(super) async fn check_rank(&self, actor: &Actor, user: &UserRecord) -> Result<(), OpError> {
        let permissions = self.parts.store.permissions_of_role(user.role).await?;
        match permissions.into_iter().find(|permission| !actor.may(*permission)) {
            Some(permission) => Err(OpError::Forbidden(permission)),
            None => Ok(()),
        }
    }

    /// The role that a draft asks for, if the actor may give it.
    async fn granted_role(
        &self,
        actor: &Actor,
        text: Option<&str>,
        errors: &mut Vec<ValidationError>,
    ) -> Result<RoleRef, OpError> {
        let text = text.map_or(Role::Viewer.as_str(), str::trim);
        let Some(role) = self.find_role(actor, text).await? else {
            let message = format!("there is no role `{text}`; GET /api/v1/roles lists them");
            errors.push(ValidationError::new("role", ErrorCode::NotFound, message));
            return Ok(RoleRef::BuiltIn(Role::Viewer));
        };
        let permissions = self.parts.store.permissions_of_role(role).await?;
        if permissions.iter().any(|permission| !actor.may(*permission)) {
            let message = format!("`{text}` may do more than you, and so cannot be given");
            errors.push(ValidationError::new("role", ErrorCode::Conflict, message));
        } else if role == RoleRef::BuiltIn(Role::SystemAdmin) && actor.tenant_id != Self::HOME {
            let message = "system administrators belong to the first tenant; pick it";
            errors.push(ValidationError::new("role", ErrorCode::Conflict, message));
        }
        Ok(role)
    }

    async fn check_not_last(&self, user: &UserRecord) -> Result<(), OpError> {
        if !user.is_usable_system_admin() {
            return Ok(());
        }
        let users = self.parts.store.all::<UserRecord>().await?;
        if users
            .iter()
            .any(|u| u.value.is_usable_system_admin() && u.value.id != user.id)
        {
            return Ok(());
        }
        Err(OpError::conflict(
            "",
            format!("`{}` is the last system administrator", user.name),
        ))
    }

    async fn shown_user(&self, row: Row<UserRecord>) -> Result<Stored<UserView>, OpError> {
        Ok(Stored {
            value: self.user_view(row.value).await?,
            revision: row.revision,
            warnings: Vec::new(),
        })
    }

    pub(super) async fn user_view(&self, user: UserRecord) -> Result<UserView, OpError> {
        let last = self.parts.store.last_login(user.id).await?;
        Ok(UserView {
            id: user.id,
            tenant_id: user.tenant_id,
            role: self.role_name(user.role).await?,
            role_id: match user.role {
                RoleRef::BuiltIn(_) => None,
                RoleRef::Own(id) => Some(id),
            },
            name: user.name,
            enabled: user.enabled,
            last_login: last.and_then(|ms| u64::try_from(ms / 1000).ok()),
        })
    }
}
