//! The audit trail: who changed what, when, from where, and what exactly.

mod diff;

use crate::api::system::LoadAudit;
use crate::components::empty::Empty;
use crate::components::layout::PageHead;
use crate::components::list::{Pager, SearchBox, use_list};
use crate::components::{Moment, loaded};
use crate::rpc::use_data;
use diff::Diff;
use gslb_api_types::{AuditEntry, ListQuery, Page};
use leptos::prelude::*;

/// The page.
#[component]
pub fn AuditPage() -> impl IntoView {
    let list = use_list();
    let data = use_data(move || LoadAudit { query: list.get() });
    view! {
        <PageHead title="Audit" lead="Every change, newest first: written together with the change itself." />
        <div class="toolbar">
            <SearchBox list label="Search by who or what" />
        </div>
        {loaded(data, move |page| view! { <AuditTable list page /> })}
    }
    .into_any()
}

#[component]
fn AuditTable(list: Memo<ListQuery>, page: Page<AuditEntry>) -> impl IntoView {
    if page.items.is_empty() {
        return view! {
            <Empty heading="Nothing here">
                <p>"Changes to zones, pools, services, accounts and the licence are recorded here."</p>
            </Empty>
        }
        .into_any();
    }
    let shown = page.items.len();
    view! {
        <div class="table-frame">
            <table class="stacking audit">
                <thead>
                    <tr>
                        <th scope="col">"When"</th>
                        <th scope="col">"Who"</th>
                        <th scope="col">"What"</th>
                        <th scope="col">"Change"</th>
                        <th scope="col" class="end">
                            "Revision"
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {page.items.into_iter().map(|entry| view! { <AuditRow entry /> }).collect_view()}
                </tbody>
            </table>
        </div>
        <Pager list shown total=page.total next=page.next_cursor what=("change", "changes") />
    }
    .into_any()
}

#[component]
fn AuditRow(entry: AuditEntry) -> impl IntoView {
    view! {
        <tr>
            <td data-label="When">
                <Moment at=entry.at />
            </td>
            <td data-label="Who">
                {entry.actor} {entry.from.map(|from| view! { <span class="place mono">{from}</span> })}
            </td>
            <td data-label="What">
                <span>
                    <span class="badge">{entry.action}</span>
                    " "
                    {entry.object}
                    " "
                    <b>{entry.name}</b>
                </span>
            </td>
            <td data-label="Change">
                <Diff before=entry.before after=entry.after />
            </td>
            <td class="num end" data-label="Revision">
                {entry.revision}
            </td>
        </tr>
    }
    .into_any()
}
