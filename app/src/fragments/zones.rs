//! The zones, and the form for a new one.

use super::parts::{done, head, may_write, pager, search, sort_head};
use super::{Asked, Page};
use crate::components::chain::step_list;
use crate::components::empty::Empty;
use crate::components::field::{Refusal, TextField};
use crate::failure::Failure;
use crate::form::{Form, FormState, Sent, finish, given, invalid, whole_number};
use gslb_api_types::model::{ValidationError, ZoneDraft};
use gslb_api_types::{Stored, ZoneView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use serde::{Deserialize, Serialize};

/// A new zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ZoneForm {
    /// The apex.
    pub name: String,
    /// Primary name server.
    pub mname: String,
    /// Responsible mailbox.
    pub rname: String,
    /// Name servers, separated by commas.
    pub name_servers: String,
    /// Seconds.
    pub minimum: String,
}

impl ZoneForm {
    fn draft(&self) -> Result<ZoneDraft, Vec<ValidationError>> {
        let mut problems = Vec::new();
        let servers = step_list(&self.name_servers);
        let draft = ZoneDraft {
            name: given(&self.name),
            mname: given(&self.mname),
            rname: given(&self.rname),
            minimum: whole_number(&mut problems, "minimum", &self.minimum),
            name_servers: (!servers.is_empty()).then_some(servers),
            ..ZoneDraft::default()
        };
        if problems.is_empty() {
            Ok(draft)
        } else {
            Err(problems)
        }
    }
}

impl Form for ZoneForm {
    const PARAM: &'static str = "zone";
}

/// Creates a zone.
#[server(prefix = "/rpc", endpoint = "create-zone")]
pub async fn create_zone(form: ZoneForm) -> Sent {
    let made = match form.draft() {
        Ok(draft) => crate::api::backend()?.create_zone(draft).await,
        Err(problems) => Err(invalid(problems)),
    };
    let next = match &made {
        Ok(zone) => format!("/zones/{}?done=created", zone.value.id),
        Err(_) => String::new(),
    };
    finish(made.map(drop), &form, &next, "/zones#zone-form")
}

/// The list.
pub async fn list(asked: &Asked) -> Result<Page, Failure> {
    let page = crate::api::backend()?.zones(asked.list()).await?;
    let writes = may_write(asked);
    let said = (asked.param("done") == "deleted").then_some("The zone is deleted.");
    let actions = view! {
        <a class="button" href="/zones/keys">
            "TSIG keys"
        </a>
    };
    let lead = "Names that this server is authoritative for. Services live in the closest zone.";
    let view = view! {
        {head("Zones", lead, actions.into_any())}
        {done(said)}
        <div class="toolbar">{search(asked, "Search by name")}</div>
        {table(asked, &page)}
        {writes.then(|| new_zone(asked))}
    };
    Ok(Page {
        title: "Zones".to_owned(),
        view: view.into_any(),
    })
}

fn table(asked: &Asked, page: &gslb_api_types::Page<Stored<ZoneView>>) -> AnyView {
    let searched = asked.param("q");
    if page.items.is_empty() && !searched.is_empty() {
        return view! {
            <Empty heading="Nothing found">
                <p>{format!("No zone has \u{201c}{searched}\u{201d} in its name.")}</p>
                <a href="/zones">"Show all zones"</a>
            </Empty>
        }
        .into_any();
    }
    if page.items.is_empty() {
        return view! {
            <Empty heading="No zones yet">
                <p>
                    "Create the zone that your parent domain delegates to this server, for instance gslb.example.com. Services inside it are answered from then on."
                </p>
            </Empty>
        }
        .into_any();
    }
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        {sort_head(asked, "name", "Zone")} <th scope="col">"Name servers"</th>
                        <th scope="col" class="end">
                            "Serial"
                        </th>
                        <th scope="col" class="end">
                            "Negative TTL"
                        </th>
                    </tr>
                </thead>
                <tbody>{page.items.iter().map(|zone| row(&zone.value)).collect_view()}</tbody>
            </table>
        </div>
        {pager(asked, page, ("zone", "zones"))}
    }
    .into_any()
}

fn row(zone: &ZoneView) -> impl IntoView + use<> {
    let servers: Vec<_> = zone.name_servers.iter().map(ToString::to_string).collect();
    view! {
        <tr>
            <th scope="row" class="mono">
                <a href=format!("/zones/{}", zone.id)>{zone.name.to_string()}</a>
            </th>
            <td class="mono" data-label="Name servers">
                {servers.join(", ")}
            </td>
            <td class="num end" data-label="Serial">
                {zone.serial}
            </td>
            <td class="num end" data-label="Negative TTL">
                {format!("{} s", zone.soa.minimum)}
            </td>
        </tr>
    }
}

fn new_zone(asked: &Asked) -> impl IntoView + use<> {
    let (form, error) = asked
        .draft::<ZoneForm>()
        .map(|draft| (draft.form, draft.error))
        .unwrap_or_default();
    let state = FormState::new::<ZoneForm>(error);
    view! {
        <section class="panel" aria-labelledby="zone-form">
            <header class="panel-head">
                <h2 id="zone-form">"New zone"</h2>
            </header>
            <form class="form" method="post" action=CreateZone::url() novalidate>
                <Refusal state fields=&["name", "mname", "rname", "nameServers", "minimum"] />
                <div class="form-grid">
                    <TextField
                        state
                        name="name"
                        label="Zone"
                        value=form.name
                        required=true
                        mono=true
                        hint="The apex: gslb.example.com"
                    />
                    <TextField
                        state
                        name="mname"
                        label="Primary name server"
                        value=form.mname
                        mono=true
                        hint="Default: ns1 below the zone"
                    />
                    <TextField
                        state
                        name="name_servers"
                        label="Name servers"
                        value=form.name_servers
                        mono=true
                        hint="Separated by commas; default: the primary alone"
                    />
                    <TextField
                        state
                        name="rname"
                        label="Responsible mailbox"
                        value=form.rname
                        mono=true
                        hint="Default: hostmaster at the zone"
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
                </div>
                <div class="form-end">
                    <button class="button primary" type="submit">
                        "Create zone"
                    </button>
                </div>
            </form>
        </section>
    }
}
