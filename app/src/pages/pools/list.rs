//! The table of pools.

use crate::api::pools::LoadPools;
use crate::components::empty::{Done, Empty};
use crate::components::layout::PageHead;
use crate::components::list::{Pager, SearchBox, SortHead, use_list};
use crate::components::state::pool_state;
use crate::components::{State, loaded, text};
use crate::live::live_value;
use crate::pages::use_query;
use crate::rpc::use_data;
use gslb_api_types::{ListQuery, Page, PoolSummary};
use leptos::prelude::*;

/// All pools.
#[component]
pub fn PoolsPage() -> impl IntoView {
    let list = use_list();
    let data = use_data(move || LoadPools { query: list.get() });
    let done = use_query("done");
    let done = Signal::derive(move || (*done.read() == "deleted").then_some("The pool is deleted."));
    view! {
        <PageHead title="Pools" lead="Servers that answer for the same thing, and their health.">
            <a class="button primary" href="/pools/new">
                "New pool"
            </a>
        </PageHead>
        <Done text=done />
        <div class="toolbar">
            <SearchBox list label="Search by name" />
        </div>
        {loaded(data, move |page| view! { <PoolTable list page /> })}
    }
    .into_any()
}

#[component]
fn PoolTable(list: Memo<ListQuery>, page: Page<PoolSummary>) -> impl IntoView {
    if page.items.is_empty() {
        return match list.read_untracked().search.clone() {
            Some(text) => view! {
                <Empty heading="Nothing found">
                    <p>{format!("No pool has \u{201c}{text}\u{201d} in its name.")}</p>
                    <a href="/pools">"Show all pools"</a>
                </Empty>
            }
            .into_any(),
            None => view! {
                <Empty heading="No pools yet">
                    <p>
                        "A pool is a set of servers that answer for the same thing, such as the web servers of one site. Its health check decides which of them clients are sent to."
                    </p>
                    <a class="button primary" href="/pools/new">
                        "Create a pool"
                    </a>
                </Empty>
            }
            .into_any(),
        };
    }
    let (shown, total, next) = (page.items.len(), page.total, page.next_cursor.clone());
    let query = list.get_untracked();
    let live = live_value(page, move || LoadPools { query: query.clone() });
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        <SortHead list field="name">
                            "Name"
                        </SortHead>
                        <th scope="col">"State"</th>
                        <th scope="col">"Healthy members"</th>
                        <th scope="col" class="end">
                            "Minimum"
                        </th>
                        <th scope="col">"Health check"</th>
                        <th scope="col" class="end">
                            "Services"
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {move || {
                        live.get().items.into_iter().map(|pool| view! { <PoolLine pool /> }).collect_view()
                    }}
                </tbody>
            </table>
        </div>
        <Pager list shown total next what=("pool", "pools") />
    }
    .into_any()
}

#[component]
fn PoolLine(pool: PoolSummary) -> impl IntoView {
    let (kind, word) = pool_state(&pool);
    let width = format!(
        "{:.1}%",
        text::ratio(pool.healthy.into(), pool.members.into()) * 100.0
    );
    view! {
        <tr>
            <th scope="row">
                <a href=format!("/pools/{}", pool.id)>{pool.name}</a>
            </th>
            <td data-label="State">
                <State kind=kind word=word />
            </td>
            <td data-label="Healthy members">
                <span class="meter-cell">
                    <span class="meter" aria-hidden="true">
                        <span class="meter-part" data-state=kind style:width=width></span>
                    </span>
                    <span class="num">{format!("{} / {}", pool.healthy, pool.members)}</span>
                </span>
            </td>
            <td class="num end" data-label="Minimum">
                {if pool.min_healthy == 0 { "off".to_owned() } else { pool.min_healthy.to_string() }}
            </td>
            <td data-label="Health check">{pool.check.unwrap_or_else(|| "none".to_owned())}</td>
            <td class="num end" data-label="Services">
                {pool.services}
            </td>
        </tr>
    }
    .into_any()
}
