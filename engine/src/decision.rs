//! What the engine decides for one query.

use serde::{Deserialize, Serialize};

/// How a query to a service ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
#[repr(u8)]
pub enum Outcome {
    /// A healthy member answers.
    Answered = 0,
    /// No candidate; the service's fallback answers.
    Fallback = 1,
    /// No candidate and no fallback: NODATA.
    NoCandidate = 2,
    /// Fewer healthy members than `minHealthy`: NODATA.
    BelowMinHealthy = 3,
    /// The pool has no enabled member of the address family: NODATA.
    NoSuchFamily = 4,
}

impl Outcome {
    /// Number of outcomes.
    pub const COUNT: usize = 5;

    /// Every outcome.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Answered,
        Self::Fallback,
        Self::NoCandidate,
        Self::BelowMinHealthy,
        Self::NoSuchFamily,
    ];

    /// Name in metrics and the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Fallback => "fallback",
            Self::NoCandidate => "noCandidate",
            Self::BelowMinHealthy => "belowMinHealthy",
            Self::NoSuchFamily => "noSuchFamily",
        }
    }
}
