//! Deleting a service: opened first, so that it cannot happen by a stray click, with and without JavaScript.

use crate::api::services::DeleteService;
use crate::components::field::Refusal;
use crate::form::{FormState, use_draft};
use crate::forms::ServiceTarget;
use crate::rpc::{SendForm, Sending};
use leptos::prelude::*;

/// The button, its question, its answer.
#[component]
pub fn DeleteServiceForm(id: String, domain: String) -> impl IntoView {
    let action = Sending::to::<DeleteService>();
    let draft = use_draft::<ServiceTarget>();
    let refused = draft.is_some();
    let state = FormState::new::<ServiceTarget>(draft.and_then(|d| d.error));
    state.follow(move || action.answer.get());
    view! {
        <details class="confirm" open=refused>
            <summary class="button">"Delete"</summary>
            <div class="confirm-body">
                <SendForm to=action>
                    <input type="hidden" name="form[id]" value=id />
                    <Refusal state fields=&[] />
                    <p>
                        <span class="mono">{domain}</span>
                        " will no longer be answered."
                    </p>
                    <button class="button danger small" type="submit">
                        "Delete the service"
                    </button>
                </SendForm>
            </div>
        </details>
    }
    .into_any()
}
