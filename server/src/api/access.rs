//! `/audit`, `/license`, `/settings`.

use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{self, Params};
use crate::state::AppState;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use gslb_api_types::model::{Actor, ErrorCode};
use gslb_api_types::{AuditEntry, AuditQuery, ErrorBody, LicenseDraft, LicenseView, Page, SettingView};
use gslb_core::OpError;
use gslb_core::store::AuditFilter;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(audit))
        .routes(routes!(license, install_license))
        .routes(routes!(settings))
}

/// Rows that an export reads at a time.
const EXPORT: u32 = 500;
/// JSON lines.
const NDJSON: &str = "application/x-ndjson";

fn wrong(field: &str, message: String) -> OpError {
    OpError::invalid(field, ErrorCode::Invalid, message)
}

/// A time in one of the forms that [`AuditQuery`] takes, in Unix milliseconds.
fn time(field: &str, text: Option<&str>) -> Result<Option<i64>, OpError> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    if let Ok(millis) = text.parse() {
        return Ok(Some(millis));
    }
    let whole = match text.contains('T') {
        true => text.to_owned(),
        false => format!("{text}T00:00:00Z"),
    };
    OffsetDateTime::parse(&whole, &Rfc3339)
        .map(|time| Some(gslb_core::clock::to_millis(time)))
        .map_err(|_| {
            let message =
                format!("`{text}` is no time: 2027-01-15T08:00:00Z, 2027-01-15, or Unix milliseconds");
            wrong(field, message)
        })
}

/// What part of the audit trail a request wants.
///
/// # Errors
/// [`OpError::Invalid`] for times and ids that are none.
pub fn audit_filter(query: AuditQuery) -> Result<AuditFilter, OpError> {
    // A whole id is looked up as one; anything else is text to find.
    let searched = query.search.as_deref().and_then(|text| text.trim().parse().ok());
    let object_id = match query.object_id.as_deref().map(str::trim) {
        None | Some("") => searched,
        Some(text) => Some(
            text.parse()
                .map_err(|_| wrong("objectId", format!("`{text}` is no id")))?,
        ),
    };
    Ok(AuditFilter {
        limit: query.limit,
        cursor: query.cursor,
        object_id,
        search: query.search.filter(|_| searched.is_none()),
        actor: query.actor,
        action: query.action,
        object: query.object,
        since: time("from", query.from.as_deref())?,
        until: time("to", query.to.as_deref())?,
        all_tenants: query.all_tenants,
    })
}

/// The audit trail, newest first. With `Accept: application/x-ndjson` or `format=jsonl` everything that fits, as JSON
/// lines.
#[utoipa::path(get, path = "/audit", tag = "access", operation_id = "listAudit", params(AuditQuery),
    responses((status = 200, body = Page<AuditEntry>), (status = 403, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn audit(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<AuditQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let accept = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok());
    let lines = match query.format.as_deref() {
        None | Some("") => accept.is_some_and(|accept| accept.contains("x-ndjson")),
        Some("jsonl") => true,
        Some("json") => false,
        Some(other) => {
            return Err(wrong("format", format!("`{other}` is neither json nor jsonl")).into());
        }
    };
    let filter = audit_filter(query)?;
    if lines {
        return export(state, actor, filter).await;
    }
    Ok(Json(state.ops.list_audit(&actor, &filter).await?).into_response())
}

/// Page after page, as fast as the reader takes them: the trail may be larger than memory. What is wrong with the
/// request is told before anything is sent; a fault behind that cuts the body short.
async fn export(state: AppState, actor: Actor, filter: AuditFilter) -> ApiResult<Response> {
    // Who asks for a page by its size gets that page.
    if filter.limit.is_some() {
        let page = state.ops.list_audit(&actor, &filter).await?;
        return Ok(([(header::CONTENT_TYPE, NDJSON)], jsonl(&page.items)).into_response());
    }
    let filter = AuditFilter {
        limit: Some(EXPORT),
        ..filter
    };
    let first = state.ops.list_audit(&actor, &filter).await?;
    let pages = stream::unfold(Some(first), move |page| {
        let (state, actor, mut filter) = (state.clone(), actor.clone(), filter.clone());
        async move {
            let page = page?;
            let text = jsonl(&page.items);
            let next = match page.next_cursor {
                None => None,
                Some(cursor) => {
                    filter.cursor = Some(cursor);
                    match state.ops.list_audit(&actor, &filter).await {
                        Ok(next) => Some(next),
                        Err(error) => return Some((Err(error), None)),
                    }
                }
            };
            Some((Ok(text), next))
        }
    });
    let body = Body::from_stream(pages);
    Ok(([(header::CONTENT_TYPE, NDJSON)], body).into_response())
}

fn jsonl(entries: &[AuditEntry]) -> String {
    let mut text = String::new();
    for entry in entries {
        // A row that came out of the database as JSON serialises again.
        text.push_str(&serde_json::to_string(entry).unwrap_or_default());
        text.push('\n');
    }
    text
}

/// The licence in force.
#[utoipa::path(get, path = "/license", tag = "license", operation_id = "getLicense",
    responses((status = 200, body = LicenseView)))]
async fn license(State(state): State<AppState>, Caller(actor): Caller) -> ApiResult<Json<LicenseView>> {
    Ok(Json(state.ops.get_license(&actor)?))
}

/// Installs a licence.
#[utoipa::path(put, path = "/license", tag = "license", operation_id = "putLicense", request_body = LicenseDraft,
    responses((status = 200, body = LicenseView), (status = 422, body = ErrorBody)))]
async fn install_license(
    State(state): State<AppState>,
    Caller(actor): Caller,
    extract::Body(draft): extract::Body<LicenseDraft>,
) -> ApiResult<Json<LicenseView>> {
    Ok(Json(state.ops.put_license(&actor, draft).await?.value))
}

/// Every setting with its value and where it came from.
#[utoipa::path(get, path = "/settings", tag = "settings", operation_id = "listSettings",
    responses((status = 200, body = Vec<SettingView>)))]
async fn settings(State(state): State<AppState>, Caller(actor): Caller) -> ApiResult<Json<Vec<SettingView>>> {
    Ok(Json(state.ops.list_settings(&actor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_in_three_forms() {
        for (text, millis) in [
            ("2027-01-15T08:00:00Z", 1_800_000_000_000),
            ("2027-01-15T09:00:00+01:00", 1_800_000_000_000),
            ("2027-01-15", 1_799_971_200_000),
            ("1800000000000", 1_800_000_000_000),
        ] {
            assert_eq!(time("from", Some(text)).unwrap(), Some(millis), "{text}");
        }
        assert_eq!(time("from", Some(" ")).unwrap(), None);
        for bad in ["yesterday", "2027-13-01", "2027-01-15T08:00"] {
            assert!(
                matches!(time("from", Some(bad)), Err(OpError::Invalid(_))),
                "{bad}"
            );
        }
    }
}
