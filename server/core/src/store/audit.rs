//! Reads of the audit trail. Rows are written with the change they tell of, in the same transaction.

use super::{Store, StoreError};
use gslb_api_types::{AuditEntry, Page};
use gslb_engine::model::TenantId;
use sqlx::{AssertSqlSafe, FromRow};
use uuid::Uuid;

/// What part of the trail, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Rows a page, 1 to 500, default 100.
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    pub cursor: Option<String>,
    /// Only changes of this object.
    pub object_id: Option<Uuid>,
    /// Only rows whose actor, action, object kind or object name contains this text.
    pub search: Option<String>,
    /// Only changes by who has this name.
    pub actor: Option<String>,
    /// Only `created`, `updated`, `deleted` or `imported`.
    pub action: Option<String>,
    /// Only changes of this kind of object.
    pub object: Option<String>,
    /// Only from this time on, Unix milliseconds.
    pub since: Option<i64>,
    /// Only before this time, Unix milliseconds.
    pub until: Option<i64>,
    /// Of every tenant.
    pub all_tenants: bool,
}

#[derive(FromRow)]
struct RawAudit {
    id: i64,
    revision: i64,
    time: i64,
    tenant_id: String,
    actor_name: String,
    source: Option<String>,
    action: String,
    object_kind: String,
    object_id: String,
    object_name: String,
    before: Option<String>,
    after: Option<String>,
}

impl RawAudit {
    fn entry(self) -> AuditEntry {
        let json = |text: Option<String>| text.and_then(|t| serde_json::from_str(&t).ok());
        AuditEntry {
            revision: u64::try_from(self.revision).unwrap_or_default(),
            at: u64::try_from(self.time).unwrap_or_default(),
            tenant_id: self.tenant_id.parse().unwrap_or(TenantId::DEFAULT),
            actor: self.actor_name,
            from: self.source,
            action: self.action,
            object: self.object_kind,
            object_id: self.object_id,
            name: self.object_name,
            before: json(self.before),
            after: json(self.after),
        }
    }
}

impl Store {
    /// One page of a tenant's audit trail, newest first.
    ///
    /// # Errors
    /// [`StoreError::Cursor`] for a cursor this server did not make; the database fails.
    pub async fn audit(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let limit = filter.limit.unwrap_or(100).clamp(1, 500);
        let before = match filter.cursor.as_deref().filter(|c| !c.is_empty()) {
            None => i64::MAX,
            Some(text) => text.parse().map_err(|_| StoreError::Cursor)?,
        };
        let test = "(?1 IS NULL OR tenant_id = ?1) AND (?2 IS NULL OR object_id = ?2)
             AND (?3 IS NULL OR instr(lower(actor_name || ' ' || action || ' ' || object_kind || ' ' || object_name),
                                      lower(?3)) > 0)
             AND (?4 IS NULL OR lower(actor_name) = lower(?4)) AND (?5 IS NULL OR action = ?5)
             AND (?6 IS NULL OR object_kind = ?6) AND time >= ?7 AND time < ?8";
        let tenant = (!filter.all_tenants).then(|| tenant.to_string());
        let object_id = filter.object_id.map(|id| id.to_string());
        let text = |field: &Option<String>| {
            let text = field.as_deref().map(str::trim).filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        let count = format!("SELECT COUNT(*) FROM audit WHERE {test}");
        let total: i64 = sqlx::query_scalar(AssertSqlSafe(count))
            .bind(&tenant)
            .bind(&object_id)
            .bind(text(&filter.search))
            .bind(text(&filter.actor))
            .bind(text(&filter.action))
            .bind(text(&filter.object))
            .bind(filter.since.unwrap_or(i64::MIN))
            .bind(filter.until.unwrap_or(i64::MAX))
            .fetch_one(&self.readers)
            .await
            .map_err(StoreError::query("count the audit trail"))?;
        let page = format!(
            "SELECT id, revision, time, tenant_id, actor_name, source, action, object_kind, object_id,
                    object_name, before, after
             FROM audit WHERE {test} AND id < ?9 ORDER BY id DESC LIMIT ?10"
        );
        let mut rows: Vec<RawAudit> = sqlx::query_as(AssertSqlSafe(page))
            .bind(&tenant)
            .bind(&object_id)
            .bind(text(&filter.search))
            .bind(text(&filter.actor))
            .bind(text(&filter.action))
            .bind(text(&filter.object))
            .bind(filter.since.unwrap_or(i64::MIN))
            .bind(filter.until.unwrap_or(i64::MAX))
            .bind(before)
            .bind(limit + 1)
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("read the audit trail"))?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next_cursor = rows.last().filter(|_| more).map(|row| row.id.to_string());
        Ok(Page {
            items: rows.into_iter().map(RawAudit::entry).collect(),
            next_cursor,
            total: u64::try_from(total).unwrap_or_default(),
        })
    }
}
