//! One account: its role, whether it may be used, a new password, its sessions.

use super::form::choices;
use crate::api::accounts::{ChangeUser, DeleteUser, LoadUser, User};
use crate::components::confirm::Confirm;
use crate::components::field::{Refusal, SelectField, TextField, TickField};
use crate::components::layout::{PageHead, may};
use crate::components::loaded;
use crate::form::{FormState, use_draft};
use crate::forms::UserChange;
use crate::pages::sessions::SessionTable;
use crate::pages::use_id;
use crate::rpc::{SendForm, Sending, use_data};
use gslb_api_types::model::Permission;
use leptos::prelude::*;

/// The page.
#[component]
pub fn UserPage() -> impl IntoView {
    let id = use_id();
    let data = use_data(move || LoadUser { id: id.get() });
    loaded(data, |data| view! { <Body data /> })
}

#[component]
fn Body(data: User) -> impl IntoView {
    let name = data.user.value.name.clone();
    let writes = may(&data.session, Permission::UsersWrite);
    let delete = Sending::to::<DeleteUser>();
    let id = data.user.value.id.to_string();
    let sessions = data.sessions.clone();
    let label = format!("Delete {name}");
    view! {
        <PageHead title=name.clone() lead=format!("Account with the role {}", data.user.value.role)>
            <a class="button" href="/users">
                "All accounts"
            </a>
        </PageHead>
        {writes.then(|| view! { <Change data /> })}
        <section class="panel" aria-labelledby="sessions">
            <header class="panel-head">
                <h2 id="sessions">"Sessions"</h2>
            </header>
            <SessionTable sessions ends=writes />
        </section>
        {writes
            .then(|| {
                view! {
                    <Confirm
                        to=delete
                        id
                        word="Delete"
                        label
                        question="Its sessions end, and its tokens are refused.".to_owned()
                        sure="Delete the account"
                    />
                }
            })}
    }
    .into_any()
}

#[component]
fn Change(data: User) -> impl IntoView {
    let action = Sending::to::<ChangeUser>();
    let draft = use_draft::<UserChange>();
    let user = data.user.value;
    let (form, error) = match draft {
        Some(draft) => (draft.form, draft.error),
        None => {
            let form = UserChange {
                id: user.id.to_string(),
                revision: data.user.revision.to_string(),
                role: user.role,
                enabled: if user.enabled {
                    "on".to_owned()
                } else {
                    String::new()
                },
                password: String::new(),
            };
            (form, None)
        }
    };
    let state = FormState::new::<UserChange>(error);
    let (typed, left) = state.listeners::<UserChange>();
    state.follow(move || action.answer.get());
    let mut choices = choices(data.roles, &data.session.permissions);
    // One's own rights may not reach to the role that it has: it is shown all the same.
    if !choices.iter().any(|(name, _)| *name == form.role) {
        choices.insert(0, (form.role.clone(), form.role.clone()));
    }
    view! {
        <section class="panel" aria-labelledby="change">
            <header class="panel-head">
                <h2 id="change">"Change"</h2>
            </header>
            <SendForm
                to=action
                attr:class="form"
                attr:novalidate=true
                on:input=typed
                on:change=left
            >
                <input type="hidden" name="form[id]" value=form.id />
                <input type="hidden" name="form[revision]" value=form.revision />
                <Refusal state fields=&["role", "password"] />
                <div class="form-grid">
                    <SelectField state name="role" label="Role" value=form.role choices />
                    <TextField
                        state
                        name="password"
                        label="New password"
                        value=String::new()
                        kind="password"
                        complete="new-password"
                        hint="Empty leaves it; a new one ends all sessions"
                    />
                </div>
                <TickField
                    state
                    name="enabled"
                    label="Enabled"
                    value=!form.enabled.is_empty()
                    hint="A disabled account is out at once, with its sessions and tokens"
                />
                <div class="form-end">
                    <button class="button primary" type="submit" disabled=move || action.pending.get()>
                        "Save"
                    </button>
                </div>
            </SendForm>
        </section>
    }
    .into_any()
}
