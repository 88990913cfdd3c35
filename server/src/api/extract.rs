//! Request parts that fail with the one error body: JSON with the path of what does not fit, ids, `If-Match`.

use super::error::{ApiFailure, ApiResult};
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use gslb_api_types::ApiError;
use gslb_api_types::model::{ErrorCode, ValidationError};
use serde::de::DeserializeOwned;
use std::str::FromStr;

/// Largest request body, bytes.
pub const MAX_BODY: usize = 4 << 20;

/// A JSON body.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiFailure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Self::Rejection> {
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
            let code = if rejection.status() == 413 {
                "too_large"
            } else {
                "malformed"
            };
            ApiFailure::from(ApiError::new(code, rejection.body_text()))
        })?;
        parse(&bytes).map(Self)
    }
}

/// Parses a JSON text.
///
/// # Errors
/// `malformed` with line and column when it is no JSON; `validation_failed` with the path of the field when it is
/// JSON of another shape.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> ApiResult<T> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        match inner.classify() {
            serde_json::error::Category::Data => {
                // serde_json appends the position, which means nothing next to the field's path.
                let text = inner.to_string();
                let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
                let field = if path == "." {
                    unknown_field(&message).unwrap_or_default()
                } else {
                    path
                };
                let detail = ValidationError::new(field, ErrorCode::Invalid, message);
                ApiFailure::from(ApiError {
                    details: vec![detail.clone()],
                    ..ApiError::new("validation_failed", detail.to_string())
                })
            }
            _ => ApiFailure::from(ApiError::new(
                "malformed",
                format!("the body is no JSON: {inner}"),
            )),
        }
    })?;
    reader.end().map_err(|error| {
        ApiFailure::from(ApiError::new(
            "malformed",
            format!("text after the JSON value: {error}"),
        ))
    })?;
    Ok(value)
}

/// The name in serde's ``unknown field `x`, expected …``.
fn unknown_field(message: &str) -> Option<String> {
    message
        .strip_prefix("unknown field `")?
        .split('`')
        .next()
        .map(str::to_owned)
}

/// An id in the path. A text that is no id names nothing: 404.
#[derive(Debug)]
pub struct Id<T>(pub T);

impl<S: Send + Sync, T: FromStr + Send> FromRequestParts<S> for Id<T> {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let missing = || ApiFailure::from(ApiError::new("not_found", "there is nothing with this id"));
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| missing())?;
        text.parse().map(Self).map_err(|_| missing())
    }
}

/// Query parameters.
#[derive(Debug)]
pub struct Params<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Params<T> {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        Query::<T>::from_request_parts(parts, state)
            .await
            .map(|Query(value)| Self(value))
            .map_err(|rejection| ApiFailure::from(ApiError::new("malformed", rejection.body_text())))
    }
}

/// The revision in `If-Match`; `None` when absent or `*`.
///
/// # Errors
/// `stale` when it is no entity tag that this server gave: it can match nothing.
pub fn if_match(headers: &HeaderMap) -> ApiResult<Option<u64>> {
    let Some(value) = headers.get(header::IF_MATCH) else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let tag = text.strip_prefix("W/").unwrap_or(text).trim_matches('"');
    tag.parse().map(Some).map_err(|_| {
        ApiFailure::from(ApiError::new(
            "stale",
            format!("`{text}` is no revision of this object; read it again"),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gslb_api_types::model::{MemberDraft, ServiceDraft};

    #[test]
    fn a_wrong_type_names_its_field() {
        let failure = parse::<MemberDraft>(br#"{"ipAddress":"192.0.2.1","port":"eighty"}"#)
            .map(|_| ())
            .unwrap_err();
        assert_eq!(failure.error.code, "validation_failed");
        assert_eq!(failure.error.details[0].field, "port");
    }

    #[test]
    fn an_unknown_field_is_named() {
        let failure = parse::<ServiceDraft>(br#"{"naem":"x"}"#).map(|_| ()).unwrap_err();
        assert_eq!(failure.error.details[0].field, "naem");
    }

    #[test]
    fn what_is_no_json_is_malformed() {
        let failure = parse::<ServiceDraft>(b"{\"name\":").map(|_| ()).unwrap_err();
        assert_eq!(failure.error.code, "malformed");
        let failure = parse::<ServiceDraft>(b"{} x").map(|_| ()).unwrap_err();
        assert_eq!(failure.error.code, "malformed");
    }
}
