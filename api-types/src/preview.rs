//! What a change to a service would do, told by recent queries before it is saved.

use crate::Trace;
use gslb_engine::decision::Outcome;
use gslb_engine::model::{FallbackText, PoolDraft};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A change to try. What is absent is as stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewRequest {
    /// A single algorithm instead of the stored routing; ignored when a chain is given.
    pub algorithm: Option<String>,
    /// A chain instead of the stored routing.
    pub filter_chain: Option<Vec<String>>,
    /// Another pool.
    pub pool_id: Option<String>,
    /// Another number of members in an answer.
    pub max_answers: Option<i64>,
    /// Another fallback.
    pub fallback: Option<FallbackText>,
    /// The pool as it would be: of `members` and `minHealthy` what is given. Members without an `id` are the stored ones with
    /// their address; new ones count as healthy.
    pub pool: Option<PoolDraft>,
    /// Other signals than the configured ones.
    pub signals: Option<SignalsDraft>,
}

/// A signal table to try.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignalsDraft {
    /// Value of each zone, 0 or more, lower is better; absent: as configured.
    pub zones: Option<BTreeMap<String, f64>>,
    /// Share of the signal in a member's score, 0 to 1; absent: as configured.
    pub weight: Option<f64>,
}

/// What recent queries got, and would get.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// Whether recent queries are kept at all (`dns.recentQueries`).
    pub recording: bool,
    /// Queries looked at: those kept of the service, a sample when it is asked much.
    pub queries: u32,
    /// When the oldest of them came, Unix seconds.
    pub since: Option<u64>,
    /// When the newest of them came, Unix seconds.
    pub until: Option<u64>,
    /// Queries that would get another answer.
    pub differ: u32,
    /// Answers by member, before and after; a fallback address counts as one. Those with most come first.
    pub members: Vec<PreviewShare>,
    /// Answers by region of the members.
    pub regions: Vec<PreviewShare>,
    /// Queries by how they end.
    pub outcomes: Vec<PreviewOutcome>,
    /// Queries by country of the client; those with most come first.
    pub countries: Vec<PreviewCountry>,
    /// Client networks whose answer changes; those with most queries come first, 50 at most.
    pub moves: Vec<PreviewMove>,
    /// Moves that are not in the list.
    pub more_moves: u32,
    /// Time in scripts of the proposed chain; absent when none ran.
    pub script_time: Option<ScriptTime>,
    /// Queries for which a script of the proposed chain failed, and all candidates were kept.
    pub script_errors: u32,
    /// A few of the moves as traces, as it is and as it would be.
    pub traces: Vec<PreviewTrace>,
    /// What to know about these numbers.
    pub notes: Vec<String>,
}

/// Answers that carry a member, or members of a region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PreviewShare {
    /// Address or host name of the member; the region.
    pub name: String,
    /// Region of the member; absent for a region, and for a fallback address.
    pub region: Option<String>,
    /// Answers with it, as it is.
    pub before: u32,
    /// Answers with it, as it would be.
    pub after: u32,
}

/// Queries that end in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PreviewOutcome {
    /// How they end.
    pub outcome: Outcome,
    /// Queries, as it is.
    pub before: u32,
    /// Queries, as it would be.
    pub after: u32,
}

/// Queries from one country.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PreviewCountry {
    /// ISO 3166-1 alpha-2 code; absent: of no known country.
    pub country: Option<String>,
    /// Queries from there.
    pub queries: u32,
    /// Of these, queries that would get another answer.
    pub differ: u32,
}

/// A client network whose answer changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PreviewMove {
    /// The network: `198.51.100.0/24`.
    pub client: String,
    /// Its country, if known.
    pub country: Option<String>,
    /// Queries from there whose answer changes in this way.
    pub queries: u32,
    /// What they get as it is; nothing: no answer.
    pub from: Vec<String>,
    /// What they would get.
    pub to: Vec<String>,
}

/// Time in scripts, of a query.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScriptTime {
    /// Half of the queries take no longer, microseconds.
    pub p50_micros: f64,
    /// 99 of 100 queries take no longer, microseconds.
    pub p99_micros: f64,
}

/// One query, traced twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PreviewTrace {
    /// As it is.
    pub before: Trace,
    /// As it would be.
    pub after: Trace,
}
