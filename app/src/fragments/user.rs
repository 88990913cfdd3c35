//! One account: its role, whether it may be used, a new password, its sessions.

use super::parts::{conflict, head, may};
use super::users::{choices, delete};
use super::{Asked, Page, sessions};
use crate::components::field::{Refusal, SelectField, TextField, TickField};
use crate::failure::Failure;
use crate::form::{Form as _, FormState, Sent, finish, invalid, revision, ticked};
use crate::forms::UserChange;
use gslb_api_types::model::Permission;
use gslb_api_types::{RoleView, Stored, UserView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;

/// Changes an account.
#[server(prefix = "/rpc", endpoint = "change-user")]
pub async fn change_user(form: UserChange) -> Sent {
    let problems = form.problems();
    let page = format!("/users/{}", form.id);
    let result = match crate::api::id("account", &form.id) {
        Ok(id) if problems.is_empty() => {
            let expected = revision(&form.revision);
            crate::api::backend()?
                .change_user(id, form.draft(), expected)
                .await
        }
        Ok(_) => Err(invalid(problems)),
        Err(error) => Err(error),
    };
    let kept = UserChange {
        password: String::new(),
        ..form
    };
    finish(result.map(drop), &kept, "/users?done=changed", &page)
}

/// The page.
pub async fn page(asked: &Asked, id: &str) -> Result<Page, Failure> {
    let backend = crate::api::backend()?;
    let id = crate::api::id("account", id)?;
    let stored = backend.user(id).await?;
    let roles = backend.roles().await?;
    let open = backend.sessions(Some(id)).await?;
    let user = &stored.value;
    let writes = may(asked, Permission::UsersWrite);
    let actions = view! {
        <a class="button" href="/users">
            "All accounts"
        </a>
        {writes.then(|| delete(asked, user))}
    };
    let view = view! {
        {head(&user.name, &format!("Account with the role {}", user.role), actions.into_any())}
        {writes.then(|| editor(asked, &stored, &roles))}
        <section class="panel" aria-labelledby="sessions">
            <header class="panel-head">
                <h2 id="sessions">"Sessions"</h2>
            </header>
            {sessions::table(asked, &open, writes)}
        </section>
    };
    Ok(Page {
        title: user.name.clone(),
        view: view.into_any(),
    })
}

fn word(enabled: bool) -> String {
    if enabled { "enabled" } else { "disabled" }.to_owned()
}

fn editor(asked: &Asked, stored: &Stored<UserView>, roles: &[RoleView]) -> impl IntoView + use<> {
    let user = &stored.value;
    let fresh = UserChange {
        id: user.id.to_string(),
        revision: stored.revision.to_string(),
        role: user.role.clone(),
        enabled: if user.enabled { "on" } else { "" }.to_owned(),
        password: String::new(),
    };
    let (form, error) = match asked.draft::<UserChange>() {
        Some(draft) => (draft.form, draft.error),
        None => (fresh, None),
    };
    let both = vec![
        ("Role", user.role.clone(), form.role.clone()),
        ("Account", word(user.enabled), word(ticked(&form.enabled))),
    ];
    let conflict = conflict(error.as_ref(), both);
    let revision = if conflict.is_some() {
        stored.revision.to_string()
    } else {
        form.revision
    };
    let state = FormState::new::<UserChange>(error.filter(|_| conflict.is_none()));
    let mut choices = choices(roles, &asked.session.permissions);
    // One's own rights may not reach to the role that it has: it is shown all the same.
    if !choices.iter().any(|(name, _)| *name == form.role) {
        choices.insert(0, (form.role.clone(), form.role.clone()));
    }
    view! {
        <section class="panel" aria-labelledby="change">
            <header class="panel-head">
                <h2 id="change">"Change"</h2>
            </header>
            <form class="form" method="post" action=ChangeUser::url() novalidate>
                <input type="hidden" name="form[id]" value=form.id />
                <input type="hidden" name="form[revision]" value=revision />
                {conflict}
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
                    value=ticked(&form.enabled)
                    hint="A disabled account is out at once, with its sessions and tokens"
                />
                <div class="form-end">
                    <button class="button primary" type="submit">
                        "Save"
                    </button>
                </div>
            </form>
        </section>
    }
}
