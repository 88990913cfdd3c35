//! `/zones/{id}/import` and `/zones/{id}/export`: zones as zone files (RFC 1035 §5, media type of RFC 4027).

use super::answer::tagged;
use super::auth::Caller;
use super::error::{ApiFailure, ApiResult};
use super::extract::{Id, Params, if_match, text_body};
use crate::state::AppState;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use gslb_api_types::model::{Permission, ZoneId};
use gslb_api_types::{ErrorBody, ImportQuery, ImportReport};
use gslb_core::OpError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(import))
        .routes(routes!(export))
}

/// Takes over a zone file, all of it or nothing, and tells what that changes; with `dryRun` it only tells. SOA fields and
/// name servers are those of the file, if it has them; the serial is the greater of the file's and the next one.
/// Signatures and what belongs to them are left out.
#[utoipa::path(post, path = "/zones/{id}/import", tag = "zones", operation_id = "importZone",
    params(("id" = String, Path), ImportQuery),
    request_body(content = String, content_type = "text/dns", description = "A zone file."),
    responses((status = 200, body = ImportReport), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 412, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn import(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<ZoneId>,
    Params(query): Params<ImportQuery>,
    request: Request,
) -> ApiResult<Response> {
    // Whoever may not import is not to have a file read.
    if !actor.may(Permission::ZonesWrite) {
        return Err(ApiFailure::from(OpError::Forbidden(Permission::ZonesWrite)));
    }
    let expected = if_match(request.headers());
    let text = text_body(request, &["text/dns", "text/plain"]).await?;
    let written = state.ops.import_zone(&actor, id, expected, &text, query).await?;
    Ok(tagged(written.revision, written.value))
}

/// The zone with its records as a zone file, which imports back to the same. Services are named in comments.
#[utoipa::path(get, path = "/zones/{id}/export", tag = "zones", operation_id = "exportZone",
    params(("id" = String, Path)),
    responses((status = 200, body = String, content_type = "text/dns"), (status = 404, body = ErrorBody)))]
async fn export(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Id(id): Id<ZoneId>,
) -> ApiResult<Response> {
    let (zone, text) = state.ops.export_zone(&actor, id).await?;
    let name = format!("attachment; filename=\"{}zone\"", zone.name);
    let headers = [
        (header::CONTENT_TYPE, "text/dns; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, text).into_response())
}
