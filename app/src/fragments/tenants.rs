//! Tenants: the list, a new one, another name for one, and picking the one to act in.

use super::parts::{Question, Target, conflict, done, head, may, nothing_found, pager, search, sort_head};
use super::{Asked, Page};
use crate::components::field::{Refusal, TextField};
use crate::failure::Failure;
use crate::form::{Form as _, FormState, Sent, finish, invalid, revision};
use crate::forms::TenantForm;
use gslb_api_types::model::Permission;
use gslb_api_types::{ApiError, Stored, TenantView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;

/// Makes a tenant, or gives it another name.
#[server(prefix = "/rpc", endpoint = "save-tenant")]
pub async fn save_tenant(form: TenantForm) -> Sent {
    let problems = form.problems();
    let backend = crate::api::backend()?;
    let result = if !problems.is_empty() {
        Err(invalid(problems))
    } else if form.id.is_empty() {
        backend.create_tenant(form.draft()).await
    } else {
        match crate::api::id("tenant", &form.id) {
            Ok(id) => {
                let expected = revision(&form.revision);
                backend.change_tenant(id, form.draft(), expected).await
            }
            Err(error) => Err(error),
        }
    };
    let (next, back) = if form.id.is_empty() {
        ("/tenants?done=created", "/tenants#tenant-form".to_owned())
    } else {
        ("/tenants?done=changed", format!("/tenants/{}", form.id))
    };
    finish(result.map(drop), &form, next, &back)
}

/// Deletes a tenant.
#[server(prefix = "/rpc", endpoint = "delete-tenant")]
pub async fn delete_tenant(form: Target) -> Sent {
    let result = match crate::api::id("tenant", &form.id) {
        Ok(id) => crate::api::backend()?.delete_tenant(id).await,
        Err(error) => Err(error),
    };
    finish(result, &form, "/tenants?done=deleted", "/tenants")
}

/// Acts in another tenant from now on. Sent by the browser itself, so that the whole console starts anew there.
#[server(prefix = "/rpc", endpoint = "pick-tenant")]
pub async fn pick_tenant(form: Target) -> Result<(), Failure> {
    crate::api::backend()?.pick_tenant(form.id).await?;
    leptos_axum::redirect("/");
    Ok(())
}

/// The page.
pub async fn list(asked: &Asked) -> Result<Page, Failure> {
    let page = crate::api::backend()?.tenants(asked.list()).await?;
    let writes = may(asked, Permission::TenantsWrite);
    let said = match asked.param("done").as_str() {
        "created" => Some("The tenant is created. Act in it to make its first account."),
        "changed" => Some("The tenant has another name."),
        "deleted" => Some("The tenant is deleted."),
        "gone" => Some("The tenant that you were acting in is gone. Act in another one."),
        _ => None,
    };
    let lead = "Everything belongs to one, and none sees another. System administrators act in the one that they pick.";
    let draft = asked.draft::<TenantForm>();
    let (form, error) = draft.map(|d| (d.form, d.error)).unwrap_or_default();
    let view = view! {
        {head("Tenants", lead, ().into_any())}
        {done(said)}
        <div class="toolbar">{search(asked, "Search by name")}</div>
        {table(asked, &page, writes)}
        {writes
            .then(|| {
                view! {
                    <section class="panel" aria-labelledby="tenant-form">
                        <header class="panel-head">
                            <h2 id="tenant-form">"New tenant"</h2>
                        </header>
                        {editor(form, error, "Create tenant")}
                    </section>
                }
            })}
    };
    Ok(Page {
        title: "Tenants".to_owned(),
        view: view.into_any(),
    })
}

fn table(asked: &Asked, page: &gslb_api_types::Page<Stored<TenantView>>, writes: bool) -> AnyView {
    if page.items.is_empty() {
        return nothing_found(asked, ("tenant", "tenants"), "name", "/tenants");
    }
    let rows = page.items.iter().map(|tenant| row(asked, &tenant.value, writes));
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        {sort_head(asked, "name", "Tenant")} <th scope="col">"Id"</th>
                        <th scope="col">
                            <span class="unseen">"Actions"</span>
                        </th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
        {pager(asked, page, ("tenant", "tenants"))}
    }
    .into_any()
}

