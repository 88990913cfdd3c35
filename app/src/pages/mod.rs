//! The pages, a folder a domain.

mod dashboard;
mod fragment;
mod login;
mod missing;
mod pools;
mod services;
mod trace;

pub use dashboard::DashboardPage;
pub use fragment::FragmentPage;
pub use login::LoginPage;
pub use missing::{LostPage, MissingPage};
pub use pools::{NewPoolPage, PoolPage};
pub use services::{EditServicePage, NewServicePage, ServicePage};
pub use trace::TracePage;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

/// The `id` of the address.
fn use_id() -> Memo<String> {
    let params = use_params_map();
    Memo::new(move |_| params.with(|params| params.get("id").unwrap_or_default()))
}

/// The value of a query parameter, empty when absent.
fn use_query(name: &'static str) -> Memo<String> {
    let query = use_query_map();
    Memo::new(move |_| query.with(|query| query.get(name).unwrap_or_default()))
}
