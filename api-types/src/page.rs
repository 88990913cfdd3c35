//! Lists in pages.

use serde::{Deserialize, Serialize};

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The items; `[]` when there are none.
    pub items: Vec<T>,
    /// Pass it as `cursor` to get the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
    /// Number of items over all pages.
    pub total: u64,
}

impl<T> Page<T> {
    /// The same page with its items converted.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(f).collect(),
            next_cursor: self.next_cursor,
            total: self.total,
        }
    }
}

/// What part of a list, in what order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema, utoipa::IntoParams))]
#[cfg_attr(feature = "schema", into_params(parameter_in = Query))]
#[serde(rename_all = "camelCase", default)]
pub struct ListQuery {
    /// Items a page, 1 to 500, default 100.
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    pub cursor: Option<String>,
    /// Only items whose name or domain contains this text, case folded.
    pub search: Option<String>,
    /// Field to sort by, `-` in front for descending: `name`, `-name`, `domain`. Default `name`.
    pub sort: Option<String>,
}
