//! The routes of the console.

use crate::components::layout::Console;
use crate::pages::{
    AuditPage, DashboardPage, EditServicePage, LoginPage, LostPage, MissingPage, NewPoolPage, NewServicePage,
    PoolPage, PoolsPage, ServicePage, ServicesPage, SettingsPage, SignalsPage, TracePage, ZonesPage,
};
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::SsrMode;
use leptos_router::components::{ParentRoute, Route, Router, Routes};
use leptos_router::path;

/// The console. Every route is rendered whole on the server, so that it can be read without JavaScript.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Title formatter=|text| format!("{text} - Nexus GSLB") />
        <Router>
            <Routes fallback=|| view! { <LostPage /> }.into_any()>
                <Route path=path!("/login") view=|| view! { <LoginPage /> }.into_any() ssr=SsrMode::Async />
                <ParentRoute path=path!("") view=|| view! { <Console /> }.into_any() ssr=SsrMode::Async>
                    <Route path=path!("/") view=|| view! { <DashboardPage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/services") view=|| view! { <ServicesPage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/services/new") view=|| view! { <NewServicePage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/services/:id") view=|| view! { <ServicePage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/services/:id/edit") view=|| view! { <EditServicePage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/pools") view=|| view! { <PoolsPage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/pools/new") view=|| view! { <NewPoolPage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/pools/:id") view=|| view! { <PoolPage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/signals") view=|| view! { <SignalsPage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/trace") view=|| view! { <TracePage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/zones") view=|| view! { <ZonesPage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/audit") view=|| view! { <AuditPage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/settings") view=|| view! { <SettingsPage /> }.into_any() ssr=SsrMode::Async />
                    <Route path=path!("/*any") view=|| view! { <MissingPage /> }.into_any() ssr=SsrMode::Async />
                </ParentRoute>
            </Routes>
        </Router>
    }
}
