//! Forms that lose nothing: with JavaScript the answer comes back into the page; without it the server sends the
//! browser back to the form, and what was typed and what was wrong with it travel in the address.

use crate::failure::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gslb_api_types::ApiError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Query parameter that carries a [`Draft`].
pub const DRAFT: &str = "draft";

/// Answer of a server function that a form is sent to. A refusal is no transport error: the form shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Done.
    Done,
    /// Not done; the problems by field are in the error.
    Refused(ApiError),
}

impl Answer {
    /// The refusal.
    #[must_use]
    pub fn refusal(&self) -> Option<&ApiError> {
        match self {
            Self::Done => None,
            Self::Refused(error) => Some(error),
        }
    }
}

/// What server functions of forms return.
pub type Sent = Result<Answer, Failure>;

/// A form as it was sent, and why it came back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft<T> {
    /// What was typed.
    pub form: T,
    /// What was wrong with it; absent when only a button inside the form was pressed.
    pub error: Option<ApiError>,
}

impl<T: Serialize + DeserializeOwned> Draft<T> {
    /// Text for the query parameter.
    #[must_use]
    pub fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    /// Reads [`encode`](Self::encode)'s text; anything else is no draft.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}

/// Whether the request is a browser's own form submission, which wants a page and not a value.
#[cfg(feature = "ssr")]
pub(crate) fn is_plain() -> bool {
    use leptos::prelude::use_context;
    use_context::<http::request::Parts>().is_some_and(|parts| {
        parts
            .headers
            .get(http::header::ACCEPT)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.contains("text/html"))
    })
}

/// Ends a form's server function: onwards to `next` when it is done, else back to the form at `back`, with the draft.
#[cfg(feature = "ssr")]
pub(crate) fn finish<T>(result: Result<(), ApiError>, form: T, next: &str, back: &str) -> Sent
where
    T: Serialize + DeserializeOwned,
{
    match result {
        Ok(()) => {
            leptos_axum::redirect(next);
            Ok(Answer::Done)
        }
        Err(error) => {
            if is_plain() {
                let draft = Draft {
                    form,
                    error: Some(error.clone()),
                };
                leptos_axum::redirect(&with_draft(back, &draft));
            }
            Ok(Answer::Refused(error))
        }
    }
}

/// `path?draft=…`
#[cfg(feature = "ssr")]
pub(crate) fn with_draft<T: Serialize + DeserializeOwned>(path: &str, draft: &Draft<T>) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("{path}{mark}{DRAFT}={}", draft.encode())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_survives_the_address() {
        let draft = Draft {
            form: vec!["Grüße & more".to_owned()],
            error: Some(ApiError::new("validation_failed", "no")),
        };
        assert_eq!(Draft::decode(&draft.encode()), Some(draft));
        assert_eq!(Draft::<Vec<String>>::decode("not a draft"), None);
    }
}
