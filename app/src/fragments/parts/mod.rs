//! What pages written by the server share: heads, lists, fields that the living forms have no use for.

mod conflict;
mod target;

pub use conflict::{Both, conflict};
pub use target::{Question, Target};

use super::Asked;
use crate::components::empty::Empty;
use crate::components::field::Refusal;
use crate::components::text;
use crate::form::FormState;
use gslb_api_types::model::Permission;
use gslb_api_types::{ApiError, ZoneView};
use leptos::prelude::*;

/// Whether the caller may change zones.
pub fn may_write(asked: &Asked) -> bool {
    may(asked, Permission::ZonesWrite)
}

/// Whether the caller has a permission. What sends a form is asked again by the use case.
pub fn may(asked: &Asked, permission: Permission) -> bool {
    asked.session.permissions.contains(&permission)
}

/// Heading of a page; what one can do there stands at its right.
pub fn head(title: &str, lead: &str, actions: AnyView) -> AnyView {
    view! {
        <header class="page-head">
            <div class="page-head-text">
                <h1>{title.to_owned()}</h1>
                {(!lead.is_empty()).then(|| view! { <p class="lead">{lead.to_owned()}</p> })}
            </div>
            <div class="page-head-actions">{actions}</div>
        </header>
    }
    .into_any()
}

/// Heading of a zone's pages, with the ways to the others.
pub fn zone_head(zone: &ZoneView, at: &str) -> impl IntoView + use<> {
    let pages = [
        ("", "Records"),
        ("/settings", "SOA and name servers"),
        ("/file", "Zone file"),
        ("/transfers", "Transfers"),
        ("/dnssec", "DNSSEC"),
    ];
    let ways = pages
        .map(|(path, name)| {
            let href = format!("/zones/{}{path}", zone.id);
            view! {
                <li>
                    <a href=href aria-current=(path == at).then_some("page")>
                        {name}
                    </a>
                </li>
            }
        })
        .collect_view();
    view! {
        {head(
            &zone.name.to_string(),
            &format!("Serial {}", zone.serial),
            view! {
                <a class="button" href="/zones">
                    "All zones"
                </a>
            }
            .into_any(),
        )}
        <nav class="tabs" aria-label="Pages of the zone">
            <ul>{ways}</ul>
        </nav>
    }
}

/// A line that something was done.
pub fn done(text: Option<&str>) -> impl IntoView + use<> {
    text.map(|text| view! { <p class="notice good" role="status">{text.to_owned()}</p> })
}

/// A search box that sends itself by Enter, and while one types where there is JavaScript.
pub fn search(asked: &Asked, label: &'static str) -> impl IntoView + use<> {
    let sort = asked.param("sort");
    let sort = (!sort.is_empty()).then(|| view! { <input type="hidden" name="sort" value=sort /> });
    view! {
        <form class="search" method="get" role="search" action=asked.path.clone()>
            <crate::components::Icon name="search" />
            <input
                type="search"
                name="q"
                value=asked.param("q")
                placeholder=label
                aria-label=label
                autocomplete="off"
                spellcheck="false"
            />
            {sort}
        </form>
    }
}

/// Heading of a column that sorts.
pub fn sort_head(asked: &Asked, field: &str, name: &'static str) -> impl IntoView + use<> {
    let sort = asked.param("sort");
    let now = if sort.is_empty() { "name" } else { sort.as_str() };
    let (order, mark) = if now == field {
        (Some("ascending"), "↑")
    } else if now.strip_prefix('-') == Some(field) {
        (Some("descending"), "↓")
    } else {
        (None, "")
    };
    let next = if mark == "↑" {
        format!("-{field}")
    } else {
        field.to_owned()
    };
    let href = text::link(&asked.path, &[("q", &asked.param("q")), ("sort", &next)]);
    view! {
        <th scope="col" aria-sort=order>
            <a class="sort" href=href>
                {name}
                <span class="sort-mark" aria-hidden="true">
                    {mark}
                </span>
            </a>
        </th>
    }
}

/// What an empty list says when it was searched.
pub fn nothing_found(
    asked: &Asked,
    what: (&'static str, &'static str),
    within: &'static str,
    href: &'static str,
) -> AnyView {
    let why = format!(
        "No {} has \u{201c}{}\u{201d} in its {within}.",
        what.0,
        asked.param("q")
    );
    let all = format!("Show all {}", what.1);
    view! {
        <Empty heading="Nothing found">
            <p>{why}</p>
            <a href=href>{all}</a>
        </Empty>
    }
    .into_any()
}

