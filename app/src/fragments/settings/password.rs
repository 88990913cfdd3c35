//! One's own password.

use super::super::parts::done;
use super::super::{Asked, Page};
use super::settings_head;
use crate::components::field::{Refusal, TextField};
use crate::form::{Form, FormState, MIN_PASSWORD, Sent, finish, invalid};
use gslb_api_types::model::{ErrorCode, ValidationError};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use serde::{Deserialize, Serialize};

/// The form to change one's own password.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordForm {
    /// The password in force.
    #[serde(default)]
    pub current: String,
    /// The new one.
    #[serde(default)]
    pub new: String,
    /// The new one, again.
    #[serde(default)]
    pub again: String,
}

impl std::fmt::Debug for PasswordForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordForm").finish_non_exhaustive()
    }
}

impl Form for PasswordForm {
    const PARAM: &'static str = "password";

    fn problems(&self) -> Vec<ValidationError> {
        let mut problems = Vec::new();
        let mut problem =
            |field: &str, code, message: &str| problems.push(ValidationError::new(field, code, message));
        if self.current.is_empty() {
            problem("current", ErrorCode::Required, "must be given");
        }
        if self.new.chars().count() < MIN_PASSWORD {
            problem("new", ErrorCode::OutOfRange, "has fewer than 12 characters");
        }
        if self.again != self.new {
            problem(
                "again",
                ErrorCode::Conflict,
                "is not the same as the new password",
            );
        }
        problems
    }
}

/// Changes the caller's password. Passwords never travel back in an address.
#[server(prefix = "/rpc", endpoint = "change-password")]
pub async fn change_password(form: PasswordForm) -> Sent {
    let problems = form.problems();
    let result = if problems.is_empty() {
        let change = gslb_api_types::PasswordChange {
            current: form.current,
            new: form.new,
        };
        crate::api::backend()?.change_password(change).await
    } else {
        Err(invalid(problems))
    };
    finish(
        result,
        &PasswordForm::default(),
        "/settings/password?done=password",
        "/settings/password",
    )
}

/// The page.
pub fn page(asked: &Asked) -> Page {
    let said =
        (asked.param("done") == "password").then_some("The password is changed. Other sessions are ended.");
    let error = asked.draft::<PasswordForm>().and_then(|draft| draft.error);
    let state = FormState::new::<PasswordForm>(error);
    let name = asked.session.name.clone();
    let lead = format!("You are logged in as {name}.");
    let view = view! {
        {settings_head(&lead, "/password")}
        {done(said)}
        <section class="panel narrow" aria-labelledby="password">
            <header class="panel-head">
                <h2 id="password">"Change your password"</h2>
                <a href="/sessions">"Where you are logged in"</a>
            </header>
            <form class="form" method="post" action=ChangePassword::url() novalidate>
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
                    <button class="button primary" type="submit">
                        "Change password"
                    </button>
                </div>
            </form>
        </section>
    };
    Page {
        title: "Your password".to_owned(),
        view: view.into_any(),
    }
}
