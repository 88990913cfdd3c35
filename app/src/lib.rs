//! The web console: pages rendered on the server and brought to life in the browser.
//!
//! Every page is whole without JavaScript (`SsrMode::Async`) and every form is a plain POST to a server function.
//! Data comes through [`backend::Backend`], which the daemon implements over its use cases: this crate knows no
//! store, no DNS and no HTTP framework beyond what rendering needs.

#![forbid(unsafe_code)]
// Views are nested types; the deepest pages go beyond the default when code is made for them.
#![recursion_limit = "256"]

mod api;
mod app;
#[cfg(feature = "ssr")]
pub mod backend;
mod components;
mod failure;
mod form;
mod forms;
#[cfg(feature = "ssr")]
mod fragments;
mod guard;
mod live;
mod pages;
mod rpc;
#[cfg(feature = "ssr")]
mod shell;

pub use app::App;
pub use failure::Failure;
#[cfg(feature = "ssr")]
pub use shell::{console, document};
