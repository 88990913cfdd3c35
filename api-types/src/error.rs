//! The one error body.

use gslb_engine::model::{Tier, ValidationError};
use serde::{Deserialize, Serialize};

/// `{"error": {...}}`, the body of every answer that is not a success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// The error.
    pub error: ApiError,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApiError {
    /// For programs: `validation_failed`, `license_required`, `forbidden`, `unauthorized`, `not_found`, `conflict`,
    /// `stale`, `malformed`, `unsupported_media_type`, `too_large`, `rate_limited`, `unavailable`, `disk_full`,
    /// `method_not_allowed`, `internal`.
    pub code: String,
    /// For people.
    pub message: String,
    /// The tier that the request needs, with code `license_required`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tier: Option<Tier>,
    /// Seconds after which the request may be sent again, with codes `rate_limited` and `unavailable`; also in the
    /// `Retry-After` header.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retry_after: Option<u64>,
    /// Problems by field; empty unless the code is `validation_failed` or `conflict`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<ValidationError>,
}

impl ApiError {
    /// An error without details.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            tier: None,
            retry_after: None,
            details: Vec::new(),
        }
    }

    /// The message about one field, if there is one.
    #[must_use]
    pub fn field(&self, field: &str) -> Option<&str> {
        self.details
            .iter()
            .find(|d| d.field == field)
            .map(|d| d.message.as_str())
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}
