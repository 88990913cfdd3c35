//! Tables that page, search and sort on the server, by links and a GET form.

use super::icon::Icon;
use super::text;
use gslb_api_types::ListQuery;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate, use_query_map};
use std::time::Duration;
use wasm_bindgen::JsCast as _;

/// Rows a page.
pub const ROWS: u32 = 50;

/// The part of a list that the address asks for: `q`, `sort`, `cursor`.
pub fn use_list() -> Memo<ListQuery> {
    let query = use_query_map();
    Memo::new(move |_| {
        query.with(|query| ListQuery {
            limit: Some(ROWS),
            cursor: query.get("cursor").filter(|text| !text.is_empty()),
            search: query.get("q").filter(|text| !text.trim().is_empty()),
            sort: query.get("sort").filter(|text| !text.is_empty()),
        })
    })
}

/// Search box: sends itself while one types, and by Enter without JavaScript.
#[component]
pub fn SearchBox(list: Memo<ListQuery>, label: &'static str) -> impl IntoView {
    let path = use_location().pathname;
    let navigate = use_navigate();
    let initial = list.read_untracked().search.clone().unwrap_or_default();
    let sort = move || list.read().sort.clone().unwrap_or_default();
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    let go = move |text: String| {
        let sort = sort();
        let target = text::link(&path.get_untracked(), &[("q", text.trim()), ("sort", &sort)]);
        navigate(
            &target,
            NavigateOptions {
                replace: true,
                scroll: false,
                ..NavigateOptions::default()
            },
        );
    };
    let later = {
        let go = go.clone();
        move |event: leptos::ev::Event| {
            let text = event_target_value(&event);
            let go = go.clone();
            waiting.update_value(|old| {
                if let Some(old) = old.take() {
                    old.clear();
                }
                *old = set_timeout_with_handle(move || go(text), Duration::from_millis(250)).ok();
            });
        }
    };
    let at_once = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let text = event
            .target()
            .and_then(|t| t.dyn_into::<web_sys::Element>().ok())
            .and_then(|form| form.query_selector("input[name=q]").ok().flatten())
            .and_then(|input| input.dyn_into::<web_sys::HtmlInputElement>().ok())
            .map(|input| input.value())
            .unwrap_or_default();
        go(text);
    };
    view! {
        <form class="search" method="get" role="search" on:submit=at_once>
            <Icon name="search" />
            <input
                type="search"
                name="q"
                value=initial
                placeholder=label
                aria-label=label
                autocomplete="off"
                spellcheck="false"
                on:input=later
            />
            <input
                type="hidden"
                name="sort"
                value=list.read_untracked().sort.clone().unwrap_or_default()
            />
        </form>
    }
    .into_any()
}

/// Heading of a column that sorts.
#[component]
pub fn SortHead(list: Memo<ListQuery>, field: &'static str, children: Children) -> impl IntoView {
    let path = use_location().pathname;
    let order = Memo::new(move |_| {
        let list = list.read();
        let sort = list.sort.as_deref().unwrap_or("name");
        if sort == field {
            Some("ascending")
        } else if sort.strip_prefix('-') == Some(field) {
            Some("descending")
        } else {
            None
        }
    });
    let href = move || {
        let list = list.read();
        let sort = if order.get() == Some("ascending") {
            format!("-{field}")
        } else {
            field.to_owned()
        };
        text::link(
            &path.get(),
            &[("q", list.search.as_deref().unwrap_or_default()), ("sort", &sort)],
        )
    };
    view! {
        <th scope="col" aria-sort=move || order.get()>
            <a class="sort" href=href>
                {children()}
                <span class="sort-mark" aria-hidden="true">
                    {move || match order.get() {
                        Some("ascending") => "↑",
                        Some(_) => "↓",
                        None => "",
                    }}
                </span>
            </a>
        </th>
    }
    .into_any()
}

/// How much is shown of how much, and the way on.
#[component]
pub fn Pager(
    list: Memo<ListQuery>,
    shown: usize,
    total: u64,
    next: Option<String>,
    /// What is counted, in singular and plural.
    what: (&'static str, &'static str),
) -> impl IntoView {
    let path = use_location().pathname.get_untracked();
    let query = list.get_untracked();
    let search = query.search.clone().unwrap_or_default();
    let sort = query.sort.clone().unwrap_or_default();
    let first = query
        .cursor
        .is_some()
        .then(|| text::link(&path, &[("q", &search), ("sort", &sort)]));
    let next = next.map(|cursor| text::link(&path, &[("q", &search), ("sort", &sort), ("cursor", &cursor)]));
    let all = text::plural(total, what.0, what.1);
    let summary = if first.is_none() && next.is_none() {
        all
    } else {
        format!("{} of {all}", text::count(shown as u64))
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
