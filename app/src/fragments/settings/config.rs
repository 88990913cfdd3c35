//! The configuration of the tenant as one document: given out, and taken over after a look at what that changes.

use super::super::audit::diff::Diff;
use super::super::parts::{Area, done, may};
use super::super::{Asked, Page};
use super::settings_head;
use crate::components::field::Refusal;
use crate::components::text;
use crate::failure::Failure;
use crate::form::{Form, FormState, Sent, finish, given, invalid, revision};
use gslb_api_types::model::{ErrorCode, Permission, ValidationError};
use gslb_api_types::{ApiError, ConfigChange, ConfigReport};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use serde::{Deserialize, Serialize};

/// Address of the page.
const PAGE: &str = "/settings/configuration";
/// What somebody must be allowed who takes a document over.
const WRITES: [Permission; 3] = [
    Permission::ZonesWrite,
    Permission::PoolsWrite,
    Permission::ServicesWrite,
];
/// Changes that a look shows.
const SHOWN: usize = 200;

/// A document to look at, or one that was looked at to take over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfigForm {
    /// The document; it is too long for an address and is kept under `mark`.
    #[serde(skip_serializing)]
    pub text: String,
    /// Under which the document is kept.
    pub mark: String,
    /// The revision that the look was made at.
    pub revision: String,
}

impl Form for ConfigForm {
    const PARAM: &'static str = "config";
}

/// Keeps a document for a look at what it would change.
#[server(prefix = "/rpc", endpoint = "look-at-config")]
pub async fn look_at_config(form: ConfigForm) -> Sent {
    let mut form = form;
    let kept = match given(&form.text) {
        None => Err(invalid(vec![ValidationError::new(
            "text",
            ErrorCode::Required,
            "paste a document, or choose a file",
        )])),
        Some(_) => crate::api::backend()?.keep(std::mem::take(&mut form.text)),
    };
    let next = match &kept {
        Ok(mark) => text::link(PAGE, &[("look", mark)]),
        Err(_) => String::new(),
    };
    finish(kept.map(drop), &form, &next, &format!("{PAGE}#take"))
}

/// Takes over a document that was looked at.
#[server(prefix = "/rpc", endpoint = "import-config")]
pub async fn import_config(form: ConfigForm) -> Sent {
    let backend = crate::api::backend()?;
    let result = match backend.kept(&form.mark) {
        Err(error) => Err(error),
        Ok(None) => Err(gone()),
        Ok(Some(text)) => {
            let known = revision(&form.revision);
            backend.import_config(&text, true, known).await
        }
    };
    let next = match &result {
        Ok((report, _)) => format!("{PAGE}?done=imported&count={}", report.changes.len()),
        Err(_) => String::new(),
    };
    let back = text::link(PAGE, &[("look", &form.mark)]);
    finish(result.map(drop), &form, &next, &back)
}

fn gone() -> ApiError {
    ApiError::new(
        "not_found",
        "The document is not kept any longer: choose it, or paste it, once more.",
    )
}

/// The page: both ways, or what a document would change.
pub async fn page(asked: &Asked) -> Result<Page, Failure> {
    let backend = crate::api::backend()?;
    let mut error = asked.draft::<ConfigForm>().and_then(|draft| draft.error);
    // Somebody has changed something since the look: below stands what the document changes now.
    let stale = error.as_ref().is_some_and(|error| error.code == "stale");
    if stale {
        error = None;
    }
    let writes = WRITES.iter().all(|permission| may(asked, *permission));
    let mark = asked.param("look");
    let mut form = ConfigForm {
        mark: mark.clone(),
        ..ConfigForm::default()
    };
    let mut report = None;
    if !mark.is_empty() {
        match backend.kept(&mark)? {
            None => error = Some(gone()),
            Some(text) => {
                match backend.import_config(&text, false, None).await {
                    Ok((found, at)) => {
                        form.revision = at.to_string();
                        report = Some(found);
                    }
                    Err(refused) => error = Some(refused),
                }
                form.text = text;
            }
        }
    }
    let said = (asked.param("done") == "imported").then(|| {
        let count = asked.param("count").parse().unwrap_or_default();
        let changes = text::plural(count, "change is made", "changes are made");
        format!("{changes}. Queries are answered by them now.")
    });
    let lead = "Zones, records, pools and services of the tenant as one YAML document: for a backup, for review, for another installation.";
    let view = view! {
        {settings_head(lead, "/configuration")}
        {done(said.as_deref())}
        {match report {
            Some(report) => preview(&form, &report, error.clone(), stale).into_any(),
            None => export().into_any(),
        }}
        {if writes {
            editor(form, error).into_any()
        } else {
            view! {
                <p class="hint">
                    "To take over a document, an account needs zones:write, pools:write and services:write."
                </p>
            }
                .into_any()
        }}
    };
    Ok(Page {
        title: "Export and import".to_owned(),
        view: view.into_any(),
    })
}

