//! The live table of members.

use super::actions::{AdminButtons, RemoveMember};
use crate::components::chart::Sparkline;
use crate::components::state::member_state;
use crate::components::{Ago, State, text};
use gslb_api_types::model::Member;
use gslb_api_types::{HealthState, MemberStatus, PoolStatus};
use leptos::prelude::*;

/// Members in the order of the pool; the cells that change by themselves follow `status`.
#[component]
pub fn MemberTable(
    pool: String,
    members: Vec<Member>,
    status: Signal<PoolStatus>,
    writes: bool,
    changed: Callback<()>,
) -> impl IntoView {
    view! {
        <div class="table-frame">
            <table class="stacking members">
                <thead>
                    <tr>
                        <th scope="col">"Address"</th>
                        <th scope="col">"State"</th>
                        <th scope="col">"Score"</th>
                        <th scope="col">"Round trip"</th>
                        <th scope="col">"Region"</th>
                        <th scope="col" class="end">
                            "Weight"
                        </th>
                        <th scope="col" class="end">
                            "Priority"
                        </th>
                        <th scope="col" class="end">
                            "Answers"
                        </th>
                        {writes.then(|| view! { <th scope="col">"Operator"</th> })}
                    </tr>
                </thead>
                <tbody>
                    {members
                        .into_iter()
                        .map(|member| {
                            view! { <MemberRow pool=pool.clone() member status writes changed /> }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

#[component]
fn MemberRow(
    pool: String,
    member: Member,
    status: Signal<PoolStatus>,
    writes: bool,
    changed: Callback<()>,
) -> impl IntoView {
    let address = member.endpoint.to_string();
    let key = address.clone();
    let now = Memo::new(move |_| status.with(|all| all.get(&key).cloned()));
    let id = member.id.to_string();
    let edit = format!("/pools/{pool}?edit={id}#member-form");
    let zone = member.zone.as_ref().map(|zone| format!("zone {zone}"));
    let asn = member.asn.map(|asn| format!("AS{asn}"));
    let place = [zone, asn].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let region = member.region.to_string();
    let admin = Memo::new(move |_| now.read().as_ref().map_or(member.admin_state, |s| s.admin_state));
    let port = member.port;
    let (weight, priority) = (member.weight, member.priority);
    view! {
        <tr>
            <th scope="row">
                <span class="mono member-address">
                    {address.clone()} <span class="port">{format!(":{port}")}</span>
                </span>
            </th>
            <td data-label="State">
                {move || {
                    let now = now.get();
                    let (kind, word) = member_state(&member, now.as_ref());
                    // The time is that of what the probes say.
                    let checked = matches!(kind, "up" | "down" | "unknown");
                    let since = now.as_ref().and_then(|s| s.since).filter(|_| checked);
                    let fails = now.as_ref().is_some_and(|s| s.state == HealthState::Down);
                    let error = now
                        .and_then(|s| s.last_error)
                        .filter(|_| fails && matches!(kind, "down" | "forced-up"));
                    view! {
                        <State kind=kind word=word />
                        {since.map(|at| view! { <span class="since"><Ago at /></span> })}
                        {error.map(|error| view! { <p class="member-error">{error}</p> })}
                    }
                }}
            </td>
            <td data-label="Score">
                {move || view! { <Score status=now.get() /> }}
            </td>
            <td data-label="Round trip">
                {move || view! { <RoundTrip status=now.get() /> }}
            </td>
            <td data-label="Region">
                {region} {(!place.is_empty()).then(|| view! { <span class="place">{place}</span> })}
            </td>
            <td class="num end" data-label="Weight">
                {weight}
            </td>
            <td class="num end" data-label="Priority">
                {if priority == 0 { "-".to_owned() } else { priority.to_string() }}
            </td>
            <td class="num end" data-label="Answers">
                {move || text::count(now.read().as_ref().map_or(0, |s| s.answers))}
            </td>
            {writes
                .then(|| {
                    view! {
                        <td class="member-actions" data-label="Operator">
                            <AdminButtons
                                pool=pool.clone()
                                member=id.clone()
                                address=address.clone()
                                admin
                                changed
                            />
                            <div class="member-more">
                                <a href=edit aria-label=format!("Edit {address}")>
                                    "Edit"
                                </a>
                                <RemoveMember pool=pool.clone() member=id address=address />
                            </div>
                        </td>
                    }
                })}
        </tr>
    }
    .into_any()
}

/// Health score as a bar and a number.
#[component]
fn Score(status: Option<MemberStatus>) -> impl IntoView {
    let idle = status.as_ref().is_some_and(|s| !s.traffic);
    let score = status.map(|s| f64::from(s.score));
    let width = format!("{:.0}%", score.unwrap_or(0.0) * 100.0);
    view! {
        <span class="meter-cell">
            <span class="meter meter-small" aria-hidden="true">
                <span class="meter-part" class:muted=idle style:width=width></span>
            </span>
            <span class="num">{score.map_or_else(|| "-".to_owned(), |s| format!("{s:.2}"))}</span>
            {idle.then(|| view! { <span class="since">"no traffic"</span> })}
        </span>
    }
    .into_any()
}

/// Mean of the last probes, their course, and the least over the cluster.
#[component]
fn RoundTrip(status: Option<MemberStatus>) -> impl IntoView {
    let rtt = status.as_ref().and_then(|s| s.rtt_ms);
    let global = status.as_ref().and_then(|s| s.global_rtt_ms);
    let recent = status.map(|s| s.recent).unwrap_or_default();
    view! {
        <span class="round-trip">
            <span class="num rtt">{rtt.map_or_else(|| "-".to_owned(), text::millis)}</span>
            {(recent.len() > 1).then(|| view! { <Sparkline points=recent /> })}
            {global
                .map(|rtt| {
                    view! {
                        <span class="global-rtt num" title="Global min RTT across cluster">
                            {text::millis(rtt)}
                        </span>
                    }
                })}
        </span>
    }
    .into_any()
}
