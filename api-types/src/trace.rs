//! Requests to the query tracer.

use gslb_engine::query::Family;
use serde::{Deserialize, Serialize};

/// What to trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TraceRequest {
    /// Name to ask for. Required.
    pub domain: Option<String>,
    /// `A` or `AAAA`, default `A`.
    pub qtype: Option<Family>,
    /// The client: an address, or a network as an ECS option would carry it. Required.
    pub client: Option<String>,
    /// The resolver's address; given, the client travels as ECS, else the client asks itself (a network is always
    /// taken as ECS).
    pub resolver: Option<String>,
    /// Time of the query, Unix seconds; default now.
    pub at: Option<u64>,
    /// A chain to try instead of the stored one.
    pub chain: Option<Vec<String>>,
    /// An algorithm to try instead of the stored routing.
    pub algorithm: Option<String>,
}
