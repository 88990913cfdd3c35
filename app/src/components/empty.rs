//! What an empty list says: what would be here, and how to get it.

use leptos::prelude::*;

/// An empty state that teaches.
#[component]
pub fn Empty(heading: &'static str, children: Children) -> impl IntoView {
    view! {
        <div class="empty">
            <h2>{heading}</h2>
            {children()}
        </div>
    }
    .into_any()
}

/// A line that something was done, after a redirect.
#[component]
pub fn Done(#[prop(into)] text: Signal<Option<&'static str>>) -> impl IntoView {
    view! {
        <div aria-live="polite">
            {move || {
                text.get().map(|text| view! { <p class="notice good">{text}</p> })
            }}
        </div>
    }
    .into_any()
}
