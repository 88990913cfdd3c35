//! The table of services.

use super::parts::{done, head, may, nothing_found, pager, search, sort_head};
use super::{Asked, Page};
use crate::components::State;
use crate::components::chain::RoutingLine;
use crate::components::empty::Empty;
use crate::failure::Failure;
use gslb_api_types::ServiceRow;
use gslb_api_types::model::Permission;
use leptos::prelude::*;

/// All services.
pub async fn list(asked: &Asked) -> Result<Page, Failure> {
    let page = crate::api::backend()?.services(asked.list()).await?;
    let said = (asked.param("done") == "deleted").then_some("The service is deleted.");
    let new = may(asked, Permission::ServicesWrite).then(|| {
        view! {
            <a class="button primary" href="/services/new">
                "New service"
            </a>
        }
    });
    let view = view! {
        {head("Services", "DNS names and how each is answered.", new.into_any())}
        {done(said)}
        <div class="toolbar">{search(asked, "Search by name or domain")}</div>
        {table(asked, &page)}
    };
    Ok(Page {
        title: "Services".to_owned(),
        view: view.into_any(),
    })
}

fn table(asked: &Asked, page: &gslb_api_types::Page<ServiceRow>) -> AnyView {
    if page.items.is_empty() && !asked.param("q").is_empty() {
        return nothing_found(asked, ("service", "services"), "name or domain", "/services");
    }
    if page.items.is_empty() {
        return view! {
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
        .into_any();
    }
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        {sort_head(asked, "name", "Name")} {sort_head(asked, "domain", "Domain")}
                        <th scope="col">"Routing"</th>
                        <th scope="col">"Pool"</th>
                        <th scope="col" class="end">
                            "TTL"
                        </th>
                        <th scope="col">"State"</th>
                    </tr>
                </thead>
                <tbody data-live="">{page.items.iter().map(line).collect_view()}</tbody>
            </table>
        </div>
        {pager(asked, page, ("service", "services"))}
    }
    .into_any()
}

fn line(row: &ServiceRow) -> impl IntoView + use<> {
    let ServiceRow {
        service,
        pool_name,
        license_fallback,
        ..
    } = row.clone();
    let (kind, word) = match (service.enabled, license_fallback) {
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
                <a href=format!("/pools/{}", service.pool_id)>{pool_name}</a>
            </td>
            <td class="num end" data-label="TTL">
                {format!("{} s", service.ttl)}
            </td>
            <td data-label="State">
                <State kind=kind word=word />
            </td>
        </tr>
    }
}
