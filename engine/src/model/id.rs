//! Ids of stored objects: one newtype each, so that a pool's id cannot be passed as a member's.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

id!(
    /// Id of a [`Zone`](super::Zone).
    ZoneId
);
id!(
    /// Id of a static record set of a zone.
    RecordId
);
id!(
    /// Id of a [`Pool`](super::Pool).
    PoolId
);
id!(
    /// Id of a [`Member`](super::Member).
    MemberId
);
id!(
    /// Id of a [`Service`](super::Service).
    ServiceId
);
id!(
    /// Id of a tenant: the owner of every other object.
    TenantId
);
id!(
    /// Id of a user account.
    UserId
);
id!(
    /// Id of a [`Role`](super::Role).
    RoleId
);
id!(
    /// Id of an API token.
    TokenId
);
id!(
    /// Id of a log-in session that may be shown.
    SessionId
);
id!(
    /// Id of a TSIG key.
    TsigKeyId
);

impl TenantId {
    /// The tenant that exists from the first start and owns everything until there are more.
    pub const DEFAULT: Self = Self(Uuid::from_u128(1));
}
