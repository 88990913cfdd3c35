//! Protection against cross-site requests (CSRF).
//!
//! A browser says with `Sec-Fetch-Site` where a request comes from (Fetch Metadata), and older ones at least send
//! `Origin` with everything that is not GET. A request that changes state and leans on a cookie must have one of the
//! two, and none that speaks of another place; no token has to travel through forms, and plain forms work. A request
//! with a bearer token needs nothing: no browser adds that by itself.

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use gslb_api_types::ApiError;

use crate::api::error::ApiFailure;

/// How the console is reached, as far as this process can know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// TLS ends here.
    Https,
    /// Plain HTTP. A program in front that ends TLS says so in `X-Forwarded-Proto`, which no page of another site can
    /// add to a request.
    Http,
    /// Plain HTTP, and the settings say that something else may speak TLS in front.
    Either,
}

impl Scheme {
    fn fits(self, scheme: &str, headers: &HeaderMap) -> bool {
        let forwarded = headers.get("x-forwarded-proto").is_some_and(|v| v == "https");
        match self {
            Self::Https => scheme == "https",
            Self::Http if forwarded => scheme == "https",
            Self::Http => scheme == "http",
            Self::Either => matches!(scheme, "http" | "https"),
        }
    }
}

/// Whether a request that leans on a cookie may change state: nothing that it says of its origin may be foreign, and
/// something must say that it is ours.
fn is_same_origin(headers: &HeaderMap, host: Option<&str>, scheme: Scheme) -> bool {
    let text = |name| headers.get(name).map(|v| v.to_str().unwrap_or("?"));
    let site = text(HeaderName::from_static("sec-fetch-site"))
        // `none`: typed into the address bar or a bookmark, which no other site can cause.
        .map(|site| matches!(site, "same-origin" | "none"));
    let origin = text(header::ORIGIN).map(|origin| {
        origin.split_once("://").is_some_and(|(of, authority)| {
            scheme.fits(of, headers) && host.is_some_and(|host| authority.eq_ignore_ascii_case(host))
        })
    });
    match (site, origin) {
        (None, None) => false,
        (site, origin) => site.unwrap_or(true) && origin.unwrap_or(true),
    }
}

/// Refuses state-changing requests that another site could have made the browser send.
pub async fn guard(State(scheme): State<Scheme>, request: Request, next: Next) -> Response {
    let method = request.method();
    let safe = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let headers = request.headers();
    if safe
        || headers.contains_key(header::AUTHORIZATION)
        || !headers.contains_key(header::COOKIE) && !is_browser(headers)
    {
        return next.run(request).await;
    }
    // HTTP/2 names the host in the request's own line.
    let host = headers
        .get(header::HOST)
        .map(|v| v.to_str().unwrap_or_default())
        .or_else(|| request.uri().authority().map(Authority::as_str));
    if is_same_origin(headers, host, scheme) {
        return next.run(request).await;
    }
    ApiFailure::from(ApiError::new(
        "forbidden",
        "a session's cookie is for the console's own pages, and this request says nothing of coming from there; programs send \
         `Authorization: Bearer` with an API token (`POST /api/v1/tokens` makes one) and no cookie",
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
            .map(|(k, v)| (HeaderName::from_static(k), HeaderValue::from_static(v)))
            .collect()
    }

    fn same(scheme: Scheme, pairs: &[(&'static str, &'static str)]) -> bool {
        is_same_origin(&headers(pairs), Some("127.0.0.1:8080"), scheme)
    }

    const OURS: (&str, &str) = ("origin", "http://127.0.0.1:8080");

    #[test]
    fn one_of_the_two_must_say_that_it_is_ours() {
        assert!(same(Scheme::Http, &[("sec-fetch-site", "same-origin")]));
        assert!(same(Scheme::Http, &[("sec-fetch-site", "none")]));
        assert!(same(Scheme::Http, &[OURS]));
        assert!(same(Scheme::Http, &[OURS, ("sec-fetch-site", "same-origin")]));
        assert!(!same(Scheme::Http, &[]));
    }

    #[test]
    fn neither_may_be_foreign() {
        for origin in [
            "http://evil.example",
            "https://127.0.0.1:8080",
            "null",
            "http://127.0.0.1",
            "127.0.0.1:8080",
        ] {
            assert!(!same(Scheme::Http, &[("origin", origin)]), "{origin}");
            assert!(
                !same(
                    Scheme::Http,
                    &[("origin", origin), ("sec-fetch-site", "same-origin")]
                ),
                "{origin}"
            );
        }
        for site in ["same-site", "cross-site", "nonsense"] {
            assert!(!same(Scheme::Http, &[OURS, ("sec-fetch-site", site)]), "{site}");
        }
        assert!(!is_same_origin(&headers(&[OURS]), None, Scheme::Http));
    }

    #[test]
    fn the_scheme_is_part_of_an_origin() {
        let tls = ("origin", "https://127.0.0.1:8080");
        assert!(same(Scheme::Https, &[tls]) && !same(Scheme::Https, &[OURS]));
        assert!(same(Scheme::Either, &[tls]) && same(Scheme::Either, &[OURS]));
        let forwarded = ("x-forwarded-proto", "https");
        assert!(same(Scheme::Http, &[tls, forwarded]) && !same(Scheme::Http, &[OURS, forwarded]));
    }
}
