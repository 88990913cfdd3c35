//! Log-in. A plain form on purpose: the whole console starts anew with the session.

use crate::api::account::Login;
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

/// The log-in page.
#[component]
pub fn LoginPage() -> impl IntoView {
    let query = use_query_map();
    let next = move || query.read().get("next").unwrap_or_default();
    let failed = move || {
        query.read().get("failed").map(|why| match why.as_str() {
            "rate_limited" => "Too many attempts. Wait a moment, then try again.",
            "wrong" => "Name or password is not right.",
            _ => "The log-in could not be checked. Try again in a moment.",
        })
    };
    view! {
        <Title text="Log in" />
        <main class="login">
            <h1>"Nexus GSLB"</h1>
            {move || failed().map(|text| view! { <p class="notice bad" role="alert">{text}</p> })}
            <form method="post" action=Login::url()>
                <input type="hidden" name="form[next]" prop:value=next value=next />
                <label>"Name"<input name="form[username]" autocomplete="username" required autofocus /></label>
                <label>
                    "Password"
                    <input type="password" name="form[password]" autocomplete="current-password" required />
                </label>
                <button type="submit">"Log in"</button>
            </form>
        </main>
    }
}
