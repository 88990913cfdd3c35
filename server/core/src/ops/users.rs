//! User accounts.

use super::{Expected, Ops, expect, new_id, require};
use crate::auth::password;
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Listing, Row, UserRecord};
use gslb_api_types::{ListQuery, Page, PasswordChange, UserDraft, UserView};
use gslb_engine::model::{Actor, ActorKind, ErrorCode, Permission, Role, UserId, ValidationError};

/// Shortest password, characters.
pub const MIN_PASSWORD: usize = 8;
/// Longest password, bytes: hashing time must not be the caller's choice.
pub const MAX_PASSWORD: usize = 1024;

/// Checks the name of an account or token: 1 to 64 printable characters.
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
    }
    name.to_owned()
}

fn check_password(errors: &mut Vec<ValidationError>, field: &str, password: Option<&str>) {
    let password = password.unwrap_or_default();
    if password.is_empty() {
        errors.push(ValidationError::new(field, ErrorCode::Required, "must be given"));
    } else if password.chars().count() < MIN_PASSWORD || password.len() > MAX_PASSWORD {
        errors.push(ValidationError::new(
            field,
            ErrorCode::OutOfRange,
            format!("a password has {MIN_PASSWORD} characters at least and {MAX_PASSWORD} bytes at most"),
        ));
    }
}

/// Nobody gives a role that may do more than the giver.
fn check_role(errors: &mut Vec<ValidationError>, actor: &Actor, role: Role) {
    if role
        .permissions()
        .iter()
        .any(|permission| !actor.may(*permission))
    {
        errors.push(ValidationError::new(
            "role",
            ErrorCode::Conflict,
            format!("`{}` may do more than you, and so cannot be given", role.as_str()),
        ));
    }
}

impl Ops {
    /// One page of the tenant's accounts.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a bad cursor.
    pub async fn list_users(&self, actor: &Actor, query: &ListQuery) -> Result<Page<UserView>, OpError> {
        require(actor, Permission::UsersRead)?;
        let page: Page<Row<UserRecord>> = self.page(actor, &Listing::NAMED, query).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for row in page.items {
            items.push(self.view(row.value).await?);
        }
        Ok(Page {
            items,
            next_cursor: page.next_cursor,
            total: page.total,
        })
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
        check_password(&mut errors, "password", draft.password.as_deref());
        let role = draft.role.unwrap_or(Role::Viewer);
        check_role(&mut errors, actor, role);
        let errors = proposal.with(errors);
        if !errors.is_empty() {
            return Err(OpError::Invalid(errors));
        }
        let hash = password::hash(draft.password.as_deref().unwrap_or_default())
            .await
            .map_err(OpError::internal)?;
        let user = UserRecord {
            id: UserId(new_id()),
            tenant_id: actor.tenant_id,
            name,
            role,
            password_hash: hash,
        };
        let guard = self.lock().await;
        if self.parts.store.user_by_name(&user.name).await?.is_some() {
            return Err(OpError::conflict(
                "name",
                format!("the name `{}` is taken", user.name),
            ));
        }
        let view = self.view(user.clone()).await?;
        self.put(guard, actor, None, Document::User(user), view, Vec::new())
            .await
    }

    /// Changes role or password of an account; what the draft leaves out stays. A name cannot change.
    ///
    /// # Errors
    /// As for [`create_user`](Self::create_user); [`OpError::NotFound`], [`OpError::Stale`];
    /// [`OpError::Conflict`] when the last system administrator would be lost.
    pub async fn update_user(
        &self,
        actor: &Actor,
        id: UserId,
        expected: impl Into<Expected>,
        draft: &UserDraft,
    ) -> Result<Written<UserView>, OpError> {
        require(actor, Permission::UsersWrite)?;
        let mut errors = Vec::new();
        let mut hash = None;
        if draft.password.is_some() {
            check_password(&mut errors, "password", draft.password.as_deref());
        }
        if let Some(role) = draft.role {
            check_role(&mut errors, actor, role);
        }
        if !errors.is_empty() {
            return Err(OpError::Invalid(errors));
        }
        if let Some(password) = &draft.password {
            hash = Some(password::hash(password).await.map_err(OpError::internal)?);
        }
        let guard = self.lock().await;
        let row = self.stored_user(actor, id).await?;
        expect(expected, row.revision)?;
        self.check_rank(actor, &row.value)?;
        let before = row.value;
        if draft
            .name
            .as_deref()
            .is_some_and(|name| name.trim() != before.name)
        {
            return Err(OpError::invalid(
                "name",
                ErrorCode::Conflict,
                "the name of an account cannot change",
            ));
        }
        let role = draft.role.unwrap_or(before.role);
        if before.role == Role::SystemAdmin && role != Role::SystemAdmin {
            self.check_not_last(&before).await?;
        }
        let user = UserRecord {
            role,
            password_hash: hash.unwrap_or_else(|| before.password_hash.clone()),
            ..before.clone()
        };
        let view = self.view(user.clone()).await?;
        let before = Some((Document::User(before), row.revision));
        self.put(guard, actor, before, Document::User(user), view, Vec::new())
            .await
    }

