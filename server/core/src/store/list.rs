//! Lists in pages: filtered, sorted and cut by the database, with a cursor that names the last row seen.

use super::read::{Aggregate, COLUMNS, RawRow};
use super::records::Row;
use super::{Store, StoreError};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use gslb_api_types::{ListQuery, Page};
use gslb_engine::model::TenantId;
use sqlx::{AssertSqlSafe, FromRow};

/// Rows a page when the caller does not say.
const DEFAULT_LIMIT: u32 = 100;
/// Most rows a page.
const MAX_LIMIT: u32 = 500;

/// Rows of a page.
pub(crate) fn limit_of(query: &ListQuery) -> u32 {
    query.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
}

/// A row with the value it was sorted by.
#[derive(FromRow)]
struct SortedRow {
    #[sqlx(flatten)]
    raw: RawRow,
    sort_key: String,
}

/// Where a page ends: the value sorted by and the id, which makes the order total.
fn encode(sort_key: &str, id: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(format!("{id}\n{sort_key}"))
}

fn decode(cursor: &str) -> Result<(String, String), StoreError> {
    let bytes = BASE64_URL_SAFE_NO_PAD
        .decode(cursor)
        .map_err(|_| StoreError::Cursor)?;
    let text = String::from_utf8(bytes).map_err(|_| StoreError::Cursor)?;
    let (id, sort_key) = text.split_once('\n').ok_or(StoreError::Cursor)?;
    Ok((sort_key.to_owned(), id.to_owned()))
}

/// A pattern for LIKE in which the text stands for itself.
pub(super) fn pattern(search: &str) -> String {
    let mut pattern = String::from("%");
    for c in search.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

/// What a list can be searched and sorted by, by the API's name.
pub(crate) struct Listing {
    /// `(API name, column)`; the first one is the default.
    pub(crate) columns: &'static [(&'static str, &'static str)],
    /// What a search looks at.
    pub(crate) searched: &'static [&'static str],
}

impl Listing {
    /// In the order that the list has, and no other.
    pub(crate) const ORDERED: Self = Self {
        columns: &[],
        searched: &[],
    };
    /// Only by name.
    pub(crate) const NAMED: Self = Self {
        columns: &[("name", "name")],
        searched: &["name"],
    };
    /// Static records: by name or type. What is sorted by are the labels of a name from the root down.
    pub(crate) const RECORDS: Self = Self {
        columns: &[("name", "sort_name"), ("type", "type")],
        searched: &["name", "type", "json_extract(document, '$.data')"],
    };
    /// Services: by name or domain.
    pub(crate) const SERVICES: Self = Self {
        columns: &[("name", "name"), ("domain", "domain")],
        searched: &["name", "domain"],
    };

    /// Column and direction of a `sort` text.
    fn sort(&self, sort: Option<&str>) -> Option<(&'static str, bool)> {
        let text = sort.unwrap_or_default();
        let (text, descending) = match text.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        if text.is_empty() {
            let (_, column) = self.columns.first().unwrap_or(&("", ""));
            return (!descending || !column.is_empty()).then_some((*column, descending));
        }
        self.columns
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, column)| (*column, descending))
    }

    /// Names that `sort` takes.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, _)| *name).collect()
    }

    /// Whether `sort` names a column.
    pub(crate) fn can_sort(&self, sort: Option<&str>) -> bool {
        self.sort(sort).is_some()
    }
}

impl Store {
    /// One page of the objects of a tenant, or of all; with `only`, of those with this value in this column.
    ///
    /// # Errors
    /// [`StoreError::Cursor`] for a cursor this server did not make; the database fails.
    pub(crate) async fn list_where<T: Aggregate>(
        &self,
        tenant: Option<TenantId>,
        listing: &Listing,
        only: Option<(&'static str, String)>,
        query: &ListQuery,
    ) -> Result<Page<Row<T>>, StoreError> {
        let limit = limit_of(query);
        let (column, descending) = listing.sort(query.sort.as_deref()).unwrap_or(("name", false));
        let after = query
            .cursor
            .as_deref()
            .filter(|c| !c.is_empty())
            .map(decode)
            .transpose()?;
        let search = query
            .search
            .as_deref()
            .map(str::trim)
            .filter(|s| !s.is_empty())
            .map(pattern);
        let mut filter = String::from(match tenant {
            Some(_) => "tenant_id = ?1",
            None => "?1 IS NULL",
        });
        let tenant = tenant.map(|tenant| tenant.to_string());
        let (only_column, only_value) = only.unzip();
        if let Some(column) = only_column {
            filter = format!("{filter} AND {column} = ?3");
        }
        if search.is_some() {
            let tests: Vec<_> = listing
                .searched
                .iter()
                .map(|c| format!("{c} LIKE ?2 ESCAPE '\\'"))
                .collect();
            filter = format!("{filter} AND ({})", tests.join(" OR "));
        }
        let count = format!("SELECT COUNT(*) FROM {} WHERE {filter}", T::TABLE);
        let total: i64 = sqlx::query_scalar(AssertSqlSafe(count))
            .bind(tenant.as_deref())
            .bind(search.as_deref())
            .bind(only_value.as_deref())
            .fetch_one(&self.readers)
            .await
            .map_err(StoreError::query("count a list"))?;
        let (direction, beyond) = if descending { ("DESC", "<") } else { ("ASC", ">") };
        let cut = if after.is_some() {
            format!(" AND ({column}, id) {beyond} (?4, ?5)")
        } else {
            String::new()
        };
        let page = format!(
            "SELECT {COLUMNS}, {column} AS sort_key FROM {} WHERE {filter}{cut}
             ORDER BY {column} {direction}, id {direction} LIMIT ?6",
            T::TABLE
        );
        let (after_key, after_id) = after.unzip();
        let mut rows: Vec<SortedRow> = sqlx::query_as(AssertSqlSafe(page))
            .bind(tenant.as_deref())
            .bind(search)
            .bind(only_value)
            .bind(after_key)
            .bind(after_id)
            // One more than asked for tells whether there is a next page.
            .bind(limit + 1)
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("read a list"))?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next_cursor = rows
            .last()
            .filter(|_| more)
            .map(|row| encode(&row.sort_key, &row.raw.id));
        let items = rows
            .into_iter()
            .map(|row| row.raw.read())
            .collect::<Result<_, _>>()?;
        Ok(Page {
            items,
            next_cursor,
            total: u64::try_from(total).unwrap_or_default(),
        })
    }
}
