//! The static records of a zone: the table, and the form of one set.

use super::parts::{Area, confirm, conflict, done, lines, may_write, pager, search, sort_head, zone_head};
use super::{Asked, Page};
use crate::components::empty::Empty;
use crate::components::field::{Refusal, TextField};
use crate::components::text;
use crate::failure::Failure;
use crate::form::{Form, FormState, Sent, finish, given, invalid, revision, whole_number};
use gslb_api_types::model::{RecordDraft, RecordId, ValidationError, ZoneId};
use gslb_api_types::{ApiError, RecordView, Stored, ZoneView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use serde::{Deserialize, Serialize};

/// Types that are offered while one types; any other can be written too.
const TYPES: [&str; 17] = [
    "A", "AAAA", "CAA", "CNAME", "DNAME", "DS", "HTTPS", "MX", "NAPTR", "NS", "PTR", "SRV", "SSHFP", "SVCB",
    "TLSA", "TXT", "URI",
];

/// A set of records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordForm {
    /// The zone.
    pub zone: String,
    /// The set; empty for a new one.
    pub record: String,
    /// The revision that the form was made from.
    pub revision: String,
    /// Owner name.
    pub name: String,
    /// Type.
    #[serde(rename = "type")]
    pub rtype: String,
    /// Seconds.
    pub ttl: String,
    /// Data of each record, one a line.
    pub data: String,
}

impl Form for RecordForm {
    const PARAM: &'static str = "record";
}

impl RecordForm {
    fn of(zone: &ZoneView, stored: Option<&Stored<RecordView>>) -> Self {
        let Some(stored) = stored else {
            return Self {
                zone: zone.id.to_string(),
                ..Self::default()
            };
        };
        let set = &stored.value;
        Self {
            zone: zone.id.to_string(),
            record: set.id.to_string(),
            revision: stored.revision.to_string(),
            name: relative(&set.name.to_string(), &zone.name.to_string()),
            rtype: set.rtype.to_string(),
            ttl: set.ttl.to_string(),
            data: set.data.join("\n"),
        }
    }

    fn draft(&self) -> Result<RecordDraft, Vec<ValidationError>> {
        let mut problems = Vec::new();
        let draft = RecordDraft {
            name: given(&self.name),
            rtype: given(&self.rtype),
            ttl: whole_number(&mut problems, "ttl", &self.ttl),
            data: Some(lines(&self.data)),
        };
        if problems.is_empty() {
            Ok(draft)
        } else {
            Err(problems)
        }
    }

    fn page(&self) -> String {
        let record = if self.record.is_empty() {
            "new"
        } else {
            &self.record
        };
        format!("/zones/{}/records/{record}", self.zone)
    }
}

/// Which set to delete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordTarget {
    /// The zone.
    pub zone: String,
    /// The set.
    pub record: String,
}

impl Form for RecordTarget {
    const PARAM: &'static str = "delete";
}

/// Saves a set.
#[server(prefix = "/rpc", endpoint = "save-record")]
pub async fn save_record(form: RecordForm) -> Sent {
    let zone = crate::api::id::<ZoneId>("zone", &form.zone);
    let result = match (zone, form.draft()) {
        (Err(error), _) => Err(error),
        (_, Err(problems)) => Err(invalid(problems)),
        (Ok(zone), Ok(draft)) if form.record.is_empty() => {
            crate::api::backend()?.create_record(zone, draft).await
        }
        (Ok(zone), Ok(draft)) => match crate::api::id("record set", &form.record) {
            Ok(id) => {
                let backend = crate::api::backend()?;
                let known = revision(&form.revision);
                backend.update_record(zone, id, draft, known).await
            }
            Err(error) => Err(error),
        },
    };
    let next = format!("/zones/{}?done=saved", form.zone);
    finish(result.map(drop), &form, &next, &form.page())
}

/// Deletes a set.
#[server(prefix = "/rpc", endpoint = "delete-record")]
pub async fn delete_record(form: RecordTarget) -> Sent {
    let zone = crate::api::id::<ZoneId>("zone", &form.zone);
    let result = match (zone, crate::api::id::<RecordId>("record set", &form.record)) {
        (Ok(zone), Ok(id)) => crate::api::backend()?.delete_record(zone, id).await,
        (Err(error), _) | (_, Err(error)) => Err(error),
    };
    let next = format!("/zones/{}?done=deleted", form.zone);
    let back = format!("/zones/{}/records/{}", form.zone, form.record);
    finish(result, &form, &next, &back)
}

/// A name as people write it inside a zone: `www`, `@` for the zone itself.
fn relative(name: &str, apex: &str) -> String {
    if name == apex {
        return "@".to_owned();
    }
    name.strip_suffix(apex)
        .and_then(|rest| rest.strip_suffix('.'))
        .unwrap_or(name)
        .to_owned()
}

