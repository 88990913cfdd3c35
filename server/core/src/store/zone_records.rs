//! Static records in the database: how one is written, and what the rules between objects look up.

use super::apply::rule;
use super::change::Change;
use super::read::{COLUMNS, RawRow};
use super::records::Row;
use super::{Store, StoreError};
use crate::clock::to_millis;
use gslb_engine::model::{DomainName, RecordName, RecordSet, ZoneId};
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqliteConnection;

/// Writes one set.
pub(super) async fn put_record(
    tx: &mut SqliteConnection,
    revision: i64,
    change: &Change,
    set: &RecordSet,
) -> Result<(), StoreError> {
    let id = set.id.to_string();
    let json = serde_json::to_string(set).map_err(|source| StoreError::Document {
        kind: "record",
        id: id.clone(),
        source,
    })?;
    sqlx::query(
        "INSERT INTO records
             (id, tenant_id, zone_id, name, sort_name, type, revision, created_at, updated_at, document)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)
         ON CONFLICT (id) DO UPDATE SET
             name = ?4, sort_name = ?5, type = ?6, revision = ?7, updated_at = ?8, document = ?9",
    )
    .bind(id)
    .bind(change.tenant_id.to_string())
    .bind(set.zone_id.to_string())
    .bind(set.name.to_string())
    .bind(set.name.sort_key())
    .bind(set.rtype.to_string())
    .bind(revision)
    .bind(to_millis(change.audit.time))
    .bind(json)
    .execute(tx)
    .await
    .map_err(rule("write a record"))?;
    Ok(())
}

/// The first key behind those that begin with this one, which ends with a dot.
fn behind(key: &str) -> String {
    let mut end = key.trim_end_matches('.').to_owned();
    // The character that follows the dot.
    end.push('/');
    end
}

impl Store {
    /// Records of a zone, sorted by name from the apex down, and by type.
    ///
    /// # Errors
    /// The database fails, or a document does not fit its type.
    pub async fn records_of_zone(&self, zone: ZoneId) -> Result<Vec<Row<RecordSet>>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM records WHERE zone_id = ? ORDER BY sort_name, type");
        let rows: Vec<RawRow> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(zone.to_string())
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("read the records of a zone"))?;
        rows.into_iter().map(RawRow::read).collect()
    }

    /// Records of a zone at these names.
    ///
    /// # Errors
    /// As for [`records_of_zone`](Self::records_of_zone).
    pub async fn records_at(
        &self,
        zone: ZoneId,
        names: &[RecordName],
    ) -> Result<Vec<Row<RecordSet>>, StoreError> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let names = serde_json::Value::from(names).to_string();
        let sql = format!(
            "SELECT {COLUMNS} FROM records WHERE zone_id = ? AND name IN (SELECT value FROM json_each(?))"
        );
        let rows: Vec<RawRow> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(zone.to_string())
            .bind(names)
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("read the records of some names"))?;
        rows.into_iter().map(RawRow::read).collect()
    }

    /// Records of a zone at and below a name.
    ///
    /// # Errors
    /// As for [`records_of_zone`](Self::records_of_zone).
    pub async fn records_below(
        &self,
        zone: ZoneId,
        name: &RecordName,
    ) -> Result<Vec<Row<RecordSet>>, StoreError> {
        let key = name.sort_key();
        let sql =
            format!("SELECT {COLUMNS} FROM records WHERE zone_id = ? AND sort_name >= ? AND sort_name < ?");
        let rows: Vec<RawRow> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(zone.to_string())
            .bind(&key)
            .bind(behind(&key))
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("read the records below a name"))?;
        rows.into_iter().map(RawRow::read).collect()
    }

    /// Domains of services at and below a name, of whatever tenant.
    ///
    /// # Errors
    /// The database fails.
    pub async fn domains_below(&self, name: &str) -> Result<Vec<DomainName>, StoreError> {
        self.names_below("claims", "domain", name).await
    }

    /// Apexes of zones at and below a name, of whatever tenant.
    ///
    /// # Errors
    /// The database fails.
    pub async fn zones_below(&self, name: &str) -> Result<Vec<DomainName>, StoreError> {
        self.names_below("zones", "name", name).await
    }

    async fn names_below(
        &self,
        table: &'static str,
        column: &'static str,
        name: &str,
    ) -> Result<Vec<DomainName>, StoreError> {
        let sql = format!(
            "SELECT {column} FROM {table} WHERE {column} = ?1 OR substr({column}, -length(?1) - 1) = '.' || ?1"
        );
        let names: Vec<String> = sqlx::query_scalar(AssertSqlSafe(sql))
            .bind(name)
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("read names below another"))?;
        Ok(names
            .iter()
            .filter_map(|name| DomainName::parse("name", name).ok())
            .collect())
    }
}
