//! The configuration of a tenant as one document, and what taking one over changes.

use crate::PoolView;
use gslb_engine::model::{RecordSet, Service, Warning, Zone};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Form of the document that this version writes and reads.
pub const CONFIG_FORMAT: u32 = 1;

/// Zones with their records, pools with members and checks, and services of a tenant, each in order of their ids. No
/// accounts and tokens, no keys of zones and of TSIG: secrets do not leave the database.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConfigDocument {
    /// Form of the document.
    pub format: u32,
    /// SHA-256 over the configuration, without serials: the same on two nodes that answer from the same.
    pub hash: String,
    /// Name of the tenant that it is of. Another one takes it over only when told to.
    #[serde(default)]
    pub tenant: String,
    /// Zones.
    pub zones: Vec<Zone>,
    /// Static records of the zones.
    pub records: Vec<RecordSet>,
    /// Pools.
    pub pools: Vec<PoolView>,
    /// Services.
    pub services: Vec<Service>,
}

/// What happens to one object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConfigChange {
    /// `created`, `updated`, `deleted`.
    pub action: String,
    /// `zone`, `record`, `pool`, `service`.
    pub object: String,
    /// Id of the object.
    pub id: String,
    /// Name of the object.
    pub name: String,
    /// The document before; absent when it is made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<Value>,
    /// The document after; absent when it goes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<Value>,
}

/// What taking a document over changes, or would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConfigReport {
    /// Whether it was done; else nothing was changed.
    pub applied: bool,
    /// Name of the tenant that it is about.
    pub tenant: String,
    /// Hash of the configuration afterwards.
    pub hash: String,
    /// Every change.
    pub changes: Vec<ConfigChange>,
    /// Number of objects that are there already.
    pub unchanged: u64,
    /// What is not refused, and should be known: above all that the document is not what its `hash` says, because it was
    /// changed or cut off since it was written.
    pub warnings: Vec<Warning>,
}

/// Parameters of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "schema", into_params(parameter_in = Query))]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigImportQuery {
    /// Do it. Without, only tell what would change.
    pub apply: bool,
    /// Take over what another tenant has written. Without, a document with the name of another is refused.
    pub any_tenant: bool,
}
