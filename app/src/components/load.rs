//! A page's data: what shows while it comes, and what shows instead when it does not.

use crate::components::text;
use crate::failure::Failure;
use crate::rpc::{Data, Text, decode};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::components::Redirect;
use leptos_router::hooks::use_location;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Renders `view` of the data, on the server before the page is sent; while a newer value is on its way the old view
/// stays.
pub fn loaded<T: DeserializeOwned, V: IntoView + 'static>(
    data: Data<T>,
    view: impl Fn(T) -> V + Send + Sync + 'static,
) -> impl IntoView {
    let render = move |text: &str| match decode(text) {
        Ok(value) => view(value).into_any(),
        Err(failure) => view! { <Failed failure /> }.into_any(),
    };
    loaded_text(data.text, Arc::new(render))
}

fn loaded_text(text: Resource<Text>, render: Arc<dyn Fn(&str) -> AnyView + Send + Sync>) -> AnyView {
    view! {
        <Transition fallback=|| {
            view! { <p class="loading">"Loading"</p> }
        }>
            {move || {
                let render = Arc::clone(&render);
                Suspend::new(async move {
                    match text.await {
                        Ok(text) => render(&text),
                        Err(failure) => view! { <Failed failure /> }.into_any(),
                    }
                })
            }}
        </Transition>
    }
    .into_any()
}

/// What shows instead of a page: a way to log in, or what went wrong and what can be done.
#[component]
pub fn Failed(failure: Failure) -> impl IntoView {
    if failure.needs_login() {
        let location = use_location();
        let here = location.pathname.get_untracked()
            + &location.search.with_untracked(|search| {
                if search.is_empty() {
                    String::new()
                } else {
                    format!("?{}", search.trim_start_matches('?'))
                }
            });
        let path = text::link("/login", &[("next", &here)]);
        return view! { <Redirect path=path /> }.into_any();
    }
    let (status, heading, help) = match failure.0.code.as_str() {
        "not_found" => (
            404,
            "Not found",
            "It may have been deleted, or the address is not quite right. The lists in the menu show what there is.",
        ),
        "forbidden" => (
            403,
            "Not allowed",
            "Your account lacks the permission for this page. An administrator can grant it.",
        ),
        "validation_failed" | "malformed" => (
            400,
            "This address does not fit",
            "Part of it, such as the place in a list or the order, is not one that this page knows.",
        ),
        "rate_limited" => (
            429,
            "Too many attempts",
            "Wait for the time that is given, and try again.",
        ),
        "unavailable" | "disk_full" => (
            503,
            "The daemon does not answer",
            "DNS answers do not depend on this console. Reload the page in a moment.",
        ),
        _ => (
            500,
            "That did not work",
            "Reload the page. If it stays like this, the daemon's log says more.",
        ),
    };
    set_status(status);
    // The same page without what the address asks of it: a list from its begin.
    let plain = (status == 400).then(|| use_location().pathname.get_untracked());
    view! {
        <Title text=heading />
        <section class="failed" role="alert">
            <h1>{heading}</h1>
            <p class="failed-why">{failure.0.message}</p>
            <p>{help}</p>
            <p class="failed-ways">
                {plain
                    .map(|path| {
                        view! {
                            <a class="button primary" href=path>
                                "Show it from the beginning"
                            </a>
                        }
                    })}
                <a class="button" href="/">
                    "Go to the dashboard"
                </a>
            </p>
        </section>
    }
    .into_any()
}

/// Sets the status of the page on the server.
fn set_status(status: u16) {
    #[cfg(feature = "ssr")]
    if let (Some(response), Ok(code)) = (
        use_context::<leptos_axum::ResponseOptions>(),
        http::StatusCode::from_u16(status),
    ) {
        response.set_status(code);
    }
    #[cfg(not(feature = "ssr"))]
    let _ = status;
}
