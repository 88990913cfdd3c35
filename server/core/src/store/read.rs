//! Reads of single aggregates, and of the whole configuration at start.

use super::accounts::{RoleRecord, TenantRecord, TokenRecord, UserRecord};
use super::change::ObjectKind;
use super::records::{KeysRecord, LicenseRecord, Row, TsigKeyRecord};
use super::{Store, StoreError};
use crate::clock::from_millis;
use gslb_engine::model::{MemberId, Pool, PoolId, RecordSet, Service, ServiceId, TenantId, Zone};
use serde::de::DeserializeOwned;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, FromRow};
use std::str::FromStr;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// A type that is stored as one document in one table.
pub trait Aggregate: DeserializeOwned + Send + Unpin {
    /// Kind, for messages.
    const KIND: ObjectKind;
    /// Table.
    const TABLE: &'static str;
}

macro_rules! aggregates {
    ($($type:ty = $kind:ident in $table:literal;)+) => {
        $(impl Aggregate for $type {
            const KIND: ObjectKind = ObjectKind::$kind;
            const TABLE: &'static str = $table;
        })+
    };
}

aggregates! {
    Zone = Zone in "zones";
    Pool = Pool in "pools";
    Service = Service in "services";
    RecordSet = Record in "records";
    KeysRecord = Dnssec in "dnssec";
    TsigKeyRecord = TsigKey in "tsig_keys";
    UserRecord = User in "users";
    RoleRecord = Role in "roles";
    TokenRecord = Token in "tokens";
    TenantRecord = Tenant in "tenants";
    LicenseRecord = License in "license";
}

/// Columns that every aggregate's table has.
#[derive(FromRow)]
pub(super) struct RawRow {
    pub(super) id: String,
    revision: i64,
    created_at: i64,
    updated_at: i64,
    document: String,
}

pub(super) const COLUMNS: &str = "id, revision, created_at, updated_at, document";

impl RawRow {
    pub(super) fn read<T: Aggregate>(self) -> Result<Row<T>, StoreError> {
        let value = serde_json::from_str(&self.document).map_err(|source| StoreError::Document {
            kind: T::KIND.as_str(),
            id: self.id,
            source,
        })?;
        Ok(Row {
            value,
            revision: u64::try_from(self.revision).unwrap_or_default(),
            created_at: from_millis(self.created_at),
            updated_at: from_millis(self.updated_at),
        })
    }
}

/// Everything that a snapshot is compiled from, and the revision it stands at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Zones of all tenants.
    pub zones: Vec<Zone>,
    /// Pools of all tenants.
    pub pools: Vec<Pool>,
    /// Services of all tenants.
    pub services: Vec<Service>,
    /// Static records of all tenants.
    pub records: Vec<RecordSet>,
    /// Keys of the zones that are signed.
    pub keys: Vec<KeysRecord>,
    /// TSIG keys of all tenants.
    pub tsig_keys: Vec<TsigKeyRecord>,
    /// Revision of the last change in it.
    pub revision: u64,
}

/// Documents that are read at once. A million rows one by one take longer to hand over than to read.
const PAGE: u32 = 256;

