//! Health history: transitions of members, kept over a restart, on this node alone.

use super::list::limit_of;
use super::{Store, StoreError};
use gslb_api_types::{Event, EventKind, ListQuery, Page};
use gslb_engine::model::{PoolId, TenantId};
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection as _};

/// Rows kept; the oldest go first.
const KEPT: i64 = 100_000;

fn pool_of(kind: &EventKind) -> Option<PoolId> {
    match kind {
        EventKind::Health { pool_id, .. } => Some(*pool_id),
        EventKind::Change { .. } | EventKind::License { .. } => None,
    }
}

impl Store {
    /// Keeps events, in one transaction.
    ///
    /// # Errors
    /// The database fails.
    pub async fn keep_events(&self, events: &[Event]) -> Result<(), StoreError> {
        let mut connection = self.writer().await?;
        let result = Self::keep_on(&mut connection, events).await;
        if let Err(error) = &result {
            error.leave(&mut connection);
        }
        result
    }

    async fn keep_on(connection: &mut SqliteConnection, events: &[Event]) -> Result<(), StoreError> {
        let mut tx = connection.begin().await.map_err(StoreError::query("begin"))?;
        for event in events {
            let document = serde_json::to_string(event).map_err(|source| StoreError::Document {
                kind: "event",
                id: event.id.to_string(),
                source,
            })?;
            sqlx::query(
                "INSERT INTO events (id, time, tenant_id, pool_id, document) VALUES (?, ?, ?, ?, ?)
                 ON CONFLICT (id) DO NOTHING",
            )
            .bind(i64::try_from(event.id).unwrap_or(i64::MAX))
            .bind(i64::try_from(event.at).unwrap_or(i64::MAX))
            .bind(event.tenant_id.to_string())
            .bind(pool_of(&event.kind).map(|id| id.to_string()))
            .bind(document)
            .execute(&mut *tx)
            .await
            .map_err(StoreError::query("keep an event"))?;
        }
        sqlx::query(
            "DELETE FROM events WHERE id <= (SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?)",
        )
        .bind(KEPT)
        .execute(&mut *tx)
        .await
        .map_err(StoreError::query("drop old events"))?;
        tx.commit().await.map_err(StoreError::query("commit events"))
    }

    /// Kept events of a tenant, newest first: all, or those of one pool.
    ///
    /// # Errors
    /// The database fails.
    pub async fn history(
        &self,
        tenant: TenantId,
        pool: Option<PoolId>,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let rows: Vec<String> = sqlx::query_scalar(
            "SELECT document FROM events WHERE tenant_id = ?1 AND (?2 IS NULL OR pool_id = ?2)
             ORDER BY id DESC LIMIT ?3",
        )
        .bind(tenant.to_string())
        .bind(pool.map(|id| id.to_string()))
        .bind(limit)
        .fetch_all(&self.readers)
        .await
        .map_err(StoreError::query("read the history"))?;
        // An event of a newer version that this one cannot read is passed over.
        Ok(rows
            .iter()
            .filter_map(|text| serde_json::from_str(text).ok())
            .collect())
    }

    /// One page of the kept events of a pool, newest first. An event of a newer version that this one cannot read is
    /// passed over.
    ///
    /// # Errors
    /// [`StoreError::Cursor`] for a cursor this server did not make; the database fails.
    pub(crate) async fn event_page(
        &self,
        tenant: TenantId,
        pool: PoolId,
        query: &ListQuery,
    ) -> Result<Page<Event>, StoreError> {
        let limit = limit_of(query);
        let before: i64 = match query.cursor.as_deref().filter(|c| !c.is_empty()) {
            None => i64::MAX,
            Some(text) => text.parse().map_err(|_| StoreError::Cursor)?,
        };
        let search = query.search.as_deref().map(str::trim).filter(|s| !s.is_empty());
        let test =
            "tenant_id = ?1 AND pool_id = ?2 AND (?3 IS NULL OR instr(lower(document), lower(?3)) > 0)";
        let total: i64 =
            sqlx::query_scalar(AssertSqlSafe(format!("SELECT COUNT(*) FROM events WHERE {test}")))
                .bind(tenant.to_string())
                .bind(pool.to_string())
                .bind(search)
                .fetch_one(&self.readers)
                .await
                .map_err(StoreError::query("count the history"))?;
        let page =
            format!("SELECT id, document FROM events WHERE {test} AND id < ?4 ORDER BY id DESC LIMIT ?5");
        let mut rows: Vec<(i64, String)> = sqlx::query_as(AssertSqlSafe(page))
            .bind(tenant.to_string())
            .bind(pool.to_string())
            .bind(search)
            .bind(before)
            .bind(limit + 1)
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("read the history"))?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next_cursor = rows.last().filter(|_| more).map(|(id, _)| id.to_string());
        Ok(Page {
            items: rows
                .iter()
                .filter_map(|(_, text)| serde_json::from_str(text).ok())
                .collect(),
            next_cursor,
            total: u64::try_from(total).unwrap_or_default(),
        })
    }

    /// The latest kept events over all tenants, oldest first, for the ring of a new start.
    pub(crate) async fn recent_events(&self, limit: u32) -> Result<Vec<Event>, StoreError> {
        let rows: Vec<String> = sqlx::query_scalar("SELECT document FROM events ORDER BY id DESC LIMIT ?")
            .bind(limit)
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("read the history"))?;
        Ok(rows
            .iter()
            .rev()
            .filter_map(|text| serde_json::from_str(text).ok())
            .collect())
    }

    /// Greatest event id so far; new ids go on from there.
    pub(crate) async fn last_event_id(&self) -> Result<u64, StoreError> {
        let id: Option<i64> = sqlx::query_scalar("SELECT MAX(id) FROM events")
            .fetch_one(&self.readers)
            .await
            .map_err(StoreError::query("read the last event id"))?;
        Ok(id.and_then(|id| u64::try_from(id).ok()).unwrap_or_default())
    }
}
