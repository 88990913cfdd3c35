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

/// Whether the pattern is found in an entry. A text of several words may reach from one column into the next; one word
/// cannot, and four looks are quicker than putting the columns together.
fn contains(search: Option<&str>) -> &'static str {
    if search.is_some_and(|text| text.contains(' ')) {
        "actor_name || ' ' || action || ' ' || object_kind || ' ' || object_name LIKE ?3 ESCAPE '\\'"
    } else {
        "(object_name LIKE ?3 ESCAPE '\\' OR actor_name LIKE ?3 ESCAPE '\\' OR object_kind LIKE ?3 ESCAPE '\\'
          OR action LIKE ?3 ESCAPE '\\')"
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
        let tenant = (!filter.all_tenants).then(|| tenant.to_string());
        let object_id = filter.object_id.map(|id| id.to_string());
        let text = |field: &Option<String>| {
            let text = field.as_deref().map(str::trim).filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        let search = text(&filter.search);
        let pattern = search.as_deref().map(super::list::pattern);
        // Only the conditions that are asked for: the index of what is looked for answers them, without the documents.
        let conditions = [
            // An object has few entries, and an index of its own: the plus keeps the other index out of it.
            (
                tenant.is_some(),
                if object_id.is_some() {
                    "+tenant_id = ?1"
                } else {
                    "tenant_id = ?1"
                },
            ),
            (object_id.is_some(), "object_id = ?2"),
            (search.is_some(), contains(search.as_deref())),
            (text(&filter.actor).is_some(), "lower(actor_name) = lower(?4)"),
            (text(&filter.action).is_some(), "action = ?5"),
            (text(&filter.object).is_some(), "object_kind = ?6"),
            // Always there, so that the highest number is: parameters are given by number.
            (true, "time >= ?7 AND time < ?8"),
        ];
        let asked = conditions.iter().filter(|(is_asked, _)| *is_asked);
        let test = asked.map(|(_, test)| *test).collect::<Vec<_>>().join(" AND ");
        let count = format!("SELECT COUNT(*) FROM audit WHERE {test}");
        let total: i64 = sqlx::query_scalar(AssertSqlSafe(count))
            .bind(&tenant)
            .bind(&object_id)
            .bind(&pattern)
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
             FROM audit WHERE id IN (SELECT id FROM audit WHERE {test} AND id < ?9 ORDER BY id DESC LIMIT ?10)
             ORDER BY id DESC"
        );
        let mut rows: Vec<RawAudit> = sqlx::query_as(AssertSqlSafe(page))
            .bind(&tenant)
            .bind(&object_id)
            .bind(&pattern)
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
