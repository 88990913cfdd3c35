//! Changing one's own password.

use crate::api::account::{ChangePassword, PasswordForm};
use crate::components::field::{Refusal, TextField};
use crate::form::{FormState, use_draft};
use crate::rpc::{SendForm, Sending};
use leptos::prelude::*;

/// The panel.
#[component]
pub fn PasswordPanel(name: String) -> impl IntoView {
    let error = use_draft::<PasswordForm>().and_then(|draft| draft.error);
    let action = Sending::to::<ChangePassword>();
    let state = FormState::new::<PasswordForm>(error);
    let (_, left) = state.listeners::<PasswordForm>();
    state.follow(move || action.answer.get());
    view! {
        <section class="panel" aria-labelledby="password">
            <header class="panel-head">
                <h2 id="password">"Your password"</h2>
                <span class="hint">{name.clone()}</span>
            </header>
            <SendForm
                to=action
                attr:class="form"
                on:change=left
            >
                <Refusal state fields=&["current", "new", "again"] />
                <input class="unseen" type="text" autocomplete="username" value=name tabindex="-1" aria-hidden="true" />
                <TextField
                    state
                    name="current"
                    label="Current password"
                    value=String::new()
                    kind="password"
                    complete="current-password"
                />
                <TextField
                    state
                    name="new"
                    label="New password"
                    value=String::new()
                    kind="password"
                    complete="new-password"
                    hint="At least 12 characters, and not the name"
                />
                <TextField
                    state
                    name="again"
                    label="New password, again"
                    value=String::new()
                    kind="password"
                    complete="new-password"
                />
                <div class="form-end">
                    <button class="button primary" type="submit" disabled=move || action.pending.get()>
                        "Change password"
                    </button>
                </div>
            </SendForm>
        </section>
    }
    .into_any()
}
