//! The form of a service.

use crate::api::services::{LoadServiceEdit, SaveService, ServiceEdit};
use crate::components::chain::RoutingField;
use crate::components::empty::Empty;
use crate::components::field::{Refusal, SelectField, TextField, TickField};
use crate::components::layout::{PageHead, may};
use crate::components::loaded;
use crate::form::{FormState, ticked, use_draft};
use crate::forms::ServiceForm;
use crate::guard::guard_unsaved;
use crate::pages::use_id;
use crate::rpc::{SendForm, Sending, use_data};
use gslb_api_types::model::Permission;
use leptos::prelude::*;

/// A new service.
#[component]
pub fn NewServicePage() -> impl IntoView {
    let data = use_data(|| LoadServiceEdit { id: String::new() });
    view! {
        <PageHead title="New service" />
        {loaded(data, |data| view! { <ServiceEditor data /> })}
    }
    .into_any()
}

/// A stored service.
#[component]
pub fn EditServicePage() -> impl IntoView {
    let id = use_id();
    let data = use_data(move || LoadServiceEdit { id: id.get() });
    view! {
        <PageHead title="Edit service" />
        {loaded(data, |data| view! { <ServiceEditor data /> })}
    }
    .into_any()
}

/// Fields that show their own problem.
const FIELDS: &[&str] = &[
    "name",
    "domain",
    "poolId",
    "ttl",
    "maxAnswers",
    "fallback",
    "fallbackList",
    "algorithm",
    "filterChain",
];

#[component]
fn ServiceEditor(data: ServiceEdit) -> impl IntoView {
    if data.pools.is_empty() {
        return view! {
            <Empty heading="A pool first">
                <p>
                    "A service is answered from a pool, and there is none yet. Create one with the servers that answer, then come back."
                </p>
                <a class="button primary" href="/pools/new">
                    "Create a pool"
                </a>
            </Empty>
        }
        .into_any();
    }
    if !may(&data.session, Permission::ServicesWrite) {
        return view! {
            <Empty heading="Not with this account">
                <p>"You may look at services. To change them, an account needs the permission services:write."</p>
                <a href="/services">"All services"</a>
            </Empty>
        }
        .into_any();
    }
    let tier = data.session.tier;
    let may_script = may(&data.session, Permission::ScriptsWrite);
    let draft = use_draft::<ServiceForm>();
    let came_back = draft.is_some();
    let (form, error) = match draft {
        Some(draft) => (draft.form, draft.error),
        None => (ServiceForm::of(data.service.as_ref()), None),
    };
    let action = Sending::to::<SaveService>();
    let state = FormState::new::<ServiceForm>(error);
    state.dirty.set(came_back);
    let (typed, left) = state.listeners::<ServiceForm>();
    state.follow(move || action.answer.get());
    guard_unsaved(state.dirty);
    let is_stale = move || {
        state
            .refused
            .with(|e| e.as_ref().is_some_and(|e| e.code == "stale"))
    };
    let cancel = if form.id.is_empty() {
        "/services".to_owned()
    } else {
        format!("/services/{}", form.id)
    };
    let current = cancel.clone();
    let mut pools: Vec<_> = data
        .pools
        .iter()
        .map(|(id, name)| (id.to_string(), name.clone()))
        .collect();
    if form.pool_id.is_empty() {
        pools.insert(0, (String::new(), "Choose a pool".to_owned()));
    }
    let fallbacks = [
        ("none", "No answer"),
        ("all", "Every enabled member (fail open)"),
        ("list", "These addresses"),
    ];
    let fallbacks = fallbacks
        .map(|(value, text)| (value.to_owned(), text.to_owned()))
        .to_vec();
    let by_chain = form.by_chain();
    let chain = form.chain();
    let whole = form.clone();
    let verdict = RwSignal::new(String::new());
    view! {
        <SendForm
            to=action
            attr:class="form"
            attr:novalidate=true
            on:input=typed
            on:change=left
        >
            // Enter presses the first button of a form: let that be one that saves.
            <button class="unseen" type="submit" tabindex="-1" aria-hidden="true">
                "Save"
            </button>
            <input type="hidden" name="form[id]" value=form.id />
            <input type="hidden" name="form[revision]" value=form.revision />
            <Refusal state fields=FIELDS />
            {move || {
                is_stale()
                    .then(|| {
                        view! {
                            <p class="notice">
                                "What you typed is still here. "
                                <a href=current.clone() target="_blank">
                                    "Look at what was saved meanwhile"
                                </a>
                                ", then change your input, or "
                                <button
                                    class="button small"
                                    type="submit"
                                    name="form[overwrite]"
                                    value="yes"
                                >
                                    "Save over it"
                                </button>
                            </p>
                        }
                    })
            }}
            <section class="panel" aria-labelledby="what">
                <header class="panel-head">
                    <h2 id="what">"Service"</h2>
                </header>
                <div class="form-grid">
                    <TextField
                        state
                        name="name"
                        label="Name"
                        value=form.name
                        required=true
                        hint="For people, unique: web-prod"
                    />
                    <TextField
                        state
                        name="domain"
                        label="Domain"
                        value=form.domain
                        required=true
                        mono=true
                        hint="The DNS name inside one of your zones; *.example.com. for every name below"
                    />
                    <SelectField
                        state
                        name="pool_id"
                        label="Pool"
                        value=form.pool_id
                        choices=pools
                        required=true
                    />
                    <TickField
                        state
                        name="enabled"
                        label="Enabled"
                        value=ticked(&form.enabled)
                        hint="A disabled service's name does not exist for clients"
                    />
                </div>
            </section>
            <RoutingField
                state
                chain
                algorithm=form.algorithm
                by_chain
                tier
                may_script
                form=whole
                verdict
            />
            <section class="panel" aria-labelledby="answers">
                <header class="panel-head">
                    <h2 id="answers">"Answers"</h2>
                </header>
                <div class="form-grid">
                    <TextField
                        state
                        name="ttl"
                        label="TTL, seconds"
                        value=form.ttl
                        number=true
                        placeholder="30"
                        hint="How long resolvers may keep an answer: how soon a failed member is left"
                    />
                    <TextField
                        state
                        name="max_answers"
                        label="Addresses an answer"
                        value=form.max_answers
                        number=true
                        placeholder="1"
                        hint="The first ones of the chain's final order, 1 to 64"
                    />
                    <SelectField
                        state
                        name="fallback"
                        label="When no member can answer"
                        value=form.fallback
                        choices=fallbacks
                    />
                    <TextField
                        state
                        name="fallback_list"
                        label="Fallback addresses"
                        value=form.fallback_list
                        mono=true
                        hint="For \u{201c}These addresses\u{201d}: IPv4 and IPv6, separated by commas"
                    />
                    <TickField
                        state
                        name="flatten"
                        label="Flatten"
                        value=ticked(&form.flatten)
                        hint="Members that are names: answer with their addresses instead of a CNAME. Always so at a zone's own name"
                    />
                </div>
            </section>
            <div class="form-end">
                <button class="button primary" type="submit" disabled=move || action.pending.get()>
                    {move || if action.pending.get() { "Saving" } else { "Save" }}
                </button>
                <a class="button" href=cancel>
                    "Cancel"
                </a>
                <span class="hint" role="status">
                    {move || state.dirty.get().then_some("Unsaved changes. ")} {verdict}
                </span>
            </div>
        </SendForm>
    }
    .into_any()
}
