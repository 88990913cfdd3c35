//! SOA and name servers of a zone, and its end.

use super::parts::{Area, Both, confirm, conflict, done, lines, may_write, zone_head};
use super::{Asked, Page};
use crate::components::field::{Refusal, TextField};
use crate::failure::Failure;
use crate::form::{Form, FormState, Sent, finish, given, invalid, revision, whole_number};
use gslb_api_types::model::{ValidationError, ZoneDraft, ZoneId};
use gslb_api_types::{ApiError, Stored, ZoneView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use serde::{Deserialize, Serialize};

/// A zone that is there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ZoneSettingsForm {
    /// The zone.
    pub zone: String,
    /// The revision that the form was made from.
    pub revision: String,
    /// The apex.
    pub name: String,
    /// Primary name server.
    pub mname: String,
    /// Responsible mailbox.
    pub rname: String,
    /// Name servers, one a line.
    pub name_servers: String,
    /// Seconds, as all that follow.
    pub refresh: String,
    /// Of secondaries.
    pub retry: String,
    /// Of secondaries.
    pub expire: String,
    /// Negative TTL.
    pub minimum: String,
    /// TTL of the SOA.
    pub soa_ttl: String,
    /// TTL of the NS set.
    pub ns_ttl: String,
}

impl Form for ZoneSettingsForm {
    const PARAM: &'static str = "zone";
}

impl ZoneSettingsForm {
    fn of(stored: &Stored<ZoneView>) -> Self {
        let zone = &stored.value;
        let servers: Vec<_> = zone.name_servers.iter().map(ToString::to_string).collect();
        Self {
            zone: zone.id.to_string(),
            revision: stored.revision.to_string(),
            name: zone.name.to_string(),
            mname: zone.soa.mname.to_string(),
            rname: zone.soa.rname.to_string(),
            name_servers: servers.join("\n"),
            refresh: zone.soa.refresh.to_string(),
            retry: zone.soa.retry.to_string(),
            expire: zone.soa.expire.to_string(),
            minimum: zone.soa.minimum.to_string(),
            soa_ttl: zone.soa.ttl.to_string(),
            ns_ttl: zone.ns_ttl.to_string(),
        }
    }

    /// What changes: an empty field takes its default. Transfers have a page of their own.
    fn patch(&self) -> Result<serde_json::Value, Vec<ValidationError>> {
        let mut problems = Vec::new();
        let mut number = |field: &str, text: &str| whole_number(&mut problems, field, text);
        let servers = lines(&self.name_servers);
        let draft = ZoneDraft {
            name: given(&self.name),
            mname: given(&self.mname),
            rname: given(&self.rname),
            refresh: number("refresh", &self.refresh),
            retry: number("retry", &self.retry),
            expire: number("expire", &self.expire),
            minimum: number("minimum", &self.minimum),
            soa_ttl: number("soaTtl", &self.soa_ttl),
            ns_ttl: number("nsTtl", &self.ns_ttl),
            name_servers: (!servers.is_empty()).then_some(servers),
            transfer: None,
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut patch = serde_json::to_value(draft).unwrap_or_default();
        if let Some(fields) = patch.as_object_mut() {
            fields.remove("transfer");
        }
        Ok(patch)
    }
}

/// Which zone to delete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ZoneTarget {
    /// The zone.
    pub zone: String,
}

impl Form for ZoneTarget {
    const PARAM: &'static str = "delete";
}

/// Saves SOA and name servers.
#[server(prefix = "/rpc", endpoint = "save-zone")]
pub async fn save_zone(form: ZoneSettingsForm) -> Sent {
    let saved = match (crate::api::id::<ZoneId>("zone", &form.zone), form.patch()) {
        (Err(error), _) => Err(error),
        (_, Err(problems)) => Err(invalid(problems)),
        (Ok(id), Ok(patch)) => {
            let backend = crate::api::backend()?;
            backend.patch_zone(id, patch, revision(&form.revision)).await
        }
    };
    let page = format!("/zones/{}/settings", form.zone);
    finish(saved.map(drop), &form, &format!("{page}?done=saved"), &page)
}

