//! The licence in force, and the form to install one.

use crate::api::system::InstallLicense;
use crate::components::field::{Problem, Refusal};
use crate::components::layout::may;
use crate::components::{Moment, State, text};
use crate::form::{FormState, use_draft};
use crate::forms::LicenseForm;
use crate::rpc::{SendForm, Sending};
use gslb_api_types::model::Permission;
use gslb_api_types::{LicenseView, SessionView};
use leptos::prelude::*;

/// The panel.
#[component]
pub fn LicencePanel(license: Option<LicenseView>, session: SessionView) -> impl IntoView {
    let installs = may(&session, Permission::LicenseWrite);
    view! {
        <section class="panel" aria-labelledby="licence">
            <header class="panel-head">
                <h2 id="licence">"Licence"</h2>
                <span class="tier" data-tier=session.tier.to_string()>
                    {format!("{} tier", session.tier)}
                </span>
            </header>
            {license.map(|license| view! { <LicenceFacts license /> })}
            {installs.then(|| view! { <LicenceForm /> })}
        </section>
    }
    .into_any()
}

#[component]
fn LicenceFacts(license: LicenseView) -> impl IntoView {
    let (kind, word) = match license.state.as_str() {
        "valid" => ("up", "Valid"),
        "missing" => ("off", "None installed"),
        "expired" => ("down", "Expired"),
        "notYetValid" => ("partly", "Not yet valid"),
        _ => ("down", "Not valid"),
    };
    view! {
        <p>
            <State kind=kind word=word />
        </p>
        <p class="hint">{license.message}</p>
        <dl class="facts">
            {license
                .customer
                .map(|customer| {
                    view! {
                        <div>
                            <dt>"Customer"</dt>
                            <dd>{customer}</dd>
                        </div>
                    }
                })}
            {license
                .id
                .map(|id| {
                    view! {
                        <div>
                            <dt>"Id"</dt>
                            <dd class="mono">{id}</dd>
                        </div>
                    }
                })}
            {license
                .expires_at
                .map(|at| {
                    view! {
                        <div>
                            <dt>"Expires"</dt>
                            <dd>
                                <Moment at=at * 1000 />
                            </dd>
                        </div>
                    }
                })}
            {license
                .max_rps
                .map(|rps| {
                    view! {
                        <div>
                            <dt>"Queries a second"</dt>
                            <dd class="num">{format!("at most {}", text::count(rps))}</dd>
                        </div>
                    }
                })}
        </dl>
    }
    .into_any()
}

#[component]
fn LicenceForm() -> impl IntoView {
    let (form, error) = use_draft::<LicenseForm>()
        .map(|d| (d.form, d.error))
        .unwrap_or_default();
    let opened = error.is_some();
    let action = Sending::to::<InstallLicense>();
    let state = FormState::new::<LicenseForm>(error);
    let (_, left) = state.listeners::<LicenseForm>();
    state.follow(move || action.answer.get());
    let message = Memo::new(move |_| state.message("license"));
    view! {
        <details class="install" open=opened>
            <summary>"Install a licence"</summary>
            <SendForm
                to=action
                attr:class="form"
                on:change=left
            >
                <Refusal state fields=&["license"] />
                <div class="field" class:field-bad=move || message.read().is_some()>
                    <label for="license-text">"Licence text"</label>
                    <textarea
                        id="license-text"
                        class="mono"
                        name="form[license]"
                        rows="4"
                        spellcheck="false"
                        autocomplete="off"
                        aria-describedby="license-text-problem"
                    >
                        {form.license}
                    </textarea>
                    <Problem id="license-text-problem".to_owned() message />
                </div>
                <div class="form-end">
                    <button class="button primary" type="submit" disabled=move || action.pending.get()>
                        "Install"
                    </button>
                </div>
            </SendForm>
        </details>
    }
    .into_any()
}
