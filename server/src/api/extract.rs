//! Request parts that fail with the one error body: JSON, ids, parameters, `If-Match`.

use super::error::{ApiFailure, ApiResult};
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use gslb_api_types::ApiError;
use gslb_api_types::model::{ErrorCode, ValidationError};
use gslb_core::OpError;
use gslb_core::draft::{self, Draft, Proposal};
use gslb_engine::nearest::nearest;
use serde::de::DeserializeOwned;
use std::str::FromStr;
use utoipa::IntoParams;

pub use super::precondition::if_match;

/// Largest request body, bytes.
pub const MAX_BODY: usize = 4 << 20;

/// A JSON body that a use case reads: what could be read of it, and what does not fit.
#[derive(Debug)]
pub struct Body<T>(pub Proposal<T>);

impl<S: Send + Sync, T: Draft> FromRequest<S> for Body<T> {
    type Rejection = ApiFailure;

    async fn from_request(request: Request, state: &S) -> ApiResult<Self> {
        let body = json(request, state, &[JSON]).await?;
        draft::read(body)
            .map(Self)
            .map_err(|problems| OpError::Invalid(problems).into())
    }
}

/// A merge patch (RFC 7396), as `application/merge-patch+json` or plain JSON.
#[derive(Debug)]
pub struct Patch(pub serde_json::Value);

impl<S: Send + Sync> FromRequest<S> for Patch {
    type Rejection = ApiFailure;

    async fn from_request(request: Request, state: &S) -> ApiResult<Self> {
        json(request, state, &[JSON, MERGE_PATCH]).await.map(Self)
    }
}

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// Refuses a body that says to be something else (RFC 9110 §15.5.16). One that says nothing is taken for JSON.
fn check_type(headers: &HeaderMap, accepted: &[&str]) -> ApiResult<()> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Ok(());
    };
    let text = value.to_str().unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim();
    if accepted.iter().any(|known| known.eq_ignore_ascii_case(essence)) {
        return Ok(());
    }
    Err(ApiError::new(
        "unsupported_media_type",
        format!(
            "the body is sent as `{essence}`; send it as {}",
            accepted.join(" or ")
        ),
    )
    .into())
}

async fn json<S: Send + Sync>(
    request: Request,
    state: &S,
    accepted: &[&str],
) -> ApiResult<serde_json::Value> {
    check_type(request.headers(), accepted)?;
    let bytes = bytes(request, state).await?;
    draft::parse(&bytes).map_err(|error| ApiError::new("malformed", error.to_string()).into())
}

async fn bytes<S: Send + Sync>(request: Request, state: &S) -> ApiResult<Bytes> {
    Bytes::from_request(request, state).await.map_err(|rejection| {
        ApiFailure::from(if rejection.status() == 413 {
            let limit = MAX_BODY >> 20;
            ApiError::new(
                "too_large",
                format!("the body is larger than {limit} MiB, which is the limit"),
            )
        } else {
            ApiError::new("malformed", "the body could not be read to its end")
        })
    })
}

/// The body as text, if it is sent as one of these types.
///
/// # Errors
/// 415 for another type, 413 when it is too large, 400 when it is no UTF-8.
pub async fn text_body(request: Request, accepted: &[&str]) -> ApiResult<String> {
    check_type(request.headers(), accepted)?;
    let bytes = bytes(request, &()).await?;
    String::from_utf8(bytes.to_vec()).map_err(|_| ApiError::new("malformed", "the body is not UTF-8").into())
}

/// A text that is no id names nothing: 404.
fn no_id(text: &str) -> ApiFailure {
    let message = format!("`{text}` is no id; the lists give the id of each object, such as 0190f5a2-…");
    ApiError::new("not_found", message).into()
}

/// An id in the path.
#[derive(Debug)]
pub struct Id<T>(pub T);

impl<S: Send + Sync, T: FromStr + Send> FromRequestParts<S> for Id<T> {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| no_id("this path"))?;
        text.parse().map(Self).map_err(|_| no_id(&text))
    }
}

/// Two ids in the path, in the order in which they stand there.
#[derive(Debug)]
pub struct IdPair<A, B>(pub A, pub B);

impl<S: Send + Sync, A: FromStr + Send, B: FromStr + Send> FromRequestParts<S> for IdPair<A, B> {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let Path((first, second)) = Path::<(String, String)>::from_request_parts(parts, state)
            .await
            .map_err(|_| no_id("this path"))?;
        let a = first.parse().map_err(|_| no_id(&first))?;
        let b = second.parse().map_err(|_| no_id(&second))?;
        Ok(Self(a, b))
    }
}

/// What is wrong with a parameter, out of axum's `Failed to …: limit: invalid digit found in string`.
fn wrong_parameter(text: &str) -> ApiError {
    let text = text.split_once(": ").map_or(text, |(_, rest)| rest);
    let Some((field, why)) = text.split_once(": ") else {
        return ApiError::new("malformed", format!("the parameters cannot be read: {text}"));
    };
    let message = match why {
        why if why.contains("digit") || why.contains("empty string") => "must be a whole number from 0 up",
        why if why.contains("too large") => "is too large",
        why if why.contains("`true` or `false`") => "must be true or false",
        why => why,
    };
    ApiError {
        details: vec![ValidationError::new(field, ErrorCode::Invalid, message)],
        ..ApiError::new("malformed", format!("{field}: {message}"))
    }
}

