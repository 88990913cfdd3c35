//! The web console: mounts `app`, serves the embedded site, and puts the security headers on every page.

pub mod assets;
mod backend;
mod created;
mod kept;
pub mod origin;
pub mod sessions;
mod zones;

pub use backend::ConsoleBackend;

use crate::api::auth::{Account, Identity};
use crate::state::AppState;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use gslb_api_types::ApiError;
use gslb_app::backend::Backend;
use gslb_app::{console, document};
use leptos::config::LeptosOptions;
use leptos::context::provide_context;
use leptos::nonce::use_nonce;
use leptos_axum::{LeptosRoutes, ResponseOptions, generate_route_list, render_app_async_with_context};
use std::sync::Arc;

/// Options of the console; the stem names the built files.
#[must_use]
pub fn options() -> LeptosOptions {
    let stem = assets::stem().unwrap_or_else(|| {
        tracing::warn!("this build carries no console files: pages work, without style and scripts");
        "gslb".to_owned()
    });
    LeptosOptions::builder()
        .output_name(stem)
        .site_pkg_dir("pkg")
        .build()
}

/// Headers that depend on the nonce of the page. Runs in the page's own context.
fn page_headers() {
    let Some(response) = leptos::context::use_context::<ResponseOptions>() else {
        return;
    };
    let nonce = use_nonce().map(|n| n.to_string()).unwrap_or_default();
    let policy = format!(
        "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
    );
    if let Ok(value) = HeaderValue::from_str(&policy) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, value);
    }
    // A page shows live data of whoever is logged in: no cache may keep it.
    response.insert_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

/// Whether a request without a session is sent to the log-in page.
fn needs_login(request: &Request) -> bool {
    let known = request
        .extensions()
        .get::<Account>()
        .is_some_and(|account| account.0.is_ok());
    !known && request.uri().path() != "/login"
}

/// Page on which a tenant is picked, with the message that the one of before is gone.
const PICK: &str = "/tenants?done=gone";

/// Whether the tenant that the session has picked is gone: only the page on which another is picked makes sense then.
fn needs_tenant(request: &Request) -> bool {
    let known = |found: Option<bool>| found.unwrap_or_default();
    let extensions = request.extensions();
    known(extensions.get::<Account>().map(|account| account.0.is_ok()))
        && !known(extensions.get::<Identity>().map(|identity| identity.0.is_ok()))
        && !matches!(request.uri().path(), "/login" | "/tenants")
}

/// Where to log in, and where to go from there.
fn login_target(uri: &Uri) -> String {
    let wanted = uri.path_and_query().map_or("/", |p| p.as_str());
    if wanted == "/" {
        return "/login".to_owned();
    }
    let encoded: String = wanted
        .bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                char::from(b).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect();
    format!("/login?next={encoded}")
}

async fn gate(request: Request, next: axum::middleware::Next) -> Response {
    let is_page =
        matches!(*request.method(), Method::GET | Method::HEAD) && !request.uri().path().starts_with("/rpc/");
    if is_page && needs_login(&request) {
        return Redirect::to(&login_target(request.uri())).into_response();
    }
    if is_page && needs_tenant(&request) {
        return Redirect::to(PICK).into_response();
    }
    next.run(request).await
}

/// Routes of the console: pages, server functions, files.
pub fn router(state: &AppState) -> Router<AppState> {
    let options = state.leptos.clone();
    let backend: Arc<dyn Backend> = Arc::new(ConsoleBackend::new(state.clone()));
    let context = move || {
        provide_context(Arc::clone(&backend));
        page_headers();
    };
    let mut routes = generate_route_list(console);
    // The console's own catch-all would take the files below too: what no page matches goes to the fallback.
    routes.retain(|route| !route.path().contains('*'));
    let document = move || document(options.clone());
    let pages = Router::new()
        .leptos_routes_with_context(state, routes, context.clone(), document.clone())
        .layer(axum::middleware::from_fn(gate));
    let fallback = move |request: Request| {
        let (context, document) = (context.clone(), document.clone());
        async move { missing(request, context, document).await }
    };
    pages.fallback(fallback)
}

/// A file of the site, the API's own 404, or the console's page that says what is not there.
async fn missing<V: leptos::IntoView + 'static>(
    request: Request<Body>,
    context: impl Fn() + Clone + Send + Sync + 'static,
    document: impl Fn() -> V + Clone + Send + Sync + 'static,
) -> Response {
    let path = request.uri().path();
    if path.starts_with("/api/") {
        let error = ApiError::new("not_found", format!("there is no {} {path}", request.method()));
        return crate::api::error::ApiFailure::from(error).into_response();
    }
    if let Some(file) = assets::serve(path.trim_start_matches('/'), request.headers()) {
        return file;
    }
    if needs_login(&request) {
        return Redirect::to(&login_target(request.uri())).into_response();
    }
    let render = render_app_async_with_context(context, document);
    let mut response = render(request).await.into_response();
    *response.status_mut() = http::StatusCode::NOT_FOUND;
    response
}

/// Security headers of every answer.
pub async fn security_headers(request: Request, next: axum::middleware::Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_login_page_is_told_where_one_wanted_to_go() {
        assert_eq!(login_target(&Uri::from_static("/")), "/login");
        assert_eq!(
            login_target(&Uri::from_static("/trace?a=b&c=d")),
            "/login?next=/trace%3Fa%3Db%26c%3Dd"
        );
    }
}
