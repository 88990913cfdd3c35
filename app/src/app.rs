//! The routes of the console.

use crate::pages::{LoginPage, MissingPage};
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::SsrMode;
use leptos_router::components::{Route, Router, Routes};
use leptos_router::path;

/// The console. Every route is rendered whole on the server, so that it can be read without JavaScript.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Title formatter=|text| format!("{text} - Nexus GSLB") />
        <Router>
            <Routes fallback=|| view! { <MissingPage /> }.into_any()>
                <Route path=path!("/login") view=|| view! { <LoginPage /> }.into_any() ssr=SsrMode::Async />
            </Routes>
        </Router>
    }
}
