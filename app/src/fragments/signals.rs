//! Signal Weight: the table of zones, and what it does to the answers of each service.

use super::Page;
use super::parts::head;
use crate::components::empty::Empty;
use crate::components::text;
use crate::failure::Failure;
use gslb_api_types::{SignalView, SignalZone};
use leptos::prelude::*;

/// The page.
pub async fn page() -> Result<Page, Failure> {
    let data = crate::api::backend()?.signals().await?;
    let weight = match data.weight {
        w if w <= 0.0 => "0: the bias is off".to_owned(),
        w if w >= 1.0 => "1: the signal alone decides the order".to_owned(),
        w => {
            format!(
                "{w}: {:.0} % signal, {:.0} % health score",
                w * 100.0,
                (1.0 - w) * 100.0,
            )
        }
    };
    let lead = "Carbon, cost or any other value by zone, lower is better. The Signal Weight step prefers members in better zones, and never leaves out a healthy one.";
    let view = view! {
        {head("Signal Weight", lead, ().into_any())}
        <div data-live="">
            <section class="panel" aria-labelledby="zones">
                <header class="panel-head">
                    <h2 id="zones">"Zones"</h2>
                    <span class="hint">"Weight " <b class="num">{weight}</b></span>
                </header>
                {zones(data.zones)}
            </section>
            <section class="panel" aria-labelledby="steered">
                <header class="panel-head">
                    <h2 id="steered">"Services that use it"</h2>
                    <span class="hint">"Since the daemon started"</span>
                </header>
                {steered(data.services)}
            </section>
        </div>
    };
    Ok(Page {
        title: "Signal Weight".to_owned(),
        view: view.into_any(),
    })
}

fn zones(zones: Vec<SignalZone>) -> AnyView {
    if zones.is_empty() {
        return view! {
            <Empty heading="No signals configured">
                <p>
                    "Zones and their values are part of the daemon's configuration, and are read again on SIGHUP:"
                </p>
                <pre class="mono">
                    "signals:\n  weight: 0.5\n  static:\n    us-east: 450\n    eu-west: 120"
                </pre>
                <p>"A member is in the zone of its zone label, or else of its region."</p>
            </Empty>
        }
        .into_any();
    }
    let most = zones
        .iter()
        .filter_map(|z| z.value)
        .map(f64::abs)
        .fold(0.0_f64, f64::max)
        .max(f64::MIN_POSITIVE);
    let best = zones.iter().filter_map(|z| z.value).fold(f64::INFINITY, f64::min);
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        <th scope="col">"Zone"</th>
                        <th scope="col" class="end">
                            "Value"
                        </th>
                        <th scope="col" class="signal-bar-head">
                            "Lower is better"
                        </th>
                        <th scope="col" class="end">
                            "Members"
                        </th>
                        <th scope="col">"From"</th>
                    </tr>
                </thead>
                <tbody>
                    {zones
                        .into_iter()
                        .map(|zone| {
                            let is_best = zone.value == Some(best);
                            view! {
                                <tr>
                                    <th scope="row">{zone.zone}</th>
                                    <td class="num end" data-label="Value">
                                        {zone.value.map_or_else(|| "none".to_owned(), |v| v.to_string())}
                                    </td>
                                    <td class="signal-bar" data-label="Lower is better">
                                        <span class="meter" aria-hidden="true">
                                            <span
                                                class="meter-part"
                                                data-state=if is_best { "up" } else { "signal" }
                                                style:width=format!(
                                                    "{:.1}%",
                                                    zone.value.unwrap_or(0.0).abs() / most * 100.0,
                                                )
                                            ></span>
                                        </span>
                                        {is_best.then(|| view! { <span class="tag">"best"</span> })}
                                    </td>
                                    <td class="num end" data-label="Members">
                                        {zone.members}
                                    </td>
                                    <td data-label="From">
                                        {if zone.origin.is_empty() {
                                            "members only: keep their score".to_owned()
                                        } else {
                                            zone.origin
                                        }}
                                    </td>
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

fn steered(services: Vec<SignalView>) -> AnyView {
    if services.is_empty() {
        return view! {
            <Empty heading="No service uses signals">
                <p>
                    "Add the Signal Weight step to a service's filter chain, in front of a step that looks at the order, such as Failover, or at the end."
                </p>
                <a class="button" href="/services">
                    "Go to the services"
                </a>
            </Empty>
        }
        .into_any();
    }
    view! {
        <ul class="shares">
            {services
                .into_iter()
                .map(|service| {
                    view! {
                        <li>
                            <a href=format!("/services/{}", service.service_id)>{service.service}</a>
                            <span class="meter" aria-hidden="true">
                                <span
                                    class="meter-part"
                                    style:width=format!(
                                        "{:.1}%",
                                        text::ratio(service.steered, service.queries) * 100.0,
                                    )
                                ></span>
                            </span>
                            <span class="num">
                                {text::percent(service.steered, service.queries)} " steered"
                            </span>
                            <span class="num shares-count">
                                {text::plural(service.queries, "query", "queries")}
                            </span>
                        </li>
                    }
                })
                .collect_view()}
        </ul>
    }
    .into_any()
}