fn row(asked: &Asked, tenant: &TenantView, writes: bool) -> impl IntoView + use<> {
    let id = tenant.id.to_string();
    let name = tenant.name.clone();
    let current = tenant.id == asked.session.tenant_id;
    let delete = Question {
        to: DeleteTenant::url(),
        word: "Delete",
        question: "Only a tenant that owns nothing any more can be deleted.",
        sure: "Delete the tenant",
        small: true,
    };
    let pick = (!current).then(|| {
        view! {
            <form method="post" action=PickTenant::url()>
                <input type="hidden" name="form[id]" value=id.clone() />
                <button class="button small" type="submit" aria-label=format!("Act in {name}")>
                    "Act here"
                </button>
            </form>
        }
    });
    let shown = if writes {
        view! { <a href=format!("/tenants/{id}")>{name.clone()}</a> }.into_any()
    } else {
        name.clone().into_any()
    };
    view! {
        <tr>
            <th scope="row">
                {shown} " " {current.then(|| view! { <span class="tag">"acting here"</span> })}
            </th>
            <td class="mono" data-label="Id">
                {id.clone()}
            </td>
            <td class="end">
                <div class="row-actions">
                    {pick} {(writes && !current).then(|| delete.about(asked, &id, &name))}
                </div>
            </td>
        </tr>
    }
}

fn editor(form: TenantForm, error: Option<ApiError>, word: &'static str) -> AnyView {
    let state = FormState::new::<TenantForm>(error);
    let cancel = (!form.id.is_empty()).then(|| {
        view! {
            <a class="button" href="/tenants">
                "Cancel"
            </a>
        }
    });
    view! {
        <form class="form" method="post" action=SaveTenant::url() novalidate>
            <input type="hidden" name="form[id]" value=form.id />
            <input type="hidden" name="form[revision]" value=form.revision />
            <Refusal state fields=&["name"] />
            <div class="form-grid">
                <TextField state name="name" label="Name" value=form.name required=true />
            </div>
            <div class="form-end">
                <button class="button primary" type="submit">
                    {word}
                </button>
                {cancel}
            </div>
        </form>
    }
    .into_any()
}

/// The page of one tenant: its name.
pub async fn page(asked: &Asked, id: &str) -> Result<Page, Failure> {
    let stored = crate::api::backend()?
        .tenant(crate::api::id("tenant", id)?)
        .await?;
    let tenant = &stored.value;
    let fresh = TenantForm {
        id: tenant.id.to_string(),
        revision: stored.revision.to_string(),
        name: tenant.name.clone(),
    };
    let (mut form, error) = match asked.draft::<TenantForm>() {
        Some(draft) => (draft.form, draft.error),
        None => (fresh.clone(), None),
    };
    let conflict = conflict(
        error.as_ref(),
        vec![("Name", fresh.name.clone(), form.name.clone())],
    );
    let error = error.filter(|_| conflict.is_none());
    if conflict.is_some() {
        form.revision = fresh.revision;
    }
    let actions = view! {
        <a class="button" href="/tenants">
            "All tenants"
        </a>
    };
    let body = if may(asked, Permission::TenantsWrite) {
        editor(form, error, "Save")
    } else {
        view! { <p class="hint">"You may not change tenants."</p> }.into_any()
    };
    let view = view! {
        {head(&tenant.name, &format!("Tenant {}", tenant.id), actions.into_any())}
        {conflict}
        <section class="panel" aria-labelledby="name">
            <header class="panel-head">
                <h2 id="name">"Rename the tenant"</h2>
            </header>
            {body}
        </section>
    };
    Ok(Page {
        title: tenant.name.clone(),
        view: view.into_any(),
    })
}
