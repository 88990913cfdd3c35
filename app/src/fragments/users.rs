//! Accounts and roles of the tenant: the lists, and the forms for new ones.

use super::parts::{Question, Target, done, head, may, moment_or, nothing_found, pager, search, sort_head};
use super::{Asked, Page, roles};
use crate::components::State;
use crate::components::field::{Refusal, SelectField, TextField};
use crate::failure::Failure;
use crate::form::{Form as _, FormState, Sent, finish, invalid};
use crate::forms::UserForm;
use gslb_api_types::model::Permission;
use gslb_api_types::{RoleView, Stored, UserView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;

/// Makes an account. Passwords never travel back in an address.
#[server(prefix = "/rpc", endpoint = "create-user")]
pub async fn create_user(form: UserForm) -> Sent {
    let problems = form.problems();
    let result = if problems.is_empty() {
        crate::api::backend()?.create_user(form.draft()).await
    } else {
        Err(invalid(problems))
    };
    let kept = UserForm {
        password: String::new(),
        ..form
    };
    finish(result.map(drop), &kept, "/users?done=created", "/users#user-form")
}

/// Deletes an account.
#[server(prefix = "/rpc", endpoint = "delete-user")]
pub async fn delete_user(form: Target) -> Sent {
    let page = format!("/users/{}", form.id);
    let result = match crate::api::id("account", &form.id) {
        Ok(id) => crate::api::backend()?.delete_user(id).await,
        Err(error) => Err(error),
    };
    finish(result, &form, "/users?done=deleted", &page)
}

/// The button that deletes an account.
pub fn delete(asked: &Asked, user: &UserView) -> AnyView {
    let question = Question {
        to: DeleteUser::url(),
        word: "Delete",
        question: "Its sessions end, and its tokens are refused.",
        sure: "Delete the account",
        small: false,
    };
    question.about(asked, &user.id.to_string(), &user.name)
}

/// Roles that one may give: those that allow no more than one may oneself.
pub fn choices(roles: &[RoleView], own: &[Permission]) -> Vec<(String, String)> {
    roles
        .iter()
        .filter(|role| role.permissions.iter().all(|permission| own.contains(permission)))
        .map(|role| (role.name.clone(), role.name.clone()))
        .collect()
}

/// The page.
pub async fn list(asked: &Asked) -> Result<Page, Failure> {
    let backend = crate::api::backend()?;
    let page = backend.users(asked.list()).await?;
    let all = backend.roles().await?;
    let writes = may(asked, Permission::UsersWrite);
    let said = match asked.param("done").as_str() {
        "created" => Some("The account is created."),
        "changed" => Some("The account is changed."),
        "deleted" => Some("The account is deleted."),
        "role" => Some("The role is created."),
        "role-changed" => {
            Some("The role is changed. It holds from the next request on of everybody who has it.")
        }
        "role-deleted" => Some("The role is deleted."),
        _ => None,
    };
    let lead = "Who may log in, and what each may do. A change holds from the next request on.";
    let view = view! {
        {head("Users and roles", lead, ().into_any())}
        {done(said)}
        <div class="toolbar">{search(asked, "Search by name")}</div>
        {table(asked, &page)}
        {writes.then(|| editor(asked, &all))}
        {roles::section(asked, &all, writes)}
    };
    Ok(Page {
        title: "Users and roles".to_owned(),
        view: view.into_any(),
    })
}

fn table(asked: &Asked, page: &gslb_api_types::Page<Stored<UserView>>) -> AnyView {
    if page.items.is_empty() {
        return nothing_found(asked, ("account", "accounts"), "name", "/users");
    }
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        {sort_head(asked, "name", "Name")} <th scope="col">"Role"</th>
                        <th scope="col">"State"</th>
                        <th scope="col">"Last log-in"</th>
                    </tr>
                </thead>
                <tbody>{page.items.iter().map(|user| row(asked, &user.value)).collect_view()}</tbody>
            </table>
        </div>
        {pager(asked, page, ("account", "accounts"))}
    }
    .into_any()
}

fn row(asked: &Asked, user: &UserView) -> impl IntoView + use<> {
    let (kind, word) = if user.enabled {
        ("up", "Enabled")
    } else {
        ("off", "Disabled")
    };
    let own = (asked.session.user_id == Some(user.id)).then(|| view! { <span class="tag">"you"</span> });
    view! {
        <tr>
            <th scope="row">
                <a href=format!("/users/{}", user.id)>{user.name.clone()}</a>
                " "
                {own}
            </th>
            <td data-label="Role">{user.role.clone()}</td>
            <td data-label="State">
                <State kind=kind word=word />
            </td>
            <td data-label="Last log-in">{moment_or(user.last_login, "never")}</td>
        </tr>
    }
}

fn editor(asked: &Asked, roles: &[RoleView]) -> impl IntoView + use<> {
    let (form, error) = match asked.draft::<UserForm>() {
        Some(draft) => (draft.form, draft.error),
        None => (UserForm::default(), None),
    };
    let state = FormState::new::<UserForm>(error);
    let role = if form.role.is_empty() {
        "viewer".to_owned()
    } else {
        form.role
    };
    let choices = choices(roles, &asked.session.permissions);
    view! {
        <section class="panel" aria-labelledby="user-form">
            <header class="panel-head">
                <h2 id="user-form">"New account"</h2>
            </header>
            <form class="form" method="post" action=CreateUser::url() novalidate>
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
                    <SelectField state name="role" label="Role" value=role choices />
                </div>
                <div class="form-end">
                    <button class="button primary" type="submit">
                        "Create account"
                    </button>
                </div>
            </form>
        </section>
    }
}
