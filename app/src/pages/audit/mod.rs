//! The audit trail: who changed what, when, from where, and what exactly.

mod diff;

use crate::api::system::LoadAudit;
use crate::components::empty::Empty;
use crate::components::layout::PageHead;
use crate::components::list::ROWS;
use crate::components::{Moment, loaded, text};
use crate::rpc::use_data;
use diff::Diff;
use gslb_api_types::{AuditEntry, AuditQuery, Page};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

/// Kinds of objects that the trail can be asked for.
const KINDS: [&str; 11] = [
    "zone", "record", "dnssec", "tsigkey", "pool", "service", "user", "role", "token", "tenant", "license",
];

/// The part of the trail that the address asks for.
fn use_trail() -> Memo<AuditQuery> {
    let query = use_query_map();
    Memo::new(move |_| {
        let field = |name: &str| query.with(|query| query.get(name).filter(|text| !text.trim().is_empty()));
        AuditQuery {
            limit: Some(ROWS),
            cursor: field("cursor"),
            search: field("q"),
            actor: field("who"),
            object: field("object"),
            from: field("from"),
            to: field("to"),
            ..AuditQuery::default()
        }
    })
}

/// What the address says of a part of the trail, without the place in it.
fn pairs(query: &AuditQuery) -> [(&'static str, &str); 5] {
    [
        ("q", query.search.as_deref().unwrap_or_default()),
        ("who", query.actor.as_deref().unwrap_or_default()),
        ("object", query.object.as_deref().unwrap_or_default()),
        ("from", query.from.as_deref().unwrap_or_default()),
        ("to", query.to.as_deref().unwrap_or_default()),
    ]
}

/// The page.
#[component]
pub fn AuditPage() -> impl IntoView {
    let trail = use_trail();
    let data = use_data(move || LoadAudit { query: trail.get() });
    view! {
        <PageHead title="Audit" lead="Every change, newest first: written together with the change itself.">
            <Export trail />
        </PageHead>
        <Filters trail />
        {loaded(data, move |page| view! { <AuditTable trail page /> })}
    }
    .into_any()
}

/// What is shown, as JSON lines.
#[component]
fn Export(trail: Memo<AuditQuery>) -> impl IntoView {
    let href = move || {
        let query = trail.read();
        let [q, (_, who), object, from, to] = pairs(&query);
        let search = ("search", q.1);
        text::link(
            "/api/v1/audit",
            &[("format", "jsonl"), search, ("actor", who), object, from, to],
        )
    };
    view! {
        <a class="button" href=href download="audit.jsonl">
            "Export as JSON lines"
        </a>
    }
    .into_any()
}

/// A form that needs no JavaScript: what it asks for is in the address.
#[component]
fn Filters(trail: Memo<AuditQuery>) -> impl IntoView {
    let query = trail.get_untracked();
    let chosen = query.object.clone().unwrap_or_default();
    let input = |name: &'static str, label: &'static str, kind: &'static str, value: Option<String>| {
        let id = format!("audit-{name}");
        view! {
            <div class="field">
                <label for=id.clone()>{label}</label>
                <input id=id name=name type=kind value=value.unwrap_or_default() autocomplete="off" />
            </div>
        }
    };
    view! {
        <form class="toolbar filters" method="get" role="search" aria-label="Part of the trail">
            {input("q", "Who or what contains", "search", query.search)}
            {input("who", "Who", "text", query.actor)}
            <div class="field">
                <label for="audit-object">"Kind"</label>
                <select id="audit-object" name="object">
                    <option value="">"all"</option>
                    {KINDS
                        .into_iter()
                        .map(|kind| {
                            let selected = kind == chosen;
                            view! {
                                <option value=kind selected=selected>
                                    {kind}
                                </option>
                            }
                        })
                        .collect_view()}
                </select>
            </div>
            {input("from", "From, UTC", "date", query.from)}
            {input("to", "Before, UTC", "date", query.to)}
            <button class="button" type="submit">
                "Show"
            </button>
        </form>
    }
    .into_any()
}

#[component]
fn AuditTable(trail: Memo<AuditQuery>, page: Page<AuditEntry>) -> impl IntoView {
    if page.items.is_empty() {
        return view! {
            <Empty heading="Nothing here">
                <p>"Changes to zones, pools, services, accounts and the licence are recorded here."</p>
                <a href="/audit">"Show everything"</a>
            </Empty>
        }
        .into_any();
    }
    let shown = page.items.len() as u64;
    let query = trail.get_untracked();
    let pairs = pairs(&query);
    let first = query.cursor.is_some().then(|| text::link("/audit", &pairs));
    let next = page.next_cursor.map(|cursor| {
        let mut all = pairs.to_vec();
        all.push(("cursor", &cursor));
        text::link("/audit", &all)
    });
    let all = text::plural(page.total, "change", "changes");
    let summary = if first.is_none() && next.is_none() {
        all
    } else {
        format!("{} of {all}", text::count(shown))
    };
    view! {
        <div class="table-frame">
            <table class="stacking audit">
                <thead>
                    <tr>
                        <th scope="col">"When"</th>
                        <th scope="col">"Who"</th>
                        <th scope="col">"What"</th>
                        <th scope="col">"Change"</th>
                        <th scope="col" class="end">
                            "Revision"
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {page.items.into_iter().map(|entry| view! { <AuditRow entry /> }).collect_view()}
                </tbody>
            </table>
        </div>
        <nav class="pager" aria-label="Parts of the list">
            <span class="pager-sum">{summary}</span>
            {first.map(|href| view! { <a class="button small" href=href>"First page"</a> })}
            {next.map(|href| view! { <a class="button small" href=href rel="next">"Next page"</a> })}
        </nav>
    }
    .into_any()
}

#[component]
fn AuditRow(entry: AuditEntry) -> impl IntoView {
    view! {
        <tr>
            <td data-label="When">
                <Moment at=entry.at />
            </td>
            <td data-label="Who">
                {entry.actor} {entry.from.map(|from| view! { <span class="place mono">{from}</span> })}
            </td>
            <td data-label="What">
                <span>
                    <span class="badge">{entry.action}</span>
                    " "
                    {entry.object}
                    " "
                    <b>{entry.name}</b>
                </span>
            </td>
            <td data-label="Change">
                <Diff before=entry.before after=entry.after />
            </td>
            <td class="num end" data-label="Revision">
                {entry.revision}
            </td>
        </tr>
    }
    .into_any()
}
