//! Dashboard, tracer: what is looked at and not changed.

use crate::failure::Failure;
use gslb_api_types::{Dashboard, LicenseView, PoolSummary, TraceRequest};
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use serde::{Deserialize, Serialize};

/// Everything on the dashboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// Rates, health, events.
    pub dashboard: Dashboard,
    /// The first pools by name.
    pub pools: Vec<PoolSummary>,
    /// The licence; absent when the caller may not see it.
    pub license: Option<LicenseView>,
}

/// Members that are down, as many as the dashboard lists.
#[cfg(feature = "ssr")]
const SHOWN_DOWN: usize = 50;

/// The dashboard.
#[server(prefix = "/rpc", endpoint = "overview", input = Json)]
pub async fn load_overview() -> Result<Overview, Failure> {
    let backend = super::backend()?;
    let pools = gslb_api_types::ListQuery {
        limit: Some(12),
        ..Default::default()
    };
    let mut dashboard = backend.dashboard().await?;
    // A whole data centre may be down: the page tells how many more there are.
    dashboard.down.truncate(SHOWN_DOWN);
    Ok(Overview {
        dashboard,
        pools: backend.pools(pools).await?.items,
        license: backend.license().await.ok(),
    })
}

/// A trace, or why there is none: what was asked may be wrong by field.
#[cfg(feature = "ssr")]
async fn told(request: TraceRequest) -> Result<crate::fragments::traces::Told, Failure> {
    match super::backend()?.trace(request).await {
        Err(error) if error.code == "unauthorized" => Err(error.into()),
        other => Ok(other.map_err(Failure)),
    }
}

/// A trace as HTML.
#[server(prefix = "/rpc", endpoint = "trace", input = Json)]
pub async fn load_trace(request: TraceRequest) -> Result<String, Failure> {
    Ok(crate::fragments::traces::single(told(request).await?))
}

/// What the tracer is asked: about the stored routing, and about a chain beside it when one is tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The stored routing.
    pub stored: TraceRequest,
    /// The chain to try.
    pub tried: Option<TraceRequest>,
}

/// The answers to what the tracer was asked, as HTML: of the stored routing, and of the chain that is tried beside it, or
/// why there are none. Nothing when it was asked nothing.
#[server(prefix = "/rpc", endpoint = "traces", input = Json)]
pub async fn load_traces(asked: Option<Result<Asked, Failure>>) -> Result<Option<String>, Failure> {
    let asked = match asked {
        None => return Ok(None),
        Some(Err(failure)) => return Ok(Some(crate::fragments::traces::single(Err(failure)))),
        Some(Ok(asked)) => asked,
    };
    let stored = told(asked.stored).await?;
    let tried = match asked.tried {
        Some(request) => Some(told(request).await?),
        None => None,
    };
    Ok(Some(crate::fragments::traces::both(stored, tried)))
}
