//! The query tracer: what a client gets, and why, step by step. The form is a GET, so that a link carries the trace.

use crate::api::overview::LoadTraces;
use crate::components::chain::step_list;
use crate::components::empty::Empty;
use crate::components::layout::PageHead;
use crate::components::{loaded, text};
use crate::rpc::use_data;
use gslb_api_types::model::FILTERS;
use leptos::prelude::*;
use leptos_router::components::Form;
use leptos_router::hooks::use_query_map;

mod fields;

pub use fields::family;
use fields::{TraceFields, asked};

/// The tracer.
#[component]
pub fn TracePage() -> impl IntoView {
    let query = use_query_map();
    let fields = Memo::new(move |_| query.with(TraceFields::read));
    let data = use_data(move || LoadTraces {
        asked: asked(&fields.read()),
    });
    view! {
        <PageHead title="Query Tracer" lead="Asks as a client would, and shows what each step does. Nothing is counted." />
        <TraceForm fields />
        {loaded(
            data,
            |answer| match answer {
                None => view! { <TraceHelp /> }.into_any(),
                Some(html) => view! { <div inner_html=html></div> }.into_any(),
            },
        )}
    }
    .into_any()
}

#[component]
fn TraceForm(fields: Memo<TraceFields>) -> impl IntoView {
    let now = fields.get_untracked();
    let chain = RwSignal::new(now.chain.clone());
    let is_live = RwSignal::new(false);
    Effect::new(move |_| is_live.set(true));
    view! {
        <section class="panel" aria-label="What to trace">
            <Form method="get" action="/trace" attr:class="form">
                <div class="trace-grid">
                    <Input name="domain" label="Domain" value=now.domain hint="www.example.com" wide=true />
                    <div class="field">
                        <label for="trace-qtype">"Type"</label>
                        <select id="trace-qtype" name="qtype">
                            <option value="A">"A"</option>
                            <option value="AAAA" selected=now.qtype == "AAAA">
                                "AAAA"
                            </option>
                        </select>
                    </div>
                    <Input
                        name="client"
                        label="Client"
                        value=now.client
                        hint="198.51.100.7 or a network"
                        wide=true
                    />
                    <Input name="resolver" label="Resolver" value=now.resolver hint="the client itself" />
                    <Input name="at" label="Time, UTC" value=now.at hint="now" />
                </div>
                <div class="field">
                    <label for="trace-chain">"Try another chain beside it"</label>
                    <input
                        id="trace-chain"
                        class="mono"
                        name="chain"
                        prop:value=chain
                        value=chain.get_untracked()
                        placeholder="geo-ip, weighted-round-robin"
                        autocomplete="off"
                        spellcheck="false"
                        on:input=move |event| chain.set(event_target_value(&event))
                    />
                    <div class="chips only-live" class:live=is_live>
                        {FILTERS
                            .iter()
                            .map(|info| {
                                view! {
                                    <button
                                        type="button"
                                        class="chip"
                                        data-class=crate::components::chain::class_name(info.class)
                                        title=info.help
                                        on:click=move |_| {
                                            chain.update(|text| {
                                                let mut steps = step_list(text);
                                                steps.push(info.entry());
                                                *text = steps.join(", ");
                                            });
                                        }
                                    >
                                        {info.title}
                                    </button>
                                }
                            })
                            .collect_view()}
                    </div>
                </div>
                <div class="form-end">
                    <button class="button primary" type="submit">
                        "Trace"
                    </button>
                    <span class="hint">"The address of this page carries the trace: share it as a link."</span>
                </div>
            </Form>
        </section>
    }
    .into_any()
}

/// A field of the tracer.
#[component]
fn Input(
    name: &'static str,
    label: &'static str,
    value: String,
    /// Shown while empty.
    hint: &'static str,
    #[prop(optional)] wide: bool,
) -> impl IntoView {
    let id = format!("trace-{name}");
    view! {
        <div class="field" class:field-wide=wide>
            <label for=id.clone()>{label}</label>
            <input
                id=id
                class="mono"
                name=name
                value=value
                placeholder=hint
                autocomplete="off"
                spellcheck="false"
            />
        </div>
    }
    .into_any()
}

/// What the tracer is for, while nothing is asked.
#[component]
fn TraceHelp() -> impl IntoView {
    let example = text::link(
        "/trace",
        &[("domain", "www.demo.example"), ("client", "198.51.100.7")],
    );
    view! {
        <Empty heading="Why does a client get the answer it gets?">
            <p>
                "Give a domain and a client. The tracer runs the same code that answers DNS queries and records what each step saw: who was left, who went, and why."
            </p>
            <p>
                "A client given as a network, or together with a resolver, is taken as EDNS Client Subnet. "
                <a href=example>"Try an example"</a>
            </p>
        </Empty>
    }
    .into_any()
}
