//! Traces as HTML: of one query, of two beside each other, and of a few clients while a chain is built.

use crate::components::text;
use crate::components::trace::TraceView;
use crate::failure::Failure;
use gslb_api_types::{ApiError, Trace};
use leptos::prelude::*;

/// What a trace says, or why there is none.
pub type Told = Result<Trace, Failure>;

/// Why there is no trace: what is wrong by field when there is that, else what is wrong with the whole.
fn refused(failure: &Failure, heading: &'static str) -> impl IntoView + use<> {
    let error = &failure.0;
    let problems = error
        .details
        .iter()
        .map(|problem| view! { <li>{text::problem(&problem.field, &problem.message)}</li> })
        .collect_view();
    let whole = error.details.is_empty().then(|| error.message.clone());
    view! {
        <div class="notice bad" role="alert">
            {(!heading.is_empty()).then(|| view! { <b>{heading}": "</b> })} {whole}
            {(!error.details.is_empty()).then(|| view! { <ul>{problems}</ul> })}
        </div>
    }
}

fn one(told: Told, heading: &'static str) -> AnyView {
    match told {
        Ok(trace) => view! { <TraceView trace heading=heading /> }.into_any(),
        Err(failure) => refused(&failure, heading).into_any(),
    }
}

/// One trace.
#[must_use]
pub fn single(told: Told) -> String {
    one(told, "").to_html()
}

/// Whether a refusal says everything that another one says.
fn tells_all(refusal: &Failure, other: &Failure) -> bool {
    let all = &refusal.0.details;
    refusal.0.message == other.0.message && other.0.details.iter().all(|problem| all.contains(problem))
}

/// The stored routing and a chain that is tried. What is wrong with the question is told once.
#[must_use]
pub fn both(stored: Told, tried: Option<Told>) -> String {
    match (stored, tried) {
        (Err(first), Some(Err(second))) if tells_all(&second, &first) => one(Err(second), "").to_html(),
        (stored, None) => one(stored, "").to_html(),
        (stored, Some(tried)) => view! {
            <div class="trace-pair">
                {one(stored, "Stored routing")} {one(tried, "The chain you try")}
            </div>
        }
        .into_any()
        .to_html(),
    }
}

/// Who would get what: a line a client, with its whole trace below.
#[must_use]
pub fn who_gets(clients: Vec<(String, Result<Trace, ApiError>)>) -> String {
    let lines = clients
        .into_iter()
        .map(|(client, told)| match told {
            Ok(trace) => gets(client, trace).into_any(),
            Err(error) => {
                let message = error
                    .details
                    .first()
                    .map_or(error.message.clone(), |d| d.message.clone());
                view! {
                    <li class="gets">
                        <span class="mono gets-client">{client}</span>
                        <span class="gets-problem">{message}</span>
                    </li>
                }
                .into_any()
            }
        })
        .collect_view();
    view! { <ul class="gets-list">{lines}</ul> }.into_any().to_html()
}

fn gets(client: String, trace: Trace) -> impl IntoView {
    let country = trace
        .client
        .country
        .clone()
        .unwrap_or_else(|| "country unknown".to_owned());
    let answers = if trace.answers.is_empty() {
        "no address".to_owned()
    } else {
        trace.answers.join(", ")
    };
    let first = trace.steps.first().map_or(0, |step| step.before.len());
    let mut counts = vec![first.to_string()];
    counts.extend(trace.steps.iter().map(|step| step.after.len().to_string()));
    let narrowing = counts.join(" → ");
    view! {
        <li class="gets">
            <span class="mono gets-client">{client}</span>
            <span class="gets-country">{country}</span>
            <b class="mono gets-answers">{answers}</b>
            <details class="gets-trace">
                <summary>
                    "Why " <span class="hint num" title="Candidates from step to step">
                        {narrowing}
                    </span>
                </summary>
                <TraceView trace />
            </details>
        </li>
    }
}
