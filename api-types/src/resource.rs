//! Stored objects as the API shows them.

use gslb_engine::model::{HealthCheckDraft, Member, Pool, PoolId, Service, TenantId, Warning, Zone};
use serde::{Deserialize, Serialize};

/// An object with its revision (the `ETag`) and what is doubtful about the last write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// A service.
pub type ServiceView = Service;

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
    pub health_check: Option<HealthCheckDraft>,
}

impl From<&Pool> for PoolView {
    fn from(pool: &Pool) -> Self {
        Self {
            id: pool.id,
            tenant_id: pool.tenant_id,
            name: pool.name.clone(),
            min_healthy: pool.min_healthy,
            members: pool.members.clone(),
            health_check: pool.health_check.as_ref().map(HealthCheckDraft::from),
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
