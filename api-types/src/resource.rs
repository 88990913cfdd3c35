//! Stored objects as the API shows them.

use gslb_engine::model::{
    HealthCheck, HealthCheckDraft, Member, Pool, PoolId, RecordDraft, RecordSet, Service, TenantId, Warning,
    Zone,
};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// An object with its revision (the `ETag`) and what is doubtful about the last write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Stored<T> {
    /// The object.
    #[serde(flatten)]
    pub value: T,
    /// Opaque; changes with every write. Send it back as `If-Match`.
    pub revision: u64,
    /// Accepted, but probably without the effect that was meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// By way of a JSON value. What serde makes for a flattened field keeps numbers in a form of its own, and loses decimal
/// ones when a crate of the same program makes `serde_json` keep the digits of numbers, as the scripts' interpreter does.
impl<'de, T: DeserializeOwned> Deserialize<'de> for Stored<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut object = serde_json::Map::deserialize(deserializer)?;
        let revision = object
            .remove("revision")
            .ok_or_else(|| D::Error::missing_field("revision"))?;
        let warnings = object.remove("warnings").unwrap_or(Value::Array(Vec::new()));
        Ok(Self {
            value: T::deserialize(Value::Object(object)).map_err(D::Error::custom)?,
            revision: u64::deserialize(revision).map_err(D::Error::custom)?,
            warnings: Vec::deserialize(warnings).map_err(D::Error::custom)?,
        })
    }
}

impl<T> Stored<T> {
    /// The same revision and warnings with another view of the object.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Stored<U> {
        Stored {
            value: f(self.value),
            revision: self.revision,
            warnings: self.warnings,
        }
    }
}

/// A zone.
pub type ZoneView = Zone;

/// What an import of a zone file changes, or with `dryRun` would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    /// Nothing was changed.
    pub dry_run: bool,
    /// The zone before, when the file changes its SOA or name servers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub zone_before: Option<Zone>,
    /// The zone after that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub zone_after: Option<Zone>,
    /// New record sets.
    pub added: Vec<RecordDraft>,
    /// Record sets with other data or TTL.
    pub changed: Vec<RecordChange>,
    /// Record sets that go, because the file replaces everything and has them not.
    pub removed: Vec<RecordDraft>,
    /// Number of record sets of the file that are there already.
    pub unchanged: u64,
    /// Lines that are not taken over, and why.
    pub left_out: Vec<String>,
}

/// A record set that an import changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RecordChange {
    /// As it is.
    pub before: RecordDraft,
    /// As the file has it.
    pub after: RecordDraft,
}

/// How a zone file is taken over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ImportMode {
    /// Sets of the file replace those of the same name and type; the others stay.
    #[default]
    Merge,
    /// What is not in the file goes.
    Replace,
}

/// Parameters of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "schema", into_params(parameter_in = Query))]
#[serde(rename_all = "camelCase", default)]
pub struct ImportQuery {
    /// `merge` (default) or `replace`.
    pub mode: ImportMode,
    /// Only tell what would change.
    pub dry_run: bool,
}

/// A set of static records as the API gives it.
pub type RecordView = RecordSet;

/// A service.
pub type ServiceView = Service;

/// A service with what its document does not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ServiceDetail {
    /// The service.
    #[serde(flatten)]
    pub service: Service,
    /// Name of its pool.
    pub pool_name: String,
    /// Whether it answers by round-robin because the licence does not allow its chain.
    pub license_fallback: bool,
}

/// A service in a list, with what a table needs beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ServiceRow {
    /// The service.
    #[serde(flatten)]
    pub service: Service,
    /// Opaque revision.
    pub revision: u64,
    /// Name of its pool.
    pub pool_name: String,
    /// Whether it answers by round-robin because the licence does not allow its chain.
    pub license_fallback: bool,
}

/// A pool. The health check has the flat form of the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PoolView {
    /// Id.
    pub id: PoolId,
    /// Owner.
    pub tenant_id: TenantId,
    /// Name.
    pub name: String,
    /// Gate; 0 is off.
    pub min_healthy: u32,
    /// Members in order.
    pub members: Vec<Member>,
    /// Health check; null when there is none.
    #[cfg_attr(feature = "schema", schema(value_type = Option<HealthCheckDraft>))]
    pub health_check: Option<CheckView>,
}

/// A health check as it can be sent back: the fields that it has, and no others.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct CheckView(pub HealthCheckDraft);

impl From<&HealthCheck> for CheckView {
    fn from(check: &HealthCheck) -> Self {
        let mut draft = HealthCheckDraft::from(check);
        if draft.tls == Some(true) {
            draft.kind = Some("https".to_owned());
        }
        Self(draft)
    }
}

impl std::ops::Deref for CheckView {
    type Target = HealthCheckDraft;

    fn deref(&self) -> &HealthCheckDraft {
        &self.0
    }
}

impl Serialize for CheckView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = serde_json::to_value(&self.0).map_err(serde::ser::Error::custom)?;
        let fields = value.as_object().into_iter().flatten();
        serializer.collect_map(fields.filter(|(_, value)| !value.is_null()))
    }
}

impl From<&Pool> for PoolView {
    fn from(pool: &Pool) -> Self {
        Self {
            id: pool.id,
            tenant_id: pool.tenant_id,
            name: pool.name.clone(),
            min_healthy: pool.min_healthy,
            members: pool.members.clone(),
            health_check: pool.health_check.as_ref().map(CheckView::from),
        }
    }
}

/// A pool in a list, with the health of its members counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PoolSummary {
    /// Id.
    pub id: PoolId,
    /// Name.
    pub name: String,
    /// Opaque revision.
    pub revision: u64,
    /// Members.
    pub members: u32,
    /// Enabled members with a score above 0.
    pub healthy: u32,
    /// Enabled members with score 0.
    pub down: u32,
    /// Gate; 0 is off.
    pub min_healthy: u32,
    /// Type of the health check; absent when members are not checked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub check: Option<String>,
    /// Services that answer from it.
    pub services: u32,
}
