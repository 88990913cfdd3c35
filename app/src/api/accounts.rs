//! Accounts, roles, tokens, sessions, tenants.

use crate::failure::Failure;
use crate::form::Sent;
#[cfg(feature = "ssr")]
use crate::form::{Form as _, finish, invalid, revision};
use crate::forms::{RoleForm, Target, TenantForm, TokenForm, UserChange, UserForm};
use gslb_api_types::{
    ListQuery, OpenSession, Page, RoleView, SessionView, Stored, TenantView, TokenCreated, TokenView,
    UserView,
};
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use serde::{Deserialize, Serialize};

/// The page of accounts and roles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Users {
    /// One page of accounts.
    pub users: Page<Stored<UserView>>,
    /// All roles.
    pub roles: Vec<RoleView>,
    /// Who asks.
    pub session: SessionView,
}

/// The page of one account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The account.
    pub user: Stored<UserView>,
    /// All roles.
    pub roles: Vec<RoleView>,
    /// Its sessions.
    pub sessions: Vec<OpenSession>,
    /// Who asks.
    pub session: SessionView,
}

/// The page of tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// One page of tokens.
    pub tokens: Page<Stored<TokenView>>,
    /// The one that was just made, with its secret: told once.
    pub created: Option<TokenCreated>,
    /// Who asks.
    pub session: SessionView,
}

/// The page of tenants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenants {
    /// One page of tenants.
    pub tenants: Page<Stored<TenantView>>,
    /// Who asks, and where.
    pub session: SessionView,
}

/// An address that differs from the one of the time before, so that a page which is there already asks anew.
#[cfg(feature = "ssr")]
fn fresh(path: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("{path}&n={}", now.map_or(0, |time| time.as_millis()))
}

/// Accounts and roles.
#[server(prefix = "/rpc", endpoint = "users", input = Json)]
pub async fn load_users(query: ListQuery) -> Result<Users, Failure> {
    let backend = super::backend()?;
    Ok(Users {
        users: backend.users(query).await?,
        roles: backend.roles().await?,
        session: backend.session().await?,
    })
}

/// One account.
#[server(prefix = "/rpc", endpoint = "user", input = Json)]
pub async fn load_user(id: String) -> Result<User, Failure> {
    let backend = super::backend()?;
    let id = super::id("account", &id)?;
    Ok(User {
        user: backend.user(id).await?,
        roles: backend.roles().await?,
        sessions: backend.sessions(Some(id)).await?,
        session: backend.session().await?,
    })
}

/// Makes an account. Passwords never travel back in an address.
#[server(prefix = "/rpc", endpoint = "create-user")]
pub async fn create_user(form: UserForm) -> Sent {
    let problems = form.problems();
    let result = if problems.is_empty() {
        super::backend()?.create_user(form.draft()).await
    } else {
        Err(invalid(problems))
    };
    let kept = UserForm {
        password: String::new(),
        ..form
    };
    finish(
        result.map(drop),
        &kept,
        &fresh("/users?done=created"),
        "/users#user-form",
    )
}

/// Changes an account.
#[server(prefix = "/rpc", endpoint = "change-user")]
pub async fn change_user(form: UserChange) -> Sent {
    let problems = form.problems();
    let page = format!("/users/{}", form.id);
    let result = match super::id("account", &form.id) {
        Ok(id) if problems.is_empty() => {
            let expected = revision(&form.revision);
            super::backend()?.change_user(id, form.draft(), expected).await
        }
        Ok(_) => Err(invalid(problems)),
        Err(error) => Err(error),
    };
    let kept = UserChange {
        password: String::new(),
        ..form
    };
    finish(result.map(drop), &kept, &fresh("/users?done=changed"), &page)
}

/// Deletes an account.
#[server(prefix = "/rpc", endpoint = "delete-user")]
pub async fn delete_user(form: Target) -> Sent {
    let page = format!("/users/{}", form.id);
    let result = match super::id("account", &form.id) {
        Ok(id) => super::backend()?.delete_user(id).await,
        Err(error) => Err(error),
    };
    finish(result, &form, &fresh("/users?done=deleted"), &page)
}

