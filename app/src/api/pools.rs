//! Pools: detail, live status, and the actions on members.

#[cfg(feature = "ssr")]
use crate::backend::Filled;
use crate::failure::Failure;
use crate::form::Sent;
#[cfg(feature = "ssr")]
use crate::form::{Form as _, finish, invalid, revision};
use crate::forms::{CheckForm, MemberForm, PoolForm, PoolTarget};
#[cfg(feature = "ssr")]
use gslb_api_types::ApiError;
use gslb_api_types::{Event, PoolStatus, PoolView, SessionView, Stored};
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use serde::{Deserialize, Serialize};

/// Most transitions that the timeline shows.
#[cfg(feature = "ssr")]
const TIMELINE: usize = 30;

/// What changes by itself in a pool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PoolLive {
    /// Members by address.
    pub status: PoolStatus,
    /// Transitions, newest first.
    pub events: Vec<Event>,
}

/// A pool with what surrounds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PoolDetail {
    /// The pool.
    pub pool: Stored<PoolView>,
    /// Its live part.
    pub live: PoolLive,
    /// Tier and permissions.
    pub session: SessionView,
}

/// One pool.
#[server(prefix = "/rpc", endpoint = "pool-detail", input = Json)]
pub async fn load_pool_detail(id: String) -> Result<PoolDetail, Failure> {
    let backend = super::backend()?;
    let id = super::id("pool", &id)?;
    Ok(PoolDetail {
        pool: backend.pool(id).await?,
        live: PoolLive {
            status: backend.pool_status(id).await?,
            events: backend.pool_events(id, TIMELINE).await?,
        },
        session: backend.session().await?,
    })
}

/// The live part of a pool.
#[server(prefix = "/rpc", endpoint = "pool-live", input = Json)]
pub async fn load_pool_live(id: String) -> Result<PoolLive, Failure> {
    let backend = super::backend()?;
    let id = super::id("pool", &id)?;
    Ok(PoolLive {
        status: backend.pool_status(id).await?,
        events: backend.pool_events(id, TIMELINE).await?,
    })
}

/// Creates a pool, or changes name and gate.
#[server(prefix = "/rpc", endpoint = "save-pool")]
pub async fn save_pool(form: PoolForm) -> Sent {
    let backend = super::backend()?;
    let (draft, problems) = form.draft();
    let filled = Filled { draft, problems };
    let result = if form.id.is_empty() {
        backend.create_pool(filled).await
    } else {
        match super::id("pool", &form.id) {
            Ok(id) => backend.update_pool(id, filled, revision(&form.revision)).await,
            Err(error) => Err(error),
        }
    };
    let next = match &result {
        Ok(stored) => format!("/pools/{}?done=saved", stored.value.id),
        Err(_) => String::new(),
    };
    let back = if form.id.is_empty() {
        "/pools/new".to_owned()
    } else {
        format!("/pools/{}?edit=pool", form.id)
    };
    finish(result.map(drop), &form, &next, &back)
}

/// Deletes a pool.
#[server(prefix = "/rpc", endpoint = "delete-pool")]
pub async fn delete_pool(form: PoolTarget) -> Sent {
    let result = match super::id("pool", &form.pool) {
        Ok(id) => super::backend()?.delete_pool(id, None).await,
        Err(error) => Err(error),
    };
    let back = format!("/pools/{}", form.pool);
    finish(result, &form, "/pools?done=deleted", &back)
}

/// Adds or replaces a member.
#[server(prefix = "/rpc", endpoint = "save-member")]
pub async fn save_member(form: MemberForm) -> Sent {
    let (draft, problems) = form.draft();
    let filled = Filled { draft, problems };
    let result = async {
        let backend = super::backend().map_err(|f| f.0)?;
        let pool = super::id("pool", &form.pool)?;
        let known = revision(&form.revision);
        if form.member.is_empty() {
            backend.add_member(pool, filled, known).await?;
        } else {
            let member = super::id("member", &form.member)?;
            backend.update_member(pool, member, filled, known).await?;
        }
        Ok(())
    }
    .await;
    let result = result.map_err(|mut error: ApiError| {
        MemberForm::place(&mut error.details);
        error
    });
    let pool = &form.pool;
    let edit = if form.member.is_empty() {
        "new"
    } else {
        &form.member
    };
    let back = format!("/pools/{pool}?edit={edit}#member-form");
    finish(result, &form, &format!("/pools/{pool}?done=member"), &back)
}

/// Removes a member.
#[server(prefix = "/rpc", endpoint = "delete-member")]
pub async fn delete_member(form: PoolTarget) -> Sent {
    let result = async {
        let backend = super::backend().map_err(|f| f.0)?;
        let pool = super::id("pool", &form.pool)?;
        backend
            .delete_member(pool, super::id("member", &form.member)?, None)
            .await
    }
    .await;
    let pool = &form.pool;
    finish(
        result,
        &form,
        &format!("/pools/{pool}?done=removed"),
        &format!("/pools/{pool}"),
    )
}

/// Drains a member, forces it, or leaves it to its health.
#[server(prefix = "/rpc", endpoint = "admin-state")]
pub async fn admin_state(form: PoolTarget) -> Sent {
    let result = async {
        let backend = super::backend().map_err(|f| f.0)?;
        let pool = super::id("pool", &form.pool)?;
        let member = super::id("member", &form.member)?;
        backend.set_admin_state(pool, member, form.state()?).await
    }
    .await;
    let here = format!("/pools/{}", form.pool);
    finish(result, &form, &here, &here)
}

/// Replaces or removes the health check.
#[server(prefix = "/rpc", endpoint = "save-check")]
pub async fn save_check(form: CheckForm) -> Sent {
    let problems = form.problems();
    let (draft, _) = form.draft();
    let result = async {
        if !problems.is_empty() {
            return Err(invalid(problems));
        }
        let backend = super::backend().map_err(|f| f.0)?;
        let pool = super::id("pool", &form.pool)?;
        backend
            .set_health_check(pool, draft, revision(&form.revision))
            .await
    }
    .await;
    let pool = &form.pool;
    let back = format!("/pools/{pool}?edit=check#check-form");
    finish(
        result.map(drop),
        &form,
        &format!("/pools/{pool}?done=check"),
        &back,
    )
}
