//! Services: detail, form.

use crate::failure::Failure;
use crate::form::Sent;
#[cfg(feature = "ssr")]
use crate::form::{back_to, finish, revision, ticked};
use crate::forms::{ServiceForm, ServiceTarget};
use gslb_api_types::model::{PoolId, ValidationError};
use gslb_api_types::{AuditEntry, PoolStatus, PoolView, ServiceView, SessionView, Stored};
#[cfg(feature = "ssr")]
use gslb_api_types::{AuditQuery, ListQuery};
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use serde::{Deserialize, Serialize};

/// What the service form needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServiceEdit {
    /// The service; absent for a new one.
    pub service: Option<Stored<ServiceView>>,
    /// Pools to pick from: id and name.
    pub pools: Vec<(PoolId, String)>,
    /// Tier and permissions.
    pub session: SessionView,
}

/// The service form, for a new service when `id` is empty.
#[server(prefix = "/rpc", endpoint = "service-edit", input = Json)]
pub async fn load_service_edit(id: String) -> Result<ServiceEdit, Failure> {
    let backend = super::backend()?;
    let service = if id.is_empty() {
        None
    } else {
        Some(backend.service(super::id("service", &id)?).await?)
    };
    let all = ListQuery {
        limit: Some(500),
        ..ListQuery::default()
    };
    let mut pools: Vec<_> = backend
        .pools(all)
        .await?
        .items
        .into_iter()
        .map(|pool| (pool.id, pool.name))
        .collect();
    if let Some(missing) = service
        .as_ref()
        .map(|s| s.value.pool_id)
        .filter(|id| !pools.iter().any(|(known, _)| known == id))
    {
        pools.push((missing, backend.pool(missing).await?.value.name));
    }
    Ok(ServiceEdit {
        service,
        pools,
        session: backend.session().await?,
    })
}

/// A service with what surrounds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServiceDetail {
    /// The service.
    pub service: Stored<ServiceView>,
    /// Its pool.
    pub pool: PoolView,
    /// Health of the pool's members.
    pub status: PoolStatus,
    /// Share of each in the answers of the last hour, drawn as HTML; empty while there is nothing to draw.
    pub chart: String,
    /// Its last changes; empty when the caller may not see the audit trail.
    pub audit: Vec<AuditEntry>,
    /// Tier and permissions.
    pub session: SessionView,
}

/// One service.
#[server(prefix = "/rpc", endpoint = "service-detail", input = Json)]
pub async fn load_service_detail(id: String) -> Result<ServiceDetail, Failure> {
    let backend = super::backend()?;
    let service = backend.service(super::id("service", &id)?).await?;
    let pool = service.value.pool_id;
    let trail = AuditQuery {
        limit: Some(8),
        object_id: Some(service.value.id.to_string()),
        ..AuditQuery::default()
    };
    let view = backend.pool(pool).await?.value;
    Ok(ServiceDetail {
        chart: crate::fragments::shares::chart(&view, &backend.shares(pool).await?),
        pool: view,
        status: backend.pool_status(pool).await?,
        audit: backend
            .audit(trail)
            .await
            .map(|page| page.items)
            .unwrap_or_default(),
        session: backend.session().await?,
        service,
    })
}

/// What comes of a routing that is not saved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// Who would get what, or why that cannot be told, as HTML; empty for those who may not trace.
    pub html: String,
    /// How many answers would change, for beside the button that saves.
    pub verdict: String,
    /// The clients that were asked for.
    pub clients: Vec<String>,
    /// What is wrong with the routing.
    pub problems: Vec<ValidationError>,
}

/// Who would get what of a service as its form is now. Without clients the daemon chooses some.
#[server(prefix = "/rpc", endpoint = "try-routing", input = Json)]
pub async fn try_routing(form: ServiceForm, clients: Vec<String>) -> Result<Tried, Failure> {
    crate::fragments::tried::tried(form, clients).await
}

/// Saves a service, or presses a button of the chain builder where there is no JavaScript.
#[server(prefix = "/rpc", endpoint = "save-service")]
pub async fn save_service(form: ServiceForm) -> Sent {
    let mut form = form;
    if !form.op.is_empty() {
        form.press();
        back_to(&form, None, &format!("{}#routing", form.path()));
        return Ok(crate::form::Answer::Done);
    }
    let backend = super::backend()?;
    let filled = form.filled();
    let result = if form.id.is_empty() {
        backend.create_service(filled).await
    } else {
        let known = if ticked(&form.overwrite) {
            None
        } else {
            revision(&form.revision)
        };
        match super::id("service", &form.id) {
            Ok(id) => backend.update_service(id, filled, known).await,
            Err(error) => Err(error),
        }
    };
    let result = result.map_err(|mut error| {
        ServiceForm::place(&mut error.details);
        error
    });
    let next = match &result {
        Ok(stored) => format!("/services/{}?done=saved", stored.value.id),
        Err(_) => String::new(),
    };
    let back = form.path();
    finish(result.map(drop), &form, &next, &back)
}

/// Deletes a service.
#[server(prefix = "/rpc", endpoint = "delete-service")]
pub async fn delete_service(form: ServiceTarget) -> Sent {
    let result = match super::id("service", &form.id) {
        Ok(id) => super::backend()?.delete_service(id, None).await,
        Err(error) => Err(error),
    };
    let back = format!("/services/{}", form.id);
    finish(result, &form, "/services?done=deleted", &back)
}
