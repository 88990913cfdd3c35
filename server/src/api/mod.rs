//! The REST API: thin handlers over the use cases.

pub mod access;
pub mod answer;
pub mod auth;
mod docs;
pub mod error;
mod events;
pub mod extract;
mod health;
mod idempotency;
mod members;
mod metrics;
mod pools;
mod services;
mod steering;
mod zones;

pub use metrics::router as metrics_router;

use crate::state::AppState;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse};
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
                   session of the console. Errors have one form: `{\"error\": {\"code\", \"message\", \"details\"}}`. Reads carry \
                   an `ETag`; send it back as `If-Match` to be told when somebody else was faster. A POST \
                   with an `Idempotency-Key` may be sent again: it gets the first answer again.",
))]
struct Document;

fn parts() -> (Router<AppState>, utoipa::openapi::OpenApi) {
    let v1 = OpenApiRouter::new()
        .merge(access::router())
        .merge(events::router())
        .merge(members::router())
        .merge(pools::router())
        .merge(services::router())
        .merge(steering::router())
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
        .method_not_allowed_fallback(|| async {
            let error = ApiError::new("method_not_allowed", "this address does not know that method");
            error::ApiFailure::from(error).into_response()
        })
        .layer(DefaultBodyLimit::max(extract::MAX_BODY))
}
