//! The REST API: thin handlers over the use cases.

pub mod access;
pub mod answer;
pub mod auth;
mod config_file;
mod dnssec;
mod docs;
pub mod error;
mod events;
pub mod extract;
mod health;
mod idempotency;
mod load;
mod members;
mod metrics;
mod pools;
mod precondition;
mod records;
mod roles;
mod services;
pub mod session;
mod steering;
mod tenants;
mod tokens;
mod tsig_keys;
mod users;
mod zone_files;
mod zones;

pub use metrics::router as metrics_router;

use crate::state::AppState;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use gslb_api_types::ApiError;
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;

#[derive(OpenApi)]
#[openapi(info(
    title = "Nexus GSLB API",
    description = "Everything the console can do. Send an API token as `Authorization: Bearer gslb_…`, or use the \
                   session of the console. Errors have one form: `{\"error\": {\"code\", \"message\", \"details\"}}`, \
                   with every problem of a request at once, by field. Bodies are `application/json`, those of PATCH \
                   also `application/merge-patch+json`; another type is 415. What GET gives can be sent back by PUT: \
                   fields that only the server writes (`id`, `tenantId`, `revision`, `serial`, `warnings`, \
                   `poolName`, `licenseFallback`, …) are read-only and ignored in requests, fields that do not \
                   exist are refused, and a write that changes nothing keeps the revision and leaves no audit row. \
                   Reads carry an `ETag`; send it back as `If-Match` to be told when somebody else was faster \
                   (a list of strong tags; a weak one never matches). A POST with an `Idempotency-Key` may be sent \
                   again: it gets the first answer again. Everything belongs to a tenant; system \
                   administrators name the one that a request is for in `X-Gslb-Tenant`, by id or name. 429 and 503 say in `Retry-After` when to come back; 507 \
                   means that the disk with the database is full, and that nothing was changed. A permission to write (`services:write`) \
                   brings the one to read (`services:read`) along: a write is answered with the whole object.",
))]
struct Document;

fn parts() -> (Router<AppState>, utoipa::openapi::OpenApi) {
    let v1 = OpenApiRouter::new()
        .merge(access::router())
        .merge(config_file::router())
        .merge(events::router())
        .merge(members::router())
        .merge(load::router())
        .merge(pools::router())
        .merge(records::router())
        .merge(dnssec::router())
        .merge(roles::router())
        .merge(services::router())
        .merge(session::router())
        .merge(steering::router())
        .merge(tenants::router())
        .merge(tokens::router())
        .merge(tsig_keys::router())
        .merge(users::router())
        .merge(zone_files::router())
        .merge(zones::router());
    let (router, mut document) = OpenApiRouter::with_openapi(Document::openapi())
        .nest("/api/v1", v1)
        .split_for_parts();
    let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    document
        .components
        .get_or_insert_default()
        .add_security_scheme("token", bearer);
    document.security = Some(vec![SecurityRequirement::new("token", Vec::<String>::new())]);
    (router, document)
}

/// The OpenAPI 3.1 document.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    parts().1
}

/// Routes of the API, its document, and the health of the process.
pub fn router() -> Router<AppState> {
    let (router, document) = parts();
    // The documents do not change while the daemon runs.
    let json: Arc<str> = document.to_json().unwrap_or_default().into();
    let page: Arc<str> = docs::page(&document).into();
    router
        .layer(from_fn_with_state(
            idempotency::Answers::default(),
            idempotency::middleware,
        ))
        .route(
            "/api/v1/openapi.json",
            get(move || async move { ([(header::CONTENT_TYPE, "application/json")], json.to_string()) }),
        )
        .route("/docs", get(move || async move { Html(page.to_string()) }))
        .route("/healthz", get(health::healthz))
        .route("/ready", get(health::ready))
        .route("/metrics", get(metrics::behind_login))
        .method_not_allowed_fallback(other_method)
        .layer(DefaultBodyLimit::max(extract::MAX_BODY))
}

/// A method that an address does not know. `OPTIONS` asks which it knows, and axum says so in `Allow` (RFC 9110 §9.3.7);
/// no other origin is let in by it.
async fn other_method(method: Method) -> Response {
    if method == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    let error = ApiError::new("method_not_allowed", "this address does not know that method");
    error::ApiFailure::from(error).into_response()
}
