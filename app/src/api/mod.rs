//! Server functions: one line each into the [`Backend`](crate::backend::Backend), by area.

pub mod account;

#[cfg(feature = "ssr")]
use crate::backend::Backend;
#[cfg(feature = "ssr")]
use crate::failure::Failure;
#[cfg(feature = "ssr")]
use std::sync::Arc;

/// The daemon's side, from the context.
#[cfg(feature = "ssr")]
pub(crate) fn backend() -> Result<Arc<dyn Backend>, Failure> {
    leptos::prelude::use_context::<Arc<dyn Backend>>().ok_or_else(|| {
        Failure(gslb_api_types::ApiError::new(
            "internal",
            "The console is not connected to its daemon.",
        ))
    })
}
