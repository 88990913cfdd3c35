//! Live state: health, signals, counters.

use crate::event::{Event, HealthState};
use gslb_engine::model::{AdminState, MemberId, PoolId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// State of one member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemberStatus {
    /// The member.
    pub member_id: MemberId,
    /// Whether it can be a candidate as far as health goes.
    pub healthy: bool,
    /// Whether new answers can carry it: it is enabled, no operator has taken it out, and it is healthy.
    pub traffic: bool,
    /// Score as a candidate, 0 to 1: 0 for a member that is disabled or that an operator has taken out, 1 for one
    /// forced up.
    pub score: f32,
    /// Mean round-trip time of the last 5 successful probes from this node, milliseconds; null when unknown.
    pub rtt_ms: Option<f64>,
    /// Least round-trip time over the cluster, milliseconds; absent unless it is shared and known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub global_rtt_ms: Option<f64>,
    /// What the probes say.
    pub state: HealthState,
    /// Since when, Unix milliseconds; null while unknown.
    pub since: Option<u64>,
    /// Why the last failed probe failed.
    pub last_error: Option<String>,
    /// What an operator has decided.
    pub admin_state: AdminState,
    /// Answers that carried this member since the daemon started.
    pub answers: u64,
    /// Load that was pushed and still counts; absent without one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load: Option<f64>,
    /// What the member's host name leads to; absent for an address, and before the first look-up.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<HostStatus>,
    /// Last probes, oldest first, at most 60.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<ProbePoint>,
}

/// What a member's host name leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HostStatus {
    /// Its addresses, IPv4 first; the last good ones when `stale`.
    pub addresses: Vec<String>,
    /// When they were last answered, Unix milliseconds; null when never.
    pub resolved_at: Option<u64>,
    /// The last look-up failed.
    pub stale: bool,
    /// Since when look-ups fail, Unix milliseconds.
    pub failing_since: Option<u64>,
    /// Why the last one failed.
    pub error: Option<String>,
}

/// How busy a member is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoadDraft {
    /// In the unit of the member's watermarks, 0 or more. Required.
    pub value: Option<f64>,
    /// Seconds that it counts, 1 to 604800; absent until the next load.
    pub ttl: Option<i64>,
}

/// A signal table that was in force from `at` until the next one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignalsAt {
    /// When it came into force, Unix milliseconds.
    pub at: u64,
    /// 0 switches the bias off, 1 lets it dominate.
    pub weight: f64,
    /// Value of each zone, lower is better.
    pub zones: BTreeMap<String, f64>,
}

/// One probe.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProbePoint {
    /// When it ended, Unix milliseconds.
    pub at: u64,
    /// Round-trip time, milliseconds; null when it failed.
    pub rtt_ms: Option<f64>,
}

/// `pools/{id}/status`: members by address.
pub type PoolStatus = BTreeMap<String, MemberStatus>;

/// A zone of the signal table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignalZone {
    /// Zone.
    pub zone: String,
    /// Value, lower is better; null for a zone that members name and the table does not.
    pub value: Option<f64>,
    /// Where the value comes from: `config line 12`; empty without a value.
    pub origin: String,
    /// Members in this zone.
    pub members: u32,
}

/// Share of a service's queries that signals steered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignalView {
    /// Service.
    pub service: String,
    /// Its id.
    pub service_id: gslb_engine::model::ServiceId,
    /// Queries answered since the daemon started.
    pub queries: u64,
    /// Of these, queries whose first candidate `signal-weight` changed.
    pub steered: u64,
}

/// The signal table and who uses it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignalsView {
    /// 0 switches the bias off, 1 lets it dominate.
    pub weight: f64,
    /// Zones in order of their names.
    pub zones: Vec<SignalZone>,
    /// Services with a `signal-weight` step.
    pub services: Vec<SignalView>,
}

/// One setting of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SettingView {
    /// `section.key`.
    pub name: String,
    /// Its value; secrets are masked.
    pub value: String,
    /// `default`, `config.yaml line 3`, `GSLB_DNS_PORT`.
    pub origin: String,
    /// What it is.
    pub help: String,
    /// Whether SIGHUP applies a change.
    pub reloads: bool,
}

/// A member that is down now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DownMember {
    /// Pool.
    pub pool_id: PoolId,
    /// Name of the pool.
    pub pool: String,
    /// The member.
    pub member_id: MemberId,
    /// Its address.
    pub address: String,
    /// Since when, Unix milliseconds.
    pub since: Option<u64>,
    /// Why.
    pub error: Option<String>,
}

/// A point of the query chart: counts of one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RatePoint {
    /// Unix seconds.
    pub at: u64,
    /// All queries.
    pub queries: u64,
    /// Of these, answered with data.
    pub answered: u64,
    /// NODATA.
    pub no_data: u64,
    /// NXDOMAIN.
    pub missing: u64,
    /// REFUSED and errors.
    pub refused: u64,
}

/// What the dashboard shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Dashboard {
    /// Last minutes, a point per second, oldest first.
    pub rate: Vec<RatePoint>,
    /// Services.
    pub services: u64,
    /// Pools.
    pub pools: u64,
    /// Zones.
    pub zones: u64,
    /// Members with a score above 0.
    pub members_healthy: u64,
    /// All enabled members.
    pub members: u64,
    /// Members down now.
    pub down: Vec<DownMember>,
    /// Last changes and transitions, newest first.
    pub events: Vec<Event>,
    /// Node name.
    pub node: String,
    /// Seconds since the daemon started.
    pub uptime: u64,
    /// Version of the daemon.
    pub version: String,
}
