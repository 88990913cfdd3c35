//! The form for a new token.

use crate::api::accounts::CreateToken;
use crate::components::field::{Refusal, TextField};
use crate::components::permissions::PermissionTicks;
use crate::form::{FormState, use_draft};
use crate::forms::TokenForm;
use crate::rpc::{SendForm, Sending};
use gslb_api_types::model::Permission;
use leptos::prelude::*;

/// The form; one gives what one has oneself.
#[component]
pub fn TokenEditor(own: Vec<Permission>) -> impl IntoView {
    let action = Sending::to::<CreateToken>();
    let (form, error) = use_draft::<TokenForm>()
        .map(|d| (d.form, d.error))
        .unwrap_or_default();
    let state = FormState::new::<TokenForm>(error);
    let (typed, left) = state.listeners::<TokenForm>();
    state.follow(move || action.answer.get());
    view! {
        <section class="panel" aria-labelledby="token-form">
            <header class="panel-head">
                <h2 id="token-form">"New token"</h2>
            </header>
            <SendForm
                to=action
                attr:class="form"
                attr:novalidate=true
                on:input=typed
                on:change=left
            >
                <Refusal state fields=&["name", "permissions", "expiresInDays"] />
                <div class="form-grid">
                    <TextField state name="name" label="Name" value=form.name required=true />
                    <TextField
                        state
                        name="expires_in_days"
                        label="Ends after, days"
                        value=form.expires_in_days
                        number=true
                        hint="Empty: never"
                    />
                </div>
                <PermissionTicks state offered=own ticked=form.permissions />
                <div class="form-end">
                    <button class="button primary" type="submit" disabled=move || action.pending.get()>
                        "Create token"
                    </button>
                </div>
            </SendForm>
        </section>
    }
    .into_any()
}
