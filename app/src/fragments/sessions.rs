//! One's own sessions: where one is logged in, and ending them.

use super::parts::{Question, Target, done, head, moment};
use super::{Asked, Page};
use crate::components::empty::Empty;
use crate::failure::Failure;
use crate::form::{Sent, finish};
use gslb_api_types::OpenSession;
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;

/// Ends a session.
#[server(prefix = "/rpc", endpoint = "end-session")]
pub async fn end_session(form: Target) -> Sent {
    let result = match crate::api::id("session", &form.id) {
        Ok(id) => crate::api::backend()?.end_session(id).await,
        Err(error) => Err(error),
    };
    finish(result, &form, "/sessions?done=ended", "/sessions")
}

/// The page.
pub async fn page(asked: &Asked) -> Result<Page, Failure> {
    let open = crate::api::backend()?.sessions(None).await?;
    let said = (asked.param("done") == "ended").then_some("The session is ended.");
    let actions = view! {
        <a class="button" href="/settings/password">
            "Change your password"
        </a>
    };
    let lead = "Where you are logged in. End what you do not know, and change your password.";
    let view = view! {
        {head("Your sessions", lead, actions.into_any())}
        {done(said)}
        {table(asked, &open, true)}
    };
    Ok(Page {
        title: "Your sessions".to_owned(),
        view: view.into_any(),
    })
}

/// Sessions, with a way to end each.
pub fn table(asked: &Asked, sessions: &[OpenSession], ends: bool) -> AnyView {
    if sessions.is_empty() {
        return view! {
            <Empty heading="No sessions">
                <p>"Nobody is logged in with this account."</p>
            </Empty>
        }
        .into_any();
    }
    let rows = sessions
        .iter()
        .map(|session| row(asked, session, ends))
        .collect_view();
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
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn row(asked: &Asked, session: &OpenSession, ends: bool) -> impl IntoView + use<> {
    let from = session.from.clone().unwrap_or_else(|| "unknown".to_owned());
    let question = Question {
        to: EndSession::url(),
        word: "End",
        question: if session.current {
            "This is the session that you are using: you will be logged out."
        } else {
            "Whoever uses it has to log in again."
        },
        sure: "End the session",
    };
    let name = format!("the session from {from}");
    let end = ends.then(|| question.about(asked, &session.id.to_string(), &name));
    view! {
        <tr>
            <th scope="row" class="mono">
                {from} {session.current.then(|| view! { <span class="tag">"this one"</span> })}
            </th>
            <td data-label="Browser">
                <span class="agent">{session.agent.clone().unwrap_or_else(|| "unknown".to_owned())}</span>
            </td>
            <td data-label="Since">{moment(session.since * 1000)}</td>
            <td data-label="Last request">{moment(session.last_seen * 1000)}</td>
            <td class="end">{end}</td>
        </tr>
    }
}
