//! The pages for addresses that lead nowhere.

use crate::components::Mark;
use leptos::prelude::*;
use leptos_meta::Title;

fn not_found() {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(http::StatusCode::NOT_FOUND);
    }
}

/// 404 outside of the console's frame.
#[component]
pub fn LostPage() -> impl IntoView {
    not_found();
    view! {
        <main class="lone">
            <Mark />
            <MissingText />
        </main>
    }
    .into_any()
}

/// 404 inside the frame.
#[component]
pub fn MissingPage() -> impl IntoView {
    not_found();
    view! {
        <section class="failed">
            <MissingText />
        </section>
    }
    .into_any()
}

#[component]
fn MissingText() -> impl IntoView {
    view! {
        <Title text="Not found" />
        <h1>"Nothing here"</h1>
        <p>"This address leads to no page of the console. You may be looking for:"</p>
        <ul class="links">
            <li>
                <a href="/services">"Services"</a>
                ", the DNS names that are answered"
            </li>
            <li>
                <a href="/pools">"Pools"</a>
                ", the members that answer and their health"
            </li>
            <li>
                <a href="/trace">"Query Tracer"</a>
                ", why a client gets the answer it gets"
            </li>
        </ul>
        <p>
            <a class="button" href="/">
                "Go to the dashboard"
            </a>
        </p>
    }
    .into_any()
}
