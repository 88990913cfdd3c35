//! One pool: its members as they are now, its health check, what has happened.

use super::actions::DeletePoolForm;
use super::check::CheckPanel;
use super::edit::PoolEditor;
use super::member_form::MemberEditor;
use super::members::MemberTable;
use crate::api::pools::{LoadPoolDetail, LoadPoolLive, PoolDetail};
use crate::components::empty::{Done, Empty};
use crate::components::layout::{PageHead, may};
use crate::components::state::health_state;
use crate::components::{Moment, State, loaded, text};
use crate::forms::{MemberForm, PoolForm};
use crate::live::live_value;
use crate::pages::{use_id, use_query};
use crate::rpc::use_data_again;
use gslb_api_types::model::Permission;
use gslb_api_types::{Event, EventKind};
use leptos::prelude::*;

/// The page of one pool.
#[component]
pub fn PoolPage() -> impl IntoView {
    let id = use_id();
    let done = use_query("done");
    // What is done without leaving the page asks for the pool again.
    let again = RwSignal::new(0_u32);
    let data = use_data_again(
        move || LoadPoolDetail { id: id.get() },
        move || format!("{} {}", again.get(), done.get()),
    );
    let changed = Callback::new(move |()| again.update(|n| *n += 1));
    loaded(data, move |data| view! { <PoolView data changed /> })
}

#[component]
fn PoolView(data: PoolDetail, changed: Callback<()>) -> impl IntoView {
    let pool = data.pool.value.clone();
    let id = pool.id.to_string();
    let here = format!("/pools/{id}");
    let writes = may(&data.session, Permission::PoolsWrite);
    let done = use_query("done");
    let done = Signal::derive(move || match done.read().as_str() {
        "saved" => Some("Saved."),
        "member" => Some("The member is saved."),
        "removed" => Some("The member is removed."),
        "check" => Some("The health check is saved."),
        _ => None,
    });
    let edit = use_query("edit");
    let live = {
        let id = id.clone();
        live_value(data.live.clone(), move || LoadPoolLive { id: id.clone() })
    };
    let status = Signal::derive(move || live.read().status.clone());
    let members = pool.members.clone();
    let gate = match pool.min_healthy {
        0 => "Answers with any healthy member".to_owned(),
        n => format!(
            "Answers only with at least {} healthy",
            text::plural(n.into(), "member", "members")
        ),
    };
    let stored = data.pool.clone();
    let editor = {
        let here = here.clone();
        move || {
            let which = edit.get();
            if !writes {
                return ().into_any();
            }
            match which.as_str() {
                "" | "check" => ().into_any(),
                "pool" => view! { <PoolEditor form=PoolForm::of(&stored) cancel=here.clone() /> }.into_any(),
                other => {
                    let member = stored.value.members.iter().find(|m| m.id.to_string() == other);
                    view! { <MemberEditor form=MemberForm::of(&stored, member) cancel=here.clone() /> }
                        .into_any()
                }
            }
        }
    };
    let add = format!("{here}?edit=new#member-form");
    let actions = writes.then(|| {
        view! {
            <a class="button primary" href=add.clone()>
                "Add member"
            </a>
            <a class="button" href=format!("{here}?edit=pool")>
                "Edit"
            </a>
            <DeletePoolForm id=id.clone() name=pool.name.clone() />
        }
    });
    view! {
        <PageHead title=pool.name.clone() lead=gate>
            {actions}
        </PageHead>
        <Done text=done />
        {data
            .pool
            .warnings
            .iter()
            .map(|warning| view! { <p class="notice">{warning.message.clone()}</p> })
            .collect_view()}
        {editor}
        <section class="panel" aria-labelledby="members">
            <header class="panel-head">
                <h2 id="members">"Members"</h2>
                <span class="hint">
                    {text::plural(members.len() as u64, "member", "members")}
                </span>
            </header>
            {if members.is_empty() {
                view! {
                    <Empty heading="No members yet">
                        <p>
                            "A member is an address that clients can be sent to, with a weight, a region and a port that the health check looks at."
                        </p>
                        {writes
                            .then(|| {
                                view! {
                                    <a class="button primary" href=add>
                                        "Add a member"
                                    </a>
                                }
                            })}
                    </Empty>
                }
                    .into_any()
            } else {
                view! { <MemberTable pool=id.clone() members status writes changed /> }.into_any()
            }}
        </section>
        <div class="columns">
            <CheckPanel pool=data.pool.clone() writes />
            <section class="panel" aria-labelledby="timeline">
                <header class="panel-head">
                    <h2 id="timeline">"Transitions"</h2>
                </header>
                {move || view! { <Timeline events=live.read().events.clone() /> }}
            </section>
        </div>
    }
    .into_any()
}

/// Health transitions, newest first.
#[component]
fn Timeline(events: Vec<Event>) -> impl IntoView {
    if events.is_empty() {
        return view! {
            <p class="hint">
                "No member has changed its state yet. When one fails its check or comes back, it shows here with the reason."
            </p>
        }
        .into_any();
    }
    view! {
        <ol class="timeline">
            {events
                .into_iter()
                .filter_map(|event| match event.kind {
                    EventKind::Health { address, to, reason, .. } => Some((event.at, address, to, reason)),
                    _ => None,
                })
                .map(|(at, address, to, reason)| {
                    let (kind, word) = health_state(to);
                    view! {
                        <li data-state=kind>
                            <p class="timeline-head">
                                <State kind=kind word=word />
                                <span class="mono">{address}</span>
                                <Moment at />
                            </p>
                            <p class="hint">{reason}</p>
                        </li>
                    }
                })
                .collect_view()}
        </ol>
    }
    .into_any()
}
