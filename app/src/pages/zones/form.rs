//! The form for a new zone.

use crate::api::zones::CreateZone;
use crate::components::field::{Refusal, TextField};
use crate::form::{Answer, FormState, use_draft};
use crate::forms::ZoneForm;
use crate::rpc::{SendForm, Sending};
use leptos::prelude::*;

/// Fields that show their own problem.
const FIELDS: &[&str] = &["name", "mname", "rname", "nameServers", "minimum"];

/// The form; empty again when a zone was created.
#[component]
pub fn ZoneEditor() -> impl IntoView {
    let action = Sending::to::<CreateZone>();
    let made = Memo::new(move |old: Option<&u32>| {
        let old = old.copied().unwrap_or_default();
        if matches!(&*action.answer.read(), Some(Ok(Answer::Done))) {
            old + 1
        } else {
            old
        }
    });
    view! {
        <section class="panel" aria-labelledby="zone-form">
            <header class="panel-head">
                <h2 id="zone-form">"New zone"</h2>
            </header>
            {move || {
                let draft = if made.get() == 0 { use_draft::<ZoneForm>() } else { None };
                view! { <ZoneFields action draft /> }
            }}
        </section>
    }
    .into_any()
}

#[component]
fn ZoneFields(action: Sending, #[prop(into)] draft: Option<crate::form::Draft<ZoneForm>>) -> impl IntoView {
    let (form, error) = draft.map(|d| (d.form, d.error)).unwrap_or_default();
    let state = FormState::new::<ZoneForm>(error);
    let (typed, left) = state.listeners::<ZoneForm>();
    state.follow(move || action.answer.get());
    view! {
        <SendForm
            to=action
            attr:class="form"
            attr:novalidate=true
            on:input=typed
            on:change=left
        >
            <Refusal state fields=FIELDS />
            <div class="form-grid">
                <TextField
                    state
                    name="name"
                    label="Zone"
                    value=form.name
                    required=true
                    mono=true
                    hint="The apex: gslb.example.com"
                />
                <TextField
                    state
                    name="mname"
                    label="Primary name server"
                    value=form.mname
                    mono=true
                    hint="Default: ns1 below the zone"
                />
                <TextField
                    state
                    name="name_servers"
                    label="Name servers"
                    value=form.name_servers
                    mono=true
                    hint="Separated by commas; default: the primary alone"
                />
                <TextField
                    state
                    name="rname"
                    label="Responsible mailbox"
                    value=form.rname
                    mono=true
                    hint="Default: hostmaster at the zone"
                />
                <TextField
                    state
                    name="minimum"
                    label="Negative TTL, seconds"
                    value=form.minimum
                    number=true
                    placeholder="60"
                    hint="How long resolvers remember that a name has no answer"
                />
            </div>
            <div class="form-end">
                <button class="button primary" type="submit" disabled=move || action.pending.get()>
                    "Create zone"
                </button>
            </div>
        </SendForm>
    }
    .into_any()
}
