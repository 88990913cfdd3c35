//! Pools and their members.

use super::endpoint::Endpoint;
use super::error::{ErrorCode, ValidationError};
use super::facts::{self, GeoDraft, LoadWatermarks, MemberGeo, WatermarksDraft};
use super::health::{HealthCheck, HealthCheckDraft};
use super::id::{MemberId, PoolId, TenantId};
use super::name::DomainName;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::net::IpAddr;

/// Largest weight and priority.
const MAX_NUMBER: i64 = 0x7fff_ffff;
/// Most members a pool may have.
pub const MAX_MEMBERS: usize = 512;

/// Where a member is, as steering sees it: 1 to 64 printable characters, `unknown` by default.
///
/// `geo-ip` compares it exactly with the client's ISO 3166-1 alpha-2 country; `unknown` never matches.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Region(String);

impl Region {
    /// The default, which matches nothing.
    pub const UNKNOWN: &'static str = "unknown";

    /// Checks length and characters.
    ///
    /// # Errors
    /// Empty, longer than 64 characters, or with a character that does not print.
    pub fn parse(field: &str, text: &str) -> Result<Self, ValidationError> {
        let count = text.chars().count();
        if count == 0 || count > 64 {
            return Err(ValidationError::new(
                field,
                ErrorCode::OutOfRange,
                format!("has {count} characters; 1 to 64 are allowed"),
            ));
        }
        match text.chars().find(|c| c.is_control()) {
            Some(bad) => Err(ValidationError::new(
                field,
                ErrorCode::Invalid,
                format!("contains the control character {bad:?}; use printable characters"),
            )),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the default that matches nothing.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.0 == Self::UNKNOWN
    }

    /// The two letters, when this is the form of an ISO 3166-1 alpha-2 code.
    #[must_use]
    pub fn country(&self) -> Option<[u8; 2]> {
        match self.0.as_bytes() {
            &[a, b] if a.is_ascii_uppercase() && b.is_ascii_uppercase() => Some([a, b]),
            _ => None,
        }
    }
}

impl Default for Region {
    fn default() -> Self {
        Self(Self::UNKNOWN.to_owned())
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an operator has decided about a member, whatever its probes say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum AdminState {
    /// Health decides.
    #[default]
    Auto,
    /// Counts as healthy.
    Up,
    /// Leaves the candidates at once and counts as unhealthy.
    Down,
    /// Leaves the candidates at once; shown as drained when the longest TTL that served it has passed.
    Drain,
}

/// One endpoint of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Id.
    pub id: MemberId,
    /// Address or host name.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schema(value_type = super::endpoint::EndpointText))]
    pub endpoint: Endpoint,
    /// Port that health checks use unless the check names its own.
    pub port: u16,
    /// Share in weighted choices, 0 to 2³¹−1.
    pub weight: u32,
    /// Rank for failover: the lowest positive one wins, 0 is unset and last.
    pub priority: u32,
    /// Region for geo steering.
    pub region: Region,
    /// Signal zone; the region when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub zone: Option<Region>,
    /// Autonomous system number; looked up from the address when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub asn: Option<u32>,
    /// A disabled member is as good as absent.
    pub enabled: bool,
    /// Operator's decision.
    pub admin_state: AdminState,
    /// Where it is, for the geo steps.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub geo: Option<Box<MemberGeo>>,
    /// With `asn-fence`: only for clients in these autonomous systems; empty is for all.
    #[serde(skip_serializing_if = "<[_]>::is_empty", default)]
    pub fence_asns: Box<[u32]>,
    /// With `prefix-fence`: only for clients in these prefixes; empty is for all.
    #[serde(skip_serializing_if = "<[_]>::is_empty", default)]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub fence_prefixes: Box<[IpNet]>,
    /// With `shed-load`: how much load it takes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load_watermarks: Option<Box<LoadWatermarks>>,
}

impl Member {
    /// The signal zone: the `zone` label, else the region.
    #[must_use]
    pub fn signal_zone(&self) -> &Region {
        self.zone.as_ref().unwrap_or(&self.region)
    }
}

/// A member as it arrives from outside.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemberDraft {
    /// Keeps the identity (health, RTT) of an existing member in a bulk write; absent for a new one.
    pub id: Option<MemberId>,
    /// IPv4 or IPv6 address. Required, unless there is a `hostname`.
    pub ip_address: Option<String>,
    /// Host name, in place of an address.
    pub hostname: Option<String>,
    /// Port, 1 to 65535. Required.
    pub port: Option<i64>,
    /// Default 1.
    pub weight: Option<i64>,
    /// Default 0.
    pub priority: Option<i64>,
    /// Default `unknown`.
    pub region: Option<String>,
    /// Default: the region.
    pub zone: Option<String>,
    /// Default: looked up.
    pub asn: Option<i64>,
    /// Default true.
    pub enabled: Option<bool>,
    /// Default `auto`.
    pub admin_state: Option<AdminState>,
    /// Where it is.
    pub geo: Option<GeoDraft>,
    /// AS numbers, at most 64.
    pub fence_asns: Option<Vec<i64>>,
    /// Prefixes, at most 64.
    pub fence_prefixes: Option<Vec<String>>,
    /// How much load it takes.
    pub load_watermarks: Option<WatermarksDraft>,
}

fn number(errors: &mut Vec<ValidationError>, field: &str, value: Option<i64>, default: u32) -> u32 {
    match value {
        None => default,
        Some(n) if (0..=MAX_NUMBER).contains(&n) => u32::try_from(n).unwrap_or(default),
        Some(n) => {
            errors.push(ValidationError::new(
                field,
                ErrorCode::OutOfRange,
                format!("{n} is not between 0 and {MAX_NUMBER}"),
            ));
            default
        }
    }
}

impl MemberDraft {
    /// Its address or host name.
    ///
    /// # Errors
    /// None of the two, both, or one that is wrong.
    pub fn endpoint(&self) -> Result<Endpoint, Vec<ValidationError>> {
        let mut errors = Vec::new();
        let endpoint = Endpoint::parse(&mut errors, self.ip_address.as_deref(), self.hostname.as_deref());
        endpoint.ok_or(errors)
    }

