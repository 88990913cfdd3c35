//! Tiers of the licence.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a licence allows; each tier includes those before it. `unlicensed` is `free`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// No licence: single algorithms.
    #[default]
    #[serde(alias = "unlicensed")]
    Free,
    /// Filter chains, signal-weight.
    #[serde(alias = "paid")]
    Pro,
    /// Scripts.
    Enterprise,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Free => "free",
            Self::Pro => "pro",
            Self::Enterprise => "enterprise",
        })
    }
}
