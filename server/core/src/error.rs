//! How a use case can fail. Nothing here knows HTTP: one file of the server turns these into responses.

use gslb_engine::model::{ErrorCode, Permission, Tier, ValidationError};

/// Result of a successful write: the object as stored, its revision for the next conditional write, and things
/// accepted that will probably not do what their author wants.
pub type Written<T> = gslb_api_types::Stored<T>;

/// Why a use case was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum OpError {
    /// The actor lacks a permission.
    #[error("permission `{0}` is needed")]
    Forbidden(Permission),
    /// The licence in force does not allow it. The message ends in the licensing contact.
    #[error("{message}")]
    LicenseRequired {
        /// The tier that would.
        tier: Tier,
        /// For people.
        message: String,
    },
    /// There is no such object in the actor's tenant.
    #[error("there is no {kind} `{id}`")]
    NotFound {
        /// `service`, `pool`, `member`, ...
        kind: &'static str,
        /// The id asked for.
        id: String,
    },
    /// Contradicts another object: a name taken, a pool in use, a lost write race.
    #[error("{message}")]
    Conflict {
        /// Field of the request, empty when it is about the object as a whole.
        field: String,
        /// For people.
        message: String,
    },
    /// The object has changed since the revision that the caller expects.
    #[error("the object has changed since: its revision is {current} now")]
    Stale {
        /// The revision it has now.
        current: u64,
    },
    /// The request is wrong; every problem, by field.
    #[error("{}", summary(.0))]
    Invalid(Vec<ValidationError>),
    /// Writes are not possible at the moment.
    #[error("not available at the moment: {0}")]
    Unavailable(String),
    /// A fault of this program or its machine; the source says which.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl OpError {
    /// One problem with one field.
    pub fn invalid(field: impl Into<String>, code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Invalid(vec![ValidationError::new(field, code, message)])
    }

    /// A conflict about one field.
    pub fn conflict(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Conflict {
            field: field.into(),
            message: message.into(),
        }
    }

    /// No such object.
    pub fn not_found(kind: &'static str, id: impl std::fmt::Display) -> Self {
        Self::NotFound {
            kind,
            id: id.to_string(),
        }
    }

    /// A fault with its source.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }
}

fn summary(errors: &[ValidationError]) -> String {
    let count = errors.len();
    match errors.first() {
        None => "the request is not valid".to_owned(),
        Some(first) if count == 1 => first.to_string(),
        Some(first) => format!("{first} (and {} more)", count - 1),
    }
}
