//! A button that asks before it does something that cannot be undone, with and without JavaScript.

use super::field::Refusal;
use crate::form::{FormState, use_draft};
use crate::forms::Target;
use crate::rpc::{SendForm, Sending};
use leptos::prelude::*;

/// The button, its question, its answer; open again when it was refused.
#[component]
pub fn Confirm(
    /// Where it is sent.
    to: Sending,
    /// Id of what it is about.
    id: String,
    /// Word on the first button.
    word: &'static str,
    /// What a screen reader says of it.
    label: String,
    /// The question.
    question: String,
    /// Words on the second button.
    sure: &'static str,
) -> impl IntoView {
    let draft = use_draft::<Target>().filter(|draft| draft.form.id == id);
    let refused = draft.is_some();
    let state = FormState::new::<Target>(draft.and_then(|draft| draft.error));
    state.follow(move || to.answer.get());
    view! {
        <details class="confirm" open=refused>
            <summary class="button small" aria-label=label>
                {word}
            </summary>
            <div class="confirm-body">
                <SendForm to=to>
                    <input type="hidden" name="form[id]" value=id />
                    <Refusal state fields=&[] />
                    <p>{question}</p>
                    <button class="button danger small" type="submit">
                        {sure}
                    </button>
                </SendForm>
            </div>
        </details>
    }
    .into_any()
}