/// The documents of a table, in the order in which they lie there.
async fn documents<T: Aggregate + 'static>(tx: &mut SqliteConnection) -> Result<Vec<T>, StoreError> {
    let sql = format!(
        "SELECT MAX(place), COUNT(*), '[' || group_concat(document, ',') || ']'
         FROM (SELECT rowid AS place, document FROM {} WHERE rowid > ? ORDER BY rowid LIMIT {PAGE})",
        T::TABLE
    );
    let context = "read the configuration";
    let (mut all, mut from) = (Vec::new(), i64::MIN);
    // One page is parsed while the next one is read.
    let mut parsing: Option<JoinHandle<Result<Vec<T>, serde_json::Error>>> = None;
    loop {
        let (last, count, text): (Option<i64>, i64, Option<String>) =
            sqlx::query_as(AssertSqlSafe(sql.as_str()))
                .bind(from)
                .fetch_one(&mut *tx)
                .await
                .map_err(StoreError::query(context))?;
        let parsed = match parsing.take() {
            Some(parsing) => parsing.await,
            None => Ok(Ok(Vec::new())),
        };
        let Ok(Ok(parsed)) = parsed else {
            return Err(unreadable::<T>(tx).await);
        };
        all.extend(parsed);
        let (Some(last), Some(text)) = (last, text) else {
            return Ok(all);
        };
        from = last;
        parsing = Some(tokio::task::spawn_blocking(move || {
            let page: Vec<T> = serde_json::from_str(&text)?;
            // Of documents that are none by themselves, several might look like others.
            match usize::try_from(count) {
                Ok(count) if count == page.len() => Ok(page),
                _ => Err(serde::de::Error::custom("not as many documents as rows")),
            }
        }));
    }
}

/// Says which document of a table cannot be read.
async fn unreadable<T: Aggregate>(tx: &mut SqliteConnection) -> StoreError {
    let sql = format!("SELECT {COLUMNS} FROM {} ORDER BY rowid", T::TABLE);
    let rows = sqlx::query_as::<_, RawRow>(AssertSqlSafe(sql))
        .fetch_all(tx)
        .await;
    let rows = match rows {
        Ok(rows) => rows,
        Err(source) => {
            return StoreError::Query {
                context: "read the configuration",
                source,
            };
        }
    };
    let wrong = rows.into_iter().find_map(|row| row.read::<T>().err());
    wrong.unwrap_or_else(|| StoreError::Document {
        kind: T::KIND.as_str(),
        id: "?".to_owned(),
        source: serde::de::Error::custom("its page does not hold what its rows hold"),
    })
}

