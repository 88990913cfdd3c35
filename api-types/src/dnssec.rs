//! How a zone is signed.

use gslb_engine::model::ZoneId;
use serde::{Deserialize, Serialize};

/// Whether a zone has two keys or one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DnssecMode {
    /// A key that signs the key set, and one that signs the rest.
    KskZsk,
    /// One key for both.
    Csk,
}

/// How a zone is to be signed. Absent fields take their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DnssecDraft {
    /// `ksk-zsk` (two keys) or `csk` (one); default `csk`.
    pub mode: Option<String>,
    /// 13 (ECDSA P-256) or 15 (Ed25519); default 13, or that of the files.
    pub algorithm: Option<i64>,
    /// PKCS#8 PEM file with the key that signs the key set, or everything; relative to the folder of the database. Without
    /// one a key is made.
    pub ksk_file: Option<String>,
    /// The same for the key that signs the rest, with mode `ksk-zsk`.
    pub zsk_file: Option<String>,
}

/// What a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum KeyRole {
    /// Signs the key set; the DS names it.
    Ksk,
    /// Signs everything else.
    Zsk,
    /// Both.
    Csk,
}

/// Where a key is between its making and its end (RFC 7583).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum KeyState {
    /// In the key set, so that resolvers get to know it; one that the DS can name signs the key set already.
    Published,
    /// Signs.
    Active,
    /// In the key set for those who still have what it has signed, or its DS.
    Retired,
}

/// A key to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DnssecKeyDraft {
    /// `ksk` or `zsk`; `csk` (the default) for a zone with one key.
    pub role: Option<String>,
}

/// How a step of a roll-over is to be taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams))]
#[serde(rename_all = "camelCase")]
pub struct RollQuery {
    /// Before the time when caches allow it: validation fails for those who have the old keys.
    #[serde(default)]
    pub force: bool,
}

/// A public key of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DnssecKeyView {
    /// What it is for.
    pub role: KeyRole,
    /// Key tag (RFC 4034, appendix B).
    pub tag: u16,
    /// Data of the DNSKEY record.
    pub dnskey: String,
    /// Where it is between its making and its end.
    pub state: KeyState,
    /// Since when, Unix milliseconds; absent for a key that was never rolled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub since: Option<u64>,
    /// From when on the next step is safe, Unix milliseconds: to activate a published key, to remove a retired one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub safe_at: Option<u64>,
    /// The next step, in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
    /// The file that it is read from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
}

/// How a zone is signed. Private keys are never shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DnssecView {
    /// The zone.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub zone_id: ZoneId,
    /// One key or two.
    pub mode: DnssecMode,
    /// Algorithm number.
    pub algorithm: u8,
    /// The keys.
    pub keys: Vec<DnssecKeyView>,
    /// The DS record with its owner, for the zone above: it goes to the registrar.
    pub ds: String,
}