/// How much is shown of how much, and the way on.
pub fn pager<T>(
    asked: &Asked,
    page: &gslb_api_types::Page<T>,
    what: (&'static str, &'static str),
) -> AnyView {
    let (search, sort) = (asked.param("q"), asked.param("sort"));
    let to = |cursor: &str| {
        text::link(
            &asked.path,
            &[("q", &search), ("sort", &sort), ("cursor", cursor)],
        )
    };
    let first = (!asked.param("cursor").is_empty()).then(|| to(""));
    let next = page.next_cursor.as_deref().map(to);
    let all = text::plural(page.total, what.0, what.1);
    let summary = if first.is_none() && next.is_none() {
        all
    } else {
        format!("{} of {all}", text::count(page.items.len() as u64))
    };
    view! {
        <nav class="pager" aria-label="Parts of the list">
            <span class="pager-sum">{summary}</span>
            {first.map(|href| view! { <a class="button small" href=href>"First page"</a> })}
            {next.map(|href| view! { <a class="button small" href=href rel="next">"Next page"</a> })}
        </nav>
    }
    .into_any()
}

/// Something that cannot be undone: opened first, and again when it was refused.
pub fn confirm(
    label: &'static str,
    name: &str,
    small: bool,
    error: Option<ApiError>,
    form: AnyView,
) -> AnyView {
    let is_open = error.is_some();
    let state = FormState::new::<NoForm>(error);
    view! {
        <details class="confirm" open=is_open>
            <summary class="button" class:small=small aria-label=format!("{label} {name}")>
                {label}
            </summary>
            <div class="confirm-body">
                <Refusal state fields=&[] />
                {form}
            </div>
        </details>
    }
    .into_any()
}

/// Stands for forms without fields of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NoForm {}

impl crate::form::Form for NoForm {
    const PARAM: &'static str = "none";
}

/// Problems of a field and of what is in it: `data`, `data[2]`, `transfer.peers[0].key`.
fn problems(error: Option<&ApiError>, field: &str) -> Vec<String> {
    error
        .iter()
        .flat_map(|error| &error.details)
        .filter_map(|problem| {
            let rest = problem.field.strip_prefix(field)?;
            let place = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            match place {
                None => rest.is_empty().then(|| problem.message.clone()),
                Some((place, _)) => {
                    let line = place.parse::<usize>().map_or(0, |at| at + 1);
                    Some(format!("{line}: {}", problem.message))
                }
            }
        })
        .collect()
}

/// A field of several lines.
pub struct Area {
    /// Prefix of its id: the form's parameter.
    pub scope: &'static str,
    /// Name of the form's field.
    pub name: &'static str,
    /// Field in the API's spelling, whose problems it shows.
    pub field: &'static str,
    /// Label.
    pub label: &'static str,
    /// What is in it.
    pub value: String,
    /// Lines shown.
    pub rows: usize,
    /// A line of help.
    pub hint: &'static str,
}

impl Area {
    /// The field with its problems.
    pub fn view(self, error: Option<&ApiError>) -> impl IntoView + use<> {
        let Self {
            scope,
            name,
            field,
            label,
            value,
            rows,
            hint,
        } = self;
        let id = format!("{scope}-{name}");
        let (problem_id, hint_id) = (format!("{id}-problem"), format!("{id}-hint"));
        let problems = problems(error, field);
        let is_bad = !problems.is_empty();
        let described = if is_bad { &problem_id } else { &hint_id }.clone();
        // A browser takes the first line end away.
        let value = format!("\n{value}");
        view! {
            <div class="field field-area" class:field-bad=is_bad>
                <label for=id.clone()>{label}</label>
                <textarea
                    id=id
                    class="mono"
                    name=format!("form[{name}]")
                    rows=rows.to_string()
                    spellcheck="false"
                    autocomplete="off"
                    autocapitalize="off"
                    wrap="off"
                    aria-invalid=is_bad.then_some("true")
                    aria-describedby=described
                >
                    {value}
                </textarea>
                <p class="hint" id=hint_id>
                    {hint}
                </p>
                <div id=problem_id>
                    {problems
                        .into_iter()
                        .map(|text| view! { <p class="problem">{text}</p> })
                        .collect_view()}
                </div>
            </div>
        }
    }
}

/// A moment, Unix milliseconds, in UTC: the browser puts it into the viewer's zone.
pub fn moment(at: u64) -> impl IntoView + use<> {
    let utc = text::utc(at);
    let iso = format!("{}Z", utc.replace(' ', "T"));
    let utc = format!("{utc} UTC");
    let title = utc.clone();
    view! {
        <time class="moment" datetime=iso title=title>
            {utc}
        </time>
    }
}

/// A moment in Unix seconds, or a word for there being none.
pub fn moment_or(at: Option<u64>, word: &'static str) -> AnyView {
    match at {
        Some(at) => moment(at * 1000).into_any(),
        None => view! { <span class="hint">{word}</span> }.into_any(),
    }
}

/// The lines that are not empty, trimmed.
pub fn lines(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}
