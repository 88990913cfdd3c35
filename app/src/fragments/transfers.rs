//! Transfers of a zone: who may take it as a whole, and who is told of changes.

use super::parts::{done, may_write, zone_head};
use super::{Asked, Page};
use crate::components::field::Refusal;
use crate::failure::Failure;
use crate::form::{Form, FormState, Sent, finish, given, revision, ticked};
use gslb_api_types::model::{NotifyTargetDraft, TransferDraft, TransferPeerDraft, ZoneId};
use gslb_api_types::{ApiError, ListQuery, Stored, ZoneView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use serde::{Deserialize, Serialize};

/// Empty rows below those that are filled in.
const SPARE: usize = 3;

/// Somebody who may transfer the zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerRow {
    /// Address or network.
    pub network: String,
    /// Name of a key.
    pub key: String,
    /// Ticked or empty.
    pub signer: String,
}

/// Somebody who is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotifyRow {
    /// Address, with a port or without.
    pub address: String,
    /// Name of a key.
    pub key: String,
}

/// Transfers of a zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TransfersForm {
    /// The zone.
    pub zone: String,
    /// The revision that the form was made from.
    pub revision: String,
    /// Who may transfer it.
    pub peers: Vec<PeerRow>,
    /// Who is told.
    pub notify: Vec<NotifyRow>,
}

impl Form for TransfersForm {
    const PARAM: &'static str = "transfers";
}

impl TransfersForm {
    fn of(stored: &Stored<ZoneView>) -> Self {
        let zone = &stored.value;
        let key = |key: &Option<gslb_api_types::model::RecordName>| {
            key.as_ref().map(ToString::to_string).unwrap_or_default()
        };
        let peers = zone.transfer.peers.iter().map(|peer| PeerRow {
            network: peer.network.map(|net| net.to_string()).unwrap_or_default(),
            key: key(&peer.key),
            signer: if peer.signer { "on" } else { "" }.to_owned(),
        });
        let notify = zone.transfer.notify.iter().map(|target| NotifyRow {
            address: target.address.to_string(),
            key: key(&target.key),
        });
        Self {
            zone: zone.id.to_string(),
            revision: stored.revision.to_string(),
            peers: peers.collect(),
            notify: notify.collect(),
        }
    }

    /// Without the rows that nothing was written into, so that problems are numbered as the rows are.
    fn filled(mut self) -> Self {
        self.peers.retain(|row| *row != PeerRow::default());
        self.notify.retain(|row| *row != NotifyRow::default());
        self
    }

    fn draft(&self) -> TransferDraft {
        let peers = self.peers.iter().map(|row| TransferPeerDraft {
            network: given(&row.network),
            key: given(&row.key),
            signer: Some(ticked(&row.signer)),
        });
        let notify = self.notify.iter().map(|row| NotifyTargetDraft {
            address: given(&row.address),
            key: given(&row.key),
        });
        TransferDraft {
            peers: Some(peers.collect()),
            notify: Some(notify.collect()),
        }
    }
}

/// Saves the transfers of a zone.
#[server(prefix = "/rpc", endpoint = "save-transfers")]
pub async fn save_transfers(form: TransfersForm) -> Sent {
    let form = form.filled();
    let saved = match crate::api::id::<ZoneId>("zone", &form.zone) {
        Ok(id) => {
            let patch = serde_json::json!({ "transfer": form.draft() });
            let backend = crate::api::backend()?;
            backend.patch_zone(id, patch, revision(&form.revision)).await
        }
        Err(error) => Err(error),
    };
    let page = format!("/zones/{}/transfers", form.zone);
    finish(saved.map(drop), &form, &format!("{page}?done=saved"), &page)
}

/// The page.
pub async fn page(asked: &Asked, id: &str) -> Result<Page, Failure> {
    let backend = crate::api::backend()?;
    let stored = backend.zone(crate::api::id("zone", id)?).await?;
    let all = ListQuery {
        limit: Some(500),
        ..ListQuery::default()
    };
    let keys = backend.tsig_keys(all).await?.items;
    let keys: Vec<_> = keys.into_iter().map(|key| key.value.name).collect();
    let (form, error) = match asked.draft::<TransfersForm>() {
        Some(draft) => (draft.form, draft.error),
        None => (TransfersForm::of(&stored), None),
    };
    let said = (asked.param("done") == "saved").then_some("Saved. It holds for the next request.");
    let view = view! {
        {zone_head(&stored.value, "/transfers")}
        {done(said)}
        {editor(form, error.as_ref(), &keys, may_write(asked))}
    };
    Ok(Page {
        title: stored.value.name.to_string(),
        view: view.into_any(),
    })
}

