//! Applies one change: rows, member index, claim, zone serial, audit row and revision, in one transaction.

use super::accounts::{put_role, put_tenant, put_token, put_user};
use super::change::{Action, Change, Document, ObjectKind, ZoneRecords};
use super::serials::{bump_above, bump_around, bump_for_pool, bump_zone, name_of_zone, transferred_of};
use super::zone_records::put_record;
use super::{Store, StoreError};
use crate::clock::to_millis;
use sqlx::sqlite::{Sqlite, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, Transaction};
use std::sync::Arc;

/// Turns a broken constraint into [`StoreError::Rule`].
pub(super) fn rule(context: &'static str) -> impl FnOnce(sqlx::Error) -> StoreError {
    move |source| match source.as_database_error() {
        Some(error) if !matches!(error.kind(), sqlx::error::ErrorKind::Other) => StoreError::Rule {
            rule: error.message().to_owned(),
        },
        _ => StoreError::Query { context, source },
    }
}

/// What the row of every aggregate says.
pub(super) struct Write<'a> {
    pub(super) id: &'a str,
    pub(super) tenant: &'a str,
    pub(super) revision: i64,
    /// Unix milliseconds.
    pub(super) time: i64,
    pub(super) json: &'a str,
}

fn table(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Zone => "zones",
        ObjectKind::Pool => "pools",
        ObjectKind::Service => "services",
        ObjectKind::Record => "records",
        ObjectKind::Dnssec => "dnssec",
        ObjectKind::TsigKey => "tsig_keys",
        ObjectKind::User => "users",
        ObjectKind::Role => "roles",
        ObjectKind::Token => "tokens",
        ObjectKind::Tenant => "tenants",
        ObjectKind::License => "license",
    }
}

fn signed(revision: u64) -> i64 {
    i64::try_from(revision).unwrap_or(i64::MAX)
}

impl Store {
    /// Applies at the next revision and says which that was.
    pub(super) async fn apply_next(&self, change: &Change) -> Result<u64, StoreError> {
        self.apply_with(None, change).await.map(|(revision, _)| revision)
    }

    /// Applies at a given revision; false when that revision was applied before.
    pub(super) async fn apply_at(&self, revision: u64, change: &Change) -> Result<bool, StoreError> {
        self.apply_with(Some(revision), change)
            .await
            .map(|(_, applied)| applied)
    }

    /// Applies changes one after the other, each at a revision of its own, all or none; says which the last one was.
    pub(super) async fn apply_all(&self, changes: &[Arc<Change>]) -> Result<u64, StoreError> {
        let mut connection = self.writer().await?;
        let result = Self::apply_many(&mut connection, changes).await;
        if let Err(error) = &result {
            error.leave(&mut connection);
        }
        result
    }

    async fn apply_many(
        connection: &mut SqliteConnection,
        changes: &[Arc<Change>],
    ) -> Result<u64, StoreError> {
        let mut tx = begin(connection).await?;
        let mut revision = last_revision(&mut tx).await?;
        for change in changes {
            revision += 1;
            apply(&mut tx, revision, change).await?;
        }
        tx.commit().await.map_err(rule("commit"))?;
        Ok(revision)
    }

    async fn apply_with(&self, at: Option<u64>, change: &Change) -> Result<(u64, bool), StoreError> {
        let mut connection = self.writer().await?;
        let result = Self::apply_on(&mut connection, at, change).await;
        if let Err(error) = &result {
            error.leave(&mut connection);
        }
        result
    }

    async fn apply_on(
        connection: &mut SqliteConnection,
        at: Option<u64>,
        change: &Change,
    ) -> Result<(u64, bool), StoreError> {
        let mut tx = begin(connection).await?;
        let last = last_revision(&mut tx).await?;
        let revision = at.unwrap_or(last + 1);
        if revision <= last {
            return Ok((revision, false));
        }
        apply(&mut tx, revision, change).await?;
        tx.commit().await.map_err(rule("commit"))?;
        Ok((revision, true))
    }
}

/// IMMEDIATE: the lock is taken before anything is read, so that a read cannot be outdated by the write.
async fn begin(connection: &mut SqliteConnection) -> Result<Transaction<'_, Sqlite>, StoreError> {
    connection
        .begin_with("BEGIN IMMEDIATE")
        .await
        .map_err(StoreError::query("begin"))
}

async fn last_revision(tx: &mut SqliteConnection) -> Result<u64, StoreError> {
    let last: i64 = sqlx::query_scalar("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'revision'")
        .fetch_one(tx)
        .await
        .map_err(StoreError::query("read the revision"))?;
    Ok(u64::try_from(last).unwrap_or_default())
}

