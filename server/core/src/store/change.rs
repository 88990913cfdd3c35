//! A change of the configuration as a value.

use super::accounts::{RoleRecord, TenantRecord, TokenRecord, UserRecord};
use super::records::{KeysRecord, LicenseRecord, TsigKeyRecord};
use gslb_engine::model::{Actor, Pool, RecordSet, Service, TenantId, Zone};
use serde::Serialize;
use std::borrow::Cow;
use time::OffsetDateTime;
use uuid::Uuid;

/// Kinds of aggregates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ObjectKind {
    /// A zone.
    Zone,
    /// A pool with its members and check.
    Pool,
    /// A service.
    Service,
    /// A set of static records.
    Record,
    /// The keys of a zone.
    Dnssec,
    /// A TSIG key.
    TsigKey,
    /// A user account.
    User,
    /// A role of a tenant's own.
    Role,
    /// An API token.
    Token,
    /// A tenant.
    Tenant,
    /// The stored licence.
    License,
}

impl ObjectKind {
    /// Name in audit, events and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Zone => "zone",
            Self::Pool => "pool",
            Self::Service => "service",
            Self::Record => "record",
            Self::Dnssec => "dnssec",
            Self::TsigKey => "tsigkey",
            Self::User => "user",
            Self::Role => "role",
            Self::Token => "token",
            Self::Tenant => "tenant",
            Self::License => "license",
        }
    }
}

/// The new content of an aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Document {
    /// A zone.
    Zone(Zone),
    /// A pool.
    Pool(Pool),
    /// A service.
    Service(Service),
    /// A set of static records.
    Record(RecordSet),
    /// The keys of a zone; its id is the zone's.
    Dnssec(KeysRecord),
    /// A TSIG key.
    TsigKey(TsigKeyRecord),
    /// A user account.
    User(UserRecord),
    /// A role of a tenant's own.
    Role(RoleRecord),
    /// An API token.
    Token(TokenRecord),
    /// A tenant.
    Tenant(TenantRecord),
    /// The licence.
    License(LicenseRecord),
}

impl Document {
    /// Id of the one licence row.
    pub(crate) const LICENSE_ID: Uuid = Uuid::from_u128(1);

    /// Kind of the aggregate.
    #[must_use]
    pub fn kind(&self) -> ObjectKind {
        match self {
            Self::Zone(_) => ObjectKind::Zone,
            Self::Pool(_) => ObjectKind::Pool,
            Self::Service(_) => ObjectKind::Service,
            Self::Record(_) => ObjectKind::Record,
            Self::Dnssec(_) => ObjectKind::Dnssec,
            Self::TsigKey(_) => ObjectKind::TsigKey,
            Self::User(_) => ObjectKind::User,
            Self::Role(_) => ObjectKind::Role,
            Self::Token(_) => ObjectKind::Token,
            Self::Tenant(_) => ObjectKind::Tenant,
            Self::License(_) => ObjectKind::License,
        }
    }

    /// Id of the aggregate.
    #[must_use]
    pub fn id(&self) -> Uuid {
        match self {
            Self::Zone(zone) => zone.id.0,
            Self::Pool(pool) => pool.id.0,
            Self::Service(service) => service.id.0,
            Self::Record(set) => set.id.0,
            Self::Dnssec(keys) => keys.zone_id.0,
            Self::TsigKey(key) => key.id.0,
            Self::User(user) => user.id.0,
            Self::Role(role) => role.id.0,
            Self::Token(token) => token.id.0,
            Self::Tenant(tenant) => tenant.id.0,
            Self::License(_) => Self::LICENSE_ID,
        }
    }

