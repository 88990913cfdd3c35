//! Zones.

use crate::failure::Failure;
use crate::form::Sent;
#[cfg(feature = "ssr")]
use crate::form::{Form as _, finish, invalid};
use crate::forms::{ZoneForm, ZoneTarget};
use gslb_api_types::{ListQuery, Page, ZoneView};
use leptos::prelude::*;
use leptos::server_fn::codec::Json;

/// One page of zones.
#[server(prefix = "/rpc", endpoint = "zones", input = Json)]
pub async fn load_zones(query: ListQuery) -> Result<Page<ZoneView>, Failure> {
    Ok(super::backend()?.zones(query).await?)
}

/// Creates a zone.
#[server(prefix = "/rpc", endpoint = "create-zone")]
pub async fn create_zone(form: ZoneForm) -> Sent {
    let problems = form.problems();
    let (draft, _) = form.draft();
    let result = if problems.is_empty() {
        super::backend()?.create_zone(draft).await
    } else {
        Err(invalid(problems))
    };
    finish(result.map(drop), &form, "/zones?done=saved", "/zones#zone-form")
}

/// Deletes a zone.
#[server(prefix = "/rpc", endpoint = "delete-zone")]
pub async fn delete_zone(form: ZoneTarget) -> Sent {
    let result = match super::id("zone", &form.zone) {
        Ok(id) => super::backend()?.delete_zone(id).await,
        Err(error) => Err(error),
    };
    finish(result, &form, "/zones?done=deleted", "/zones")
}