/// Rows, audit row and revision of one change.
async fn apply(tx: &mut SqliteConnection, revision: u64, change: &Change) -> Result<(), StoreError> {
    expect(&mut *tx, change).await?;
    match &change.action {
        Action::Put(document) => put(&mut *tx, revision, change, document).await?,
        Action::Delete(document) => delete(&mut *tx, document).await?,
        Action::Records(ZoneRecords {
            zone,
            put: sets,
            removed,
        }) => {
            put(&mut *tx, revision, change, zone).await?;
            for set in removed {
                remove(&mut *tx, "records", &set.id.to_string()).await?;
            }
            for set in sets {
                put_record(&mut *tx, signed(revision), change, set).await?;
            }
        }
    }
    audit(&mut *tx, revision, change).await?;
    sqlx::query("UPDATE meta SET value = ? WHERE key = 'revision'")
        .bind(revision.to_string())
        .execute(tx)
        .await
        .map_err(StoreError::query("write the revision"))?;
    Ok(())
}

async fn expect(tx: &mut SqliteConnection, change: &Change) -> Result<(), StoreError> {
    let document = change.action.document();
    let kind = document.kind();
    let sql = format!("SELECT revision FROM {} WHERE id = ?", table(kind));
    let current: Option<i64> = sqlx::query_scalar(AssertSqlSafe(sql))
        .bind(document.id().to_string())
        .fetch_optional(tx)
        .await
        .map_err(StoreError::query("read an object's revision"))?;
    let current = current.and_then(|r| u64::try_from(r).ok());
    if current == change.expected {
        Ok(())
    } else {
        Err(StoreError::Revision {
            kind: kind.as_str(),
            current,
        })
    }
}

async fn put(
    tx: &mut SqliteConnection,
    revision: u64,
    change: &Change,
    document: &Document,
) -> Result<(), StoreError> {
    let id = document.id().to_string();
    let tenant = change.tenant_id.to_string();
    let json = document.to_json().map_err(|source| StoreError::Document {
        kind: document.kind().as_str(),
        id: id.clone(),
        source,
    })?;
    let time = to_millis(change.audit.time);
    let revision = signed(revision);
    let write = Write {
        id: &id,
        tenant: &tenant,
        revision,
        time,
        json: &json,
    };
    match document {
        Document::Zone(zone) => {
            let old = name_of_zone(&mut *tx, zone.id).await?;
            sqlx::query(
                "INSERT INTO zones (id, tenant_id, name, revision, created_at, updated_at, document)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)
                 ON CONFLICT (id) DO UPDATE SET name = ?3, revision = ?4, updated_at = ?5, document = ?6",
            )
            .bind(&id)
            .bind(&tenant)
            .bind(zone.name.as_str())
            .bind(revision)
            .bind(time)
            .bind(&json)
            .execute(&mut *tx)
            .await
            .map_err(rule("write a zone"))?;
            // Names have come into this zone, or left it, for that above.
            if old.as_deref() != Some(zone.name.as_str()) {
                bump_above(&mut *tx, zone.name.as_str()).await?;
                if let Some(old) = old {
                    bump_above(tx, &old).await?;
                }
            }
        }
        Document::Pool(pool) => {
            let old = transferred_of(&mut *tx, pool.id).await?;
            sqlx::query(
                "INSERT INTO pools (id, tenant_id, name, revision, created_at, updated_at, document)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)
                 ON CONFLICT (id) DO UPDATE SET name = ?3, revision = ?4, updated_at = ?5, document = ?6",
            )
            .bind(&id)
            .bind(&tenant)
            .bind(&pool.name)
            .bind(revision)
            .bind(time)
            .bind(&json)
            .execute(&mut *tx)
            .await
            .map_err(rule("write a pool"))?;
            sqlx::query("DELETE FROM members WHERE pool_id = ?")
                .bind(&id)
                .execute(&mut *tx)
                .await
                .map_err(rule("clear the members of a pool"))?;
            for member in &pool.members {
                sqlx::query("INSERT INTO members (id, pool_id) VALUES (?, ?)")
                    .bind(member.id.to_string())
                    .bind(&id)
                    .execute(&mut *tx)
                    .await
                    .map_err(rule("write a member"))?;
            }
            if old.is_some_and(|old| old != pool.transferred()) {
                bump_for_pool(tx, pool.id).await?;
            }
        }
        Document::Service(service) => {
            let old: Option<String> = sqlx::query_scalar("SELECT domain FROM services WHERE id = ?")
                .bind(&id)
                .fetch_optional(&mut *tx)
                .await
                .map_err(StoreError::query("read a service"))?;
            sqlx::query(
                "INSERT INTO services
                     (id, tenant_id, name, domain, pool_id, revision, created_at, updated_at, document)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
                 ON CONFLICT (id) DO UPDATE SET
                     name = ?3, domain = ?4, pool_id = ?5, revision = ?6, updated_at = ?7, document = ?8",
            )
            .bind(&id)
            .bind(&tenant)
            .bind(&service.name)
            .bind(service.domain.as_str())
            .bind(service.pool_id.to_string())
            .bind(revision)
            .bind(time)
            .bind(&json)
            .execute(&mut *tx)
            .await
            .map_err(rule("write a service"))?;
            sqlx::query("DELETE FROM claims WHERE service_id = ?")
                .bind(&id)
                .execute(&mut *tx)
                .await
                .map_err(rule("release a claim"))?;
            sqlx::query("INSERT INTO claims (domain, tenant_id, service_id) VALUES (?, ?, ?)")
                .bind(service.domain.as_str())
                .bind(&tenant)
                .bind(&id)
                .execute(&mut *tx)
                .await
                .map_err(rule("claim a domain"))?;
            bump_around(tx, service.domain.as_str()).await?;
            if let Some(old) = old.filter(|old| old != service.domain.as_str()) {
                bump_around(tx, &old).await?;
            }
        }
        Document::Record(set) => {
            put_record(tx, revision, change, set).await?;
            bump_zone(tx, set.zone_id).await?;
        }
        Document::Dnssec(keys) => {
            sqlx::query(
                "INSERT INTO dnssec (id, tenant_id, revision, created_at, updated_at, document)
                 VALUES (?1, ?2, ?3, ?4, ?4, ?5)
                 ON CONFLICT (id) DO UPDATE SET revision = ?3, updated_at = ?4, document = ?5",
            )
            .bind(&id)
            .bind(&tenant)
            .bind(revision)
            .bind(time)
            .bind(&json)
            .execute(&mut *tx)
            .await
            .map_err(rule("write the keys of a zone"))?;
            bump_zone(tx, keys.zone_id).await?;
        }
        Document::TsigKey(key) => {
            sqlx::query(
                "INSERT INTO tsig_keys (id, tenant_id, name, revision, created_at, updated_at, document)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)
                 ON CONFLICT (id) DO UPDATE SET name = ?3, revision = ?4, updated_at = ?5, document = ?6",
            )
            .bind(&id)
            .bind(&tenant)
            .bind(key.name.to_string())
            .bind(revision)
            .bind(time)
            .bind(&json)
            .execute(tx)
            .await
            .map_err(rule("write a TSIG key"))?;
        }
        Document::User(user) => put_user(tx, &write, user).await?,
        Document::Role(role) => put_role(tx, &write, role).await?,
        Document::Token(token) => put_token(tx, &write, token).await?,
        Document::Tenant(tenant) => put_tenant(tx, &write, tenant).await?,
        Document::License(_) => {
            sqlx::query(
                "INSERT INTO license (id, revision, created_at, updated_at, document) VALUES (?1, ?2, ?3, ?3, ?4)
                 ON CONFLICT (id) DO UPDATE SET revision = ?2, updated_at = ?3, document = ?4",
            )
            .bind(&id)
            .bind(revision)
            .bind(time)
            .bind(&json)
            .execute(tx)
            .await
            .map_err(rule("write the licence"))?;
        }
    }
    Ok(())
}

