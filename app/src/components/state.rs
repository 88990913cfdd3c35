//! State as colour, shape and word together, never by colour alone.

#[cfg(feature = "ssr")]
use gslb_api_types::StepAction;
use gslb_api_types::model::{AdminState, Member};
use gslb_api_types::{HealthState, MemberStatus, PoolSummary};
use leptos::prelude::*;

/// A state: the shape and colour come from `kind` by the style sheet.
#[component]
pub fn State(kind: &'static str, #[prop(into)] word: String) -> impl IntoView {
    view! {
        <span class="state" data-state=kind>
            <span class="shape" aria-hidden="true"></span>
            {word}
        </span>
    }
    .into_any()
}

/// Kind and word of a member's state, the operator's decision before what probes say.
#[must_use]
pub fn member_state(member: &Member, status: Option<&MemberStatus>) -> (&'static str, &'static str) {
    if !member.enabled {
        return ("off", "Disabled");
    }
    match status.map_or(member.admin_state, |s| s.admin_state) {
        AdminState::Down => ("forced-down", "Forced down"),
        AdminState::Drain => ("drain", "Draining"),
        AdminState::Up => ("forced-up", "Forced up"),
        AdminState::Auto => match status.map(|s| s.state) {
            Some(HealthState::Up) => ("up", "Up"),
            Some(HealthState::Down) => ("down", "Down"),
            Some(HealthState::Unknown) | None => ("unknown", "Not checked"),
        },
    }
}

/// Kind and word of a pool.
#[must_use]
pub fn pool_state(pool: &PoolSummary) -> (&'static str, &'static str) {
    let PoolSummary {
        members,
        healthy,
        min_healthy,
        ..
    } = *pool;
    if members == 0 {
        ("off", "Empty")
    } else if healthy == 0 {
        ("down", "Down")
    } else if healthy < min_healthy {
        ("down", "Below minimum")
    } else if healthy < members {
        ("partly", "Degraded")
    } else if pool.check.is_none() {
        // Nobody has looked: they are taken to be healthy.
        ("unknown", "Not checked")
    } else {
        ("up", "Healthy")
    }
}

/// Kind and word of a health transition's end.
#[must_use]
pub fn health_state(state: HealthState) -> (&'static str, &'static str) {
    match state {
        HealthState::Up => ("up", "Up"),
        HealthState::Down => ("down", "Down"),
        HealthState::Unknown => ("unknown", "Not checked"),
    }
}

/// What a step did, as a badge.
#[cfg(feature = "ssr")]
#[component]
pub fn ActionBadge(action: StepAction) -> impl IntoView {
    let (kind, word) = match action {
        StepAction::Narrowed => ("narrowed", "narrowed"),
        StepAction::Reordered => ("reordered", "reordered"),
        StepAction::Skipped => ("skipped", "skipped"),
        StepAction::Passthrough => ("passthrough", "passthrough"),
        StepAction::Selected => ("selected", "selected"),
        StepAction::Error => ("error", "error"),
    };
    view! {
        <span class="badge action" data-action=kind>
            {word}
        </span>
    }
    .into_any()
}
