//! Log-in, session, password.

use crate::failure::Failure;
use crate::form::{Form, Sent};
#[cfg(feature = "ssr")]
use crate::form::{finish, invalid};
use gslb_api_types::SessionView;
use gslb_api_types::model::{ErrorCode, ValidationError};
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use serde::{Deserialize, Serialize};

/// The log-in form.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct LoginForm {
    /// Account name.
    #[serde(default)]
    pub username: String,
    /// Password.
    #[serde(default)]
    pub password: String,
    /// Where one wanted to go.
    #[serde(default)]
    pub next: String,
}

impl std::fmt::Debug for LoginForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginForm").finish_non_exhaustive()
    }
}

/// A path of this console: nothing that leads to another site.
#[cfg(any(feature = "ssr", test))]
#[must_use]
pub fn local_path(text: &str) -> &str {
    let safe = text.starts_with('/')
        && !text.starts_with("//")
        && !text.contains('\\')
        && !text.chars().any(char::is_control);
    if safe { text } else { "/" }
}

/// Logs in. Sent by the browser itself, so that the whole console starts anew with the session.
#[server(prefix = "/rpc", endpoint = "login")]
pub async fn login(form: LoginForm) -> Result<(), Failure> {
    let next = local_path(&form.next).to_owned();
    let request = gslb_api_types::LoginRequest {
        username: form.username,
        password: form.password,
    };
    let target = match super::backend()?.login(request).await {
        Ok(()) => next,
        Err(error) => {
            let why = if error.code == "unauthorized" {
                "wrong"
            } else {
                error.code.as_str()
            };
            format!(
                "/login?failed={why}&next={}",
                crate::components::text::query_value(&next)
            )
        }
    };
    leptos_axum::redirect(&target);
    Ok(())
}

/// Logs out.
#[server(prefix = "/rpc", endpoint = "logout")]
pub async fn logout() -> Result<(), Failure> {
    super::backend()?.logout().await?;
    leptos_axum::redirect("/login");
    Ok(())
}

/// Who is logged in.
#[server(prefix = "/rpc", endpoint = "session", input = Json)]
pub async fn session() -> Result<SessionView, Failure> {
    Ok(super::backend()?.session().await?)
}

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
        if self.new.chars().count() < crate::forms::MIN_PASSWORD {
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
        super::backend()?.change_password(change).await
    } else {
        Err(invalid(problems))
    };
    finish(
        result,
        &PasswordForm::default(),
        "/settings?done=password#password",
        "/settings#password",
    )
}