/// Makes a role.
#[server(prefix = "/rpc", endpoint = "create-role")]
pub async fn create_role(form: RoleForm) -> Sent {
    let problems = form.problems();
    let result = if problems.is_empty() {
        super::backend()?.create_role(form.draft()).await
    } else {
        Err(invalid(problems))
    };
    finish(
        result.map(drop),
        &form,
        &fresh("/users?done=role"),
        "/users#role-form",
    )
}

/// Deletes a role.
#[server(prefix = "/rpc", endpoint = "delete-role")]
pub async fn delete_role(form: Target) -> Sent {
    let result = super::backend()?.delete_role(form.id.clone()).await;
    finish(result, &form, &fresh("/users?done=role-deleted"), "/users#roles")
}

/// Tokens, and the secret of the one that was just made.
#[server(prefix = "/rpc", endpoint = "tokens", input = Json)]
pub async fn load_tokens(query: ListQuery) -> Result<Tokens, Failure> {
    let backend = super::backend()?;
    Ok(Tokens {
        tokens: backend.tokens(query).await?,
        created: backend.take_created().await?,
        session: backend.session().await?,
    })
}

/// Makes a token.
#[server(prefix = "/rpc", endpoint = "create-token")]
pub async fn create_token(form: TokenForm) -> Sent {
    let problems = form.problems();
    let (draft, _) = form.draft();
    let result = if problems.is_empty() {
        super::backend()?.create_token(draft).await
    } else {
        Err(invalid(problems))
    };
    finish(
        result,
        &form,
        &fresh("/tokens?done=created"),
        "/tokens#token-form",
    )
}

/// Revokes a token.
#[server(prefix = "/rpc", endpoint = "delete-token")]
pub async fn delete_token(form: Target) -> Sent {
    let result = match super::id("token", &form.id) {
        Ok(id) => super::backend()?.delete_token(id).await,
        Err(error) => Err(error),
    };
    finish(result, &form, &fresh("/tokens?done=deleted"), "/tokens")
}

/// The caller's own sessions.
#[server(prefix = "/rpc", endpoint = "sessions", input = Json)]
pub async fn load_sessions() -> Result<Vec<OpenSession>, Failure> {
    Ok(super::backend()?.sessions(None).await?)
}

/// Ends a session.
#[server(prefix = "/rpc", endpoint = "end-session")]
pub async fn end_session(form: Target) -> Sent {
    let result = match super::id("session", &form.id) {
        Ok(id) => super::backend()?.end_session(id).await,
        Err(error) => Err(error),
    };
    finish(result, &form, &fresh("/sessions?done=ended"), "/sessions")
}

/// Tenants.
#[server(prefix = "/rpc", endpoint = "tenants", input = Json)]
pub async fn load_tenants(query: ListQuery) -> Result<Tenants, Failure> {
    let backend = super::backend()?;
    Ok(Tenants {
        tenants: backend.tenants(query).await?,
        session: backend.session().await?,
    })
}

/// Makes a tenant.
#[server(prefix = "/rpc", endpoint = "create-tenant")]
pub async fn create_tenant(form: TenantForm) -> Sent {
    let problems = form.problems();
    let result = if problems.is_empty() {
        super::backend()?.create_tenant(form.draft()).await
    } else {
        Err(invalid(problems))
    };
    finish(
        result.map(drop),
        &form,
        &fresh("/tenants?done=created"),
        "/tenants#tenant-form",
    )
}

/// Deletes a tenant.
#[server(prefix = "/rpc", endpoint = "delete-tenant")]
pub async fn delete_tenant(form: Target) -> Sent {
    let result = match super::id("tenant", &form.id) {
        Ok(id) => super::backend()?.delete_tenant(id).await,
        Err(error) => Err(error),
    };
    finish(result, &form, &fresh("/tenants?done=deleted"), "/tenants")
}

/// Acts in another tenant from now on. Sent by the browser itself, so that the whole console starts anew there.
#[server(prefix = "/rpc", endpoint = "pick-tenant")]
pub async fn pick_tenant(form: Target) -> Result<(), Failure> {
    super::backend()?.pick_tenant(form.id).await?;
    leptos_axum::redirect("/");
    Ok(())
}