impl Store {
    /// One object of one tenant.
    ///
    /// # Errors
    /// The database fails, or the document does not fit its type.
    pub async fn get<T: Aggregate>(&self, tenant: TenantId, id: Uuid) -> Result<Option<Row<T>>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {} WHERE id = ? AND tenant_id = ?",
            T::TABLE
        );
        let row: Option<RawRow> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(id.to_string())
            .bind(tenant.to_string())
            .fetch_optional(&self.readers)
            .await
            .map_err(StoreError::query("read an object"))?;
        row.map(RawRow::read).transpose()
    }

    /// Every object of a kind, over all tenants.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn all<T: Aggregate>(&self) -> Result<Vec<Row<T>>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM {} ORDER BY id", T::TABLE);
        let rows: Vec<RawRow> = sqlx::query_as(AssertSqlSafe(sql))
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("read all objects"))?;
        rows.into_iter().map(RawRow::read).collect()
    }

    /// Zones with their records, pools and services as of one revision.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn configuration(&self) -> Result<Configuration, StoreError> {
        // One transaction: the tables and the revision belong together.
        let mut tx = self.readers.begin().await.map_err(StoreError::query("begin"))?;
        let mut configuration = Configuration::default();
        let revision: String = sqlx::query_scalar("SELECT value FROM meta WHERE key = 'revision'")
            .fetch_one(&mut *tx)
            .await
            .map_err(StoreError::query("read the revision"))?;
        configuration.revision = revision.parse().unwrap_or_default();
        configuration.zones = documents(&mut tx).await?;
        configuration.pools = documents(&mut tx).await?;
        configuration.services = documents(&mut tx).await?;
        configuration.records = documents(&mut tx).await?;
        configuration.keys = documents(&mut tx).await?;
        configuration.tsig_keys = documents(&mut tx).await?;
        Ok(configuration)
    }

    /// The stored licence.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn license(&self) -> Result<Option<Row<LicenseRecord>>, StoreError> {
        Ok(self.all::<LicenseRecord>().await?.pop())
    }

    /// The zone with an apex, in whatever tenant.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn zone_by_name(&self, name: &str) -> Result<Option<Row<Zone>>, StoreError> {
        self.one("name", name).await
    }

    /// The TSIG key with a name, in whatever tenant.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn tsig_key_by_name(&self, name: &str) -> Result<Option<Row<TsigKeyRecord>>, StoreError> {
        self.one("name", name).await
    }

    pub(super) async fn one<T: Aggregate>(
        &self,
        column: &'static str,
        value: &str,
    ) -> Result<Option<Row<T>>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM {} WHERE {column} = ?", T::TABLE);
        let row: Option<RawRow> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(value)
            .fetch_optional(&self.readers)
            .await
            .map_err(StoreError::query("read an object"))?;
        row.map(RawRow::read).transpose()
    }

    /// The pool that a member belongs to.
    ///
    /// # Errors
    /// The database fails.
    pub async fn pool_of_member(&self, member: MemberId) -> Result<Option<PoolId>, StoreError> {
        let id: Option<String> = sqlx::query_scalar("SELECT pool_id FROM members WHERE id = ?")
            .bind(member.to_string())
            .fetch_optional(&self.readers)
            .await
            .map_err(StoreError::query("find a member"))?;
        Ok(id.and_then(|id| PoolId::from_str(&id).ok()))
    }

    /// Who holds a domain.
    ///
    /// # Errors
    /// The database fails.
    pub async fn holder(&self, domain: &str) -> Result<Option<(TenantId, ServiceId)>, StoreError> {
        let row: Option<(String, String)> =
            sqlx::query_as("SELECT tenant_id, service_id FROM claims WHERE domain = ?")
                .bind(domain)
                .fetch_optional(&self.readers)
                .await
                .map_err(StoreError::query("find a claim"))?;
        Ok(row.and_then(|(tenant, service)| Some((tenant.parse().ok()?, service.parse().ok()?))))
    }

    /// Services that use a pool, in order of their names.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn services_of_pool(&self, pool: PoolId) -> Result<Vec<Row<Service>>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM services WHERE pool_id = ? ORDER BY name, id");
        let rows: Vec<RawRow> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(pool.to_string())
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("read the services of a pool"))?;
        rows.into_iter().map(RawRow::read).collect()
    }

    /// Number of services of these pools; a pool without any is left out.
    ///
    /// # Errors
    /// The database fails.
    pub async fn services_by_pool(&self, pools: &[PoolId]) -> Result<Vec<(PoolId, u32)>, StoreError> {
        let ids: Vec<_> = pools.iter().map(|id| format!("\"{id}\"")).collect();
        let rows: Vec<(String, u32)> = sqlx::query_as(
            "SELECT pool_id, COUNT(*) FROM services
             WHERE pool_id IN (SELECT value FROM json_each(?)) GROUP BY pool_id",
        )
        .bind(format!("[{}]", ids.join(",")))
        .fetch_all(&self.readers)
        .await
        .map_err(StoreError::query("count services"))?;
        Ok(rows
            .into_iter()
            .filter_map(|(id, count)| Some((id.parse().ok()?, count)))
            .collect())
    }

    /// Id of the object with a name in a tenant.
    ///
    /// # Errors
    /// The database fails.
    pub async fn id_by_name<T: Aggregate>(
        &self,
        tenant: TenantId,
        name: &str,
    ) -> Result<Option<Uuid>, StoreError> {
        let sql = format!("SELECT id FROM {} WHERE tenant_id = ? AND name = ?", T::TABLE);
        let id: Option<String> = sqlx::query_scalar(AssertSqlSafe(sql))
            .bind(tenant.to_string())
            .bind(name)
            .fetch_optional(&self.readers)
            .await
            .map_err(StoreError::query("find a name"))?;
        Ok(id.and_then(|id| Uuid::parse_str(&id).ok()))
    }
}
