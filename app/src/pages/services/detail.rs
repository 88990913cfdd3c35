//! One service: what it answers now, from whom, by what rules, and who changed it.

use super::delete::DeleteServiceForm;
use crate::api::overview::LoadTrace;
use crate::api::services::{LoadServiceDetail, ServiceDetail};
use crate::components::chain::RoutingLine;
use crate::components::empty::Done;
use crate::components::layout::{PageHead, may};
use crate::components::state::member_state;
use crate::components::{Ago, State, loaded, text};
use crate::live::live_value;
use crate::pages::{use_id, use_query};
use crate::rpc::use_data;
use gslb_api_types::model::{Fallback, Permission};
use gslb_api_types::{AuditEntry, TraceRequest};
use leptos::prelude::*;
use std::cmp::Reverse;

/// The page of one service.
#[component]
pub fn ServicePage() -> impl IntoView {
    let id = use_id();
    let data = use_data(move || LoadServiceDetail { id: id.get() });
    loaded(data, |data| view! { <ServiceView data /> })
}

#[component]
fn ServiceView(data: ServiceDetail) -> impl IntoView {
    let service = data.service.value.clone();
    let id = service.id.to_string();
    let writes = may(&data.session, Permission::ServicesWrite);
    let tier = data.session.tier;
    let falls_back = service.routing.required_tier() > tier;
    let warnings = data.service.warnings.clone();
    let done = use_query("done");
    let done =
        Signal::derive(move || (*done.read() == "saved").then_some("Saved. Queries are answered by it now."));
    let domain = service.domain.to_string();
    let pool_name = data.pool.name.clone();
    let live = {
        let id = id.clone();
        live_value(data.clone(), move || LoadServiceDetail { id: id.clone() })
    };
    let fallback = match &service.fallback {
        Fallback::None => "no answer".to_owned(),
        Fallback::All => "every enabled member".to_owned(),
        Fallback::Addresses(list) => list
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    };
    let actions = writes.then(|| {
        view! {
            <a class="button primary" href=format!("/services/{id}/edit")>
                "Edit"
            </a>
            <DeleteServiceForm id=id.clone() domain=domain.clone() />
        }
    });
    view! {
        <PageHead title=service.name.clone() lead=domain.clone()>
            {actions}
        </PageHead>
        <Done text=done />
        {(!service.enabled)
            .then(|| {
                view! { <p class="notice">"This service is disabled: its name does not exist for clients."</p> }
            })}
        {falls_back
            .then(|| {
                view! {
                    <p class="notice bad">
                        {format!(
                            "This routing needs the {} tier and the licence allows {tier}: the service answers by round-robin until that changes.",
                            service.routing.required_tier(),
                        )}
                    </p>
                }
            })}
        {warnings
            .into_iter()
            .map(|warning| view! { <p class="notice">{warning.message}</p> })
            .collect_view()}
        <dl class="facts facts-panel">
            <div class="facts-wide">
                <dt>"Routing"</dt>
                <dd>
                    <RoutingLine routing=service.routing.clone() />
                </dd>
            </div>
            <div>
                <dt>"Pool"</dt>
                <dd>
                    <a href=format!("/pools/{}", service.pool_id)>{pool_name}</a>
                </dd>
            </div>
            <div>
                <dt>"TTL"</dt>
                <dd class="num">{format!("{} s", service.ttl)}</dd>
            </div>
            <div>
                <dt>"Addresses an answer"</dt>
                <dd class="num">{service.max_answers}</dd>
            </div>
            {service.flatten.then(|| view! {
                <div>
                    <dt>"Host names"</dt>
                    <dd>"flattened into addresses"</dd>
                </div>
            })}
            <div>
                <dt>"When no member can answer"</dt>
                <dd>{fallback}</dd>
            </div>
        </dl>
        <TraceBox id=id.clone() domain=domain.clone() />
        <section class="panel" aria-labelledby="share">
            <header class="panel-head">
                <h2 id="share">"Answers by member"</h2>
                <span class="hint">"All services of the pool: the last hour as a chart, and all since the daemon started"</span>
            </header>
            <div inner_html=move || live.read().chart.clone()></div>
            {move || view! { <Shares data=live.get() /> }}
        </section>
        {(!data.audit.is_empty()).then(|| view! { <Trail entries=data.audit.clone() /> })}
    }
    .into_any()
}