async fn delete(tx: &mut SqliteConnection, document: &Document) -> Result<(), StoreError> {
    remove(tx, table(document.kind()), &document.id().to_string()).await?;
    match document {
        Document::Zone(zone) => bump_above(tx, zone.name.as_str()).await,
        Document::Service(service) => bump_around(tx, service.domain.as_str()).await,
        Document::Record(set) => bump_zone(tx, set.zone_id).await,
        Document::Dnssec(keys) => bump_zone(tx, keys.zone_id).await,
        _ => Ok(()),
    }
}

async fn remove(tx: &mut SqliteConnection, table: &str, id: &str) -> Result<(), StoreError> {
    sqlx::query(AssertSqlSafe(format!("DELETE FROM {table} WHERE id = ?")))
        .bind(id)
        .execute(tx)
        .await
        .map_err(rule("delete an object"))?;
    Ok(())
}

async fn audit(tx: &mut SqliteConnection, revision: u64, change: &Change) -> Result<(), StoreError> {
    let audit = &change.audit;
    let document = change.action.document();
    let actor = serde_json::to_string(&audit.actor.kind).map_err(|source| StoreError::Document {
        kind: "actor",
        id: audit.actor.name.clone(),
        source,
    })?;
    sqlx::query(
        "INSERT INTO audit (revision, time, tenant_id, actor, actor_name, source, action,
                            object_kind, object_id, object_name, before, after)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(signed(revision))
    .bind(to_millis(audit.time))
    .bind(change.tenant_id.to_string())
    .bind(actor)
    .bind(&audit.actor.name)
    .bind(audit.actor.from.map(|ip| ip.to_string()))
    .bind(audit.action)
    .bind(document.kind().as_str())
    .bind(document.id().to_string())
    .bind(document.name())
    .bind(audit.before.as_ref().map(ToString::to_string))
    .bind(audit.after.as_ref().map(ToString::to_string))
    .execute(tx)
    .await
    .map_err(StoreError::query("write the audit row"))?;
    Ok(())
}