fn export() -> impl IntoView {
    view! {
        <section class="panel" aria-labelledby="export">
            <header class="panel-head">
                <h2 id="export">"Export"</h2>
                <a class="button" rel="external" download="gslb.yaml" href="/api/v1/config/export">
                    "Download the configuration"
                </a>
            </header>
            <p class="hint">
                "Without accounts, tokens and licence, and without the keys of signed zones and of TSIG: they stay where they are."
            </p>
        </section>
    }
}

fn editor(form: ConfigForm, error: Option<ApiError>) -> impl IntoView {
    let state = FormState::new::<ConfigForm>(error.clone());
    let area = Area {
        scope: ConfigForm::PARAM,
        name: "text",
        field: "text",
        label: "Document",
        value: form.text,
        rows: 16,
        hint: "YAML or JSON as it is given out. It says everything: what it has not is deleted. Ids are kept, so that a thing with the same id is changed and not made anew",
    };
    view! {
        <section class="panel" aria-labelledby="take">
            <header class="panel-head">
                <h2 id="take">"Import"</h2>
            </header>
            <form class="form" method="post" action=LookAtConfig::url()>
                <Refusal state fields=&["text"] />
                <div class="field only-live">
                    <label for="config-file">"From a file"</label>
                    <input id="config-file" type="file" accept=".yaml,.yml,.json" data-into="config-text" />
                </div>
                {area.view(error.as_ref())}
                <div class="form-end">
                    <button class="button primary" type="submit">
                        "Show what it changes"
                    </button>
                    <span class="hint">"Nothing is changed yet."</span>
                </div>
            </form>
        </section>
    }
}

fn preview(
    form: &ConfigForm,
    report: &ConfigReport,
    error: Option<ApiError>,
    stale: bool,
) -> impl IntoView + use<> {
    let state = FormState::new::<ConfigForm>(error);
    let count = |action: &str| {
        let count = report
            .changes
            .iter()
            .filter(|change| change.action == action)
            .count();
        text::count(count as u64)
    };
    let sum = format!(
        "{} created, {} updated, {} deleted, {} as they are",
        count("created"),
        count("updated"),
        count("deleted"),
        text::count(report.unchanged),
    );
    let more = report.changes.len().saturating_sub(SHOWN);
    let rows = report.changes.iter().take(SHOWN).map(row).collect_view();
    let stale = stale.then(|| {
        view! {
            <p class="notice" role="alert">
                <b>"Something was changed since you looked. "</b>
                "This is what the document changes now; nothing was taken over."
            </p>
        }
    });
    let body = if report.changes.is_empty() {
        view! {
            <p>"Nothing: everything is like that already."</p>
            <div class="form-end">
                <a class="button" href=PAGE>
                    "Back"
                </a>
            </div>
        }
        .into_any()
    } else {
        let take = format!(
            "Take over {}",
            text::plural(report.changes.len() as u64, "change", "changes")
        );
        view! {
            <form method="post" action=ImportConfig::url()>
                <input type="hidden" name="form[mark]" value=form.mark.clone() />
                <input type="hidden" name="form[revision]" value=form.revision.clone() />
                <div class="form-end">
                    <button class="button primary" type="submit">
                        {take}
                    </button>
                    <a class="button" href=PAGE>
                        "Cancel"
                    </a>
                    <span class="hint">"All of them, or none."</span>
                </div>
            </form>
            <div class="table-frame">
                <table class="stacking">
                    <thead>
                        <tr>
                            <th scope="col">"Name"</th>
                            <th scope="col">"What"</th>
                            <th scope="col">"Change"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            {(more > 0)
                .then(|| view! { <p class="hint">{format!("and {}", text::plural(more as u64, "other", "others"))}</p> })}
        }
        .into_any()
    };
    view! {
        {stale}
        <section class="panel" aria-labelledby="look">
            <header class="panel-head">
                <h2 id="look">"What the document changes"</h2>
                <span class="hint">{sum}</span>
            </header>
            <Refusal state fields=&[] />
            {body}
        </section>
    }
}

fn row(change: &ConfigChange) -> impl IntoView + use<> {
    let change = change.clone();
    let kind = change.action.clone();
    view! {
        <tr>
            <th scope="row">{change.name}</th>
            <td data-label="What">
                <span>
                    <span class="badge" data-change=kind>
                        {change.action}
                    </span>
                    " "
                    {change.object}
                </span>
            </td>
            <td data-label="Change">
                <Diff before=change.before after=change.after />
            </td>
        </tr>
    }
}