/// Deletes a zone.
#[server(prefix = "/rpc", endpoint = "delete-zone")]
pub async fn delete_zone(form: ZoneTarget) -> Sent {
    let result = match crate::api::id("zone", &form.zone) {
        Ok(id) => crate::api::backend()?.delete_zone(id).await,
        Err(error) => Err(error),
    };
    let back = format!("/zones/{}/settings", form.zone);
    finish(result, &form, "/zones?done=deleted", &back)
}

/// The page.
pub async fn page(asked: &Asked, id: &str) -> Result<Page, Failure> {
    let stored = crate::api::backend()?.zone(crate::api::id("zone", id)?).await?;
    let zone = stored.value.clone();
    let name = zone.name.to_string();
    let said = (asked.param("done") == "saved").then_some("Saved. Queries are answered by it now.");
    let body = if may_write(asked) {
        editor(asked, &stored).into_any()
    } else {
        facts(&zone).into_any()
    };
    let view = view! {
        {zone_head(&zone, "/settings")}
        {done(said)}
        {body}
    };
    Ok(Page {
        title: name,
        view: view.into_any(),
    })
}

fn facts(zone: &ZoneView) -> impl IntoView + use<> {
    let servers: Vec<_> = zone.name_servers.iter().map(ToString::to_string).collect();
    let rows = [
        ("Name servers", servers.join(", ")),
        ("Primary name server", zone.soa.mname.to_string()),
        ("Responsible mailbox", zone.soa.rname.to_string()),
        ("Refresh", format!("{} s", zone.soa.refresh)),
        ("Retry", format!("{} s", zone.soa.retry)),
        ("Expire", format!("{} s", zone.soa.expire)),
        ("Negative TTL", format!("{} s", zone.soa.minimum)),
        ("TTL of the SOA", format!("{} s", zone.soa.ttl)),
        ("TTL of the NS set", format!("{} s", zone.ns_ttl)),
    ];
    let rows = rows.map(|(name, value)| {
        view! {
            <div>
                <dt>{name}</dt>
                <dd class="mono">{value}</dd>
            </div>
        }
    });
    view! { <dl class="facts facts-panel">{rows.collect_view()}</dl> }
}