    /// Changes the actor's own password; the old one is asked for.
    ///
    /// # Errors
    /// [`OpError::Invalid`] for a wrong old or too short new password, [`OpError::NoAccount`] when the actor is no
    /// user account.
    pub async fn change_password(
        &self,
        actor: &Actor,
        change: impl Into<Proposal<PasswordChange>>,
    ) -> Result<Written<UserView>, OpError> {
        let ActorKind::User(id) = actor.kind else {
            return Err(OpError::NoAccount);
        };
        let proposal = change.into();
        let change = &proposal.draft;
        let row = self.stored_user(actor, id).await?;
        let mut errors = Vec::new();
        check_password(&mut errors, "new", Some(&change.new));
        if !password::verify(&change.current, Some(&row.value.password_hash)).await {
            errors.push(ValidationError::new(
                "current",
                ErrorCode::Invalid,
                "this is not the password in force",
            ));
        }
        let errors = proposal.with(errors);
        if !errors.is_empty() {
            return Err(OpError::Invalid(errors));
        }
        let hash = password::hash(&change.new).await.map_err(OpError::internal)?;
        let guard = self.lock().await;
        let row = self.stored_user(actor, id).await?;
        let user = UserRecord {
            password_hash: hash,
            ..row.value.clone()
        };
        let view = self.view(user.clone()).await?;
        let before = Some((Document::User(row.value), row.revision));
        self.put(guard, actor, before, Document::User(user), view, Vec::new())
            .await
    }

    /// Deletes an account: its sessions end with their next request.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`]; [`OpError::Conflict`] for the last system administrator.
    pub async fn delete_user(&self, actor: &Actor, id: UserId) -> Result<(), OpError> {
        require(actor, Permission::UsersWrite)?;
        let guard = self.lock().await;
        let row = self.stored_user(actor, id).await?;
        self.check_rank(actor, &row.value)?;
        self.check_not_last(&row.value).await?;
        self.delete(guard, actor, Document::User(row.value), row.revision)
            .await
    }

    async fn stored_user(&self, actor: &Actor, id: UserId) -> Result<Row<UserRecord>, OpError> {
        let row = self.parts.store.get(actor.tenant_id, id.0).await?;
        row.ok_or_else(|| OpError::not_found("user", id))
    }

    /// An account that may do more than the actor is out of reach: a new password would be a way up.
    fn check_rank(&self, actor: &Actor, user: &UserRecord) -> Result<(), OpError> {
        match user
            .role
            .permissions()
            .into_iter()
            .find(|permission| !actor.may(*permission))
        {
            Some(permission) => Err(OpError::Forbidden(permission)),
            None => Ok(()),
        }
    }

    async fn check_not_last(&self, user: &UserRecord) -> Result<(), OpError> {
        if user.role != Role::SystemAdmin {
            return Ok(());
        }
        let users = self.parts.store.all::<UserRecord>().await?;
        if users
            .iter()
            .any(|u| u.value.role == Role::SystemAdmin && u.value.id != user.id)
        {
            return Ok(());
        }
        Err(OpError::conflict(
            "",
            format!("`{}` is the last system administrator", user.name),
        ))
    }

    async fn view(&self, user: UserRecord) -> Result<UserView, OpError> {
        let last = self.parts.store.last_login(user.id).await?;
        Ok(UserView {
            id: user.id,
            tenant_id: user.tenant_id,
            name: user.name,
            role: user.role,
            last_login: last.and_then(|ms| u64::try_from(ms / 1000).ok()),
        })
    }
}
