//! What each role allows, and the form for a new one.

use crate::api::accounts::{CreateRole, DeleteRole};
use crate::components::confirm::Confirm;
use crate::components::field::{Refusal, TextField};
use crate::components::permissions::PermissionTicks;
use crate::form::{FormState, use_draft};
use crate::forms::RoleForm;
use crate::rpc::{SendForm, Sending};
use gslb_api_types::RoleView;
use gslb_api_types::model::Permission;
use leptos::prelude::*;

/// The table, and the form for those who may.
#[component]
pub fn Roles(roles: Vec<RoleView>, writes: bool, own: Vec<Permission>) -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="roles">
            <header class="panel-head">
                <h2 id="roles">"Roles"</h2>
            </header>
            <div class="table-frame">
                <table class="stacking">
                    <thead>
                        <tr>
                            <th scope="col">"Role"</th>
                            <th scope="col">"Allows"</th>
                            <th scope="col">
                                <span class="unseen">"Actions"</span>
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {roles.into_iter().map(|role| view! { <RoleRow role writes /> }).collect_view()}
                    </tbody>
                </table>
            </div>
            {writes.then(|| view! { <RoleEditor own /> })}
        </section>
    }
    .into_any()
}

#[component]
fn RoleRow(role: RoleView, writes: bool) -> impl IntoView {
    let permissions: Vec<_> = role.permissions.iter().map(|p| p.as_str()).collect();
    let removable = writes && !role.built_in;
    let name = role.name.clone();
    let id = role.id;
    view! {
        <tr>
            <th scope="row">
                {role.name} {role.built_in.then(|| view! { <span class="tag">"built in"</span> })}
            </th>
            <td class="mono" data-label="Allows">
                {permissions.join(" ")}
            </td>
            <td class="end">
                {removable
                    .then(|| {
                        let to = Sending::to::<DeleteRole>();
                        view! {
                            <Confirm
                                to
                                id
                                word="Delete"
                                label=format!("Delete {name}")
                                question="Nobody may have the role any more.".to_owned()
                                sure="Delete the role"
                            />
                        }
                    })}
            </td>
        </tr>
    }
    .into_any()
}

#[component]
fn RoleEditor(own: Vec<Permission>) -> impl IntoView {
    let action = Sending::to::<CreateRole>();
    let draft = use_draft::<RoleForm>();
    let came_back = draft.is_some();
    let (form, error) = draft.map(|d| (d.form, d.error)).unwrap_or_default();
    let state = FormState::new::<RoleForm>(error);
    let (typed, left) = state.listeners::<RoleForm>();
    state.follow(move || action.answer.get());
    let offered = own.into_iter().filter(|p| !p.is_for_installation()).collect();
    view! {
        <details class="more" id="role-form" open=came_back>
            <summary>"New role"</summary>
            <SendForm
                to=action
                attr:class="form"
                attr:novalidate=true
                on:input=typed
                on:change=left
            >
                <Refusal state fields=&["name", "permissions"] />
                <TextField state name="name" label="Name of the role" value=form.name required=true />
                <PermissionTicks state offered ticked=form.permissions />
                <div class="form-end">
                    <button class="button primary" type="submit" disabled=move || action.pending.get()>
                        "Create role"
                    </button>
                </div>
            </SendForm>
        </details>
    }
    .into_any()
}