/// The table.
pub async fn list(asked: &Asked, id: &str) -> Result<Page, Failure> {
    let backend = crate::api::backend()?;
    let id = crate::api::id("zone", id)?;
    let zone = backend.zone(id).await?.value;
    let page = backend.records(id, asked.list()).await?;
    let said = match asked.param("done").as_str() {
        "created" => Some("The zone is created. Its name servers must be delegated to by the zone above."),
        "saved" => Some("Saved. Queries are answered by it now."),
        "deleted" => Some("The record set is deleted."),
        "imported" => Some("The zone file is taken over. Queries are answered by it now."),
        _ => None,
    };
    let add = may_write(asked).then(|| {
        view! {
            <a class="button primary" href=format!("/zones/{id}/records/new")>
                "Add a record set"
            </a>
        }
    });
    let view = view! {
        {zone_head(&zone, "")}
        {done(said)}
        <div class="toolbar">{search(asked, "Search by name, type and data")} {add}</div>
        {table(asked, &zone, &page)}
    };
    Ok(Page {
        title: zone.name.to_string(),
        view: view.into_any(),
    })
}

fn table(asked: &Asked, zone: &ZoneView, page: &gslb_api_types::Page<Stored<RecordView>>) -> AnyView {
    let searched = asked.param("q");
    let (all, file) = (asked.path.clone(), format!("{}/file", asked.path));
    if page.items.is_empty() && !searched.is_empty() {
        return view! {
            <Empty heading="Nothing found">
                <p>{format!("No record set has \u{201c}{searched}\u{201d} in its name, type or data.")}</p>
                <a href=all>"Show all record sets"</a>
            </Empty>
        }
        .into_any();
    }
    if page.items.is_empty() {
        return view! {
            <Empty heading="No static records">
                <p>
                    "Services in the zone answer for their own names. Other names, such as mail servers, texts for verification and addresses of name servers, are record sets: add them one by one, or take over a zone file."
                </p>
                <a href=file>"Zone file"</a>
            </Empty>
        }
        .into_any();
    }
    let apex = zone.name.to_string();
    let rows = page.items.iter().map(|set| row(&asked.path, &apex, &set.value));
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        {sort_head(asked, "name", "Name")} {sort_head(asked, "type", "Type")}
                        <th scope="col" class="end">
                            "TTL"
                        </th>
                        <th scope="col">"Data"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
        {pager(asked, page, ("record set", "record sets"))}
    }
    .into_any()
}

/// Records of a set that the table shows.
const SHOWN: usize = 4;

fn row(path: &str, apex: &str, set: &RecordView) -> impl IntoView + use<> {
    let more = set.data.len().saturating_sub(SHOWN);
    let data = set
        .data
        .iter()
        .take(SHOWN)
        .map(|data| view! { <div class="record-data">{data.clone()}</div> })
        .collect_view();
    let name = relative(&set.name.to_string(), apex);
    view! {
        <tr>
            <th scope="row" class="mono">
                <a href=format!("{path}/records/{}", set.id) aria-label=format!("{name} {}", set.rtype)>
                    {name.clone()}
                </a>
            </th>
            <td data-label="Type">{set.rtype.to_string()}</td>
            <td class="num end" data-label="TTL">
                {format!("{} s", set.ttl)}
            </td>
            <td class="mono" data-label="Data">
                <div class="record-list">
                    {data}
                    {(more > 0)
                        .then(|| view! { <div class="hint">{format!("and {}", text::plural(more as u64, "more", "more"))}</div> })}
                </div>
            </td>
        </tr>
    }
}

/// The form of one set, or of a new one.
pub async fn edit(asked: &Asked, zone: &str, record: &str) -> Result<Page, Failure> {
    let backend = crate::api::backend()?;
    let id = crate::api::id("zone", zone)?;
    let zone = backend.zone(id).await?.value;
    let stored = match record {
        "new" => None,
        text => Some(backend.record(id, crate::api::id("record set", text)?).await?),
    };
    let writes = may_write(asked);
    let title = match &stored {
        None => "New record set".to_owned(),
        Some(set) => format!("{} {}", set.value.name, set.value.rtype),
    };
    let fresh = RecordForm::of(&zone, stored.as_ref());
    let (mut form, error) = match asked.draft::<RecordForm>() {
        Some(draft) => (draft.form, draft.error),
        None => (fresh.clone(), None),
    };
    let both = vec![
        ("Name", fresh.name, form.name.clone()),
        ("Type", fresh.rtype, form.rtype.clone()),
        ("TTL", fresh.ttl, form.ttl.clone()),
        ("Data", fresh.data, lines(&form.data).join("\n")),
    ];
    let conflict = conflict(error.as_ref(), both);
    let error = error.filter(|_| conflict.is_none());
    if conflict.is_some() {
        form.revision = fresh.revision;
    }
    let delete_form = stored
        .as_ref()
        .filter(|_| writes)
        .map(|set| delete(asked, &zone, &set.value));
    let view = view! {
        {zone_head(&zone, "records")}
        <section class="panel" aria-labelledby="record-form">
            <header class="panel-head">
                <h2 id="record-form">{title.clone()}</h2>
                {delete_form}
            </header>
            {conflict}
            {editor(form, error.as_ref(), writes)}
        </section>
    };
    Ok(Page {
        title,
        view: view.into_any(),
    })
}

