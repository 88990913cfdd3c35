//! Zones: the names that this server is authoritative for.

mod form;

use crate::api::zones::{DeleteZone, LoadZones};
use crate::components::empty::{Done, Empty};
use crate::components::field::Refusal;
use crate::components::layout::{Allowed, PageHead, SessionResource, may};
use crate::components::list::{Pager, SearchBox, SortHead, use_list};
use crate::components::loaded;
use crate::form::{FormState, use_draft};
use crate::forms::ZoneTarget;
use crate::pages::use_query;
use crate::rpc::{SendForm, Sending, use_data_again};
use form::ZoneEditor;
use gslb_api_types::model::Permission;
use gslb_api_types::{ListQuery, Page, ZoneView};
use leptos::prelude::*;

/// All zones, and the form for a new one.
#[component]
pub fn ZonesPage() -> impl IntoView {
    let list = use_list();
    let done = use_query("done");
    let data = use_data_again(move || LoadZones { query: list.get() }, move || done.get());
    let text = Signal::derive(move || match done.read().as_str() {
        "saved" => Some("The zone is created."),
        "deleted" => Some("The zone is deleted."),
        _ => None,
    });
    view! {
        <PageHead title="Zones" lead="Names that this server is authoritative for. Services live in the closest zone." />
        <Done text=text />
        <div class="toolbar">
            <SearchBox list label="Search by name" />
        </div>
        {loaded(data, move |page| view! { <ZoneTable list page /> })}
        <Allowed to=Permission::ZonesWrite>
            <ZoneEditor />
        </Allowed>
    }
    .into_any()
}

#[component]
fn ZoneTable(list: Memo<ListQuery>, page: Page<ZoneView>) -> impl IntoView {
    if page.items.is_empty() {
        return match list.read_untracked().search.clone() {
            Some(text) => view! {
                <Empty heading="Nothing found">
                    <p>{format!("No zone has \u{201c}{text}\u{201d} in its name.")}</p>
                    <a href="/zones">"Show all zones"</a>
                </Empty>
            }
            .into_any(),
            None => view! {
                <Empty heading="No zones yet">
                    <p>
                        "Create the zone that your parent domain delegates to this server, for instance gslb.example.com. Services inside it are answered from then on."
                    </p>
                </Empty>
            }
            .into_any(),
        };
    }
    let shown = page.items.len();
    let session = expect_context::<SessionResource>();
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        <SortHead list field="name">
                            "Zone"
                        </SortHead>
                        <th scope="col">"Name servers"</th>
                        <th scope="col" class="end">
                            "Serial"
                        </th>
                        <th scope="col" class="end">
                            "Negative TTL"
                        </th>
                        <th scope="col">
                            <span class="unseen">"Actions"</span>
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {page
                        .items
                        .into_iter()
                        .map(|zone| {
                            let servers: Vec<_> = zone
                                .name_servers
                                .iter()
                                .map(ToString::to_string)
                                .collect();
                            let name = zone.name.to_string();
                            let id = zone.id.to_string();
                            view! {
                                <tr>
                                    <th scope="row" class="mono">
                                        {name.clone()}
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
                                    <td class="end">
                                        <RemoveZone id name session />
                                    </td>
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
        <Pager list shown total=page.total next=page.next_cursor what=("zone", "zones") />
    }
    .into_any()
}

/// Deletes a zone; opened first, and again when it was refused.
#[component]
fn RemoveZone(id: String, name: String, session: SessionResource) -> impl IntoView {
    let action = Sending::to::<DeleteZone>();
    let draft = use_draft::<ZoneTarget>().filter(|draft| draft.form.zone == id);
    let refused = draft.is_some();
    let state = FormState::new::<ZoneTarget>(draft.and_then(|d| d.error));
    state.follow(move || action.answer.get());
    let (id, name) = (StoredValue::new(id), StoredValue::new(name));
    view! {
        <Suspense fallback=|| ()>
            {move || Suspend::new(async move {
                let session = session.value().await.ok()?;
                may(&session, Permission::ZonesWrite)
                    .then(|| {
                        view! {
                            <details class="confirm" open=refused>
                                <summary
                                    class="button small"
                                    aria-label=format!("Delete {}", name.get_value())
                                >
                                    "Delete"
                                </summary>
                                <div class="confirm-body">
                                    <SendForm to=action>
                                        <input type="hidden" name="form[zone]" value=id.get_value() />
                                        <Refusal state fields=&[] />
                                        <p>
                                            "The records of "
                                            <span class="mono">{name.get_value()}</span>
                                            " go with it, and names in it that do not exist are refused. Services in it stay, and are answered with a made-up SOA."
                                        </p>
                                        <button class="button danger small" type="submit">
                                            "Delete the zone"
                                        </button>
                                    </SendForm>
                                </div>
                            </details>
                        }
                    })
            })}
        </Suspense>
    }
    .into_any()
}
