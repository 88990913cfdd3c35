//! The form for a new account.

use crate::api::accounts::CreateUser;
use crate::components::field::{Refusal, SelectField, TextField};
use crate::form::{FormState, use_draft};
use crate::forms::UserForm;
use crate::rpc::{SendForm, Sending};
use gslb_api_types::RoleView;
use gslb_api_types::model::Permission;
use leptos::prelude::*;

/// Roles that one may give: those that allow no more than one may oneself.
pub(super) fn choices(roles: Vec<RoleView>, own: &[Permission]) -> Vec<(String, String)> {
    roles
        .into_iter()
        .filter(|role| role.permissions.iter().all(|permission| own.contains(permission)))
        .map(|role| (role.name.clone(), role.name))
        .collect()
}

/// The form.
#[component]
pub fn UserEditor(roles: Vec<RoleView>, own: Vec<Permission>) -> impl IntoView {
    let action = Sending::to::<CreateUser>();
    let (form, error) = use_draft::<UserForm>()
        .map(|d| (d.form, d.error))
        .unwrap_or_default();
    let state = FormState::new::<UserForm>(error);
    let (typed, left) = state.listeners::<UserForm>();
    state.follow(move || action.answer.get());
    let role = if form.role.is_empty() {
        "viewer".to_owned()
    } else {
        form.role
    };
    view! {
        <section class="panel" aria-labelledby="user-form">
            <header class="panel-head">
                <h2 id="user-form">"New account"</h2>
            </header>
            <SendForm
                to=action
                attr:class="form"
                attr:novalidate=true
                on:input=typed
                on:change=left
            >
                <Refusal state fields=&["name", "password", "role"] />
                <div class="form-grid">
                    <TextField state name="name" label="Name" value=form.name required=true />
                    <TextField
                        state
                        name="password"
                        label="Password"
                        value=String::new()
                        kind="password"
                        complete="new-password"
                        required=true
                        hint="At least 12 characters, and not the name"
                    />
                    <SelectField state name="role" label="Role" value=role choices=choices(roles, &own) />
                </div>
                <div class="form-end">
                    <button class="button primary" type="submit" disabled=move || action.pending.get()>
                        "Create account"
                    </button>
                </div>
            </SendForm>
        </section>
    }
    .into_any()
}
