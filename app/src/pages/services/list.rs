//! The table of services.

use crate::api::services::LoadServices;
use crate::components::chain::RoutingLine;
use crate::components::empty::{Done, Empty};
use crate::components::layout::{Allowed, PageHead};
use crate::components::list::{Pager, SearchBox, SortHead, use_list};
use crate::components::{State, loaded};
use crate::pages::use_query;
use crate::rpc::use_data;
use gslb_api_types::model::Permission;
use gslb_api_types::{ListQuery, Page, ServiceRow};
use leptos::prelude::*;

/// All services.
#[component]
pub fn ServicesPage() -> impl IntoView {
    let list = use_list();
    let data = use_data(move || LoadServices { query: list.get() });
    let done = use_query("done");
    let done = Signal::derive(move || (*done.read() == "deleted").then_some("The service is deleted."));
    view! {
        <PageHead title="Services" lead="DNS names and how each is answered.">
            <Allowed to=Permission::ServicesWrite>
                <a class="button primary" href="/services/new">
                    "New service"
                </a>
            </Allowed>
        </PageHead>
        <Done text=done />
        <div class="toolbar">
            <SearchBox list label="Search by name or domain" />
        </div>
        {loaded(data, move |page| view! { <ServiceTable list page /> })}
    }
    .into_any()
}

#[component]
fn ServiceTable(list: Memo<ListQuery>, page: Page<ServiceRow>) -> impl IntoView {
    let searching = list.read_untracked().search.clone();
    if page.items.is_empty() {
        return match searching {
            Some(text) => view! {
                <Empty heading="Nothing found">
                    <p>{format!("No service has \u{201c}{text}\u{201d} in its name or domain.")}</p>
                    <a href="/services">"Show all services"</a>
                </Empty>
            }
            .into_any(),
            None => view! {
                <Empty heading="No services yet">
                    <p>
                        "A service binds a DNS name, such as www.example.com, to a pool, and says how a member is chosen for each client: by one algorithm, or by a chain of filters."
                    </p>
                    <ol>
                        <li>
                            <a href="/zones">"Create the zone"</a>
                            " that the name is in"
                        </li>
                        <li>
                            <a href="/pools/new">"Create a pool"</a>
                            " with the servers that answer"
                        </li>
                        <li>
                            <a href="/services/new">"Create the service"</a>
                        </li>
                    </ol>
                </Empty>
            }
            .into_any(),
        };
    }
    let shown = page.items.len();
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        <SortHead list field="name">
                            "Name"
                        </SortHead>
                        <SortHead list field="domain">
                            "Domain"
                        </SortHead>
                        <th scope="col">"Routing"</th>
                        <th scope="col">"Pool"</th>
                        <th scope="col" class="end">
                            "TTL"
                        </th>
                        <th scope="col">"State"</th>
                    </tr>
                </thead>
                <tbody>
                    {page.items.into_iter().map(|row| view! { <ServiceLine row /> }).collect_view()}
                </tbody>
            </table>
        </div>
        <Pager list shown total=page.total next=page.next_cursor what=("service", "services") />
    }
    .into_any()
}

#[component]
fn ServiceLine(row: ServiceRow) -> impl IntoView {
    let service = row.service;
    let (kind, word) = match (service.enabled, row.license_fallback) {
        (false, _) => ("off", "Disabled"),
        (true, true) => ("partly", "Round robin: licence"),
        (true, false) => ("up", "Answering"),
    };
    view! {
        <tr>
            <th scope="row">
                <a href=format!("/services/{}", service.id)>{service.name}</a>
            </th>
            <td class="mono" data-label="Domain">
                {service.domain.to_string()}
            </td>
            <td data-label="Routing">
                <RoutingLine routing=service.routing />
            </td>
            <td data-label="Pool">
                <a href=format!("/pools/{}", service.pool_id)>{row.pool_name}</a>
            </td>
            <td class="num end" data-label="TTL">
                {format!("{} s", service.ttl)}
            </td>
            <td data-label="State">
                <State kind=kind word=word />
            </td>
        </tr>
    }
    .into_any()
}
