//! `/config/export` and `/config/import`.

use super::answer::tagged;
use super::auth::Caller;
use super::error::{ApiFailure, ApiResult};
use super::extract::{Params, if_match, text_body};
use crate::state::AppState;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use gslb_api_types::{ConfigDocument, ConfigImportQuery, ConfigReport, ErrorBody};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Types of the document: YAML (RFC 9512), and JSON, which is YAML.
const TYPES: [&str; 4] = [
    "application/yaml",
    "application/x-yaml",
    "text/yaml",
    "application/json",
];

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(export))
        .routes(routes!(import))
}

/// The whole configuration of the tenant as YAML: zones with their records, pools with members and checks, services.
/// Without accounts and tokens, and without keys: those of signed zones and of TSIG stay where they are.
#[utoipa::path(get, path = "/config/export", tag = "config", operation_id = "exportConfig",
    responses((status = 200, body = ConfigDocument, content_type = "application/yaml"), (status = 403, body = ErrorBody)))]
async fn export(State(state): State<AppState>, Caller(actor): Caller) -> ApiResult<Response> {
    let text = state.ops.export_config_text(&actor).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/yaml"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"gslb.yaml\""),
    ];
    Ok((headers, text).into_response())
}

/// Compares a document with the configuration of the tenant and tells every change; with `apply=true` makes them, all or
/// none: what the document has not goes. Ids are kept. The report names the tenant; a document of another tenant is refused
/// without `anyTenant=true`. Send the `ETag` of the comparison as `If-Match`, to be sure that
/// exactly what was told is done.
#[utoipa::path(post, path = "/config/import", tag = "config", operation_id = "importConfig", params(ConfigImportQuery),
    request_body(content = ConfigDocument, content_type = "application/yaml"),
    responses((status = 200, body = ConfigReport), (status = 403, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn import(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ConfigImportQuery>,
    request: Request,
) -> ApiResult<Response> {
    let expected = if_match(request.headers());
    let text = text_body(request, &TYPES).await?;
    let report = state
        .ops
        .import_config(&actor, &text, query, expected)
        .await
        .map_err(ApiFailure::from)?;
    let revision = report.revision;
    Ok(tagged(revision, report))
}