/// Query parameters. One that the endpoint does not know is refused: left out silently, a mistyped `serach` would give
/// another list than the one asked for.
#[derive(Debug)]
pub struct Params<T>(pub T);

/// Refuses parameters that `known` has not.
fn check_names(uri: &Uri, known: &[String]) -> ApiResult<()> {
    // What cannot be read at all is told by who reads the values.
    let Ok(Query(pairs)) = Query::<Vec<(String, String)>>::try_from_uri(uri) else {
        return Ok(());
    };
    let Some((name, _)) = pairs.into_iter().find(|(name, _)| !known.contains(name)) else {
        return Ok(());
    };
    let hint = nearest(&name, known.iter().map(String::as_str))
        .map(|near| format!(" (did you mean `{near}`?)"))
        .unwrap_or_default();
    let message = format!(
        "is no parameter of this request{hint}; the parameters are {}",
        known.join(", ")
    );
    Err(ApiError {
        message: format!("`{name}` {message}"),
        details: vec![ValidationError::new(name, ErrorCode::Unknown, message)],
        ..ApiError::new("malformed", "")
    }
    .into())
}

impl<S: Send + Sync, T: DeserializeOwned + IntoParams + Send> FromRequestParts<S> for Params<T> {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        if parts.uri.query().is_some_and(|query| !query.is_empty()) {
            let known: Vec<String> = T::into_params(|| None).into_iter().map(|p| p.name).collect();
            check_names(&parts.uri, &known)?;
        }
        Query::<T>::from_request_parts(parts, state)
            .await
            .map(|Query(value)| Self(value))
            .map_err(|rejection| wrong_parameter(&rejection.body_text()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body as Bytes;
    use gslb_api_types::model::ServiceDraft;

    async fn read(kind: Option<&str>, body: &'static str) -> ApiResult<Proposal<ServiceDraft>> {
        let mut request = Request::builder();
        if let Some(kind) = kind {
            request = request.header(header::CONTENT_TYPE, kind);
        }
        let request = request.body(Bytes::from(body)).unwrap();
        Body::from_request(request, &())
            .await
            .map(|Body(proposal)| proposal)
    }

    #[tokio::test]
    async fn what_is_no_json_is_malformed() {
        for body in ["{\"name\":", "{} x", "", "{\"name\": \"a\", \"name\": \"b\"}"] {
            let failure = read(None, body).await.map(|_| ()).unwrap_err();
            assert_eq!(failure.error.code, "malformed", "{body}");
        }
    }

    #[tokio::test]
    async fn a_wrong_parameter_is_named_in_plain_words() {
        for (query, message) in [
            ("limit=x", "limit: must be a whole number from 0 up"),
            ("limit=-1", "limit: must be a whole number from 0 up"),
            ("limit=", "limit: must be a whole number from 0 up"),
            ("limit=99999999999", "limit: is too large"),
        ] {
            let request = Request::builder().uri(format!("/x?{query}")).body(()).unwrap();
            let (mut parts, ()) = request.into_parts();
            let result = Params::<gslb_api_types::ListQuery>::from_request_parts(&mut parts, &()).await;
            let failure = result.map(|_| ()).unwrap_err();
            assert_eq!(
                (failure.status().as_u16(), failure.error.message.as_str()),
                (400, message)
            );
            assert_eq!(failure.error.details[0].field, "limit");
        }
    }

    #[tokio::test]
    async fn an_unknown_parameter_is_refused_with_the_one_that_is_meant() {
        let request = Request::builder()
            .uri("/x?limit=5&serach=a%20b")
            .body(())
            .unwrap();
        let (mut parts, ()) = request.into_parts();
        let result = Params::<gslb_api_types::ListQuery>::from_request_parts(&mut parts, &()).await;
        let failure = result.map(|_| ()).unwrap_err();
        assert_eq!(failure.status().as_u16(), 400);
        assert_eq!(
            failure.error.message,
            "`serach` is no parameter of this request (did you mean `search`?); the parameters are limit, cursor, search, sort"
        );
        assert_eq!(failure.error.details[0].field, "serach");
    }

    #[tokio::test]
    async fn a_body_of_another_type_is_not_read() {
        for kind in [
            "text/plain",
            "application/merge-patch+json",
            "application/x-www-form-urlencoded",
            "",
        ] {
            let failure = read(Some(kind), "{}").await.map(|_| ()).unwrap_err();
            assert_eq!(failure.status(), 415, "{kind}");
        }
        for kind in ["application/json", "Application/JSON; charset=utf-8"] {
            assert!(read(Some(kind), "{}").await.is_ok(), "{kind}");
        }
        assert!(read(None, "{}").await.is_ok());
    }
}