fn editor(
    mut form: TransfersForm,
    error: Option<&ApiError>,
    keys: &[String],
    writes: bool,
) -> impl IntoView + use<> {
    let state = FormState::new::<TransfersForm>(error.cloned());
    let (peers, targets) = (form.peers.len() + SPARE, form.notify.len() + SPARE);
    form.peers.resize_with(peers, PeerRow::default);
    form.notify.resize_with(targets, NotifyRow::default);
    let peers = form.peers.iter().enumerate();
    let peers = peers.map(|(at, row)| peer(at, row, error, keys)).collect_view();
    let targets = form.notify.iter().enumerate();
    let targets = targets
        .map(|(at, row)| target(at, row, error, keys))
        .collect_view();
    view! {
        <form class="form" method="post" action=SaveTransfers::url() novalidate>
            <input type="hidden" name="form[zone]" value=form.zone />
            <input type="hidden" name="form[revision]" value=form.revision />
            <Refusal state fields=&["transfer.peers[", "transfer.notify["] />
            <section class="panel" aria-labelledby="peers">
                <header class="panel-head">
                    <h2 id="peers">"Who may transfer the zone"</h2>
                    <a href="/zones/keys">"TSIG keys"</a>
                </header>
                <p class="hint">
                    "By AXFR and IXFR, over TCP: from a network, with a key, or with a key from a network. Nobody, while nothing is here."
                </p>
                <div class="row-list">{peers}</div>
            </section>
            <section class="panel" aria-labelledby="targets">
                <header class="panel-head">
                    <h2 id="targets">"Who is told of changes"</h2>
                </header>
                <p class="hint">"By NOTIFY, when the serial has grown."</p>
                <div class="row-list">{targets}</div>
            </section>
            <div class="form-end">
                {writes
                    .then(|| {
                        view! {
                            <button class="button primary" type="submit">
                                "Save"
                            </button>
                        }
                    })}
                <span class="hint">"Rows that are left empty are left out; there are more after saving."</span>
            </div>
        </form>
    }
}

fn peer(at: usize, row: &PeerRow, error: Option<&ApiError>, keys: &[String]) -> impl IntoView + use<> {
    let number = at + 1;
    let field = format!("transfer.peers[{at}]");
    let problems = problems(error, &field);
    let bad = !problems.is_empty();
    let signer = format!("peer-signer-{at}");
    view! {
        <fieldset class="row-entry" class:field-bad=bad>
            <legend class="unseen">{format!("Peer {number}")}</legend>
            {input(
                format!("form[peers][{at}][network]"),
                format!("Network of peer {number}"),
                &row.network,
                "192.0.2.53 or 192.0.2.0/24",
                bad,
            )}
            {key_choice(format!("form[peers][{at}][key]"), format!("Key of peer {number}"), &row.key, keys)}
            <span class="row-tick">
                <input
                    id=signer.clone()
                    type="checkbox"
                    name=format!("form[peers][{at}][signer]")
                    checked=ticked(&row.signer)
                />
                <label for=signer title="It gets the zone without signatures, also while this server signs it">
                    "Signs the zone itself"
                </label>
            </span>
            {said(problems)}
        </fieldset>
    }
}

fn target(at: usize, row: &NotifyRow, error: Option<&ApiError>, keys: &[String]) -> impl IntoView + use<> {
    let number = at + 1;
    let problems = problems(error, &format!("transfer.notify[{at}]"));
    let bad = !problems.is_empty();
    view! {
        <fieldset class="row-entry" class:field-bad=bad>
            <legend class="unseen">{format!("Target {number}")}</legend>
            {input(
                format!("form[notify][{at}][address]"),
                format!("Address of target {number}"),
                &row.address,
                "192.0.2.53 or [2001:db8::53]:5353",
                bad,
            )}
            {key_choice(format!("form[notify][{at}][key]"), format!("Key of target {number}"), &row.key, keys)}
            {said(problems)}
        </fieldset>
    }
}

fn problems(error: Option<&ApiError>, row: &str) -> Vec<String> {
    let details = error.iter().flat_map(|error| &error.details);
    details
        .filter(|problem| problem.field.starts_with(row))
        .map(|problem| problem.message.clone())
        .collect()
}

fn said(problems: Vec<String>) -> impl IntoView {
    problems
        .into_iter()
        .map(|text| view! { <p class="problem">{text}</p> })
        .collect_view()
}

fn input(name: String, label: String, value: &str, hint: &'static str, bad: bool) -> impl IntoView + use<> {
    view! {
        <input
            class="mono"
            name=name
            value=value.to_owned()
            placeholder=hint
            aria-label=label
            aria-invalid=bad.then_some("true")
            autocomplete="off"
            spellcheck="false"
        />
    }
}

/// The keys to choose from; one that is named and not there stays, and is refused when it is sent.
fn key_choice(name: String, label: String, value: &str, keys: &[String]) -> impl IntoView + use<> {
    let mut names: Vec<String> = keys.to_vec();
    if !value.is_empty() && !names.iter().any(|name| name == value) {
        names.push(value.to_owned());
    }
    let choices = names
        .into_iter()
        .map(|name| {
            let selected = name == value;
            view! {
                <option value=name.clone() selected=selected>
                    {name.clone()}
                </option>
            }
        })
        .collect_view();
    view! {
        <select name=name aria-label=label>
            <option value="">"No key"</option>
            {choices}
        </select>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_left_empty_are_left_out() {
        let form = TransfersForm {
            peers: vec![
                PeerRow::default(),
                PeerRow {
                    network: "192.0.2.53".to_owned(),
                    ..PeerRow::default()
                },
            ],
            notify: vec![NotifyRow::default()],
            ..TransfersForm::default()
        };
        let draft = form.filled().draft();
        let peers = draft.peers.unwrap_or_default();
        assert_eq!(peers.len(), 1);
        assert_eq!(peers[0].network.as_deref(), Some("192.0.2.53"));
        assert_eq!(draft.notify, Some(Vec::new()));
    }
}
