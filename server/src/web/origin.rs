//! Protection against cross-site requests (CSRF).
//!
//! A browser says with `Sec-Fetch-Site` where a request comes from (Fetch Metadata), and older ones at least send
//! `Origin` with everything that is not GET. A request that changes state and leans on a cookie must prove by one of
//! the two that it comes from this console; no token has to travel through forms, and plain forms work. A request
//! with a bearer token needs nothing: no browser adds that by itself.

use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use gslb_api_types::ApiError;

use crate::api::error::ApiFailure;

/// Whether a request that leans on a cookie may change state.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|v| v.to_str().ok());
    if let Some(site) = text(header::HeaderName::from_static("sec-fetch-site")) {
        // `none`: typed into the address bar or a bookmark, which no other site can cause.
        return matches!(site, "same-origin" | "none");
    }
    match (text(header::ORIGIN), text(header::HOST)) {
        (Some(origin), Some(host)) => origin
            .split_once("://")
            .is_some_and(|(_, authority)| authority == host),
        _ => false,
    }
}

/// Refuses state-changing requests that another site could have made the browser send.
pub async fn guard(request: Request, next: Next) -> Response {
    let method = request.method();
    let safe = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let headers = request.headers();
    if safe
        || headers.contains_key(header::AUTHORIZATION)
        || !headers.contains_key(header::COOKIE) && !is_browser(headers)
    {
        return next.run(request).await;
    }
    if is_same_origin(headers) {
        return next.run(request).await;
    }
    ApiFailure::from(ApiError::new(
        "forbidden",
        "this request does not come from the console's own pages; scripts use an API token",
    ))
    .into_response()
}

/// Whether the request carries marks that only browsers set.
fn is_browser(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(k, v)| (header::HeaderName::from_static(k), HeaderValue::from_static(v)))
            .collect()
    }

    #[test]
    fn the_fetch_site_decides_when_there_is_one() {
        assert!(is_same_origin(&headers(&[("sec-fetch-site", "same-origin")])));
        assert!(!is_same_origin(&headers(&[("sec-fetch-site", "same-site")])));
        assert!(!is_same_origin(&headers(&[
            ("sec-fetch-site", "cross-site"),
            ("origin", "http://a"),
            ("host", "a")
        ])));
    }

    #[test]
    fn else_origin_and_host_must_agree() {
        assert!(is_same_origin(&headers(&[
            ("origin", "http://127.0.0.1:8080"),
            ("host", "127.0.0.1:8080")
        ])));
        assert!(!is_same_origin(&headers(&[
            ("origin", "http://evil.example"),
            ("host", "127.0.0.1:8080")
        ])));
        assert!(!is_same_origin(&headers(&[
            ("origin", "null"),
            ("host", "127.0.0.1:8080")
        ])));
        assert!(!is_same_origin(&headers(&[("host", "127.0.0.1:8080")])));
    }
}
