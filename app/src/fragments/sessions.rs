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
    let agent = session.agent.clone().unwrap_or_default();
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
        small: true,
    };
    let name = format!("the session from {from}");
    let end = ends.then(|| question.about(asked, &session.id.to_string(), &name));
    view! {
        <tr>
            <th scope="row" class="mono">
                {from} {session.current.then(|| view! { <span class="tag">"this one"</span> })}
            </th>
            <td data-label="Browser">
                <span class="agent" title=agent.clone()>
                    {browser(&agent)}
                </span>
            </td>
            <td data-label="Since">{moment(session.since * 1000)}</td>
            <td data-label="Last request">{moment(session.last_seen * 1000)}</td>
            <td class="end">{end}</td>
        </tr>
    }
}

/// A browser by the name that it gives itself, in a few words: what claims to be several is the one that only it claims.
fn browser(agent: &str) -> String {
    const NAMES: [(&str, &str); 5] = [
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Version/", "Safari"),
    ];
    const SYSTEMS: [(&str, &str); 6] = [
        ("Windows", "Windows"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ];
    if agent.is_empty() {
        return "unknown".to_owned();
    }
    let name = NAMES.iter().find_map(|(mark, name)| {
        let version: String = agent
            .split_once(mark)?
            .1
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        Some(format!("{name} {version}"))
    });
    let system = SYSTEMS.iter().find(|(mark, _)| agent.contains(mark));
    match (name, system) {
        (Some(name), Some((_, system))) => format!("{name} on {system}"),
        (Some(name), None) => name,
        (None, _) => agent.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::browser;

    #[test]
    fn browsers_are_named_in_a_few_words() {
        let chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.8078.4 Safari/537.36";
        assert_eq!(browser(chrome), "Chrome 156 on Windows");
        assert_eq!(browser(&format!("{chrome} Edg/156.0.1")), "Edge 156 on Windows");
        let safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Safari/605.1.15";
        assert_eq!(browser(safari), "Safari 19 on macOS");
        assert_eq!(browser("curl/8.5.0"), "curl/8.5.0");
        assert_eq!(browser(""), "unknown");
    }
}
