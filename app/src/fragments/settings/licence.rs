//! The licence in force, what each tier has, and the form to install one.

use super::super::parts::{Area, done, may, moment};
use super::super::{Asked, Page};
use super::settings_head;
use crate::components::field::Refusal;
use crate::components::{State, text};
use crate::failure::Failure;
use crate::form::{Form as _, FormState, Sent, finish, invalid};
use crate::forms::LicenseForm;
use gslb_api_types::LicenseView;
use gslb_api_types::model::{FILTERS, Permission, Tier};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;

/// Installs a licence.
#[server(prefix = "/rpc", endpoint = "install-license")]
pub async fn install_license(form: LicenseForm) -> Sent {
    let problems = form.problems();
    let result = if problems.is_empty() {
        crate::api::backend()?.install_license(form.draft()).await
    } else {
        Err(invalid(problems))
    };
    let page = "/settings/licence";
    finish(result.map(drop), &form, &format!("{page}?done=license"), page)
}

/// The page.
pub async fn page(asked: &Asked) -> Result<Page, Failure> {
    let said = (asked.param("done") == "license").then_some("The licence is installed.");
    let license = crate::api::backend()?.license().await;
    let facts = match license {
        Ok(license) => facts(license),
        Err(refused) if refused.code == "forbidden" => {
            view! { <p class="hint">"Its details are shown to those who have license:read."</p> }.into_any()
        }
        Err(error) => return Err(error.into()),
    };
    let tier = asked.session.tier;
    let installs = may(asked, Permission::LicenseWrite);
    let view = view! {
        {settings_head("What the licence allows, until when, and what another tier would add.", "/licence")}
        {done(said)}
        <div class="columns">
            <section class="panel" aria-labelledby="licence">
                <header class="panel-head">
                    <h2 id="licence">"In force"</h2>
                    <span class="tier" data-tier=tier.to_string()>
                        {format!("{tier} tier")}
                    </span>
                </header>
                {facts}
            </section>
            {installs.then(|| editor(asked))}
        </div>
        {tiers(tier)}
    };
    Ok(Page {
        title: "Licence".to_owned(),
        view: view.into_any(),
    })
}

fn fact(name: &'static str, value: AnyView) -> impl IntoView {
    view! {
        <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
        </div>
    }
}

fn facts(license: LicenseView) -> AnyView {
    let (kind, word) = match license.state.as_str() {
        "valid" => ("up", "Valid"),
        "missing" => ("off", "None installed"),
        "expired" => ("down", "Expired"),
        "notYetValid" => ("partly", "Not yet valid"),
        _ => ("down", "Not valid"),
    };
    let text = |text: String| text.into_any();
    let rate = match license.max_rps {
        Some(rps) => format!("at most {}", text::count(rps)),
        None => "no limit".to_owned(),
    };
    let rate = (license.state == "valid").then(|| fact("Queries a second", rate.into_any()));
    view! {
        <p>
            <State kind=kind word=word />
        </p>
        <p class="hint">{license.message}</p>
        <dl class="facts facts-times">
            {license.customer.map(|customer| fact("Customer", text(customer)))}
            {license.id.map(|id| fact("Id", view! { <span class="mono">{id}</span> }.into_any()))}
            {license.issued_at.map(|at| fact("Issued", moment(at * 1000).into_any()))}
            {license.expires_at.map(|at| fact("Expires", moment(at * 1000).into_any()))} {rate}
        </dl>
    }
    .into_any()
}

fn editor(asked: &Asked) -> impl IntoView + use<> {
    let (form, error) = match asked.draft::<LicenseForm>() {
        Some(draft) => (draft.form, draft.error),
        None => (LicenseForm::default(), None),
    };
    let state = FormState::new::<LicenseForm>(error.clone());
    let area = Area {
        scope: LicenseForm::PARAM,
        name: "license",
        field: "license",
        label: "Licence text",
        value: form.license,
        rows: 5,
        hint: "As it was sent to you; line breaks do no harm. It is checked here, without asking anybody",
    };
    view! {
        <section class="panel" aria-labelledby="install">
            <header class="panel-head">
                <h2 id="install">"Install a licence"</h2>
            </header>
            <form class="form" method="post" action=InstallLicense::url() novalidate>
                <Refusal state fields=&["license"] />
                {area.view(error.as_ref())}
                <div class="form-end">
                    <button class="button primary" type="submit">
                        "Install"
                    </button>
                </div>
            </form>
        </section>
    }
}

/// What each tier has, by the same table that decides about a chain.
fn tiers(here: Tier) -> impl IntoView {
    // Filters that take a number are steps of chains only.
    let algorithms = |tier: Tier| {
        let of = FILTERS
            .iter()
            .filter(|info| info.parameter.is_none() && info.name.algorithm_tier() == tier);
        of.map(|info| info.title).collect::<Vec<_>>().join(", ")
    };
    let rows = [
        (
            Tier::Free,
            format!("One algorithm a service: {}.", algorithms(Tier::Free)),
        ),
        (
            Tier::Pro,
            format!(
                "Filter chains of any steps, and the algorithms {}.",
                algorithms(Tier::Pro)
            ),
        ),
        (
            Tier::Enterprise,
            "Steps of your own in chains, as Starlark scripts.".to_owned(),
        ),
    ];
    let rows = rows
        .into_iter()
        .map(|(tier, text)| {
            let (kind, word) = if tier <= here {
                ("up", "Yours")
            } else {
                ("off", "Needs another licence")
            };
            view! {
                <tr>
                    <th scope="row">{tier.to_string()}</th>
                    <td data-label="Adds">{text}</td>
                    <td data-label="State">
                        <State kind=kind word=word />
                    </td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <section class="panel" aria-labelledby="tiers">
            <header class="panel-head">
                <h2 id="tiers">"Tiers"</h2>
                <span class="hint">"Each has what those before it have"</span>
            </header>
            <div class="table-frame">
                <table class="stacking tiers">
                    <thead>
                        <tr>
                            <th scope="col">"Tier"</th>
                            <th scope="col">"Adds"</th>
                            <th scope="col">"State"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}
