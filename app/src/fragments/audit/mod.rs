//! The audit trail: who changed what, when, from where, and what exactly.

pub mod diff;

use super::parts::{head, moment};
use super::{Asked, Page, ROWS};
use crate::components::empty::Empty;
use crate::components::text;
use crate::failure::Failure;
use diff::Diff;
use gslb_api_types::{AuditEntry, AuditQuery};
use leptos::prelude::*;

/// Kinds of objects that the trail can be asked for.
const KINDS: [&str; 11] = [
    "zone", "record", "dnssec", "tsigkey", "pool", "service", "user", "role", "token", "tenant", "license",
];

/// The part of the trail that the address asks for.
fn part(asked: &Asked) -> AuditQuery {
    let field = |name| Some(asked.param(name)).filter(|text| !text.trim().is_empty());
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
pub async fn page(asked: &Asked) -> Result<Page, Failure> {
    let query = part(asked);
    let trail = crate::api::backend()?.audit(query.clone()).await?;
    let lead = "Every change, newest first: written together with the change itself.";
    let view = view! {
        {head("Audit", lead, export(&query))}
        {filters(&query)}
        {table(&query, &trail)}
    };
    Ok(Page {
        title: "Audit".to_owned(),
        view: view.into_any(),
    })
}

/// What is shown, as JSON lines.
fn export(query: &AuditQuery) -> AnyView {
    let [q, (_, who), object, from, to] = pairs(query);
    let search = ("search", q.1);
    let href = text::link(
        "/api/v1/audit",
        &[("format", "jsonl"), search, ("actor", who), object, from, to],
    );
    view! {
        <a class="button" href=href rel="external" download="audit.jsonl">
            "Export as JSON lines"
        </a>
    }
    .into_any()
}

/// The form for a part of the trail: what it asks for is in the address.
fn filters(query: &AuditQuery) -> impl IntoView + use<> {
    let chosen = query.object.clone().unwrap_or_default();
    let input = |name: &'static str, label: &'static str, kind: &'static str, value: &Option<String>| {
        let id = format!("audit-{name}");
        view! {
            <div class="field">
                <label for=id.clone()>{label}</label>
                <input id=id name=name type=kind value=value.clone().unwrap_or_default() autocomplete="off" />
            </div>
        }
    };
    let kinds = KINDS
        .into_iter()
        .map(|kind| {
            let selected = kind == chosen;
            view! {
                <option value=kind selected=selected>
                    {kind}
                </option>
            }
        })
        .collect_view();
    view! {
        <form class="toolbar filters" method="get" action="/audit" role="search" aria-label="Part of the trail">
            {input("q", "Who or what contains", "search", &query.search)}
            {input("who", "Who", "text", &query.actor)}
            <div class="field">
                <label for="audit-object">"Kind"</label>
                <select id="audit-object" name="object">
                    <option value="">"all"</option>
                    {kinds}
                </select>
            </div>
            {input("from", "From, UTC", "date", &query.from)} {input("to", "Before, UTC", "date", &query.to)}
            <button class="button" type="submit">
                "Show"
            </button>
        </form>
    }
}

fn table(query: &AuditQuery, page: &gslb_api_types::Page<AuditEntry>) -> AnyView {
    if page.items.is_empty() {
        return view! {
            <Empty heading="Nothing here">
                <p>"Changes to zones, pools, services, accounts and the licence are recorded here."</p>
                <a href="/audit">"Show everything"</a>
            </Empty>
        }
        .into_any();
    }
    let pairs = pairs(query);
    let first = query.cursor.is_some().then(|| text::link("/audit", &pairs));
    let next = page.next_cursor.as_deref().map(|cursor| {
        let mut all = pairs.to_vec();
        all.push(("cursor", cursor));
        text::link("/audit", &all)
    });
    let all = text::plural(page.total, "change", "changes");
    let summary = if first.is_none() && next.is_none() {
        all
    } else {
        format!("{} of {all}", text::count(page.items.len() as u64))
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
                <tbody>{page.items.iter().map(row).collect_view()}</tbody>
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

fn row(entry: &AuditEntry) -> impl IntoView + use<> {
    let entry = entry.clone();
    view! {
        <tr>
            <td data-label="When">{moment(entry.at)}</td>
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
}
