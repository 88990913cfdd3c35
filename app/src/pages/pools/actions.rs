//! What an operator does to a pool or member by a button: forms, so that they work without JavaScript.

use crate::api::pools::{AdminState as SetAdminState, DeleteMember, DeletePool};
use crate::components::field::Refusal;
use crate::form::{Answer, FormState, use_draft};
use crate::forms::{PoolTarget, admin_name};
use crate::rpc::{SendForm, Sending};
use gslb_api_types::model::AdminState;
use leptos::prelude::*;

/// State, word on its button, what it does.
const DECISIONS: [(AdminState, &str, &str); 4] = [
    (AdminState::Auto, "Auto", "Health decides"),
    (AdminState::Up, "Up", "Counts as healthy, whatever the probes say"),
    (AdminState::Drain, "Drain", "Gets no new clients; leaves gently"),
    (AdminState::Down, "Down", "Leaves at once"),
];

/// The four decisions about a member; the one in force is pressed.
#[component]
pub fn AdminButtons(
    pool: String,
    member: String,
    address: String,
    admin: Memo<AdminState>,
    changed: Callback<()>,
) -> impl IntoView {
    let action = Sending::to::<SetAdminState>();
    Effect::new(move |_| {
        if matches!(&*action.answer.read(), Some(Ok(Answer::Done))) {
            changed.run(());
        }
    });
    let refusal = move || match action.answer.get() {
        Some(Ok(Answer::Refused(error))) => Some(error.message),
        Some(Err(failure)) => Some(failure.0.message),
        _ => None,
    };
    view! {
        <SendForm to=action attr:class="decisions">
            <input type="hidden" name="form[pool]" value=pool />
            <input type="hidden" name="form[member]" value=member />
            <span class="segments" role="group" aria-label=format!("Operator's decision about {address}")>
                {DECISIONS
                    .into_iter()
                    .map(|(state, word, help)| {
                        view! {
                            <button
                                type="submit"
                                class="segment"
                                name="form[admin_state]"
                                value=admin_name(state)
                                title=help
                                aria-pressed=move || if admin.get() == state { "true" } else { "false" }
                            >
                                {word}
                            </button>
                        }
                    })
                    .collect_view()}
            </span>
            <span role="alert">
                {move || refusal().map(|text| view! { <p class="problem">{text}</p> })}
            </span>
        </SendForm>
    }
    .into_any()
}

/// Removes a member; opened first.
#[component]
pub fn RemoveMember(pool: String, member: String, address: String) -> impl IntoView {
    let action = Sending::to::<DeleteMember>();
    let state = FormState::new::<PoolTarget>(None);
    state.follow(move || action.answer.get());
    view! {
        <details class="confirm">
            <summary aria-label=format!("Remove {address}")>"Remove"</summary>
            <div class="confirm-body">
                <SendForm to=action>
                    <input type="hidden" name="form[pool]" value=pool />
                    <input type="hidden" name="form[member]" value=member />
                    <Refusal state fields=&[] />
                    <p>
                        <span class="mono">{address}</span>
                        " will get no more clients and is forgotten."
                    </p>
                    <button class="button danger small" type="submit">
                        "Remove the member"
                    </button>
                </SendForm>
            </div>
        </details>
    }
    .into_any()
}

/// Deletes the pool; opened first, and again when it was refused.
#[component]
pub fn DeletePoolForm(id: String, name: String) -> impl IntoView {
    let action = Sending::to::<DeletePool>();
    let draft = use_draft::<PoolTarget>().filter(|draft| draft.form.member.is_empty());
    let refused = draft.is_some();
    let state = FormState::new::<PoolTarget>(draft.and_then(|d| d.error));
    state.follow(move || action.answer.get());
    view! {
        <details class="confirm" open=refused>
            <summary class="button">"Delete"</summary>
            <div class="confirm-body">
                <SendForm to=action>
                    <input type="hidden" name="form[pool]" value=id />
                    <Refusal state fields=&[] />
                    <p>{format!("{name} is deleted with its members and health check.")}</p>
                    <button class="button danger small" type="submit">
                        "Delete the pool"
                    </button>
                </SendForm>
            </div>
        </details>
    }
    .into_any()
}