    /// Checks the draft and fills in defaults; `id` is used unless the draft carries one.
    ///
    /// # Errors
    /// Every problem at once, by field.
    pub fn validate(&self, id: MemberId) -> Result<Member, Vec<ValidationError>> {
        let mut errors = Vec::new();
        let endpoint = self.endpoint().map_err(|list| errors.extend(list)).ok();
        let port = match self.port {
            None => {
                errors.push(ValidationError::new(
                    "port",
                    ErrorCode::Required,
                    "must be a port between 1 and 65535",
                ));
                0
            }
            Some(n) => u16::try_from(n).ok().filter(|p| *p > 0).unwrap_or_else(|| {
                errors.push(ValidationError::new(
                    "port",
                    ErrorCode::OutOfRange,
                    format!("{n} is no port between 1 and 65535"),
                ));
                0
            }),
        };
        let weight = number(&mut errors, "weight", self.weight, 1);
        let priority = number(&mut errors, "priority", self.priority, 0);
        let mut label = |field: &str, text: &Option<String>| {
            let text = text.as_deref()?;
            Region::parse(field, text).map_err(|e| errors.push(e)).ok()
        };
        let region = label("region", &self.region).unwrap_or_default();
        let zone = label("zone", &self.zone);
        let asn = self.asn.and_then(|n| {
            let asn = u32::try_from(n).ok().filter(|n| *n > 0);
            if asn.is_none() {
                errors.push(ValidationError::new(
                    "asn",
                    ErrorCode::OutOfRange,
                    format!("{n} is no AS number between 1 and 4294967295"),
                ));
            }
            asn
        });
        let geo = self.geo.as_ref().and_then(|draft| draft.validate(&mut errors));
        let fence_asns = facts::fence_asns(self.fence_asns.as_deref().unwrap_or_default(), &mut errors);
        let prefixes = self.fence_prefixes.as_deref().unwrap_or_default();
        let fence_prefixes = facts::fence_prefixes(prefixes, &mut errors);
        let marks = self.load_watermarks.as_ref();
        let load_watermarks = marks.and_then(|draft| draft.validate(&mut errors));
        match endpoint {
            Some(endpoint) if errors.is_empty() => Ok(Member {
                id: self.id.unwrap_or(id),
                endpoint,
                port,
                weight,
                priority,
                region,
                zone,
                asn,
                enabled: self.enabled.unwrap_or(true),
                admin_state: self.admin_state.unwrap_or_default(),
                geo,
                fence_asns,
                fence_prefixes,
                load_watermarks,
            }),
            _ => Err(errors),
        }
    }
}

impl From<&Member> for MemberDraft {
    /// The draft that validates to the same member, for merge patches.
    fn from(m: &Member) -> Self {
        Self {
            id: Some(m.id),
            ip_address: m.endpoint.ip().map(|ip| ip.to_string()),
            hostname: m.endpoint.hostname().map(ToString::to_string),
            port: Some(m.port.into()),
            weight: Some(m.weight.into()),
            priority: Some(m.priority.into()),
            region: Some(m.region.to_string()),
            zone: m.zone.as_ref().map(ToString::to_string),
            asn: m.asn.map(i64::from),
            enabled: Some(m.enabled),
            admin_state: Some(m.admin_state),
            geo: m.geo.as_deref().map(GeoDraft::from),
            fence_asns: (!m.fence_asns.is_empty())
                .then(|| m.fence_asns.iter().map(|n| i64::from(*n)).collect()),
            fence_prefixes: (!m.fence_prefixes.is_empty())
                .then(|| m.fence_prefixes.iter().map(ToString::to_string).collect()),
            load_watermarks: m.load_watermarks.as_deref().map(WatermarksDraft::from),
        }
    }
}

/// A named set of members with its health check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Pool {
    /// Id.
    pub id: PoolId,
    /// Owner.
    pub tenant_id: TenantId,
    /// Name, unique in its tenant.
    pub name: String,
    /// Below this number of healthy enabled members the pool gives no answer; 0 is off.
    pub min_healthy: u32,
    /// Members in the order in which ties are broken.
    pub members: Vec<Member>,
    /// The health check; without one every member counts as healthy.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub health_check: Option<HealthCheck>,
}

