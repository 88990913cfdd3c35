//! A trace as people read it: the client, the steps narrowing from left to right, the answer.

mod stage;

use crate::components::State;
use crate::components::text;
use gslb_api_types::Trace;
use leptos::prelude::*;
use stage::Stages;

/// Words for how a query ended.
fn outcome(trace: &Trace) -> (&'static str, &'static str) {
    match trace.outcome.as_str() {
        "answered" => ("up", "Answered"),
        "fallback" => ("partly", "Answered by the fallback"),
        "belowMinHealthy" => ("down", "No answer: fewer healthy members than the pool's minimum"),
        "noSuchFamily" => ("off", "No answer: the pool has no member of this address family"),
        _ => ("down", "No answer: no member can take the query"),
    }
}

/// The whole trace.
#[component]
pub fn TraceView(
    trace: Trace,
    /// What this trace is of, when there are two beside each other.
    #[prop(optional, into)]
    heading: String,
) -> impl IntoView {
    let (kind, word) = outcome(&trace);
    let client = trace.client.clone();
    let network = match (client.asn, client.organisation.clone()) {
        (Some(asn), Some(name)) => format!("AS{asn} {name}"),
        (Some(asn), None) => format!("AS{asn}"),
        _ => "unknown".to_owned(),
    };
    let gate = match (trace.gate.min_healthy, trace.gate.open) {
        (0, _) => format!("off, {} healthy", trace.gate.healthy),
        (least, true) => format!("open: {} healthy, {least} needed", trace.gate.healthy),
        (least, false) => format!("shut: {} healthy, {least} needed", trace.gate.healthy),
    };
    // Without a client subnet in the query there is none in the reply.
    let scope = if client.from_ecs {
        format!("ECS scope /{}, ", trace.ecs_scope)
    } else {
        String::new()
    };
    let answers = trace.answers.clone();
    let nanos: f64 = trace.steps.iter().map(|s| s.micros).sum();
    view! {
        <article class="trace">
            {(!heading.is_empty()).then(|| view! { <h2 class="trace-heading">{heading}</h2> })}
            <div class="trace-answer">
                <State kind=kind word=word />
                <p class="trace-addresses mono">
                    {if answers.is_empty() { "no address".to_owned() } else { answers.join(", ") }}
                </p>
                <p class="hint">
                    {format!("TTL {} s, {scope}chain run in {nanos:.1} µs", trace.ttl)}
                </p>
            </div>
            {trace
                .notes
                .iter()
                .map(|note| view! { <p class="notice">{note.clone()}</p> })
                .collect_view()}
            <dl class="facts">
                <div>
                    <dt>"Service"</dt>
                    <dd>
                        <a href=format!("/services/{}", trace.service_id)>{trace.service.clone()}</a>
                    </dd>
                </div>
                <div>
                    <dt>"Client"</dt>
                    <dd class="mono">
                        {client.effective} {if client.from_ecs { " (ECS)" } else { " (source)" }}
                    </dd>
                </div>
                <div>
                    <dt>"Resolver"</dt>
                    <dd class="mono">{client.resolver}</dd>
                </div>
                <div>
                    <dt>"Country"</dt>
                    <dd>{client.country.unwrap_or_else(|| "unknown".to_owned())}</dd>
                </div>
                <div>
                    <dt>"Network"</dt>
                    <dd>{network}</dd>
                </div>
                <div>
                    <dt>"Min healthy gate"</dt>
                    <dd>{gate}</dd>
                </div>
            </dl>
            <Stages trace=trace.clone() />
            {(!trace.excluded.is_empty())
                .then(|| {
                    view! {
                        <details class="excluded">
                            <summary>
                                {text::plural(
                                    trace.excluded.len() as u64,
                                    "member left out before the chain",
                                    "members left out before the chain",
                                )}
                            </summary>
                            <ul>
                                {trace
                                    .excluded
                                    .iter()
                                    .map(|d| {
                                        view! {
                                            <li>
                                                <span class="mono">{d.name.clone()}</span>
                                                " "
                                                {d.value.clone()}
                                            </li>
                                        }
                                    })
                                    .collect_view()}
                            </ul>
                        </details>
                    }
                })}
        </article>
    }
    .into_any()
}
