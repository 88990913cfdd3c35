//! The error of every server function: the API's own error, so that problems by field reach the forms.

use gslb_api_types::ApiError;
use leptos::server_fn::codec::JsonEncoding;
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use serde::{Deserialize, Serialize};

/// [`ApiError`] as server functions carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Failure(pub ApiError);

impl Failure {
    /// Whether the caller has to log in (again).
    #[must_use]
    pub fn needs_login(&self) -> bool {
        self.0.code == "unauthorized"
    }

    /// Whether the object does not exist, or not for this caller.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.0.code == "not_found"
    }

    /// Something asked for that is not there.
    #[must_use]
    pub fn missing(message: impl Into<String>) -> Self {
        Self(ApiError::new("not_found", message))
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failure {}

impl FromServerFnError for Failure {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        let code = match error {
            ServerFnErrorErr::Request(_) => "unavailable",
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) => "malformed",
            _ => "internal",
        };
        let message = match &error {
            ServerFnErrorErr::Request(_) => "The server could not be reached.".to_owned(),
            other => other.to_string(),
        };
        Self(ApiError::new(code, message))
    }
}
