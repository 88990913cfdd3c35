//! Keys of signed messages (TSIG).

use gslb_engine::model::{TenantId, TsigAlgorithm, TsigKeyId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A key as it arrives from outside.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TsigKeyDraft {
    /// A domain name, the same on both sides; unique over all tenants. Required.
    pub name: Option<String>,
    /// `hmac-sha256` (default), `hmac-sha384` or `hmac-sha512`.
    pub algorithm: Option<String>,
    /// Base64, at least 16 octets; absent: one is made.
    pub secret: Option<String>,
}

impl fmt::Debug for TsigKeyDraft {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TsigKeyDraft")
            .field("name", &self.name)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// A key, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TsigKeyView {
    /// Id.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub id: TsigKeyId,
    /// Owner.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub tenant_id: TenantId,
    /// Name.
    pub name: String,
    /// Algorithm.
    pub algorithm: TsigAlgorithm,
}

/// A new key with its secret, shown this once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TsigKeyCreated {
    /// The key.
    #[serde(flatten)]
    pub key: TsigKeyView,
    /// Base64.
    pub secret: String,
}

impl fmt::Debug for TsigKeyCreated {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TsigKeyCreated")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
