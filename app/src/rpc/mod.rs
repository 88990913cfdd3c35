//! Calls of server functions, by one code for all of them.
//!
//! What leptos makes for each function anew (a client, a resource, an action, a form, each with its own futures) is most
//! of a console's WASM. Here arguments and answers travel as JSON text, and only turning them into values is made for
//! each type.

mod data;
mod send;
mod values;

pub use data::{Data, use_data, use_data_again};
#[cfg(not(feature = "ssr"))]
pub(crate) use send::reveal;
pub use send::{SendForm, Sending};
pub use values::values;

use crate::failure::Failure;
use gslb_api_types::ApiError;
use leptos::server_fn::ServerFn;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::pin::Pin;

/// An answer as JSON text.
pub type Text = Result<String, Failure>;
/// An answer on its way.
pub type Call = Pin<Box<dyn Future<Output = Text> + Send>>;

/// A server function as the console has them: by the type that its macro makes of its arguments.
pub trait Function:
    ServerFn<Error = Failure, Output = <Self as Function>::Value> + Serialize + DeserializeOwned
{
    /// What it answers.
    type Value: Serialize + DeserializeOwned + Send + Sync + 'static;
}

impl<S, T> Function for S
where
    S: ServerFn<Error = Failure, Output = T> + Serialize + DeserializeOwned,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    type Value = T;
}

/// The arguments as text.
pub(crate) fn encode<S: Function>(arguments: &S) -> String {
    // Plain data of our own: there is nothing in it that JSON could not say.
    serde_json::to_string(arguments).unwrap_or_default()
}

/// A value out of its text.
pub(crate) fn decode<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| {
        Failure(ApiError::new(
            "internal",
            format!(
                "The answer cannot be read: {error}. Reload the page: the daemon may be of another version."
            ),
        ))
    })
}

/// Calls a function with encoded arguments: directly on the server, by a request in the browser.
pub(crate) fn call<S: Function>(arguments: String) -> Call {
    #[cfg(feature = "ssr")]
    {
        Box::pin(async move {
            let value = decode::<S>(&arguments)?.run_body().await?;
            serde_json::to_string(&value)
                .map_err(|error| Failure(ApiError::new("internal", error.to_string())))
        })
    }
    #[cfg(not(feature = "ssr"))]
    {
        post(S::PATH, "application/json", arguments)
    }
}

/// Sends a body to a server function from the browser.
#[cfg(not(feature = "ssr"))]
fn post(path: &'static str, content_type: &'static str, body: String) -> Call {
    #[cfg(target_family = "wasm")]
    {
        Box::pin(send_wrapper::SendWrapper::new(fetch(path, content_type, body)))
    }
    #[cfg(not(target_family = "wasm"))]
    {
        let _ = (path, content_type, body);
        Box::pin(async { Err(unreachable()) })
    }
}

#[cfg(not(feature = "ssr"))]
fn unreachable() -> Failure {
    Failure(ApiError::new("unavailable", "The server could not be reached."))
}

#[cfg(all(target_family = "wasm", not(feature = "ssr")))]
async fn fetch(path: &'static str, content_type: &'static str, body: String) -> Text {
    use leptos::server_fn::redirect::{REDIRECT_HEADER, call_redirect_hook};

    let request = gloo_net::http::Request::post(path)
        .header("Content-Type", content_type)
        .header("Accept", "application/json")
        .body(body)
        .map_err(|_| unreachable())?;
    let response = request.send().await.map_err(|_| unreachable())?;
    let (is_good, headers) = (response.ok(), response.headers());
    let text = response.text().await.map_err(|_| unreachable())?;
    if headers.has(REDIRECT_HEADER)
        && let Some(place) = headers.get("location")
    {
        call_redirect_hook(&place);
    }
    if is_good {
        Ok(text)
    } else {
        Err(decode::<Failure>(&text).unwrap_or_else(|_| unreachable()))
    }
}
