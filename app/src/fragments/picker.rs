//! The picker of tenants in the frame of the console.

use super::tenants::PickTenant;
use crate::failure::Failure;
use gslb_api_types::ListQuery;
use gslb_api_types::model::Permission;
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;

/// Tenants that the picker offers at once; the others are found on the page of tenants.
const OFFERED: u32 = 12;

/// What the frame of the console shows to who may act in other tenants: the one acted in, and the ways to others.
/// Nothing for everybody else.
pub async fn write() -> Result<String, Failure> {
    let backend = crate::api::backend()?;
    let session = backend.session().await?;
    if !session.permissions.contains(&Permission::TenantsRead) {
        return Ok(String::new());
    }
    let query = ListQuery {
        limit: Some(OFFERED),
        ..ListQuery::default()
    };
    let page = backend.tenants(query).await?;
    let more = page.next_cursor.is_some();
    let rows = page
        .items
        .iter()
        .map(|tenant| {
            let tenant = &tenant.value;
            if tenant.id == session.tenant_id {
                return view! {
                    <li>
                        <span class="picker-here" aria-current="true">
                            {tenant.name.clone()}
                        </span>
                    </li>
                }
                .into_any();
            }
            view! {
                <li>
                    <button type="submit" name="form[id]" value=tenant.id.to_string()>
                        {tenant.name.clone()}
                    </button>
                </li>
            }
            .into_any()
        })
        .collect_view();
    let view = view! {
        <details class="picker">
            <summary>
                <span class="picker-word">"Tenant"</span>
                " "
                <b>{session.tenant}</b>
            </summary>
            <div class="picker-list">
                <form method="post" action=PickTenant::url()>
                    <ul>{rows}</ul>
                </form>
                <a href="/tenants">{if more { "Find another" } else { "All tenants" }}</a>
            </div>
        </details>
    };
    Ok(view.into_any().to_html())
}
