//! The routing part of the service form: a single algorithm, or the filter chain builder.

use super::drag::Drag;
use super::palette::Palette;
use super::row::StepRow;
use super::rows::Rows;
use super::who_gets::WhoGets;
use crate::components::text;
use crate::form::FormState;
use crate::forms::ServiceForm;
use gslb_api_types::model::{FILTERS, FilterClass, FilterName, FilterStep, MAX_STEPS, Tier};
use leptos::html;
use leptos::prelude::*;

/// The routing section.
#[component]
pub fn RoutingField(
    state: FormState,
    /// The chain to begin with; kept while a single algorithm is shown.
    chain: Vec<String>,
    /// The algorithm to begin with; kept while the chain is shown.
    algorithm: String,
    /// Whether the chain is what counts.
    by_chain: bool,
    tier: Tier,
    /// Whether scripts may be written.
    may_script: bool,
    /// The whole form, to begin with.
    form: ServiceForm,
    /// Where to tell how many answers would change.
    verdict: RwSignal<String>,
) -> impl IntoView {
    let rows = Rows::new(&chain);
    let by_chain = RwSignal::new(by_chain);
    let algorithm = RwSignal::new(algorithm);
    let changed = Callback::new(move |()| state.dirty.set(true));
    // What is tried beside it.
    let changes = Signal::derive(move || {
        rows.get();
        by_chain.track();
        algorithm.track();
        state.edits.track();
    });
    let locked = tier < Tier::Pro;
    // Controls that need JavaScript show only when it is there.
    let is_live = RwSignal::new(false);
    Effect::new(move |_| is_live.set(true));
    view! {
        <section class="panel routing" class:live=is_live aria-labelledby="routing">
            <header class="panel-head">
                <h2 id="routing">"Routing"</h2>
                <button
                    type="submit"
                    class="button small"
                    name="form[op]"
                    value=move || if by_chain.get() { "mode:single" } else { "mode:chain" }
                    on:click=move |event| {
                        event.prevent_default();
                        by_chain.update(|by_chain| *by_chain = !*by_chain);
                        changed.run(());
                    }
                >
                    {move || if by_chain.get() { "Use single algorithm" } else { "Use filter chain" }}
                </button>
            </header>
            <input
                type="hidden"
                name="form[mode]"
                value=move || if by_chain.get() { "chain" } else { "single" }
            />
            <div class="routing-columns">
            <div class="routing-steps">
            {move || {
                if by_chain.get() {
                    view! {
                        <input type="hidden" name="form[algorithm]" value=algorithm.get_untracked() />
                        <ChainBuilder state rows tier may_script locked changed />
                    }
                        .into_any()
                } else {
                    view! { <Algorithm state rows algorithm tier changed /> }.into_any()
                }
            }}
            </div>
            <WhoGets form state changes verdict />
            </div>
        </section>
    }
    .into_any()
}

/// The picker of a single algorithm. The chain is kept beside it, unseen.
#[component]
fn Algorithm(
    state: FormState,
    rows: Rows,
    algorithm: RwSignal<String>,
    tier: Tier,
    changed: Callback<()>,
) -> impl IntoView {
    let help = move || FilterName::parse(&algorithm.read()).map(|name| name.info().help);
    view! {
        {untrack(move || rows.chain())
            .into_iter()
            .enumerate()
            .map(|(index, step)| {
                view! { <input type="hidden" name=format!("form[filter_chain][{index}]") value=step /> }
            })
            .collect_view()}
        <div class="field">
            <label for="service-algorithm">"Algorithm"</label>
            <select
                id="service-algorithm"
                name="form[algorithm]"
                aria-describedby="service-algorithm-hint"
                on:change=move |event| {
                    algorithm.set(event_target_value(&event));
                    changed.run(());
                }
            >
                {FILTERS
                    .iter()
                    // Those that pick a member first: they are what most services want that have no chain.
                    .filter(|info| info.class == FilterClass::Selecting)
                    .chain(FILTERS.iter().filter(|info| info.class == FilterClass::Narrowing))
                    .filter(|info| info.parameter.is_none())
                    .map(|info| {
                        let name = info.name.as_str();
                        let needs = info.name.algorithm_tier();
                        let locked = needs > tier;
                        let title = if locked {
                            format!("{} (needs {needs})", info.title)
                        } else {
                            info.title.to_owned()
                        };
                        let selected = algorithm.with_untracked(|now| now == name);
                        view! {
                            <option value=name selected=selected disabled=locked && !selected>
                                {title}
                            </option>
                        }
                    })
                    .collect_view()}
            </select>
            <p class="hint" id="service-algorithm-hint">
                {help}
            </p>
            {move || state.message("algorithm").map(|text| view! { <p class="problem">{text}</p> })}
        </div>
        <p class="preview">
            <span class="preview-label">"Preview"</span>
            <b>{move || text::step_title(&algorithm.read())}</b>
        </p>
    }
    .into_any()
}

/// The chain: steps, preview, palette.
#[component]
fn ChainBuilder(
    state: FormState,
    rows: Rows,
    tier: Tier,
    may_script: bool,
    locked: bool,
    changed: Callback<()>,
) -> impl IntoView {
    let list = NodeRef::<html::Ol>::new();
    let drag = Drag::new(rows, list);
    let warnings = Memo::new(move |_| rows.warnings());
    let preview = move || {
        let titles: Vec<_> = rows.chain().iter().map(|step| text::step_title(step)).collect();
        if titles.is_empty() {
            "No steps yet".to_owned()
        } else {
            titles.join(" → ")
        }
    };
    let ends = move || {
        rows.chain().iter().any(|step| {
            FilterStep::parse("step", step).is_ok_and(|step| step.class() == FilterClass::Selecting)
        })
    };
    view! {
        {locked
            .then(|| {
                view! {
                    <p class="notice">
                        "Filter chains need the pro tier. A stored chain stays stored, and answers by round-robin until a licence allows it again. "
                        <a href="/settings/licence">"Install a licence"</a>
                    </p>
                }
            })}
        <p class="preview">
            <span class="preview-label">"Preview"</span>
            <b class="preview-chain">{preview}</b>
        </p>
        <ol
            class="steps"
            id="chain-steps"
            tabindex="-1"
            aria-label="Steps of the chain"
            node_ref=list
            on:pointermove=move |event| {
                if drag.follow(&event) {
                    changed.run(());
                }
            }
            on:pointerup=move |_| drag.drop()
            on:pointercancel=move |_| drag.cancel()
        >
            <For each=move || rows.get() key=|row| row.key let:row>
                <StepRow row rows drag state warnings tier may_script changed />
            </For>
        </ol>
        {move || {
            (rows.len() == 0)
                .then(|| {
                    view! {
                        <p class="steps-empty">
                            "A chain passes the healthy members from step to step. Begin with a narrowing filter, such as Geo IP, and end with one that selects, such as Weighted Round Robin."
                        </p>
                    }
                })
        }}
        {move || state.message("filterChain").map(|text| view! { <p class="problem">{text}</p> })}
        <p class="hint">
            {move || {
                if rows.len() >= MAX_STEPS {
                    "A chain has at most 16 steps."
                } else if rows.len() > 0 && !ends() {
                    "No step selects: the first member of the last order answers."
                } else {
                    ""
                }
            }}
        </p>
        <p class="unseen" aria-live="polite">
            {rows.said}
        </p>
        <h3 class="palette-heading">"Add a step"</h3>
        <Palette rows tier may_script changed />
    }
    .into_any()
}