/// What a transfer of a zone holds of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transferred {
    /// Addresses, if its members are such.
    Addresses(BTreeSet<IpAddr>),
    /// A name, if they are names.
    Name(Option<DomainName>),
}

impl Pool {
    /// What a transfer holds for each service of the pool: the addresses of the enabled members, or the first of their
    /// names.
    #[must_use]
    pub fn transferred(&self) -> Transferred {
        let mut enabled = self.members.iter().filter(|member| member.enabled);
        if self.is_by_name() {
            let first = enabled.find_map(|member| member.endpoint.hostname());
            Transferred::Name(first.cloned())
        } else {
            Transferred::Addresses(enabled.filter_map(|member| member.endpoint.ip()).collect())
        }
    }

    /// Whether its members are host names. Without members it is neither this nor the other.
    #[must_use]
    pub fn is_by_name(&self) -> bool {
        self.members
            .first()
            .is_some_and(|member| member.endpoint.hostname().is_some())
    }
}

/// A pool as it arrives from outside.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PoolDraft {
    /// Name, 1 to 64 characters. Required.
    pub name: Option<String>,
    /// Default 0.
    pub min_healthy: Option<i64>,
    /// Members; absent in an update leaves them as they are.
    pub members: Option<Vec<MemberDraft>>,
    /// Health check; `null` or absent is none.
    pub health_check: Option<HealthCheckDraft>,
}

