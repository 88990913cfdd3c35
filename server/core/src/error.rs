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
    /// What is asked for belongs to accounts, and a token asks.
    #[error("only an account that is logged in may do this, and this is a token")]
    NoAccount,
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
    /// Contradicts other objects: a name taken, a pool in use, a lost write race. Every collision, by field; the
    /// field is empty when it is about the object as a whole.
    #[error("{}", messages(.0))]
    Conflict(Vec<ValidationError>),
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
    /// The disk is full: nothing of the write was kept.
    #[error("the disk with the database is full: nothing was changed; make room, and send it again")]
    DiskFull(#[source] Box<dyn std::error::Error + Send + Sync>),
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
        Self::Conflict(vec![ValidationError::new(field, ErrorCode::Conflict, message)])
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

/// An error with everything that caused it, for the log: `database: commit: disk I/O error`.
#[derive(Debug)]
pub struct Chain<'a>(pub &'a (dyn std::error::Error + 'a));

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = self.0.to_string();
        f.write_str(&text)?;
        let mut next = self.0.source();
        while let Some(cause) = next {
            let cause_text = cause.to_string();
            // Some errors print their cause themselves.
            if !text.contains(&cause_text) {
                write!(f, ": {cause_text}")?;
            }
            text = cause_text;
            next = cause.source();
        }
        Ok(())
    }
}

fn messages(errors: &[ValidationError]) -> String {
    let texts: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    texts.join("; ")
}

fn summary(errors: &[ValidationError]) -> String {
    let count = errors.len();
    match errors.first() {
        None => "the request is not valid".to_owned(),
        Some(first) if count == 1 => told(first),
        Some(first) => format!("{} (and {} more)", told(first), count - 1),
    }
}

/// A problem of the request as a whole has no field to name.
fn told(error: &ValidationError) -> String {
    if error.field.is_empty() {
        error.message.clone()
    } else {
        error.to_string()
    }
}
