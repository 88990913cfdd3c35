//! The steps of a trace side by side: each column holds the candidates that are left, so that the list narrows from
//! left to right.

use crate::components::state::ActionBadge;
use crate::components::text;
use gslb_api_types::{StepTrace, Trace, TraceCandidate};
use leptos::prelude::*;

/// All columns: the candidates at the start, then one a step.
#[component]
pub fn Stages(trace: Trace) -> impl IntoView {
    let Some(first) = trace.steps.first() else {
        return view! { <p class="hint">"No step ran."</p> }.into_any();
    };
    let start = first.before.clone();
    view! {
        <ol class="stages" aria-label="Steps, from the first to the last">
            <li class="stage-column">
                <p class="stage-step">"Candidates"</p>
                <p class="stage-meta">
                    <span class="badge">"start"</span>
                    <span class="stage-count num">{start.len()}</span>
                </p>
                <p class="stage-reason">"Enabled, healthy, of the address family asked for."</p>
                <ul class="stage-list">
                    {start
                        .iter()
                        .enumerate()
                        .map(|(rank, c)| view! { <Candidate candidate=c.clone() rank=Some(rank) moved=0 /> })
                        .collect_view()}
                </ul>
            </li>
            {trace.steps.into_iter().map(|step| view! { <Stage step /> }).collect_view()}
        </ol>
    }
    .into_any()
}

#[component]
fn Stage(step: StepTrace) -> impl IntoView {
    let (before, after) = (step.before.len(), step.after.len());
    let rank_before = |address: &str| step.before.iter().position(|c| c.address == address);
    let stay: Vec<_> = step
        .after
        .iter()
        .enumerate()
        .map(|(rank, candidate)| {
            let moved = rank_before(&candidate.address).map_or(0, |old| signed(old) - signed(rank));
            // A place gained only because others left is no move.
            let moved = if before == after { moved } else { 0 };
            view! { <Candidate candidate=candidate.clone() rank=Some(rank) moved /> }
        })
        .collect();
    let gone: Vec<_> = step
        .before
        .iter()
        .filter(|c| !step.after.iter().any(|a| a.address == c.address))
        .map(|candidate| view! { <Candidate candidate=candidate.clone() rank=None moved=0 /> })
        .collect();
    let count = if before == after {
        format!("{after}")
    } else {
        format!("{before} → {after}")
    };
    view! {
        <li class="stage-column">
            <p class="stage-step">{text::step_title(&step.step)}</p>
            <p class="stage-meta">
                <ActionBadge action=step.action />
                <span class="stage-count num" title="Candidates before and after">
                    {count}
                </span>
                <span class="stage-time num">{format!("{:.1} µs", step.micros)}</span>
            </p>
            <p class="stage-reason">{step.reason}</p>
            <ul class="stage-list">{stay} {gone}</ul>
            {(!step.details.is_empty())
                .then(|| {
                    view! {
                        <details class="stage-details">
                            <summary>
                                {text::plural(step.details.len() as u64, "detail", "details")}
                            </summary>
                            <dl>
                                {step
                                    .details
                                    .into_iter()
                                    .map(|d| {
                                        view! {
                                            <div>
                                                <dt>{d.name}</dt>
                                                <dd class="num">{d.value}</dd>
                                            </div>
                                        }
                                    })
                                    .collect_view()}
                            </dl>
                        </details>
                    }
                })}
        </li>
    }
    .into_any()
}

fn signed(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

/// One candidate in a column; without a rank it has just left.
#[component]
fn Candidate(candidate: TraceCandidate, rank: Option<usize>, moved: i64) -> impl IntoView {
    let facts = [
        (candidate.region != "unknown").then(|| candidate.region.clone()),
        Some(format!("weight {}", candidate.weight)),
        (candidate.priority > 0).then(|| format!("priority {}", candidate.priority)),
        candidate.rtt_ms.map(text::millis),
        (candidate.score < 1.0).then(|| format!("score {:.2}", candidate.score)),
    ];
    let facts: Vec<_> = facts.into_iter().flatten().collect();
    view! {
        <li class="candidate" class:gone=rank.is_none()>
            <span class="candidate-rank num">{rank.map(|r| r + 1)}</span>
            <span class="candidate-address mono">{candidate.address}</span>
            {(moved != 0)
                .then(|| {
                    let text = if moved > 0 { format!("↑{moved}") } else { format!("↓{}", -moved) };
                    view! { <span class="candidate-moved num" title="Places moved">{text}</span> }
                })}
            {rank.is_none().then(|| view! { <span class="unseen">" left"</span> })}
            <span class="candidate-facts">{facts.join(" · ")}</span>
        </li>
    }
    .into_any()
}
