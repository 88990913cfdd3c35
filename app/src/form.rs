//! Forms that lose nothing: with JavaScript the answer comes back into the page; without it the server sends the
//! browser back to the form, and what was typed and what was wrong with it travel in the address.

use crate::failure::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gslb_api_types::ApiError;
use gslb_api_types::model::{ErrorCode, ValidationError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

mod state;

pub(crate) use state::camel;
pub use state::{FormState, fields, use_draft};

/// Shortest password, characters; the server has more rules.
#[cfg(feature = "ssr")]
pub const MIN_PASSWORD: usize = 12;

/// The fields of a form as texts, just as the browser sends them.
pub trait Form: Serialize + DeserializeOwned + Clone + Default + PartialEq + Send + Sync + 'static {
    /// Query parameter that carries a [`Draft`] of this form; also prefix of the ids of its inputs.
    const PARAM: &'static str;

    /// Everything that is wrong with it as far as the form alone can tell, by field.
    fn problems(&self) -> Vec<ValidationError> {
        Vec::new()
    }
}

/// Answer of a server function that a form is sent to. A refusal is no transport error: the form shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Done.
    Done,
    /// Not done; the problems by field are in the error.
    Refused(ApiError),
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
    #[cfg(any(feature = "ssr", test))]
    #[must_use]
    pub fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    /// Reads [`encode`](Self::encode)'s text; anything else is no draft.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        serde_json::from_str(std::str::from_utf8(&bytes).ok()?).ok()
    }
}

/// `None` for an empty field, a problem for one that is no whole number.
pub fn whole_number(problems: &mut Vec<ValidationError>, field: &str, text: &str) -> Option<i64> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    text.parse()
        .map_err(|_| {
            problems.push(ValidationError::new(
                field,
                ErrorCode::Invalid,
                format!("`{text}` is no whole number"),
            ));
        })
        .ok()
}

/// `None` for an empty field.
#[must_use]
pub fn given(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// `true` for a ticked box.
#[must_use]
pub fn ticked(text: &str) -> bool {
    !text.is_empty()
}

/// The revision that a form was made from.
#[cfg(any(feature = "ssr", test))]
#[must_use]
pub fn revision(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// The error for what the form alone can see.
#[must_use]
pub fn invalid(problems: Vec<ValidationError>) -> ApiError {
    let mut error = ApiError::new("validation_failed", "Some fields need another look.");
    error.details = problems;
    error
}

#[cfg(feature = "ssr")]
pub(crate) use server::{back_to, finish};

/// What only the server does with a form.
#[cfg(feature = "ssr")]
mod server {
    use super::{Answer, Draft, Form, Sent};
    use gslb_api_types::ApiError;
    use leptos::prelude::use_context;

    /// Whether the request is a browser's own form submission, which wants a page and not a value.
    fn is_plain() -> bool {
        use_context::<http::request::Parts>().is_some_and(|parts| {
            parts
                .headers
                .get(http::header::ACCEPT)
                .and_then(|value| value.to_str().ok())
                .is_some_and(|value| value.contains("text/html"))
        })
    }

    /// Ends a form's server function: onwards to `next` when it is done, else back to the form at `back` with the
    /// draft.
    pub fn finish<T: Form>(result: Result<(), ApiError>, form: &T, next: &str, back: &str) -> Sent {
        match result {
            Ok(()) => {
                leptos_axum::redirect(next);
                Ok(Answer::Done)
            }
            Err(error) => {
                back_to(form, Some(error.clone()), back);
                Ok(Answer::Refused(error))
            }
        }
    }

    /// Sends a browser without JavaScript back to the form at `path`, as it is now.
    pub fn back_to<T: Form>(form: &T, error: Option<ApiError>, path: &str) {
        if !is_plain() {
            return;
        }
        let draft = Draft {
            form: form.clone(),
            error,
        };
        let (path, fragment) = path.split_once('#').unwrap_or((path, ""));
        let mark = if path.contains('?') { '&' } else { '?' };
        let mut target = format!("{path}{mark}{}={}", T::PARAM, draft.encode());
        if !fragment.is_empty() {
            target.push('#');
            target.push_str(fragment);
        }
        leptos_axum::redirect(&target);
    }
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

    #[test]
    fn texts_that_are_no_number_are_problems_of_their_field() {
        let mut problems = Vec::new();
        assert_eq!(whole_number(&mut problems, "ttl", " 30 "), Some(30));
        assert_eq!(whole_number(&mut problems, "ttl", ""), None);
        assert!(problems.is_empty());
        assert_eq!(whole_number(&mut problems, "ttl", "3.5"), None);
        assert_eq!(problems[0].field, "ttl");
    }
}
