//! Log-in. A plain form on purpose: the whole console starts anew with the session.

use crate::api::account::Login;
use crate::components::Mark;
use crate::pages::use_query;
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use leptos_meta::Title;

/// The log-in page.
#[component]
pub fn LoginPage() -> impl IntoView {
    let next = use_query("next");
    let failed = use_query("failed");
    let message = move || match failed.read().as_str() {
        "" => None,
        "wrong" => Some("Name or password is not right."),
        "rate_limited" => Some("Too many attempts. Wait a moment, then try again."),
        _ => Some("The log-in could not be checked. Try again in a moment."),
    };
    view! {
        <Title text="Log in" />
        <main class="login">
            <div class="login-card">
                <div class="login-brand">
                    <Mark />
                    <h1>
                        "Nexus "<b>"GSLB"</b>
                    </h1>
                </div>
                {move || {
                    message()
                        .map(|text| {
                            view! {
                                <p class="notice bad" role="alert">
                                    {text}
                                </p>
                            }
                        })
                }}
                <form method="post" action=Login::url()>
                    <input type="hidden" name="form[next]" value=next />
                    <div class="field">
                        <label for="login-name">"Name"</label>
                        <input
                            id="login-name"
                            name="form[username]"
                            autocomplete="username"
                            autocapitalize="none"
                            spellcheck="false"
                            required
                            autofocus
                        />
                    </div>
                    <div class="field">
                        <label for="login-password">"Password"</label>
                        <input
                            id="login-password"
                            type="password"
                            name="form[password]"
                            autocomplete="current-password"
                            required
                        />
                    </div>
                    <button class="button primary wide" type="submit">
                        "Log in"
                    </button>
                </form>
                <p class="hint login-hint">
                    "The password of the first account, "<span class="mono">"admin"</span>
                    ", was printed when the daemon first started."
                </p>
            </div>
        </main>
    }
    .into_any()
}
