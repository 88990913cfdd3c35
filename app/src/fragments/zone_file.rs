//! A zone as a file: taken over after a look at what that would change, and given out.

use super::parts::{Area, may_write, zone_head};
use super::{Asked, Page};
use crate::components::field::{Refusal, SelectField};
use crate::components::text;
use crate::failure::Failure;
use crate::form::{Form, FormState, Sent, finish, given, revision};
use gslb_api_types::model::{RecordDraft, ZoneId};
use gslb_api_types::{ApiError, ImportMode, ImportQuery, ImportReport, ZoneView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use serde::{Deserialize, Serialize};

/// A zone file to look at, or one that was looked at to take over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportForm {
    /// The zone.
    pub zone: String,
    /// `merge` or `replace`.
    pub mode: String,
    /// The file; it is too long for an address and is kept under `mark`.
    #[serde(skip_serializing)]
    pub text: String,
    /// Under which the file is kept.
    pub mark: String,
    /// The revision that the look was made at.
    pub revision: String,
}

impl Form for ImportForm {
    const PARAM: &'static str = "import";
}

impl ImportForm {
    fn query(&self, dry_run: bool) -> ImportQuery {
        let mode = match self.mode.as_str() {
            "replace" => ImportMode::Replace,
            _ => ImportMode::Merge,
        };
        ImportQuery { mode, dry_run }
    }
}

fn page_of(zone: &str) -> String {
    format!("/zones/{zone}/file")
}

/// Keeps a file for a look at what it would change.
#[server(prefix = "/rpc", endpoint = "look-at-zone-file")]
pub async fn look_at_zone_file(form: ImportForm) -> Sent {
    let mut form = form;
    let kept = match given(&form.text) {
        None => Err(crate::form::invalid(vec![
            gslb_api_types::model::ValidationError::new(
                "text",
                gslb_api_types::model::ErrorCode::Required,
                "paste a zone file, or choose one",
            ),
        ])),
        Some(_) => crate::api::backend()?.keep(std::mem::take(&mut form.text)),
    };
    let page = page_of(&form.zone);
    let next = match &kept {
        Ok(mark) => text::link(&page, &[("look", mark), ("mode", &form.mode)]),
        Err(_) => String::new(),
    };
    finish(kept.map(drop), &form, &next, &page)
}

/// Takes over a file that was looked at.
#[server(prefix = "/rpc", endpoint = "import-zone")]
pub async fn import_zone(form: ImportForm) -> Sent {
    let backend = crate::api::backend()?;
    let result = match (
        crate::api::id::<ZoneId>("zone", &form.zone),
        backend.kept(&form.mark),
    ) {
        (Err(error), _) | (_, Err(error)) => Err(error),
        (Ok(_), Ok(None)) => Err(gone()),
        (Ok(id), Ok(Some(text))) => {
            let known = revision(&form.revision);
            backend.import_zone(id, &text, form.query(false), known).await
        }
    };
    let page = page_of(&form.zone);
    let back = text::link(&page, &[("look", &form.mark), ("mode", &form.mode)]);
    finish(
        result.map(drop),
        &form,
        &format!("/zones/{}?done=imported", form.zone),
        &back,
    )
}

fn gone() -> ApiError {
    ApiError::new(
        "not_found",
        "The file is not kept any longer: choose it, or paste it, once more.",
    )
}