/// Checks the name of a pool or service: 1 to 64 printable characters.
pub(super) fn object_name(errors: &mut Vec<ValidationError>, name: Option<&str>) -> String {
    let name = name.map(str::trim).unwrap_or_default();
    let count = name.chars().count();
    if count == 0 {
        errors.push(ValidationError::new("name", ErrorCode::Required, "must be given"));
    } else if count > 64 {
        errors.push(ValidationError::new(
            "name",
            ErrorCode::OutOfRange,
            format!("has {count} characters; 64 are the limit"),
        ));
    } else if let Some(bad) = name.chars().find(|c| c.is_control()) {
        errors.push(ValidationError::new(
            "name",
            ErrorCode::Invalid,
            format!("contains the control character {bad:?}; use printable characters"),
        ));
    }
    name.to_owned()
}

impl PoolDraft {
    /// Checks the draft and fills in defaults; `new_id` makes the id of each member that has none.
    ///
    /// # Errors
    /// Every problem at once, by field; two members with one address are one of them.
    pub fn validate(
        &self,
        id: PoolId,
        tenant_id: TenantId,
        mut new_id: impl FnMut() -> MemberId,
    ) -> Result<Pool, Vec<ValidationError>> {
        let mut errors = Vec::new();
        let name = object_name(&mut errors, self.name.as_deref());
        let min_healthy = number(&mut errors, "minHealthy", self.min_healthy, 0);
        let drafts = self.members.as_deref().unwrap_or_default();
        if drafts.len() > MAX_MEMBERS {
            errors.push(ValidationError::new(
                "members",
                ErrorCode::OutOfRange,
                format!("{} members; {MAX_MEMBERS} are the limit", drafts.len()),
            ));
        }
        let mut members = Vec::with_capacity(drafts.len());
        // Where each sound member stands in the request: wrong ones are left out of `members`.
        let mut places = Vec::with_capacity(drafts.len());
        for (index, draft) in drafts.iter().enumerate() {
            match draft.validate(new_id()) {
                Ok(member) => {
                    members.push(member);
                    places.push(index);
                }
                Err(list) => {
                    let prefix = format!("members[{index}]");
                    errors.extend(list.into_iter().map(|e| e.within(&prefix)));
                }
            }
        }
        let mut seen = HashSet::new();
        let mut ids = HashSet::new();
        for (index, member) in places.iter().zip(&members) {
            if !seen.insert(&member.endpoint) {
                errors.push(ValidationError::new(
                    format!("members[{index}].{}", member.endpoint.field()),
                    ErrorCode::Duplicate,
                    format!("{} is already a member of this pool", member.endpoint),
                ));
            }
            if let Some(first) = members.first()
                && first.endpoint.field() != member.endpoint.field()
            {
                errors.push(ValidationError::new(
                    format!("members[{index}].{}", member.endpoint.field()),
                    ErrorCode::Conflict,
                    "a pool is all addresses or all host names",
                ));
            }
            if !ids.insert(member.id) {
                errors.push(ValidationError::new(
                    format!("members[{index}].id"),
                    ErrorCode::Duplicate,
                    "this id is already used by another member of the pool",
                ));
            }
        }
        let health_check = self.health_check.as_ref().and_then(|draft| {
            draft
                .validate()
                .map_err(|list| errors.extend(list.into_iter().map(|e| e.within("healthCheck"))))
                .ok()
        });
        if errors.is_empty() {
            Ok(Pool {
                id,
                tenant_id,
                name,
                min_healthy,
                members,
                health_check,
            })
        } else {
            Err(errors)
        }
    }
}

impl From<&Pool> for PoolDraft {
    /// The draft that validates to the same pool, for merge patches.
    fn from(pool: &Pool) -> Self {
        Self {
            name: Some(pool.name.clone()),
            min_healthy: Some(pool.min_healthy.into()),
            members: Some(pool.members.iter().map(MemberDraft::from).collect()),
            health_check: pool.health_check.as_ref().map(HealthCheckDraft::from),
        }
    }
}
