//! Events as a list: transitions of members, changes of objects, the licence.

use crate::components::state::health_state;
use crate::components::{Ago, State};
use gslb_api_types::{Event, EventKind};
use leptos::prelude::*;

/// Address of the page of an object.
fn page(object: &str, id: &str, action: &str) -> Option<String> {
    if action == "deleted" {
        return None;
    }
    match object {
        "service" => Some(format!("/services/{id}")),
        "pool" => Some(format!("/pools/{id}")),
        "zone" => Some(format!("/zones/{id}")),
        _ => None,
    }
}

/// Events, newest first.
#[component]
pub fn EventList(events: Vec<Event>) -> impl IntoView {
    if events.is_empty() {
        return view! { <p class="hint">"Nothing has happened yet."</p> }.into_any();
    }
    view! {
        <ol class="events">
            {events.into_iter().map(|event| view! { <EventRow event /> }).collect_view()}
        </ol>
    }
    .into_any()
}

#[component]
fn EventRow(event: Event) -> impl IntoView {
    let body = match event.kind {
        EventKind::Health {
            pool_id,
            pool,
            address,
            to,
            reason,
            ..
        } => {
            let (kind, word) = health_state(to);
            view! {
                <State kind=kind word=word />
                <span class="event-text">
                    <span class="mono">{address}</span>
                    " in "
                    <a href=format!("/pools/{pool_id}")>{pool}</a>
                    <span class="event-reason">{reason}</span>
                </span>
            }
            .into_any()
        }
        EventKind::Change {
            object,
            object_id,
            name,
            action,
            actor,
        } => {
            let name = match page(&object, &object_id, &action) {
                Some(href) => view! { <a href=href>{name}</a> }.into_any(),
                None => view! { <span>{name}</span> }.into_any(),
            };
            view! {
                <span class="badge">{action}</span>
                <span class="event-text">
                    {object} " " {name} <span class="event-reason">{format!("by {actor}")}</span>
                </span>
            }
            .into_any()
        }
        EventKind::License { tier, reason } => view! {
            <span class="badge">"licence"</span>
            <span class="event-text">
                {format!("{tier} tier")} <span class="event-reason">{reason}</span>
            </span>
        }
        .into_any(),
    };
    view! { <li class="event">{body} <Ago at=event.at /></li> }
}
