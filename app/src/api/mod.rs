//! Server functions: a line or two each into the [`Backend`](crate::backend::Backend), by area.

pub mod account;
pub mod fragments;
pub mod overview;
pub mod pools;
pub mod services;

#[cfg(feature = "ssr")]
use crate::backend::Backend;
#[cfg(feature = "ssr")]
use crate::failure::Failure;
#[cfg(feature = "ssr")]
use gslb_api_types::ApiError;
#[cfg(feature = "ssr")]
use std::sync::Arc;

/// The daemon's side, from the context.
#[cfg(feature = "ssr")]
pub(crate) fn backend() -> Result<Arc<dyn Backend>, Failure> {
    leptos::prelude::use_context::<Arc<dyn Backend>>().ok_or_else(|| {
        Failure(ApiError::new(
            "internal",
            "The console is not connected to its daemon.",
        ))
    })
}

/// An id that came as text; one that cannot be is an object that is not there.
#[cfg(feature = "ssr")]
pub(crate) fn id<T: std::str::FromStr>(what: &str, text: &str) -> Result<T, ApiError> {
    text.parse()
        .map_err(|_| ApiError::new("not_found", format!("There is no {what} with the id `{text}`.")))
}
