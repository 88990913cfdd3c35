//! Log-in, session, password.

use crate::failure::Failure;
use gslb_api_types::SessionView;
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