fn editor(form: RecordForm, error: Option<&ApiError>, writes: bool) -> impl IntoView + use<> {
    let state = FormState::new::<RecordForm>(error.cloned());
    let is_bad = error.is_some_and(|error| error.field("type").is_some());
    let problem = error.and_then(|error| error.field("type")).map(str::to_owned);
    let cancel = format!("/zones/{}", form.zone);
    let data = Area {
        scope: RecordForm::PARAM,
        name: "data",
        field: "data",
        label: "Data",
        rows: form.data.lines().count().clamp(3, 16),
        value: form.data,
        hint: "One record a line, as in a zone file: 10 mail.example.com. A name without a dot at its end is below the zone. Texts with spaces stand in quotes",
    };
    view! {
        <form class="form" method="post" action=SaveRecord::url() novalidate>
            <input type="hidden" name="form[zone]" value=form.zone />
            <input type="hidden" name="form[record]" value=form.record />
            <input type="hidden" name="form[revision]" value=form.revision />
            <Refusal state fields=&["name", "type", "ttl", "data", "data["] />
            <div class="form-grid">
                <TextField
                    state
                    name="name"
                    label="Name"
                    value=form.name
                    required=true
                    mono=true
                    hint="Below the zone: www, or @ for the zone itself"
                />
                <div class="field" class:field-bad=is_bad>
                    <label for="record-type">
                        "Type" <span class="needed">"required"</span>
                    </label>
                    <input
                        id="record-type"
                        name="form[type]"
                        class="mono"
                        value=form.rtype
                        list="record-types"
                        autocomplete="off"
                        spellcheck="false"
                        autocapitalize="characters"
                        aria-required="true"
                        aria-invalid=is_bad.then_some("true")
                        aria-describedby=if is_bad { "record-type-problem" } else { "record-type-hint" }
                    />
                    <datalist id="record-types">
                        {TYPES.map(|name| view! { <option value=name></option> }).collect_view()}
                    </datalist>
                    <p class="hint" id="record-type-hint">
                        "A, MX, TXT and the others, or TYPE and its number"
                    </p>
                    <p class="problem" id="record-type-problem" hidden=!is_bad>
                        {problem}
                    </p>
                </div>
                <TextField
                    state
                    name="ttl"
                    label="TTL, seconds"
                    value=form.ttl
                    number=true
                    placeholder="3600"
                    hint="How long resolvers may keep it"
                />
            </div>
            {data.view(error)}
            <div class="form-end">
                {writes
                    .then(|| {
                        view! {
                            <button class="button primary" type="submit">
                                "Save"
                            </button>
                        }
                    })}
                <a class="button" href=cancel>
                    "Cancel"
                </a>
            </div>
        </form>
    }
}

fn delete(asked: &Asked, zone: &ZoneView, set: &RecordView) -> impl IntoView + use<> {
    let error = asked.draft::<RecordTarget>().and_then(|draft| draft.error);
    let name = format!("{} {}", set.name, set.rtype);
    let form = view! {
        <form method="post" action=DeleteRecord::url()>
            <input type="hidden" name="form[zone]" value=zone.id.to_string() />
            <input type="hidden" name="form[record]" value=set.id.to_string() />
            <p>
                <span class="mono">{name.clone()}</span>
                " will no longer be answered."
            </p>
            <button class="button danger small" type="submit">
                "Delete the record set"
            </button>
        </form>
    };
    confirm("Delete", &name, true, error, form.into_any())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_written_inside_the_zone() {
        assert_eq!(relative("example.com.", "example.com."), "@");
        assert_eq!(relative("a.b.example.com.", "example.com."), "a.b");
        assert_eq!(relative("other.org.", "example.com."), "other.org.");
        assert_eq!(relative("notexample.com.", "example.com."), "notexample.com.");
    }

    #[test]
    fn empty_lines_are_no_records() {
        let form = RecordForm {
            name: "www".to_owned(),
            rtype: "A".to_owned(),
            data: "192.0.2.1\r\n\r\n  192.0.2.2 \n".to_owned(),
            ..RecordForm::default()
        };
        let data = form.draft().ok().and_then(|draft| draft.data);
        assert_eq!(data, Some(vec!["192.0.2.1".to_owned(), "192.0.2.2".to_owned()]));
        let bad = RecordForm {
            ttl: "soon".to_owned(),
            ..form
        };
        assert_eq!(bad.draft().unwrap_err()[0].field, "ttl");
    }
}
