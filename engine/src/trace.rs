//! The record of one decision, for people: what each step saw and did.
//!
//! Traces are made by the code that answers queries, through a sink that the wire path compiles away.

use crate::decision::Outcome;
use crate::query::Family;
use serde::{Deserialize, Serialize};

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum StepAction {
    /// Ran and keeps a part (or, with nothing to remove, all) of the candidates.
    Narrowed,
    /// Ran and orders the candidates.
    Reordered,
    /// Had nothing to go by: no data, no client country, one candidate left.
    Skipped,
    /// Would have left nobody, and so left the set as it was.
    Passthrough,
    /// Picked, and ended the chain.
    Selected,
    /// Failed, and left the set as it was.
    Error,
}

/// A candidate in a trace, in the order of that moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TraceCandidate {
    /// Address.
    pub address: String,
    /// Region.
    pub region: String,
    /// Health score as the chain sees it, 0 to 1.
    pub score: f32,
    /// Round-trip time that routing uses, milliseconds; null when unknown.
    pub rtt_ms: Option<f64>,
    /// Weight.
    pub weight: u32,
    /// Priority.
    pub priority: u32,
}

/// A named value that explains a step: a weight, a zone's signal, a share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Detail {
    /// What it is: `weight 192.0.2.1`, `zone eu-west`.
    pub name: String,
    /// Its value, formatted.
    pub value: String,
}

/// One step of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct StepTrace {
    /// The step as it stands in the chain.
    pub step: String,
    /// What it did.
    pub action: StepAction,
    /// Why, in a sentence.
    pub reason: String,
    /// Candidates before.
    pub before: Vec<TraceCandidate>,
    /// Candidates after.
    pub after: Vec<TraceCandidate>,
    /// Values that explain it.
    pub details: Vec<Detail>,
    /// Time taken, microseconds.
    pub micros: f64,
}

/// What was known about the client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TraceClient {
    /// Effective client, as a network when it came from ECS: `198.51.100.0/24`.
    pub effective: String,
    /// Whether that is the ECS subnet rather than the transport source.
    pub from_ecs: bool,
    /// Transport source: the resolver.
    pub resolver: String,
    /// Country, if found.
    pub country: Option<String>,
    /// AS number, if found.
    pub asn: Option<u32>,
    /// Organisation of the AS, if found.
    pub organisation: Option<String>,
}

/// The `minHealthy` gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TraceGate {
    /// The pool's `minHealthy`.
    pub min_healthy: u32,
    /// Enabled members with a score above 0.
    pub healthy: u32,
    /// Whether the chain runs.
    pub open: bool,
}

/// A whole trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    /// The name asked for.
    pub domain: String,
    /// Type asked for.
    pub qtype: Family,
    /// Name of the service that answers.
    pub service: String,
    /// Id of the service.
    pub service_id: crate::model::ServiceId,
    /// The client.
    pub client: TraceClient,
    /// The gate before the chain.
    pub gate: TraceGate,
    /// The chain that ran (a single algorithm is a chain of one).
    pub chain: Vec<String>,
    /// Members left out before the chain began, with the reason.
    pub excluded: Vec<Detail>,
    /// Steps in order.
    pub steps: Vec<StepTrace>,
    /// How it ended.
    pub outcome: Outcome,
    /// Addresses of the answer, in order; the host name that a CNAME leads to.
    pub answers: Vec<String>,
    /// TTL of the answer, seconds.
    pub ttl: u32,
    /// ECS scope of the answer; what the decision depended on.
    pub ecs_scope: u8,
    /// Why the answer is what it is beyond the chain: fallback used, chain replaced for want of a licence.
    pub notes: Vec<String>,
}
