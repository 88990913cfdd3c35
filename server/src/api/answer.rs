//! Successful answers: the object with its revision as `ETag`, and the status of what was done.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gslb_api_types::Stored;
use gslb_core::Written;
use serde::Serialize;

fn with_tag(status: StatusCode, revision: u64, body: impl Serialize) -> Response {
    let mut response = (status, Json(body)).into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("\"{revision}\"")) {
        response.headers_mut().insert(header::ETAG, value);
    }
    response
}

/// 200 with a part of an object, under the revision of the whole.
pub fn tagged(revision: u64, body: impl Serialize) -> Response {
    with_tag(StatusCode::OK, revision, body)
}

/// 200 with an object that was read.
pub fn read<T: Serialize>(stored: &Stored<T>) -> Response {
    with_tag(StatusCode::OK, stored.revision, stored)
}

/// 200 with an object that was changed.
pub fn updated<T: Serialize>(written: Written<T>) -> Response {
    read(&written)
}

/// 201 with an object that was made, and where it is.
pub fn created<T: Serialize>(location: &str, written: Written<T>) -> Response {
    let mut response = with_tag(StatusCode::CREATED, written.revision, written);
    if let Ok(value) = HeaderValue::from_str(location) {
        response.headers_mut().insert(header::LOCATION, value);
    }
    response
}
