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
    /// 13 (ECDSA P-256) or 15 (Ed25519); default 13.
    pub algorithm: Option<i64>,
}

/// A public key of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DnssecKeyView {
    /// `ksk`, `zsk` or `csk`.
    pub role: String,
    /// Key tag (RFC 4034, appendix B).
    pub tag: u16,
    /// Data of the DNSKEY record.
    pub dnskey: String,
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
