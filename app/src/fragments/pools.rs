//! The table of pools.

use super::parts::{done, head, may, nothing_found, pager, search, sort_head};
use super::{Asked, Page};
use crate::components::empty::Empty;
use crate::components::state::pool_state;
use crate::components::{State, text};
use crate::failure::Failure;
use gslb_api_types::PoolSummary;
use gslb_api_types::model::Permission;
use leptos::prelude::*;

/// All pools.
pub async fn list(asked: &Asked) -> Result<Page, Failure> {
    let page = crate::api::backend()?.pools(asked.list()).await?;
    let said = (asked.param("done") == "deleted").then_some("The pool is deleted.");
    let new = may(asked, Permission::PoolsWrite).then(|| {
        view! {
            <a class="button primary" href="/pools/new">
                "New pool"
            </a>
        }
    });
    let lead = "Servers that answer for the same thing, and their health.";
    let view = view! {
        {head("Pools", lead, new.into_any())}
        {done(said)}
        <div class="toolbar">{search(asked, "Search by name")}</div>
        {table(asked, &page)}
    };
    Ok(Page {
        title: "Pools".to_owned(),
        view: view.into_any(),
    })
}

fn table(asked: &Asked, page: &gslb_api_types::Page<PoolSummary>) -> AnyView {
    if page.items.is_empty() && !asked.param("q").is_empty() {
        return nothing_found(asked, ("pool", "pools"), "name", "/pools");
    }
    if page.items.is_empty() {
        return view! {
            <Empty heading="No pools yet">
                <p>
                    "A pool is a set of servers that answer for the same thing, such as the web servers of one site. Its health check decides which of them clients are sent to."
                </p>
                <a class="button primary" href="/pools/new">
                    "Create a pool"
                </a>
            </Empty>
        }
        .into_any();
    }
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        {sort_head(asked, "name", "Name")} <th scope="col">"State"</th>
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
                <tbody data-live="">{page.items.iter().map(line).collect_view()}</tbody>
            </table>
        </div>
        {pager(asked, page, ("pool", "pools"))}
    }
    .into_any()
}

fn line(pool: &PoolSummary) -> impl IntoView + use<> {
    let pool = pool.clone();
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
}
