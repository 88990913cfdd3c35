//! DNS over HTTPS (RFC 8484): `GET /dns-query?dns=…` and `POST /dns-query`, on a port of its own.

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{ConnectInfo, DefaultBodyLimit, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use gslb_dns::{Messages, smallest_ttl};
use std::net::SocketAddr;
use tower_http::catch_panic::CatchPanicLayer;

/// The one media type there is (RFC 8484 §6).
const MESSAGE: &str = "application/dns-message";
/// Longest message.
const LONGEST: usize = u16::MAX as usize;
/// Without padding, says RFC 8484 §6; some clients send it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The endpoint.
pub fn router(messages: Messages) -> Router {
    Router::new()
        .route("/dns-query", get(by_get).post(by_post))
        .layer(DefaultBodyLimit::max(LONGEST))
        .layer(CatchPanicLayer::new())
        .with_state(messages)
}

async fn by_get(
    State(messages): State<Messages>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    RawQuery(query): RawQuery,
) -> Response {
    let query = query.unwrap_or_default();
    let Some(text) = query.split('&').find_map(|pair| pair.strip_prefix("dns=")) else {
        return wrong(
            StatusCode::BAD_REQUEST,
            "the parameter `dns` is missing: a DNS message in base64url",
        );
    };
    match BASE64.decode(text) {
        Ok(message) => reply(&messages, &message, peer).await,
        Err(error) => wrong(
            StatusCode::BAD_REQUEST,
            format!("the parameter `dns` is no base64url: {error}"),
        ),
    }
}

async fn by_post(
    State(messages): State<Messages>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .map(|kind| kind.to_str().unwrap_or_default());
    let kind = kind
        .and_then(|kind| kind.split(';').next())
        .unwrap_or_default()
        .trim();
    if !kind.eq_ignore_ascii_case(MESSAGE) {
        let what = if kind.is_empty() {
            "something unnamed"
        } else {
            kind
        };
        return wrong(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("the body is sent as {what}; send it as {MESSAGE}"),
        );
    }
    match body {
        Ok(message) => reply(&messages, &message, peer).await,
        Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => wrong(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("a DNS message has at most {LONGEST} octets"),
        ),
        Err(_) => wrong(StatusCode::BAD_REQUEST, "the body could not be read to its end"),
    }
}

async fn reply(messages: &Messages, message: &[u8], peer: SocketAddr) -> Response {
    // On an address of both families, IPv4 comes in the form of IPv6.
    let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
    let Some(reply) = messages.answer(message, peer).await else {
        return wrong(StatusCode::BAD_REQUEST, "this is no DNS query");
    };
    // No longer than any record of it may be kept (§5.1).
    let age = smallest_ttl(&reply).unwrap_or(0);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(MESSAGE)),
        (
            header::CACHE_CONTROL,
            HeaderValue::try_from(format!("max-age={age}")).unwrap_or(HeaderValue::from_static("no-store")),
        ),
    ];
    (headers, reply).into_response()
}

fn wrong(status: StatusCode, message: impl Into<String>) -> Response {
    let mut text = message.into();
    text.push('\n');
    (status, text).into_response()
}
