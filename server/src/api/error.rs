//! The one place where use-case errors become HTTP.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gslb_api_types::{ApiError, ErrorBody};
use gslb_core::{Chain, OpError};

/// An answer that is not a success: the error body with the status that its code stands for.
#[derive(Debug)]
pub struct ApiFailure {
    /// Body.
    pub error: ApiError,
    /// Revision of the object now, with code `stale`.
    pub revision: Option<u64>,
}

/// Result of a handler.
pub type ApiResult<T> = Result<T, ApiFailure>;

impl From<ApiError> for ApiFailure {
    fn from(error: ApiError) -> Self {
        Self {
            error,
            revision: None,
        }
    }
}

impl From<OpError> for ApiFailure {
    fn from(error: OpError) -> Self {
        let revision = match &error {
            OpError::Stale { current } => Some(*current),
            _ => None,
        };
        Self {
            error: api_error(&error),
            revision,
        }
    }
}

/// The body for a use-case error. Internal causes go to the log, not to the caller.
#[must_use]
pub fn api_error(error: &OpError) -> ApiError {
    let plain = |code: &str| ApiError::new(code, error.to_string());
    match error {
        OpError::Forbidden(_) | OpError::NoAccount => plain("forbidden"),
        OpError::LicenseRequired { tier, .. } => ApiError {
            tier: Some(*tier),
            ..plain("license_required")
        },
        OpError::NotFound { .. } => plain("not_found"),
        OpError::Conflict(details) => ApiError {
            details: details.iter().filter(|d| !d.field.is_empty()).cloned().collect(),
            ..plain("conflict")
        },
        OpError::Stale { .. } => plain("stale"),
        OpError::Invalid(details) => ApiError {
            details: details.clone(),
            ..plain("validation_failed")
        },
        OpError::Unavailable(_) => ApiError {
            retry_after: Some(1),
            ..plain("unavailable")
        },
        OpError::DiskFull(source) => {
            tracing::error!(error = %Chain(source.as_ref()), "the disk with the database is full");
            plain("disk_full")
        }
        OpError::Internal(source) => {
            tracing::error!(error = %Chain(source.as_ref()), "a request failed inside");
            ApiError::new("internal", "something went wrong inside; the log has the details")
        }
    }
}

impl ApiFailure {
    /// HTTP status of the error's code.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self.error.code.as_str() {
            "malformed" => StatusCode::BAD_REQUEST,
            "unauthorized" => StatusCode::UNAUTHORIZED,
            "forbidden" | "license_required" => StatusCode::FORBIDDEN,
            "not_found" => StatusCode::NOT_FOUND,
            "conflict" => StatusCode::CONFLICT,
            "stale" => StatusCode::PRECONDITION_FAILED,
            "validation_failed" => StatusCode::UNPROCESSABLE_ENTITY,
            "too_large" => StatusCode::PAYLOAD_TOO_LARGE,
            "rate_limited" => StatusCode::TOO_MANY_REQUESTS,
            "disk_full" => StatusCode::INSUFFICIENT_STORAGE,
            "unavailable" => StatusCode::SERVICE_UNAVAILABLE,
            "unsupported_media_type" => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "method_not_allowed" => StatusCode::METHOD_NOT_ALLOWED,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for ApiFailure {
    fn into_response(self) -> Response {
        let status = self.status();
        let retry = match (self.error.retry_after, status) {
            (Some(seconds), _) => Some(seconds),
            (None, StatusCode::TOO_MANY_REQUESTS) => Some(1),
            (None, _) => None,
        };
        let mut response = (status, Json(ErrorBody { error: self.error })).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(value) = self
            .revision
            .and_then(|r| HeaderValue::from_str(&format!("\"{r}\"")).ok())
        {
            headers.insert(header::ETAG, value);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_must_wait_is_told_how_long() {
        let wait = |error: ApiError| {
            let response = ApiFailure::from(error).into_response();
            let header = response.headers().get(header::RETRY_AFTER);
            (
                response.status().as_u16(),
                header.map(|v| v.to_str().unwrap().to_owned()),
            )
        };
        let limited = ApiError {
            retry_after: Some(7),
            ..ApiError::new("rate_limited", "")
        };
        assert_eq!(wait(limited), (429, Some("7".to_owned())));
        assert_eq!(
            wait(ApiError::new("rate_limited", "")),
            (429, Some("1".to_owned()))
        );
        let busy = api_error(&OpError::Unavailable("locked".to_owned()));
        assert_eq!(wait(busy), (503, Some("1".to_owned())));
        assert_eq!(wait(ApiError::new("conflict", "")), (409, None));
    }

    #[test]
    fn a_full_disk_is_told_as_such_and_without_the_insides() {
        let cause = std::io::Error::other("SQLITE_FULL in /var/lib/gslbd");
        let error = api_error(&OpError::DiskFull(Box::new(cause)));
        assert!(
            error.message.contains("disk") && !error.message.contains("/var"),
            "{error}"
        );
        assert_eq!(ApiFailure::from(error).status(), StatusCode::INSUFFICIENT_STORAGE);
    }
}
