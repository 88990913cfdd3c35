//! The built console inside the binary: scripts, WASM, style and public files.
//!
//! Debug builds read `target/site` at run time, release builds carry it. Files under `/pkg/` have a hash in their
//! names and are cached for ever; compressed copies (`.br`, `.gz`) lie beside them and go out as they are.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use rust_embed::Embed;

/// The site folder as `cargo xtask site` leaves it. It may be absent: tests and lints need no console.
#[derive(Embed)]
#[folder = "../target/site"]
#[allow_missing = true]
struct Site;

/// Stem of the built files (`gslb-<hash>`), or `None` when this binary was built without the console.
#[must_use]
pub fn stem() -> Option<String> {
    Site::iter().find_map(|path| Some(path.strip_prefix("pkg/")?.strip_suffix("_bg.wasm")?.to_owned()))
}

/// Answers with the embedded file at `path` (without the leading slash), or `None` if there is none.
#[must_use]
pub fn serve(path: &str, request: &HeaderMap) -> Option<Response<Body>> {
    if path.ends_with(".br") || path.ends_with(".gz") || path.ends_with('/') || path.is_empty() {
        return None;
    }
    let accepts = request
        .get(header::ACCEPT_ENCODING)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    let accepts = |coding: &str| {
        accepts.split(',').any(|item| {
            let mut parts = item.split(';').map(str::trim);
            let refused = |q: &str| q.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0_f32));
            parts.next() == Some(coding) && !parts.any(refused)
        })
    };
    let encoded = [("br", ".br"), ("gzip", ".gz")]
        .into_iter()
        .filter(|(coding, _)| accepts(coding))
        .find_map(|(coding, ending)| Some((coding, Site::get(&format!("{path}{ending}"))?)));
    let (coding, file) = match encoded {
        Some((coding, file)) => (Some(coding), file),
        None => (None, Site::get(path)?),
    };
    let mut response = Response::new(Body::from(file.data));
    let headers = response.headers_mut();
    let kind = mime_guess::from_path(path).first_or_octet_stream();
    if let Ok(value) = HeaderValue::from_str(kind.as_ref()) {
        headers.insert(header::CONTENT_TYPE, value);
    }
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    let caching = if path.starts_with("pkg/") {
        "public, max-age=31536000, immutable"
    } else {
        "public, max-age=3600"
    };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    *response.status_mut() = StatusCode::OK;
    Some(response)
}
