//! The first page: what is answered now, what is healthy, what has happened.

mod events;

use crate::api::overview::{LoadOverview, Overview};
use crate::components::chart::{RateChart, SPAN};
use crate::components::empty::Empty;
use crate::components::layout::PageHead;
use crate::components::state::pool_state;
use crate::components::{Ago, State, loaded, text};
use crate::live::{live_value, use_live};
use crate::rpc::use_data;
pub use events::EventList;
use gslb_api_types::{Dashboard, LicenseView, PoolSummary, RatePoint};
use leptos::prelude::*;

/// The dashboard.
#[component]
pub fn DashboardPage() -> impl IntoView {
    let data = use_data(|| LoadOverview {});
    view! {
        <PageHead title="Dashboard" />
        {loaded(data, |data| view! { <DashboardView data /> })}
    }
    .into_any()
}

#[component]
fn DashboardView(data: Overview) -> impl IntoView {
    let rate = live_rate(data.dashboard.rate.clone());
    let data = live_value(data, || LoadOverview {});
    let last = move || rate.with(|list| list.last().copied().unwrap_or_default());
    let board = move || data.read().dashboard.clone();
    view! {
        {move || data.read().license.clone().map(|license| view! { <LicenceBanner license /> })}
        <div class="figures">
            <Figure
                name="Queries a second"
                value=move || text::count(last().queries)
                note=move || match last() {
                    RatePoint { queries: 0, .. } => "none right now".to_owned(),
                    point => format!("{} answered", text::percent(point.answered, point.queries)),
                }
            />
            <Figure
                name="Members healthy"
                value=move || {
                    let board = data.read();
                    format!("{} / {}", board.dashboard.members_healthy, board.dashboard.members)
                }
                note=move || match data.read().dashboard.down.len() {
                    0 => "none down".to_owned(),
                    n => format!("{n} down now"),
                }
            />
            <Figure
                name="Services"
                value=move || text::count(data.read().dashboard.services)
                note=move || text::plural(data.read().dashboard.zones, "zone", "zones")
            />
            <Figure
                name="Node"
                value=move || data.read().dashboard.node.clone()
                note=move || {
                    let board = data.read();
                    format!(
                        "{}, up {}",
                        board.dashboard.version,
                        text::duration(board.dashboard.uptime / 60 * 60),
                    )
                }
            />
        </div>
        <section class="panel" aria-labelledby="rate">
            <header class="panel-head">
                <h2 id="rate">"Queries by outcome"</h2>
            </header>
            <RateChart points=rate.into() />
        </section>
        <div class="columns">
            <section class="panel" aria-labelledby="pools">
                <header class="panel-head">
                    <h2 id="pools">"Pools"</h2>
                    <a href="/pools">"All pools"</a>
                </header>
                {move || view! { <PoolHealth pools=data.read().pools.clone() /> }}
            </section>
            <section class="panel" aria-labelledby="down">
                <header class="panel-head">
                    <h2 id="down">"Down now"</h2>
                </header>
                {move || view! { <DownList board=board() /> }}
            </section>
        </div>
        <section class="panel" aria-labelledby="last">
            <header class="panel-head">
                <h2 id="last">"Last changes"</h2>
                <a href="/audit">"Audit trail"</a>
            </header>
            {move || view! { <EventList events=data.read().dashboard.events.clone() /> }}
        </section>
    }
    .into_any()
}

/// The points that the page came with, and each second's new one.
fn live_rate(initial: Vec<RatePoint>) -> RwSignal<Vec<RatePoint>> {
    let rate = RwSignal::new(initial);
    let live = use_live();
    Effect::new(move |_| {
        let Some(point) = live.rate.get() else { return };
        rate.update(|list| {
            if list.last().is_none_or(|last| last.at < point.at) {
                list.push(point);
            }
            let from = point.at.saturating_sub(SPAN);
            list.retain(|p| p.at >= from);
        });
    });
    rate
}

/// One figure of the first row.
#[component]
fn Figure(
    name: &'static str,
    value: impl Fn() -> String + Send + Sync + 'static,
    note: impl Fn() -> String + Send + Sync + 'static,
) -> impl IntoView {
    view! {
        <div class="figure">
            <p class="figure-name">{name}</p>
            <p class="figure-value num">{value}</p>
            <p class="figure-note">{note}</p>
        </div>
    }
    .into_any()
}

/// Says when the licence is not what one would want.
#[component]
fn LicenceBanner(license: LicenseView) -> impl IntoView {
    (license.state != "valid").then(|| {
        let missing = license.state == "missing";
        view! {
            <p class="notice" class:bad=!missing>
                <b>{format!("Running on the {} tier. ", license.tier)}</b>
                {license.message}
                " "
                <a href="/settings/licence">"Install a licence"</a>
            </p>
        }
    })
}

#[component]
fn PoolHealth(pools: Vec<PoolSummary>) -> impl IntoView {
    if pools.is_empty() {
        return view! {
            <Empty heading="No pools yet">
                <p>
                    "A pool is a set of servers that answer for the same thing, with one health check. Services are answered from pools."
                </p>
                <a class="button primary" href="/pools/new">
                    "Create a pool"
                </a>
            </Empty>
        }
        .into_any();
    }
    view! {
        <ul class="pool-health">
            {pools
                .into_iter()
                .map(|pool| {
                    let (kind, word) = pool_state(&pool);
                    view! {
                        <li>
                            <a href=format!("/pools/{}", pool.id)>{pool.name}</a>
                            <span class="meter" aria-hidden="true">
                                <span
                                    class="meter-part"
                                    data-state=kind
                                    style:width=format!(
                                        "{:.1}%",
                                        text::ratio(pool.healthy.into(), pool.members.into()) * 100.0,
                                    )
                                ></span>
                            </span>
                            <span class="num pool-count">
                                {format!("{} / {}", pool.healthy, pool.members)}
                            </span>
                            <State kind=kind word=word />
                        </li>
                    }
                })
                .collect_view()}
        </ul>
    }
    .into_any()
}

#[component]
fn DownList(board: Dashboard) -> impl IntoView {
    if board.down.is_empty() {
        return view! {
            <p class="all-well">
                <State kind="up" word="Every checked member is up." />
            </p>
        }
        .into_any();
    }
    let more = (board.members - board.members_healthy).saturating_sub(board.down.len() as u64);
    view! {
        <ul class="down-list">
            {board
                .down
                .into_iter()
                .map(|member| {
                    view! {
                        <li>
                            <State kind="down" word="Down" />
                            <span class="mono">{member.address}</span>
                            <a href=format!("/pools/{}", member.pool_id)>{member.pool}</a>
                            {member.since.map(|at| view! { <Ago at /> })}
                            <span class="down-error">{member.error}</span>
                        </li>
                    }
                })
                .collect_view()}
        </ul>
        {(more > 0).then(|| view! { <p class="hint">{format!("and {} more", text::count(more))}</p> })}
    }
    .into_any()
}
