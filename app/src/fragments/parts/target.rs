//! Buttons about one thing: delete it, end it, revoke it. They ask first.

use super::confirm;
use crate::form::Form;
use crate::fragments::Asked;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

/// What a button is about: an account, a token, a tenant, a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Target {
    /// Its id.
    pub id: String,
}

impl Form for Target {
    const PARAM: &'static str = "target";
}

/// The words around such a button.
pub struct Question {
    /// Where it is sent.
    pub to: &'static str,
    /// Word on the first button.
    pub word: &'static str,
    /// The question.
    pub question: &'static str,
    /// Words on the second button.
    pub sure: &'static str,
    /// Whether it stands in a row of a table.
    pub small: bool,
}

impl Question {
    /// The button for the thing with this id; open again when it was refused.
    pub fn about(&self, asked: &Asked, id: &str, name: &str) -> AnyView {
        let refused = asked.draft::<Target>().filter(|draft| draft.form.id == id);
        let form = view! {
            <form method="post" action=self.to>
                <input type="hidden" name="form[id]" value=id.to_owned() />
                <p>{self.question}</p>
                <button class="button danger small" type="submit">
                    {self.sure}
                </button>
            </form>
        };
        let error = refused.and_then(|draft| draft.error);
        confirm(self.word, name, self.small, error, form.into_any())
    }
}
