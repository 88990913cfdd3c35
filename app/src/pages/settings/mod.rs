//! Settings and where each comes from, the licence, one's own password.

mod licence;
mod password;

use crate::api::system::{LoadSystem, System};
use crate::components::empty::Done;
use crate::components::layout::PageHead;
use crate::components::loaded;
use crate::pages::use_query;
use crate::rpc::use_data_again;
use gslb_api_types::SettingView;
use leptos::prelude::*;
use licence::LicencePanel;
use password::PasswordPanel;

/// The page.
#[component]
pub fn SettingsPage() -> impl IntoView {
    let done = use_query("done");
    let data = use_data_again(|| LoadSystem {}, move || done.get());
    let text = Signal::derive(move || match done.read().as_str() {
        "license" => Some("The licence is installed."),
        "password" => Some("The password is changed."),
        _ => None,
    });
    view! {
        <PageHead title="Settings" />
        <Done text=text />
        {loaded(data, |data| view! { <SettingsBody data /> })}
    }
    .into_any()
}

#[component]
fn SettingsBody(data: System) -> impl IntoView {
    view! {
        <div class="columns">
            <LicencePanel license=data.license session=data.session.clone() />
            <PasswordPanel name=data.session.name />
        </div>
        {match data.settings {
            Some(settings) => view! { <SettingTable settings /> }.into_any(),
            None => {
                view! {
                    <p class="hint">"The daemon's configuration is shown to system administrators."</p>
                }
                    .into_any()
            }
        }}
    }
    .into_any()
}

#[component]
fn SettingTable(settings: Vec<SettingView>) -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="configuration">
            <header class="panel-head">
                <h2 id="configuration">"Configuration"</h2>
                <span class="hint">"From the configuration file or the environment; SIGHUP applies those that reload"</span>
            </header>
            <div class="table-frame">
                <table class="stacking settings">
                    <thead>
                        <tr>
                            <th scope="col">"Setting"</th>
                            <th scope="col">"Value"</th>
                            <th scope="col">"From"</th>
                        </tr>
                    </thead>
                    <tbody>
                        {settings
                            .into_iter()
                            .map(|setting| {
                                view! {
                                    <tr>
                                        <th scope="row">
                                            <span class="mono">{setting.name}</span>
                                            {setting
                                                .reloads
                                                .then(|| {
                                                    view! {
                                                        <span class="tag" title="SIGHUP applies a change without a restart">
                                                            "reloads"
                                                        </span>
                                                    }
                                                })}
                                            <p class="hint">{setting.help}</p>
                                        </th>
                                        <td class="mono" data-label="Value">
                                            {setting.value}
                                        </td>
                                        <td data-label="From">
                                            <span class="origin" class:is-default=setting.origin == "default">
                                                {setting.origin.clone()}
                                            </span>
                                        </td>
                                    </tr>
                                }
                            })
                            .collect_view()}
                    </tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}
