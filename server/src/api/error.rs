//! The one place where use-case errors become HTTP.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gslb_api_types::model::{ErrorCode, ValidationError};
use gslb_api_types::{ApiError, ErrorBody};
use gslb_core::OpError;

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
        OpError::Forbidden(_) => plain("forbidden"),
        OpError::LicenseRequired { tier, .. } => ApiError {
            tier: Some(*tier),
            ..plain("license_required")
        },
        OpError::NotFound { .. } => plain("not_found"),
        OpError::Conflict { field, message } if !field.is_empty() => ApiError {
            details: vec![ValidationError::new(field, ErrorCode::Conflict, message)],
            ..plain("conflict")
        },
        OpError::Conflict { .. } => plain("conflict"),
        OpError::Stale { .. } => plain("stale"),
        OpError::Invalid(details) => ApiError {
            details: details.clone(),
            ..plain("validation_failed")
        },
        OpError::Unavailable(_) => plain("unavailable"),
        OpError::Internal(source) => {
            tracing::error!(error = %source, "a request failed inside");
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
            "unavailable" => StatusCode::SERVICE_UNAVAILABLE,
            "method_not_allowed" => StatusCode::METHOD_NOT_ALLOWED,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for ApiFailure {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut response = (status, Json(ErrorBody { error: self.error })).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
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
