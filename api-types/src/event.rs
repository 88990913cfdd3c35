//! What happens, as a stream.

use gslb_engine::model::{MemberId, PoolId, TenantId};
use serde::{Deserialize, Serialize};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Grows with every event of this node; the `Last-Event-ID` of the stream.
    pub id: u64,
    /// Unix milliseconds.
    pub at: u64,
    /// Whose it is.
    pub tenant_id: TenantId,
    /// What.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What probes say about a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum HealthState {
    /// No probe has ended yet, or there is no check: counts as healthy.
    Unknown,
    /// Healthy.
    Up,
    /// Not healthy.
    Down,
}

impl HealthState {
    /// Name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// Kinds of events, by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EventKind {
    /// A member's health has changed.
    Health {
        /// Pool.
        pool_id: PoolId,
        /// Name of the pool.
        pool: String,
        /// Member.
        member_id: MemberId,
        /// Its address.
        address: String,
        /// Before.
        from: HealthState,
        /// Now.
        to: HealthState,
        /// Why.
        reason: String,
    },
    /// An object was created, changed or deleted.
    Change {
        /// `service`, `pool`, `zone`, ...
        object: String,
        /// Its id.
        object_id: String,
        /// Its name.
        name: String,
        /// `created`, `updated`, `deleted`.
        action: String,
        /// Who did it.
        actor: String,
    },
    /// The tier in force has changed.
    License {
        /// The tier now.
        tier: gslb_engine::model::Tier,
        /// Why.
        reason: String,
    },
}
