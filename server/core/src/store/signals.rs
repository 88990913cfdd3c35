//! The signal tables there have been, kept over a restart, on this node alone.

use super::list::limit_of;
use super::{Store, StoreError};
use gslb_api_types::{ListQuery, Page, SignalsAt};

/// Tables kept; the oldest go first.
const KEPT: i64 = 10_000;

impl Store {
    /// Keeps a signal table, unless it is the one that was kept last.
    ///
    /// # Errors
    /// The database fails.
    pub async fn keep_signals(&self, table: &SignalsAt) -> Result<(), StoreError> {
        let document =
            serde_json::to_string(&(table.weight, &table.zones)).map_err(|source| StoreError::Document {
                kind: "signal table",
                id: table.at.to_string(),
                source,
            })?;
        let mut connection = self.writer().await?;
        let done = sqlx::query(
            "INSERT INTO signal_tables (time, document) SELECT ?1, ?2
             WHERE (SELECT document FROM signal_tables ORDER BY id DESC LIMIT 1) IS NOT ?2",
        )
        .bind(i64::try_from(table.at).unwrap_or(i64::MAX))
        .bind(document)
        .execute(&mut *connection)
        .await
        .map_err(StoreError::query("keep the signal table"))?;
        if done.rows_affected() > 0 {
            sqlx::query("DELETE FROM signal_tables WHERE id <= (SELECT MAX(id) FROM signal_tables) - ?")
                .bind(KEPT)
                .execute(&mut *connection)
                .await
                .map_err(StoreError::query("drop old signal tables"))?;
        }
        Ok(())
    }

    /// One page of the kept tables, newest first.
    ///
    /// # Errors
    /// [`StoreError::Cursor`] for a cursor this server did not make; the database fails.
    pub(crate) async fn signal_tables(&self, query: &ListQuery) -> Result<Page<SignalsAt>, StoreError> {
        let limit = limit_of(query);
        let before: i64 = match query.cursor.as_deref().filter(|c| !c.is_empty()) {
            None => i64::MAX,
            Some(text) => text.parse().map_err(|_| StoreError::Cursor)?,
        };
        let total: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM signal_tables")
            .fetch_one(&self.readers)
            .await
            .map_err(StoreError::query("count the signal tables"))?;
        let mut rows: Vec<(i64, i64, String)> = sqlx::query_as(
            "SELECT id, time, document FROM signal_tables WHERE id < ? ORDER BY id DESC LIMIT ?",
        )
        .bind(before)
        .bind(limit + 1)
        .fetch_all(&self.readers)
        .await
        .map_err(StoreError::query("read the signal tables"))?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next_cursor = rows.last().filter(|_| more).map(|(id, ..)| id.to_string());
        let table = |(_, time, document): &(i64, i64, String)| {
            let (weight, zones) = serde_json::from_str(document).ok()?;
            let at = u64::try_from(*time).unwrap_or_default();
            Some(SignalsAt { at, weight, zones })
        };
        Ok(Page {
            items: rows.iter().filter_map(table).collect(),
            next_cursor,
            total: u64::try_from(total).unwrap_or_default(),
        })
    }
}
