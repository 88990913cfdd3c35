//! What each role allows, the form for a new one, and that of one of the tenant's own.

use super::parts::{Question, Target, conflict, head, may};
use super::{Asked, Page};
use crate::components::field::{Refusal, TextField};
use crate::components::permissions::PermissionTicks;
use crate::failure::Failure;
use crate::form::{Form as _, FormState, Sent, finish, invalid, revision};
use crate::forms::{RoleForm, Ticks};
use gslb_api_types::model::Permission;
use gslb_api_types::{ApiError, RoleView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;

/// Makes a role, or changes one.
#[server(prefix = "/rpc", endpoint = "save-role")]
pub async fn save_role(form: RoleForm) -> Sent {
    let problems = form.problems();
    let result = if problems.is_empty() {
        let backend = crate::api::backend()?;
        if form.id.is_empty() {
            backend.create_role(form.draft()).await
        } else {
            let expected = revision(&form.revision);
            backend.change_role(form.id.clone(), form.draft(), expected).await
        }
    } else {
        Err(invalid(problems))
    };
    let (next, back) = if form.id.is_empty() {
        ("/users?done=role#roles", "/users#role-form".to_owned())
    } else {
        (
            "/users?done=role-changed#roles",
            format!("/users/roles/{}", form.id),
        )
    };
    finish(result.map(drop), &form, next, &back)
}

/// Deletes a role.
#[server(prefix = "/rpc", endpoint = "delete-role")]
pub async fn delete_role(form: Target) -> Sent {
    let result = crate::api::backend()?.delete_role(form.id.clone()).await;
    finish(result, &form, "/users?done=role-deleted", "/users#roles")
}

/// The table of roles on the page of accounts, and the form for those who may.
pub fn section(asked: &Asked, roles: &[RoleView], writes: bool) -> impl IntoView + use<> {
    let rows = roles.iter().map(|role| row(asked, role, writes)).collect_view();
    view! {
        <section class="panel" aria-labelledby="roles">
            <header class="panel-head">
                <h2 id="roles">"Roles"</h2>
                <span class="hint">"Those that are built in cannot change"</span>
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
                    <tbody>{rows}</tbody>
                </table>
            </div>
            {writes.then(|| new_role(asked))}
        </section>
    }
}

/// Whether the role allows nothing that the caller may not do: else it is out of reach.
fn within_reach(asked: &Asked, role: &RoleView) -> bool {
    role.permissions.iter().all(|permission| may(asked, *permission))
}

fn row(asked: &Asked, role: &RoleView, writes: bool) -> impl IntoView + use<> {
    let changes = writes && !role.built_in && within_reach(asked, role);
    let name = if role.built_in {
        view! {
            {role.name.clone()}
            " "
            <span class="tag">"built in"</span>
        }
        .into_any()
    } else {
        view! { <a href=format!("/users/roles/{}", role.id)>{role.name.clone()}</a> }.into_any()
    };
    view! {
        <tr>
            <th scope="row">{name}</th>
            <td data-label="Allows">{allows(&role.permissions)}</td>
            <td class="end">{changes.then(|| delete(asked, role, true))}</td>
        </tr>
    }
}

/// Permissions by what they are about: `pools read, write`.
pub fn allows(permissions: &[Permission]) -> AnyView {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for permission in permissions {
        let (about, verb) = permission
            .as_str()
            .split_once(':')
            .unwrap_or((permission.as_str(), ""));
        match groups.iter_mut().find(|(known, _)| *known == about) {
            Some((_, verbs)) => verbs.push(verb),
            None => groups.push((about, vec![verb])),
        }
    }
    let groups = groups
        .into_iter()
        .map(|(about, verbs)| {
            view! {
                <li>
                    <b>{about}</b>
                    " "
                    {verbs.join(", ")}
                </li>
            }
        })
        .collect_view();
    view! { <ul class="allows">{groups}</ul> }.into_any()
}

fn delete(asked: &Asked, role: &RoleView, small: bool) -> AnyView {
    let question = Question {
        to: DeleteRole::url(),
        word: "Delete",
        question: "Only a role that no account has can be deleted.",
        sure: "Delete the role",
        small,
    };
    question.about(asked, &role.id, &role.name)
}

fn new_role(asked: &Asked) -> impl IntoView + use<> {
    let draft = asked.draft::<RoleForm>();
    let came_back = draft.is_some();
    let (form, error) = draft.map(|d| (d.form, d.error)).unwrap_or_default();
    view! {
        <details class="more" id="role-form" open=came_back>
            <summary>"New role"</summary>
            {editor(asked, form, error, "Create role")}
        </details>
    }
}

fn editor(asked: &Asked, form: RoleForm, error: Option<ApiError>, word: &'static str) -> AnyView {
    let state = FormState::new::<RoleForm>(error);
    // What concerns the installation is in no role of a tenant's own; one gives what one has.
    let own = asked.session.permissions.iter();
    let offered = own.copied().filter(|p| !p.is_for_installation()).collect();
    let cancel = (!form.id.is_empty()).then(|| {
        view! {
            <a class="button" href="/users#roles">
                "Cancel"
            </a>
        }
    });
    view! {
        <form class="form" method="post" action=SaveRole::url() novalidate>
            <input type="hidden" name="form[id]" value=form.id />
            <input type="hidden" name="form[revision]" value=form.revision />
            <Refusal state fields=&["name", "permissions", "permissions["] />
            <TextField state name="name" label="Name of the role" value=form.name required=true />
            <PermissionTicks state offered ticked=form.permissions />
            <div class="form-end">
                <button class="button primary" type="submit">
                    {word}
                </button>
                {cancel}
            </div>
        </form>
    }
    .into_any()
}

fn ticks(permissions: &[Permission]) -> Ticks {
    let ticked = |permission: &Permission| (permission.as_str().to_owned(), "on".to_owned());
    permissions.iter().map(ticked).collect()
}

fn words(ticks: &Ticks) -> String {
    ticks.keys().cloned().collect::<Vec<_>>().join("\n")
}

/// The page of one role.
pub async fn page(asked: &Asked, id: &str) -> Result<Page, Failure> {
    let stored = crate::api::backend()?.role(id.to_owned()).await?;
    let role = &stored.value;
    let fresh = RoleForm {
        id: role.id.clone(),
        revision: stored.revision.to_string(),
        name: role.name.clone(),
        permissions: ticks(&role.permissions),
    };
    let changes = may(asked, Permission::UsersWrite) && !role.built_in && within_reach(asked, role);
    let (mut form, error) = match asked.draft::<RoleForm>() {
        Some(draft) => (draft.form, draft.error),
        None => (fresh.clone(), None),
    };
    let both = vec![
        ("Name", fresh.name.clone(), form.name.clone()),
        ("Allows", words(&fresh.permissions), words(&form.permissions)),
    ];
    let conflict = conflict(error.as_ref(), both);
    let error = error.filter(|_| conflict.is_none());
    if conflict.is_some() {
        form.revision = fresh.revision;
    }
    let actions = view! {
        <a class="button" href="/users#roles">
            "All roles"
        </a>
        {changes.then(|| delete(asked, role, false))}
    };
    let body = if changes {
        editor(asked, form, error, "Save")
    } else {
        let why = if role.built_in {
            "It is built in, and cannot change."
        } else {
            "It allows what you may not do yourself, or you may not change roles."
        };
        view! {
            <p class="hint">{why}</p>
            {allows(&role.permissions)}
        }
        .into_any()
    };
    let lead = "A change holds from the next request on of everybody who has the role.";
    let view = view! {
        {head(&role.name, lead, actions.into_any())}
        {conflict}
        <section class="panel" aria-labelledby="what">
            <header class="panel-head">
                <h2 id="what">"What the role allows"</h2>
            </header>
            {body}
        </section>
    };
    Ok(Page {
        title: format!("Role {}", role.name),
        view: view.into_any(),
    })
}
