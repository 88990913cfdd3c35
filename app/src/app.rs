//! The routes of the console.

use crate::components::layout::Console;
use crate::pages::{
    DashboardPage, EditServicePage, FragmentPage, LoginPage, LostPage, MissingPage, NewPoolPage,
    NewServicePage, PoolPage, ServicePage, TracePage,
};
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::SsrMode;
use leptos_router::components::{ParentRoute, Route, Router, Routes};
use leptos_router::path;

/// One type for the views of all routes: leptos makes the code of a route anew for each type.
fn page(view: fn() -> AnyView) -> fn() -> AnyView {
    view
}

/// The console. Every route is rendered whole on the server, so that it can be read without JavaScript.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Title formatter=|text| format!("{text} - Nexus GSLB") />
        <Router>
            <Routes fallback=|| view! { <LostPage /> }.into_any()>
                <Route path=path!("/login") view=page(|| view! { <LoginPage /> }.into_any()) ssr=SsrMode::Async />
                <ParentRoute path=path!("") view=page(|| view! { <Console /> }.into_any()) ssr=SsrMode::Async>
                    <Route path=path!("/") view=page(|| view! { <DashboardPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/services") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/services/new") view=page(|| view! { <NewServicePage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/services/:id") view=page(|| view! { <ServicePage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/services/:id/edit") view=page(|| view! { <EditServicePage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/pools") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/pools/new") view=page(|| view! { <NewPoolPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/pools/:id") view=page(|| view! { <PoolPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/signals") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/trace") view=page(|| view! { <TracePage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/zones") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/zones/:id") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/zones/:id/:page") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/zones/:id/:page/:item") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/users") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/users/:id") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/users/:id/:item") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/tokens") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/tenants") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/tenants/:id") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/sessions") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/audit") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/settings") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/settings/:page") view=page(|| view! { <FragmentPage /> }.into_any()) ssr=SsrMode::Async />
                    <Route path=path!("/*any") view=page(|| view! { <MissingPage /> }.into_any()) ssr=SsrMode::Async />
                </ParentRoute>
            </Routes>
        </Router>
    }
}
