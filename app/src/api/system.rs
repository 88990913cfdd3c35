//! Audit trail, settings, licence.

use crate::failure::Failure;
use crate::form::Sent;
#[cfg(feature = "ssr")]
use crate::form::{Form as _, finish, invalid};
use crate::forms::LicenseForm;
use gslb_api_types::{AuditEntry, AuditQuery, LicenseView, Page, SessionView, SettingView};
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use serde::{Deserialize, Serialize};

/// One page of the audit trail.
#[server(prefix = "/rpc", endpoint = "audit", input = Json)]
pub async fn load_audit(query: AuditQuery) -> Result<Page<AuditEntry>, Failure> {
    Ok(super::backend()?.audit(query).await?)
}

/// The settings page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// Settings; absent when the caller may not see them.
    pub settings: Option<Vec<SettingView>>,
    /// Licence; absent when the caller may not see it.
    pub license: Option<LicenseView>,
    /// Tier and permissions.
    pub session: SessionView,
}

/// Settings and licence.
#[server(prefix = "/rpc", endpoint = "system", input = Json)]
pub async fn load_system() -> Result<System, Failure> {
    let backend = super::backend()?;
    Ok(System {
        session: backend.session().await?,
        settings: backend.settings().await.ok(),
        license: backend.license().await.ok(),
    })
}

/// Installs a licence.
#[server(prefix = "/rpc", endpoint = "install-license")]
pub async fn install_license(form: LicenseForm) -> Sent {
    let problems = form.problems();
    let result = if problems.is_empty() {
        super::backend()?.install_license(form.draft()).await
    } else {
        Err(invalid(problems))
    };
    finish(
        result.map(drop),
        &form,
        "/settings?done=license#licence",
        "/settings#licence",
    )
}
