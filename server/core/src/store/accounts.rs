//! Accounts, roles, tokens and tenants as they are stored, how they are written, and the look-ups that they need.

use super::apply::{Write, rule};
use super::records::Row;
use super::{Store, StoreError};
use gslb_engine::model::{Permission, Role, RoleId, TenantId, TokenId, UserId};
use serde::{Deserialize, Serialize};
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqliteConnection;
use std::str::FromStr;
use time::OffsetDateTime;
use uuid::Uuid;

/// The role of an account: built in, or its tenant's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RoleRef {
    /// Built in, by its name.
    BuiltIn(Role),
    /// Of the tenant's own, by its id.
    Own(RoleId),
}

impl FromStr for RoleRef {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match Role::parse(text) {
            Some(role) => Ok(Self::BuiltIn(role)),
            None => text.parse().map(Self::Own),
        }
    }
}

fn yes() -> bool {
    true
}

/// A user account with its password hash. Never leaves the crate's callers: views are made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserRecord {
    /// Id.
    pub id: UserId,
    /// Tenant that the account belongs to.
    pub tenant_id: TenantId,
    /// Log-in name, unique over all tenants.
    pub name: String,
    /// What the account may do.
    pub role: RoleRef,
    /// Whether it may be used at all.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// argon2id hash in PHC form.
    pub password_hash: String,
}

impl UserRecord {
    /// Whether it is an account of a system administrator that can be used.
    #[must_use]
    pub fn is_usable_system_admin(&self) -> bool {
        self.enabled && self.role == RoleRef::BuiltIn(Role::SystemAdmin)
    }
}

/// A role of a tenant's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoleRecord {
    /// Id.
    pub id: RoleId,
    /// Its owner.
    pub tenant_id: TenantId,
    /// Name, unique in its tenant.
    pub name: String,
    /// What it allows.
    pub permissions: Vec<Permission>,
}

/// An API token: its hash, never the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenRecord {
    /// Id.
    pub id: TokenId,
    /// Tenant that the token acts in.
    pub tenant_id: TenantId,
    /// Name, unique in its tenant.
    pub name: String,
    /// SHA-256 of the secret, hexadecimal.
    pub hash: String,
    /// First characters of the secret, to tell tokens apart.
    pub hint: String,
    /// What the bearer may do.
    pub permissions: Vec<Permission>,
    /// When the token ends; `None` is never.
    #[serde(with = "time::serde::rfc3339::option", default)]
    pub expires_at: Option<OffsetDateTime>,
    /// The account behind it: the token may do no more than that may, and ends with it. `None` when the bootstrap
    /// token made it, or a version that did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<UserId>,
}

/// A tenant: the owner of everything else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantRecord {
    /// Id.
    pub id: TenantId,
    /// Name, unique.
    pub name: String,
}

/// Tables whose rows belong to a tenant, with what people call them.
const OWNED: [(&str, &str); 7] = [
    ("zones", "zones"),
    ("pools", "pools"),
    ("services", "services"),
    ("users", "accounts"),
    ("roles", "roles"),
    ("tokens", "tokens"),
    ("tsig_keys", "TSIG keys"),
];

pub(super) async fn put_user(
    tx: &mut SqliteConnection,
    write: &Write<'_>,
    user: &UserRecord,
) -> Result<(), StoreError> {
    let old: Option<String> =
        sqlx::query_scalar("SELECT json_extract(document, '$.passwordHash') FROM users WHERE id = ?")
            .bind(write.id)
            .fetch_optional(&mut *tx)
            .await
            .map_err(StoreError::query("read a user"))?;
    let role = match user.role {
        RoleRef::BuiltIn(_) => None,
        RoleRef::Own(id) => Some(id.to_string()),
    };
    sqlx::query(
        "INSERT INTO users (id, tenant_id, name, revision, created_at, updated_at, document, role_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET name = ?3, revision = ?4, updated_at = ?5, document = ?6, role_id = ?7",
    )
    .bind(write.id)
    .bind(write.tenant)
    .bind(&user.name)
    .bind(write.revision)
    .bind(write.time)
    .bind(write.json)
    .bind(role)
    .execute(&mut *tx)
    .await
    .map_err(rule("write a user"))?;
    // With the change, and not after it: nobody goes on in a session whose password or account is no longer good, not
    // even when the account is enabled again.
    if !user.enabled || old.is_some_and(|old| old != user.password_hash) {
        sqlx::query("DELETE FROM sessions WHERE user_id = ?")
            .bind(write.id)
            .execute(tx)
            .await
            .map_err(StoreError::query("end the sessions of a user"))?;
    }
    Ok(())
}

pub(super) async fn put_role(
    tx: &mut SqliteConnection,
    write: &Write<'_>,
    role: &RoleRecord,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO roles (id, tenant_id, name, revision, created_at, updated_at, document)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)
         ON CONFLICT (id) DO UPDATE SET name = ?3, revision = ?4, updated_at = ?5, document = ?6",
    )
    .bind(write.id)
    .bind(write.tenant)
    .bind(&role.name)
    .bind(write.revision)
    .bind(write.time)
    .bind(write.json)
    .execute(tx)
    .await
    .map_err(rule("write a role"))?;
    Ok(())
}

pub(super) async fn put_token(
    tx: &mut SqliteConnection,
    write: &Write<'_>,
    token: &TokenRecord,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO tokens (id, tenant_id, name, hash, revision, created_at, updated_at, document)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET
             name = ?3, hash = ?4, revision = ?5, updated_at = ?6, document = ?7",
    )
    .bind(write.id)
    .bind(write.tenant)
    .bind(&token.name)
    .bind(&token.hash)
    .bind(write.revision)
    .bind(write.time)
    .bind(write.json)
    .execute(tx)
    .await
    .map_err(rule("write a token"))?;
    Ok(())
}