/// The page: the form, or what a file would change.
pub async fn page(asked: &Asked, id: &str) -> Result<Page, Failure> {
    let backend = crate::api::backend()?;
    let id = crate::api::id("zone", id)?;
    let zone = backend.zone(id).await?.value;
    let draft = asked.draft::<ImportForm>();
    let mark = asked.param("look");
    let mut form = ImportForm {
        zone: id.to_string(),
        mode: asked.param("mode"),
        mark: mark.clone(),
        ..ImportForm::default()
    };
    let mut error = draft.and_then(|draft| draft.error);
    let mut report = None;
    if !mark.is_empty() {
        match backend.kept(&mark)? {
            None => error = Some(gone()),
            Some(text) => {
                match backend.import_zone(id, &text, form.query(true), None).await {
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
    let writes = may_write(asked);
    let view = view! {
        {zone_head(&zone, "/file")}
        {report.map(|report| preview(&form, &report, error.clone()))}
        {export(&zone)}
        {writes.then(|| editor(form, error))}
    };
    Ok(Page {
        title: zone.name.to_string(),
        view: view.into_any(),
    })
}

fn export(zone: &ZoneView) -> impl IntoView + use<> {
    view! {
        <section class="panel" aria-labelledby="export">
            <header class="panel-head">
                <h2 id="export">"Export"</h2>
                <a
                    class="button small"
                    rel="external"
                    download=format!("{}zone", zone.name)
                    href=format!("/api/v1/zones/{}/export", zone.id)
                >
                    "Download the zone file"
                </a>
            </header>
            <p class="hint">
                "The zone with its static records. Services are named in comments: what they answer depends on who asks."
            </p>
        </section>
    }
}

fn editor(form: ImportForm, error: Option<ApiError>) -> impl IntoView {
    let state = FormState::new::<ImportForm>(error.clone());
    let modes = [
        ("merge", "Add and change; other records stay"),
        ("replace", "Replace: records that the file has not are removed"),
    ];
    let modes = modes
        .map(|(value, text)| (value.to_owned(), text.to_owned()))
        .to_vec();
    let area = Area {
        scope: ImportForm::PARAM,
        name: "text",
        field: "text",
        label: "Zone file",
        value: form.text,
        rows: 14,
        hint: "As in RFC 1035, with $ORIGIN and $TTL. SOA and name servers at the zone's own name are those of the file, if it has them",
    };
    view! {
        <section class="panel" aria-labelledby="take">
            <header class="panel-head">
                <h2 id="take">"Import"</h2>
            </header>
            <form class="form" method="post" action=LookAtZoneFile::url()>
                <input type="hidden" name="form[zone]" value=form.zone />
                <Refusal state fields=&["text"] />
                {area.view(error.as_ref())}
                <div class="form-grid">
                    <div class="field only-live">
                        <label for="import-file">"From a file"</label>
                        <input id="import-file" type="file" data-into="import-text" />
                    </div>
                    <SelectField state name="mode" label="Records that are there" value=form.mode choices=modes />
                </div>
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

/// Sets of each kind that a look shows.
const SHOWN: usize = 200;

fn preview(form: &ImportForm, report: &ImportReport, error: Option<ApiError>) -> impl IntoView + use<> {
    let state = FormState::new::<ImportForm>(error);
    let (added, changed, removed) = (report.added.len(), report.changed.len(), report.removed.len());
    let zone_changes = report.zone_after.is_some();
    let nothing = added + changed + removed == 0 && !zone_changes;
    let sum = format!(
        "{} added, {} changed, {} removed, {} as they are",
        text::count(added as u64),
        text::count(changed as u64),
        text::count(removed as u64),
        text::count(report.unchanged),
    );
    let soa = report
        .zone_before
        .as_ref()
        .zip(report.zone_after.as_ref())
        .map(|(before, after)| {
            let line = |zone: &ZoneView| {
                let servers: Vec<_> = zone.name_servers.iter().map(ToString::to_string).collect();
                format!(
                    "SOA {} {} {} {} {} {} {}; NS {}",
                    zone.soa.mname,
                    zone.soa.rname,
                    zone.serial,
                    zone.soa.refresh,
                    zone.soa.retry,
                    zone.soa.expire,
                    zone.soa.minimum,
                    servers.join(" "),
                )
            };
            pair("@".to_owned(), vec![line(before)], vec![line(after)])
        });
    let rows = report
        .added
        .iter()
        .take(SHOWN)
        .map(|set| pair(owner(set), Vec::new(), texts(set)))
        .chain(
            report
                .changed
                .iter()
                .take(SHOWN)
                .map(|change| pair(owner(&change.after), texts(&change.before), texts(&change.after))),
        )
        .chain(
            report
                .removed
                .iter()
                .take(SHOWN)
                .map(|set| pair(owner(set), texts(set), Vec::new())),
        )
        .collect_view();
    let more = [added, changed, removed]
        .map(|count| count.saturating_sub(SHOWN))
        .iter()
        .sum::<usize>();
    let left_out = report
        .left_out
        .iter()
        .map(|line| view! { <li>{line.clone()}</li> })
        .collect_view();
    view! {
        <section class="panel" aria-labelledby="look">
            <header class="panel-head">
                <h2 id="look">"What the file changes"</h2>
                <span class="hint">{sum}</span>
            </header>
            <Refusal state fields=&[] />
            {(!report.left_out.is_empty())
                .then(|| {
                    view! {
                        <details>
                            <summary>
                                {text::plural(report.left_out.len() as u64, "line is left out", "lines are left out")}
                            </summary>
                            <ul>{left_out}</ul>
                        </details>
                    }
                })}
            {if nothing {
                view! { <p>"Nothing: the zone is like that already."</p> }.into_any()
            } else {
                view! {
                    <div class="table-frame">
                        <table class="stacking changes">
                            <thead>
                                <tr>
                                    <th scope="col">"Name and type"</th>
                                    <th scope="col">"Change"</th>
                                </tr>
                            </thead>
                            <tbody>{soa} {rows}</tbody>
                        </table>
                    </div>
                    {(more > 0).then(|| view! { <p class="hint">{format!("and {}", text::plural(more as u64, "other", "others"))}</p> })}
                    <form method="post" action=ImportZone::url()>
                        <input type="hidden" name="form[zone]" value=form.zone.clone() />
                        <input type="hidden" name="form[mode]" value=form.mode.clone() />
                        <input type="hidden" name="form[mark]" value=form.mark.clone() />
                        <input type="hidden" name="form[revision]" value=form.revision.clone() />
                        <div class="form-end">
                            <button class="button primary" type="submit">
                                "Take it over"
                            </button>
                            <a class="button" href=page_of(&form.zone)>
                                "Cancel"
                            </a>
                        </div>
                    </form>
                }
                    .into_any()
            }}
        </section>
    }
}

fn owner(set: &RecordDraft) -> String {
    let part = |text: &Option<String>| text.clone().unwrap_or_default();
    format!("{} {}", part(&set.name), part(&set.rtype))
}

/// The records of a set with their TTL.
fn texts(set: &RecordDraft) -> Vec<String> {
    let ttl = set.ttl.map(|ttl| format!("{ttl} s  ")).unwrap_or_default();
    set.data
        .iter()
        .flatten()
        .map(|data| format!("{ttl}{data}"))
        .collect()
}

/// A row: what goes, marked by a minus, and what comes, marked by a plus. What is in both is not shown.
fn pair(owner: String, before: Vec<String>, after: Vec<String>) -> impl IntoView {
    let line = |mark: &'static str, text: &String| {
        let class = if mark == "+" { "diff-new" } else { "diff-old" };
        view! {
            <div class=class>
                <span>{mark}</span>
                " "
                {text.clone()}
            </div>
        }
    };
    let gone: Vec<_> = before
        .iter()
        .filter(|text| !after.contains(text))
        .map(|text| line("−", text))
        .collect();
    let new: Vec<_> = after
        .iter()
        .filter(|text| !before.contains(text))
        .map(|text| line("+", text))
        .collect();
    view! {
        <tr>
            <th scope="row" class="mono">
                {owner}
            </th>
            <td class="mono" data-label="Change">
                <div class="record-list">{gone} {new}</div>
            </td>
        </tr>
    }
}
