//! The page for addresses that lead nowhere.

use leptos::prelude::*;
use leptos_meta::Title;

/// 404.
#[component]
pub fn MissingPage() -> impl IntoView {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(http::StatusCode::NOT_FOUND);
    }
    view! {
        <Title text="Not found" />
        <main class="lone">
            <h1>"Nothing here"</h1>
            <p>"This address leads to no page of the console."</p>
            <p><a href="/">"Go to the dashboard"</a></p>
        </main>
    }
}