/// Asks the tracer what a client gets now.
#[component]
fn TraceBox(id: String, domain: String) -> impl IntoView {
    let client = use_query("client");
    let qtype = use_query("qtype");
    let client = Memo::new(move |_| {
        let text = client.get();
        if text.trim().is_empty() {
            "192.0.2.1".to_owned()
        } else {
            text
        }
    });
    let name = domain.clone();
    let data = use_data(move || LoadTrace {
        request: TraceRequest {
            domain: Some(name.clone()),
            qtype: crate::pages::trace::family(&qtype.read()),
            client: Some(client.get()),
            ..TraceRequest::default()
        },
    });
    let full = move || {
        text::link(
            "/trace",
            &[
                ("domain", &domain),
                ("client", &client.read()),
                ("qtype", &qtype.read()),
            ],
        )
    };
    view! {
        <section class="panel" aria-labelledby="now">
            <header class="panel-head">
                <h2 id="now">"What it answers now"</h2>
                <a href=full>"Open in the tracer"</a>
            </header>
            <leptos_router::components::Form method="get" action=format!("/services/{id}") attr:class="inline-form">
                <label for="trace-client">"For the client"</label>
                <input
                    id="trace-client"
                    class="mono"
                    name="client"
                    value=client.get_untracked()
                    autocomplete="off"
                    spellcheck="false"
                />
                <label class="unseen" for="trace-type">
                    "Record type"
                </label>
                <select id="trace-type" name="qtype">
                    <option value="A">"A"</option>
                    <option value="AAAA" selected=qtype.get_untracked() == "AAAA">
                        "AAAA"
                    </option>
                </select>
                <button class="button small" type="submit">
                    "Ask"
                </button>
            </leptos_router::components::Form>
            {loaded(data, |html| view! { <div inner_html=html></div> })}
        </section>
    }
    .into_any()
}

#[component]
fn Shares(data: ServiceDetail) -> impl IntoView {
    let mut rows: Vec<_> = data
        .pool
        .members
        .iter()
        .map(|member| {
            let address = member.endpoint.to_string();
            let status = data.status.get(&address);
            (member.clone(), status.cloned(), status.map_or(0, |s| s.answers))
        })
        .collect();
    let total: u64 = rows.iter().map(|row| row.2).sum();
    rows.sort_by_key(|row| Reverse(row.2));
    if rows.is_empty() {
        return view! {
            <p class="hint">
                "The pool has no members yet. "
                <a href=format!("/pools/{}?edit=new#member-form", data.pool.id)>"Add one"</a>
            </p>
        }
        .into_any();
    }
    view! {
        <ul class="shares">
            {rows
                .into_iter()
                .map(|(member, status, answers)| {
                    let (kind, word) = member_state(&member, status.as_ref());
                    view! {
                        <li>
                            <span class="mono">{member.endpoint.to_string()}</span>
                            <State kind=kind word=word />
                            <span class="meter" aria-hidden="true">
                                <span
                                    class="meter-part"
                                    style:width=format!("{:.1}%", text::ratio(answers, total) * 100.0)
                                ></span>
                            </span>
                            <span class="num">{text::percent(answers, total)}</span>
                            <span class="num shares-count">{text::count(answers)}</span>
                        </li>
                    }
                })
                .collect_view()}
        </ul>
    }
    .into_any()
}

#[component]
fn Trail(entries: Vec<AuditEntry>) -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="trail">
            <header class="panel-head">
                <h2 id="trail">"Last changes"</h2>
            </header>
            <ol class="events">
                {entries
                    .into_iter()
                    .map(|entry| {
                        view! {
                            <li class="event">
                                <span class="badge">{entry.action}</span>
                                <span class="event-text">{format!("by {}", entry.actor)}</span>
                                <Ago at=entry.at />
                            </li>
                        }
                    })
                    .collect_view()}
            </ol>
        </section>
    }
    .into_any()
}
