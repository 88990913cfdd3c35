//! Stored objects that are no part of the routing model: the licence, keys of signed zones. Those of accounts stand in
//! `accounts.rs`.

use gslb_api_types::{DnssecMode, KeyRole, KeyState};
use gslb_engine::model::{RecordName, TenantId, TsigAlgorithm, TsigKeyId, ZoneId};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A stored object with what the store knows about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<T> {
    /// The object.
    pub value: T,
    /// Revision of the change that wrote it last.
    pub revision: u64,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// When it was changed last.
    pub updated_at: OffsetDateTime,
}

impl<T> From<Row<T>> for gslb_api_types::Stored<T> {
    fn from(row: Row<T>) -> Self {
        Self {
            value: row.value,
            revision: row.revision,
            warnings: Vec::new(),
        }
    }
}

/// The licence that was stored over the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LicenseRecord {
    /// The licence text.
    pub text: String,
}

/// How a zone is signed, with its private keys. Only what is shown of it leaves the crate.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeysRecord {
    /// The zone.
    pub zone_id: ZoneId,
    /// Its owner.
    pub tenant_id: TenantId,
    /// The zone's name when it was signed, for people.
    pub zone: String,
    /// One key or two.
    pub mode: DnssecMode,
    /// Algorithm number.
    pub algorithm: u8,
    /// PKCS#8 in base64: the key that signs the key set, or everything.
    pub ksk: String,
    /// PKCS#8 in base64: the other key, if there are two.
    pub zsk: Option<String>,
    /// PEM file that the first key is read from, below the folder of the database; `ksk` is then empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ksk_file: Option<String>,
    /// The same for the other key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zsk_file: Option<String>,
    /// Keys on their way in or out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherKey>,
}

/// A key of a zone that is published and does not sign the zone's records: not yet, or no more.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OtherKey {
    /// What it is for.
    pub role: KeyRole,
    /// Whether it comes or goes.
    pub state: KeyState,
    /// Since when, Unix milliseconds.
    pub since: u64,
    /// PKCS#8 in base64.
    pub key: String,
}

impl std::fmt::Debug for OtherKey {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OtherKey")
            .field("role", &self.role)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// A TSIG key with its secret. Only what is shown of it leaves the crate.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TsigKeyRecord {
    /// Id.
    pub id: TsigKeyId,
    /// Its owner.
    pub tenant_id: TenantId,
    /// Name, unique over all tenants.
    pub name: RecordName,
    /// Algorithm.
    pub algorithm: TsigAlgorithm,
    /// Base64.
    pub secret: String,
}

impl std::fmt::Debug for TsigKeyRecord {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TsigKeyRecord")
            .field("name", &self.name)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for KeysRecord {
    /// Without the keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeysRecord")
            .field("zone", &self.zone)
            .field("mode", &self.mode)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
