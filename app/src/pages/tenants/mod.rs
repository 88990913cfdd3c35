//! Tenants, and picking the one to act in.

use crate::api::accounts::{CreateTenant, DeleteTenant, LoadTenants, PickTenant, Tenants};
use crate::components::confirm::Confirm;
use crate::components::empty::Done;
use crate::components::field::{Refusal, TextField};
use crate::components::layout::{PageHead, may};
use crate::components::list::{Pager, SearchBox, SortHead, use_list};
use crate::components::loaded;
use crate::form::{FormState, use_draft};
use crate::forms::TenantForm;
use crate::pages::use_query;
use crate::rpc::{SendForm, Sending, use_data_again};
use gslb_api_types::model::Permission;
use gslb_api_types::{ListQuery, TenantView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;

/// The page.
#[component]
pub fn TenantsPage() -> impl IntoView {
    let list = use_list();
    let (done, turn) = (use_query("done"), use_query("n"));
    let data = use_data_again(
        move || LoadTenants { query: list.get() },
        move || done.get() + &turn.get(),
    );
    let text = Signal::derive(move || match done.read().as_str() {
        "created" => Some("The tenant is created. Act in it to make its first account."),
        "deleted" => Some("The tenant is deleted."),
        _ => None,
    });
    view! {
        <PageHead
            title="Tenants"
            lead="Everything belongs to one, and none sees another. System administrators act in the one that they pick."
        />
        <Done text=text />
        <div class="toolbar">
            <SearchBox list label="Search by name" />
        </div>
        {loaded(data, move |data| view! { <Body list data /> })}
    }
    .into_any()
}

#[component]
fn Body(list: Memo<ListQuery>, data: Tenants) -> impl IntoView {
    let writes = may(&data.session, Permission::TenantsWrite);
    let here = data.session.tenant_id;
    let shown = data.tenants.items.len();
    let page = data.tenants;
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        <SortHead list field="name">
                            "Tenant"
                        </SortHead>
                        <th scope="col">"Id"</th>
                        <th scope="col">
                            <span class="unseen">"Actions"</span>
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {page
                        .items
                        .into_iter()
                        .map(|row| {
                            let current = row.value.id == here;
                            view! { <Row tenant=row.value current writes /> }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
        <Pager list shown total=page.total next=page.next_cursor what=("tenant", "tenants") />
        {writes.then(|| view! { <TenantEditor /> })}
    }
    .into_any()
}

#[component]
fn Row(tenant: TenantView, current: bool, writes: bool) -> impl IntoView {
    let id = tenant.id.to_string();
    let name = tenant.name.clone();
    view! {
        <tr>
            <th scope="row">
                {tenant.name} {current.then(|| view! { <span class="tag">"acting here"</span> })}
            </th>
            <td class="mono" data-label="Id">
                {id.clone()}
            </td>
            <td class="end row-actions">
                {(!current)
                    .then(|| {
                        view! {
                            <form method="post" action=PickTenant::url()>
                                <input type="hidden" name="form[id]" value=id.clone() />
                                <button class="button small" type="submit" aria-label=format!("Act in {name}")>
                                    "Act here"
                                </button>
                            </form>
                        }
                    })}
                {(writes && !current)
                    .then(|| {
                        let to = Sending::to::<DeleteTenant>();
                        view! {
                            <Confirm
                                to
                                id=id.clone()
                                word="Delete"
                                label=format!("Delete {name}")
                                question="Only a tenant that owns nothing any more can be deleted.".to_owned()
                                sure="Delete the tenant"
                            />
                        }
                    })}
            </td>
        </tr>
    }
    .into_any()
}

#[component]
fn TenantEditor() -> impl IntoView {
    let action = Sending::to::<CreateTenant>();
    let (form, error) = use_draft::<TenantForm>()
        .map(|d| (d.form, d.error))
        .unwrap_or_default();
    let state = FormState::new::<TenantForm>(error);
    let (typed, left) = state.listeners::<TenantForm>();
    state.follow(move || action.answer.get());
    view! {
        <section class="panel" aria-labelledby="tenant-form">
            <header class="panel-head">
                <h2 id="tenant-form">"New tenant"</h2>
            </header>
            <SendForm
                to=action
                attr:class="form"
                attr:novalidate=true
                on:input=typed
                on:change=left
            >
                <Refusal state fields=&["name"] />
                <TextField state name="name" label="Name" value=form.name required=true />
                <div class="form-end">
                    <button class="button primary" type="submit" disabled=move || action.pending.get()>
                        "Create tenant"
                    </button>
                </div>
            </SendForm>
        </section>
    }
    .into_any()
}
