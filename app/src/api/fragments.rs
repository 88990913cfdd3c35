//! Pages that the server writes whole.

use crate::failure::Failure;
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use serde::{Deserialize, Serialize};

/// A page as the server has written it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fragment {
    /// Of the browser's tab.
    pub title: String,
    /// Everything inside the frame.
    pub html: String,
}

/// The page at an address.
#[server(prefix = "/rpc", endpoint = "fragment", input = Json)]
pub async fn load_fragment(path: String, query: String) -> Result<Fragment, Failure> {
    crate::fragments::write(&path, &query).await
}

/// The picker of tenants in the frame; empty for who may not act in others.
#[server(prefix = "/rpc", endpoint = "tenant-picker", input = Json)]
pub async fn load_picker() -> Result<String, Failure> {
    crate::fragments::picker::write().await
}
