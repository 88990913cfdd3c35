//! One's own sessions: where one is logged in, and ending them.

use crate::api::accounts::{EndSession, LoadSessions};
use crate::components::confirm::Confirm;
use crate::components::empty::{Done, Empty};
use crate::components::layout::PageHead;
use crate::components::{Moment, loaded};
use crate::pages::use_query;
use crate::rpc::{Sending, use_data_again};
use gslb_api_types::OpenSession;
use leptos::prelude::*;

/// The page.
#[component]
pub fn SessionsPage() -> impl IntoView {
    let (done, turn) = (use_query("done"), use_query("n"));
    let data = use_data_again(|| LoadSessions {}, move || done.get() + &turn.get());
    let text = Signal::derive(move || (*done.read() == "ended").then_some("The session is ended."));
    view! {
        <PageHead title="Your sessions" lead="Where you are logged in. End what you do not know, and change your password.">
            <a class="button" href="/settings#password">
                "Change your password"
            </a>
        </PageHead>
        <Done text=text />
        {loaded(data, |sessions| view! { <SessionTable sessions ends=true /> })}
    }
    .into_any()
}

/// Sessions, with a way to end each.
#[component]
pub fn SessionTable(sessions: Vec<OpenSession>, ends: bool) -> impl IntoView {
    if sessions.is_empty() {
        return view! {
            <Empty heading="No sessions">
                <p>"Nobody is logged in with this account."</p>
            </Empty>
        }
        .into_any();
    }
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        <th scope="col">"From"</th>
                        <th scope="col">"Browser"</th>
                        <th scope="col">"Since"</th>
                        <th scope="col">"Last request"</th>
                        <th scope="col">
                            <span class="unseen">"Actions"</span>
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {sessions.into_iter().map(|session| view! { <Row session ends /> }).collect_view()}
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

#[component]
fn Row(session: OpenSession, ends: bool) -> impl IntoView {
    let from = session.from.unwrap_or_else(|| "unknown".to_owned());
    let label = format!("End the session from {from}");
    let question = if session.current {
        "This is the session that you are using: you will be logged out."
    } else {
        "Whoever uses it has to log in again."
    };
    view! {
        <tr>
            <th scope="row" class="mono">
                {from} {session.current.then(|| view! { <span class="tag">"this one"</span> })}
            </th>
            <td data-label="Browser">{session.agent.unwrap_or_default()}</td>
            <td data-label="Since">
                <Moment at=session.since * 1000 />
            </td>
            <td data-label="Last request">
                <Moment at=session.last_seen * 1000 />
            </td>
            <td class="end">
                {ends
                    .then(|| {
                        let to = Sending::to::<EndSession>();
                        view! {
                            <Confirm
                                to
                                id=session.id.to_string()
                                word="End"
                                label
                                question=question.to_owned()
                                sure="End the session"
                            />
                        }
                    })}
            </td>
        </tr>
    }
    .into_any()
}
