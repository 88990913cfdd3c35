//! Name and gate of a pool: the page for a new one, the panel for a stored one.

use crate::api::pools::SavePool;
use crate::components::field::{Refusal, TextField};
use crate::components::layout::PageHead;
use crate::form::{FormState, use_draft};
use crate::forms::PoolForm;
use crate::guard::guard_unsaved;
use crate::rpc::{SendForm, Sending};
use leptos::prelude::*;

/// A new pool.
#[component]
pub fn NewPoolPage() -> impl IntoView {
    view! {
        <PageHead title="New pool" lead="Members and the health check come next." />
        <PoolEditor form=PoolForm { min_healthy: "0".to_owned(), ..PoolForm::default() } cancel="/pools".to_owned() />
    }
    .into_any()
}

/// The form.
#[component]
pub fn PoolEditor(form: PoolForm, cancel: String) -> impl IntoView {
    let draft = use_draft::<PoolForm>();
    let (form, error) = match draft {
        Some(draft) => (draft.form, draft.error),
        None => (form, None),
    };
    let action = Sending::to::<SavePool>();
    let state = FormState::new::<PoolForm>(error);
    let (typed, left) = state.listeners::<PoolForm>();
    state.follow(move || action.answer.get());
    guard_unsaved(state.dirty);
    view! {
        <SendForm
            to=action
            attr:class="form panel"
            attr:novalidate=true
            on:input=typed
            on:change=left
        >
            <input type="hidden" name="form[id]" value=form.id />
            <input type="hidden" name="form[revision]" value=form.revision />
            <Refusal state fields=&["name", "minHealthy"] />
            <div class="form-grid">
                <TextField state name="name" label="Name" value=form.name required=true hint="For people, unique: web-eu" />
                <TextField
                    state
                    name="min_healthy"
                    label="Minimum of healthy members"
                    value=form.min_healthy
                    number=true
                    placeholder="0"
                    hint="With fewer, the pool gives no answer at all. 0 switches this off"
                />
            </div>
            <div class="form-end">
                <button class="button primary" type="submit" disabled=move || action.pending.get()>
                    "Save"
                </button>
                <a class="button" href=cancel>
                    "Cancel"
                </a>
            </div>
        </SendForm>
    }
    .into_any()
}
