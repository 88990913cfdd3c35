//! The daemon's settings and where each comes from; beside them the licence, the configuration as a document, and one's
//! own password.

pub mod config;
pub mod licence;
pub mod password;

use super::parts::{head, search};
use super::{Asked, Page};
use crate::components::empty::Empty;
use crate::components::text;
use crate::failure::Failure;
use gslb_api_types::SettingView;
use leptos::prelude::*;

/// Heading of the pages of settings, with the ways to the others.
fn settings_head(lead: &str, at: &str) -> impl IntoView + use<> {
    let pages = [
        ("", "Daemon"),
        ("/licence", "Licence"),
        ("/configuration", "Export and import"),
        ("/password", "Your password"),
    ];
    let ways = pages
        .map(|(path, name)| {
            view! {
                <li>
                    <a href=format!("/settings{path}") aria-current=(path == at).then_some("page")>
                        {name}
                    </a>
                </li>
            }
        })
        .collect_view();
    view! {
        {head("Settings", lead, ().into_any())}
        <nav class="tabs" aria-label="Pages of the settings">
            <ul>{ways}</ul>
        </nav>
    }
}

/// The settings that the daemon runs with.
pub async fn page(asked: &Asked) -> Result<Page, Failure> {
    let lead = "From the configuration file or the environment. SIGHUP applies those that reload; the others wait for a restart.";
    let body = match crate::api::backend()?.settings().await {
        Ok(settings) => table(asked, settings),
        Err(refused) if refused.code == "forbidden" => view! {
            <Empty heading="Not for your account">
                <p>"How the daemon is set up is shown to system administrators."</p>
            </Empty>
        }
        .into_any(),
        Err(error) => return Err(error.into()),
    };
    let view = view! {
        {settings_head(lead, "")}
        {body}
    };
    Ok(Page {
        title: "Settings".to_owned(),
        view: view.into_any(),
    })
}

fn table(asked: &Asked, settings: Vec<SettingView>) -> AnyView {
    let searched = asked.param("q").trim().to_lowercase();
    let all = settings.len();
    let found: Vec<_> = settings
        .into_iter()
        .filter(|setting| {
            let text = format!("{} {} {}", setting.name, setting.value, setting.help);
            text.to_lowercase().contains(&searched)
        })
        .collect();
    let count = found.len() as u64;
    let sum = if found.len() == all {
        text::plural(count, "setting", "settings")
    } else {
        format!(
            "{} of {}",
            text::count(count),
            text::plural(all as u64, "setting", "settings")
        )
    };
    let body = if found.is_empty() {
        view! {
            <Empty heading="Nothing found">
                <p>{format!("No setting has \u{201c}{searched}\u{201d} in its name, value or description.")}</p>
                <a href="/settings">"Show all settings"</a>
            </Empty>
        }
        .into_any()
    } else {
        view! {
            <div class="table-frame">
                <table class="stacking settings">
                    <thead>
                        <tr>
                            <th scope="col">"Setting"</th>
                            <th scope="col">"Value"</th>
                            <th scope="col">"From"</th>
                        </tr>
                    </thead>
                    <tbody>{found.into_iter().map(row).collect_view()}</tbody>
                </table>
            </div>
            <p class="pager-sum">{sum}</p>
        }
        .into_any()
    };
    view! {
        <div class="toolbar">{search(asked, "Search by name, value and description")}</div>
        {body}
    }
    .into_any()
}

fn row(setting: SettingView) -> impl IntoView {
    let reloads = setting.reloads.then(|| {
        view! {
            <span class="tag" title="SIGHUP applies a change without a restart">
                "reloads"
            </span>
        }
    });
    let is_default = setting.origin == "default";
    view! {
        <tr>
            <th scope="row">
                <span class="mono">{setting.name}</span>
                {reloads}
                <p class="hint">{setting.help}</p>
            </th>
            <td class="mono" data-label="Value">
                {setting.value}
            </td>
            <td data-label="From">
                <span class="origin" class:is-default=is_default>
                    {setting.origin}
                </span>
            </td>
        </tr>
    }
}