    /// Name for people.
    #[must_use]
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            Self::Zone(zone) => zone.name.as_str().into(),
            Self::Pool(pool) => pool.name.as_str().into(),
            Self::Service(service) => service.name.as_str().into(),
            Self::Record(set) => format!("{} {}", set.name, set.rtype).into(),
            Self::Dnssec(keys) => keys.zone.as_str().into(),
            Self::TsigKey(key) => key.name.to_string().into(),
            Self::User(user) => user.name.as_str().into(),
            Self::Role(role) => role.name.as_str().into(),
            Self::Token(token) => token.name.as_str().into(),
            Self::Tenant(tenant) => tenant.name.as_str().into(),
            Self::License(_) => "license".into(),
        }
    }

    /// What the database keeps.
    pub(super) fn to_json(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Zone(zone) => serde_json::to_string(zone),
            Self::Pool(pool) => serde_json::to_string(pool),
            Self::Service(service) => serde_json::to_string(service),
            Self::Record(set) => serde_json::to_string(set),
            Self::Dnssec(keys) => serde_json::to_string(keys),
            Self::TsigKey(key) => serde_json::to_string(key),
            Self::User(user) => serde_json::to_string(user),
            Self::Role(role) => serde_json::to_string(role),
            Self::Token(token) => serde_json::to_string(token),
            Self::Tenant(tenant) => serde_json::to_string(tenant),
            Self::License(license) => serde_json::to_string(license),
        }
    }

    /// What the audit trail shows: the document without its secrets.
    #[must_use]
    pub fn to_audit(&self) -> serde_json::Value {
        let value = match self {
            Self::Zone(zone) => serde_json::to_value(zone),
            Self::Pool(pool) => serde_json::to_value(pool),
            Self::Service(service) => serde_json::to_value(service),
            Self::Record(set) => serde_json::to_value(set),
            Self::Dnssec(keys) => serde_json::to_value(keys),
            Self::TsigKey(key) => serde_json::to_value(key),
            Self::User(user) => serde_json::to_value(user),
            Self::Role(role) => serde_json::to_value(role),
            Self::Token(token) => serde_json::to_value(token),
            Self::Tenant(tenant) => serde_json::to_value(tenant),
            Self::License(license) => serde_json::to_value(license),
        };
        let mut value = value.unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            object.remove("passwordHash");
            object.remove("hash");
            // Private keys of zones.
            object.remove("ksk");
            object.remove("zsk");
            let others = object.get_mut("others").and_then(serde_json::Value::as_array_mut);
            for key in others.into_iter().flatten() {
                if let Some(key) = key.as_object_mut() {
                    key.remove("key");
                }
            }
            // Shared secrets.
            object.remove("secret");
            // The signature is what makes a licence usable; its payload may be seen.
            if let Some(text) = object.get_mut("text") {
                let payload = text
                    .as_str()
                    .and_then(|t| t.split('.').next())
                    .map(|p| format!("{p}.(signature)"));
                *text = payload.into();
            }
        }
        value
    }
}

/// What happens to the aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Made or replaced.
    Put(Document),
    /// Removed; the document is what it was.
    Delete(Document),
    /// A zone and any number of its records at once.
    Records(ZoneRecords),
}

/// A zone with those of its records that change together with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneRecords {
    /// The zone as it is afterwards, as a document.
    pub zone: Document,
    /// Sets that are new or changed.
    pub put: Vec<RecordSet>,
    /// Sets that go.
    pub removed: Vec<RecordSet>,
}

impl Action {
    /// The document written or removed.
    #[must_use]
    pub fn document(&self) -> &Document {
        match self {
            Self::Put(document)
            | Self::Delete(document)
            | Self::Records(ZoneRecords { zone: document, .. }) => document,
        }
    }
}

/// Who changed what, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Who.
    pub actor: Actor,
    /// When.
    pub time: OffsetDateTime,
    /// `create`, `update`, `delete`, `set-password`, `add-member`, ...
    pub action: &'static str,
    /// The object before, without secrets.
    pub before: Option<serde_json::Value>,
    /// The object after, without secrets.
    pub after: Option<serde_json::Value>,
}

/// One change of one aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Tenant that the aggregate belongs to.
    pub tenant_id: TenantId,
    /// Revision that the aggregate must have; `None`: it must not exist.
    pub expected: Option<u64>,
    /// New content, or removal.
    pub action: Action,
    /// Audit row.
    pub audit: Audit,
}