pub(super) async fn put_tenant(
    tx: &mut SqliteConnection,
    write: &Write<'_>,
    tenant: &TenantRecord,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO tenants (id, tenant_id, name, revision, created_at, updated_at, document)
         VALUES (?1, ?1, ?2, ?3, ?4, ?4, ?5)
         ON CONFLICT (id) DO UPDATE SET name = ?2, revision = ?3, updated_at = ?4, document = ?5",
    )
    .bind(write.id)
    .bind(&tenant.name)
    .bind(write.revision)
    .bind(write.time)
    .bind(write.json)
    .execute(tx)
    .await
    .map_err(rule("write a tenant"))?;
    Ok(())
}

impl Store {
    /// The user with a log-in name. Names that differ in case alone are one account; of two that an older version let
    /// in, each is found by its own spelling.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn user_by_name(&self, name: &str) -> Result<Option<Row<UserRecord>>, StoreError> {
        if let Some(row) = self.one("name", name).await? {
            return Ok(Some(row));
        }
        let folded = name.to_lowercase();
        let users: Vec<(String, String)> = sqlx::query_as("SELECT id, name FROM users")
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("look for an account"))?;
        match users
            .into_iter()
            .find(|(_, other)| other.to_lowercase() == folded)
        {
            Some((id, _)) => self.one("id", &id).await,
            None => Ok(None),
        }
    }

    /// The user with an id, in whatever tenant.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn user_by_id(&self, id: Uuid) -> Result<Option<Row<UserRecord>>, StoreError> {
        self.one("id", &id.to_string()).await
    }

    /// The token with the hash of a secret.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn token_by_hash(&self, hash: &str) -> Result<Option<Row<TokenRecord>>, StoreError> {
        self.one("hash", hash).await
    }

    /// A token by its id, in whatever tenant.
    ///
    /// # Errors
    /// The database fails, or the document does not fit its type.
    pub async fn token_by_id(&self, id: TokenId) -> Result<Option<Row<TokenRecord>>, StoreError> {
        self.one("id", &id.to_string()).await
    }

    /// A role by its id, in whatever tenant.
    ///
    /// # Errors
    /// As for [`token_by_id`](Self::token_by_id).
    pub async fn role_by_id(&self, id: RoleId) -> Result<Option<Row<RoleRecord>>, StoreError> {
        self.one("id", &id.to_string()).await
    }

    /// A tenant by its id.
    ///
    /// # Errors
    /// As for [`token_by_id`](Self::token_by_id).
    pub async fn tenant(&self, id: TenantId) -> Result<Option<Row<TenantRecord>>, StoreError> {
        self.one("id", &id.to_string()).await
    }

    /// A tenant by its id or its name.
    ///
    /// # Errors
    /// As for [`token_by_id`](Self::token_by_id).
    pub async fn tenant_named(&self, text: &str) -> Result<Option<Row<TenantRecord>>, StoreError> {
        if let Ok(id) = Uuid::parse_str(text) {
            return self.tenant(TenantId(id)).await;
        }
        self.one("name", text).await
    }

    /// What an account may do now: nothing while it is disabled.
    ///
    /// # Errors
    /// As for [`token_by_id`](Self::token_by_id).
    pub async fn permissions_of(&self, user: &UserRecord) -> Result<Vec<Permission>, StoreError> {
        if !user.enabled {
            return Ok(Vec::new());
        }
        self.permissions_of_role(user.role).await
    }

    /// What a role allows.
    ///
    /// # Errors
    /// As for [`token_by_id`](Self::token_by_id).
    pub async fn permissions_of_role(&self, role: RoleRef) -> Result<Vec<Permission>, StoreError> {
        match role {
            RoleRef::BuiltIn(role) => Ok(role.permissions()),
            RoleRef::Own(id) => {
                let row = self.role_by_id(id).await?;
                Ok(row.map(|row| row.value.permissions).unwrap_or_default())
            }
        }
    }

    /// Roles of a tenant's own, by name.
    ///
    /// # Errors
    /// As for [`token_by_id`](Self::token_by_id).
    pub async fn own_roles(&self, tenant: TenantId) -> Result<Vec<Row<RoleRecord>>, StoreError> {
        let mut roles = self.all::<RoleRecord>().await?;
        roles.retain(|row| row.value.tenant_id == tenant);
        roles.sort_by(|a, b| a.value.name.cmp(&b.value.name));
        Ok(roles)
    }

    /// How many accounts have a role of a tenant's own.
    ///
    /// # Errors
    /// The database fails.
    pub async fn users_with_role(&self, role: RoleId) -> Result<u64, StoreError> {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM users WHERE role_id = ?")
            .bind(role.to_string())
            .fetch_one(&self.readers)
            .await
            .map_err(StoreError::query("count the accounts of a role"))?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// What a tenant still owns, in words: `2 zones`, `1 accounts`.
    ///
    /// # Errors
    /// The database fails.
    pub async fn belongings(&self, tenant: TenantId) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        for (table, what) in OWNED {
            let sql = format!("SELECT COUNT(*) FROM {table} WHERE tenant_id = ?");
            let count: i64 = sqlx::query_scalar(AssertSqlSafe(sql))
                .bind(tenant.to_string())
                .fetch_one(&self.readers)
                .await
                .map_err(StoreError::query("count what a tenant owns"))?;
            if count > 0 {
                found.push(format!("{count} {what}"));
            }
        }
        Ok(found)
    }
}