fn editor(asked: &Asked, stored: &Stored<ZoneView>) -> impl IntoView + use<> {
    let fresh = ZoneSettingsForm::of(stored);
    let (mut form, error) = match asked.draft::<ZoneSettingsForm>() {
        Some(draft) => (draft.form, draft.error),
        None => (fresh.clone(), None),
    };
    let conflict = conflict(error.as_ref(), both(&fresh, &form));
    let error = error.filter(|_| conflict.is_none());
    if conflict.is_some() {
        form.revision = fresh.revision;
    }
    let state = FormState::new::<ZoneSettingsForm>(error.clone());
    let fields = &[
        "name",
        "mname",
        "rname",
        "refresh",
        "retry",
        "expire",
        "minimum",
        "soaTtl",
        "nsTtl",
        "nameServers",
        "nameServers[",
    ];
    let servers = Area {
        scope: ZoneSettingsForm::PARAM,
        name: "name_servers",
        field: "nameServers",
        label: "Name servers",
        value: form.name_servers,
        rows: 3,
        hint: "One a line; empty: the primary alone. Those that the parent delegates to",
    };
    view! {
        <section class="panel" aria-labelledby="soa">
            <header class="panel-head">
                <h2 id="soa">"SOA and name servers"</h2>
            </header>
            <form class="form" method="post" action=SaveZone::url() novalidate>
                <input type="hidden" name="form[zone]" value=form.zone />
                <input type="hidden" name="form[revision]" value=form.revision />
                {conflict}
                <Refusal state fields=fields />
                <div class="form-grid">
                    <TextField state name="name" label="Zone" value=form.name required=true mono=true />
                    <TextField
                        state
                        name="mname"
                        label="Primary name server"
                        value=form.mname
                        mono=true
                        hint="Default: ns1 below the zone"
                    />
                    {servers.view(error.as_ref())}
                    <TextField
                        state
                        name="rname"
                        label="Responsible mailbox"
                        value=form.rname
                        mono=true
                        hint="With its @, or as a name. Default: hostmaster at the zone"
                    />
                    <TextField
                        state
                        name="minimum"
                        label="Negative TTL, seconds"
                        value=form.minimum
                        number=true
                        placeholder="60"
                        hint="How long resolvers remember that a name has no answer"
                    />
                    <TextField
                        state
                        name="ns_ttl"
                        label="TTL of the NS set, seconds"
                        value=form.ns_ttl
                        number=true
                        placeholder="3600"
                    />
                    <TextField
                        state
                        name="soa_ttl"
                        label="TTL of the SOA, seconds"
                        value=form.soa_ttl
                        number=true
                        placeholder="3600"
                    />
                    <TextField
                        state
                        name="refresh"
                        label="Refresh, seconds"
                        value=form.refresh
                        number=true
                        placeholder="7200"
                        hint="How often secondaries ask for a new serial"
                    />
                    <TextField
                        state
                        name="retry"
                        label="Retry, seconds"
                        value=form.retry
                        number=true
                        placeholder="900"
                        hint="How soon they ask again when that failed"
                    />
                    <TextField
                        state
                        name="expire"
                        label="Expire, seconds"
                        value=form.expire
                        number=true
                        placeholder="1209600"
                        hint="When they stop answering without having heard of this server"
                    />
                </div>
                <div class="form-end">
                    <button class="button primary" type="submit">
                        "Save"
                    </button>
                    {delete_hint()}
                </div>
            </form>
        </section>
        {delete(asked, &stored.value)}
    }
}

/// What is stored now beside what was typed.
fn both(fresh: &ZoneSettingsForm, form: &ZoneSettingsForm) -> Vec<Both> {
    let servers = |form: &ZoneSettingsForm| lines(&form.name_servers).join("\n");
    let pair = |label, now: &str, typed: &str| (label, now.to_owned(), typed.to_owned());
    vec![
        pair("Zone", &fresh.name, &form.name),
        pair("Primary name server", &fresh.mname, &form.mname),
        pair("Name servers", &servers(fresh), &servers(form)),
        pair("Responsible mailbox", &fresh.rname, &form.rname),
        pair("Negative TTL", &fresh.minimum, &form.minimum),
        pair("TTL of the NS set", &fresh.ns_ttl, &form.ns_ttl),
        pair("TTL of the SOA", &fresh.soa_ttl, &form.soa_ttl),
        pair("Refresh", &fresh.refresh, &form.refresh),
        pair("Retry", &fresh.retry, &form.retry),
        pair("Expire", &fresh.expire, &form.expire),
    ]
}

fn delete_hint() -> impl IntoView {
    view! { <span class="hint">"The serial is kept by the server: it grows with each change."</span> }
}

fn delete(asked: &Asked, zone: &ZoneView) -> impl IntoView + use<> {
    let error: Option<ApiError> = asked.draft::<ZoneTarget>().and_then(|draft| draft.error);
    let name = zone.name.to_string();
    let form = view! {
        <form method="post" action=DeleteZone::url()>
            <input type="hidden" name="form[zone]" value=zone.id.to_string() />
            <p>
                "The records of " <span class="mono">{name.clone()}</span>
                " go with it, and names in it that do not exist are refused. Services in it stay, and are answered with a made-up SOA."
            </p>
            <button class="button danger small" type="submit">
                "Delete the zone"
            </button>
        </form>
    };
    view! {
        <section class="panel" aria-labelledby="end">
            <header class="panel-head">
                <h2 id="end">"Delete the zone"</h2>
            </header>
            {confirm("Delete", &name, false, error, form.into_any())}
        </section>
    }
}
