//! API tokens: what programs log in with.

use super::parts::{Question, Target, done, head, may, moment_or, nothing_found, pager, search, sort_head};
use super::{Asked, Page, roles};
use crate::components::empty::Empty;
use crate::components::field::{Refusal, TextField};
use crate::components::permissions::PermissionTicks;
use crate::failure::Failure;
use crate::form::{Form as _, FormState, Sent, finish, invalid};
use crate::forms::TokenForm;
use gslb_api_types::model::Permission;
use gslb_api_types::{Stored, TokenCreated, TokenView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;

/// Makes a token.
#[server(prefix = "/rpc", endpoint = "create-token")]
pub async fn create_token(form: TokenForm) -> Sent {
    let problems = form.problems();
    let (draft, _) = form.draft();
    let result = if problems.is_empty() {
        crate::api::backend()?.create_token(draft).await
    } else {
        Err(invalid(problems))
    };
    finish(result, &form, "/tokens?done=created", "/tokens#token-form")
}

/// Revokes a token.
#[server(prefix = "/rpc", endpoint = "delete-token")]
pub async fn delete_token(form: Target) -> Sent {
    let result = match crate::api::id("token", &form.id) {
        Ok(id) => crate::api::backend()?.delete_token(id).await,
        Err(error) => Err(error),
    };
    finish(result, &form, "/tokens?done=deleted", "/tokens")
}

/// The page.
pub async fn list(asked: &Asked) -> Result<Page, Failure> {
    let backend = crate::api::backend()?;
    let page = backend.tokens(asked.list()).await?;
    let created = backend.take_created().await?;
    let writes = may(asked, Permission::TokensWrite);
    let said = match asked.param("done").as_str() {
        "deleted" => Some("The token is revoked."),
        "created" if created.is_none() => {
            Some("The token is created. Its secret was shown before, and is not shown again.")
        }
        _ => None,
    };
    let lead =
        "What programs log in with. A token may do what it says, as long as the account behind it may.";
    let view = view! {
        {head("Tokens", lead, ().into_any())}
        {done(said)}
        {created.map(shown_once)}
        <div class="toolbar">{search(asked, "Search by name")}</div>
        {table(asked, &page, writes)}
        {writes.then(|| editor(asked))}
    };
    Ok(Page {
        title: "Tokens".to_owned(),
        view: view.into_any(),
    })
}

/// The secret of a new token, shown this once.
fn shown_once(created: TokenCreated) -> impl IntoView {
    view! {
        <div class="notice good" role="status">
            <p>
                "The token " <b>{created.token.name}</b>
                " is created. This is the only time that its secret is shown: send it as Authorization: Bearer."
            </p>
            <p class="copy-line">
                <code class="copy-text secret mono" tabindex="0">
                    {created.secret.clone()}
                </code>
                <button class="button small only-live" type="button" data-copy=created.secret>
                    "Copy"
                </button>
            </p>
        </div>
    }
}

fn table(asked: &Asked, page: &gslb_api_types::Page<Stored<TokenView>>, writes: bool) -> AnyView {
    if page.items.is_empty() && !asked.param("q").is_empty() {
        return nothing_found(asked, ("token", "tokens"), "name", "/tokens");
    }
    if page.items.is_empty() {
        return view! {
            <Empty heading="No tokens yet">
                <p>
                    "Programs, such as Terraform or a deployment, use one instead of a password. Give each its own, with no more than it needs: it can be revoked alone."
                </p>
            </Empty>
        }
        .into_any();
    }
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        {sort_head(asked, "name", "Name")} <th scope="col">"Begins with"</th>
                        <th scope="col">"May"</th>
                        <th scope="col">"Account"</th>
                        <th scope="col">"Ends"</th>
                        <th scope="col">"Last use"</th>
                        <th scope="col">
                            <span class="unseen">"Actions"</span>
                        </th>
                    </tr>
                </thead>
                <tbody>{page.items.iter().map(|token| row(asked, &token.value, writes)).collect_view()}</tbody>
            </table>
        </div>
        {pager(asked, page, ("token", "tokens"))}
    }
    .into_any()
}

fn row(asked: &Asked, token: &TokenView, writes: bool) -> impl IntoView + use<> {
    let question = Question {
        to: DeleteToken::url(),
        word: "Revoke",
        question: "Programs that use it are refused from now on.",
        sure: "Revoke the token",
        small: true,
    };
    let end = writes.then(|| question.about(asked, &token.id.to_string(), &token.name));
    view! {
        <tr>
            <th scope="row">{token.name.clone()}</th>
            <td class="mono" data-label="Begins with">
                {token.hint.clone()}
            </td>
            <td data-label="May">{roles::allows(&token.permissions)}</td>
            <td data-label="Account">{token.owner.clone().unwrap_or_else(|| "none".to_owned())}</td>
            <td data-label="Ends">{moment_or(token.expires_at, "never")}</td>
            <td data-label="Last use">{moment_or(token.last_used_at, "never")}</td>
            <td class="end">{end}</td>
        </tr>
    }
}

/// The form; one gives what one has oneself.
fn editor(asked: &Asked) -> impl IntoView + use<> {
    let (form, error) = match asked.draft::<TokenForm>() {
        Some(draft) => (draft.form, draft.error),
        None => (TokenForm::default(), None),
    };
    let state = FormState::new::<TokenForm>(error);
    let offered = asked.session.permissions.clone();
    view! {
        <section class="panel" aria-labelledby="token-form">
            <header class="panel-head">
                <h2 id="token-form">"New token"</h2>
            </header>
            <form class="form" method="post" action=CreateToken::url() novalidate>
                <Refusal state fields=&["name", "permissions", "permissions[", "expiresInDays"] />
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
                <PermissionTicks state offered ticked=form.permissions />
                <div class="form-end">
                    <button class="button primary" type="submit">
                        "Create token"
                    </button>
                </div>
            </form>
        </section>
    }
}
