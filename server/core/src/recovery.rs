//! The way back in when nobody can log in: whoever may write the database file may open an account in it.

use crate::auth::{password, secret};
use crate::clock::Clock;
use crate::error::OpError;
use crate::store::{
    Action, Audit, Change, ConfigLog, Document, RoleRef, Store, StoreError, TenantRecord, UserRecord,
};
use gslb_engine::model::{Actor, ErrorCode};
use std::path::Path;

/// Name of the one who does it, in the audit trail.
const ACTOR: &str = "gslbd user reset";

/// An account, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Log-in name.
    pub name: String,
    /// Name of its role.
    pub role: String,
    /// Name of its tenant.
    pub tenant: String,
    /// Whether it may be used.
    pub enabled: bool,
}

/// The accounts in the database of a daemon that runs, or does not.
#[derive(Debug)]
pub struct Recovery {
    store: Store,
    clock: Clock,
}

impl Recovery {
    /// Opens the database, which must be there.
    ///
    /// # Errors
    /// It is not, or cannot be opened.
    pub async fn open(path: &Path, clock: Clock) -> Result<Self, StoreError> {
        let store = Store::open_beside(path).await?;
        Ok(Self { store, clock })
    }

    /// Every account, by name.
    ///
    /// # Errors
    /// The database fails.
    pub async fn accounts(&self) -> Result<Vec<Account>, OpError> {
        let tenants = self.store.all::<TenantRecord>().await?;
        let mut accounts = Vec::new();
        for row in self.store.all::<UserRecord>().await? {
            let user = row.value;
            let tenant = tenants.iter().find(|tenant| tenant.value.id == user.tenant_id);
            accounts.push(Account {
                role: match user.role {
                    RoleRef::BuiltIn(role) => role.as_str().to_owned(),
                    RoleRef::Own(id) => match self.store.role_by_id(id).await? {
                        Some(role) => role.value.name,
                        None => id.to_string(),
                    },
                },
                tenant: tenant.map_or_else(|| user.tenant_id.to_string(), |row| row.value.name.clone()),
                name: user.name,
                enabled: user.enabled,
            });
        }
        accounts.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(accounts)
    }

    /// Gives an account a password and enables it; its sessions end. Without one, a password is made up. Gives back the
    /// password that was made up.
    ///
    /// # Errors
    /// [`OpError::NotFound`], [`OpError::Invalid`] for a weak password; the database fails.
    pub async fn reset(&self, name: &str, chosen: Option<&str>) -> Result<Option<String>, OpError> {
        let row = self.store.user_by_name(name.trim()).await?;
        let row = row.ok_or_else(|| OpError::not_found("account", name))?;
        if let Some((code, message)) =
            chosen.and_then(|password| crate::ops::weakness(&row.value.name, password))
        {
            return Err(OpError::invalid("password", code, message));
        }
        let made_up = match chosen {
            Some(_) => None,
            None => Some(secret::new_password().map_err(OpError::internal)?),
        };
        let password = chosen.or(made_up.as_deref()).unwrap_or_default();
        if password.is_empty() {
            return Err(OpError::invalid("password", ErrorCode::Required, "must be given"));
        }
        let user = UserRecord {
            enabled: true,
            password_hash: password::hash(password).await.map_err(OpError::internal)?,
            ..row.value.clone()
        };
        let tenant_id = user.tenant_id;
        let (before, after) = (Document::User(row.value), Document::User(user));
        let audit = Audit {
            actor: Actor {
                name: ACTOR.to_owned(),
                ..Actor::system()
            },
            time: self.clock.now(),
            action: "updated",
            before: Some(before.to_audit()),
            after: Some(after.to_audit()),
        };
        let change = Change {
            tenant_id,
            expected: Some(row.revision),
            action: Action::Put(after),
            audit,
        };
        ConfigLog::alone(self.store.clone()).commit(change).await?;
        Ok(made_up)
    }

    /// Closes the database.
    pub async fn close(&self) {
        self.store.close().await;
    }
}
