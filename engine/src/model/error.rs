//! What is wrong with a draft, by field.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Kind of a [`ValidationError`], for programs; the message is for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// A field that must be given is absent or empty.
    Required,
    /// Longer, larger or smaller than allowed.
    OutOfRange,
    /// Not of the form that the field wants (an address, a name, a CIDR).
    Invalid,
    /// A name outside a fixed list (a filter, an algorithm, a check type).
    Unknown,
    /// The same value twice where it must be unique.
    Duplicate,
    /// Contradicts another field.
    Conflict,
    /// Names an object that does not exist.
    NotFound,
    /// Correct, but this build cannot do it.
    Unsupported,
}

/// One problem with one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ValidationError {
    /// Path of the field in the request, in the API's spelling: `filterChain[2]`, `members[0].ipAddress`.
    pub field: String,
    /// Kind of problem.
    pub code: ErrorCode,
    /// What is wrong and what would be right.
    pub message: String,
}

impl ValidationError {
    /// A problem with `field`.
    pub fn new(field: impl Into<String>, code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            code,
            message: message.into(),
        }
    }

    /// The same problem seen from the object that contains this one: `ipAddress` becomes `members[0].ipAddress`.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        self.field = format!("{prefix}.{}", self.field);
        self
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl std::error::Error for ValidationError {}

/// Something accepted that will probably not do what its author wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Warning {
    /// Path of the field, as in [`ValidationError::field`].
    pub field: String,
    /// What will happen.
    pub message: String,
}
