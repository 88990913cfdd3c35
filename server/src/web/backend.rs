//! The console's backend: the use cases, for the actor whose session the request carries.

use super::kept::Kept;
use crate::api::auth::{Account, Identity, source};
use crate::api::error::api_error;
use crate::api::session::{change_own_password, open_sessions, pick_tenant, session_error, start_session};
use crate::state::AppState;
use crate::views;
use crate::web::created::Created;
use crate::web::sessions;
use async_trait::async_trait;
use axum::http::header;
use axum::http::request::Parts;
use gslb_api_types::model::{
    Actor, AdminState, HealthCheckDraft, Member, MemberDraft, MemberId, PoolDraft, PoolId, ServiceDraft,
    ServiceId, SessionId, TenantId, TokenId, UserId,
};
use gslb_api_types::{
    ApiError, AuditEntry, AuditQuery, ConfigImportQuery, ConfigReport, Dashboard, Event, LicenseDraft,
    LicenseView, ListQuery, LoginRequest, OpenSession, Page, PasswordChange, PoolStatus, PoolSummary,
    PoolView, Preview, RoleDraft, RoleView, ServiceRow, ServiceView, SessionView, SettingView, SignalsView,
    Stored, TenantDraft, TenantView, TokenCreated, TokenDraft, TokenView, Trace, TraceRequest, UserDraft,
    UserView,
};
use gslb_app::backend::{Backend, Filled, Outcome};
use gslb_core::draft::Proposal;
use gslb_core::store::RoleRef;
use gslb_core::{OpError, Ops};
use leptos::context::use_context;
use leptos_axum::ResponseOptions;
use tower_sessions::Session;

/// [`Backend`] over the use cases.
pub struct ConsoleBackend {
    state: AppState,
    pub(super) kept: Kept,
    created: Created,
}

pub(super) fn failed(error: OpError) -> ApiError {
    api_error(&error)
}

/// A form's draft as the use cases take it.
fn proposal<D>(Filled { draft, problems }: Filled<D>) -> Proposal<D> {
    Proposal { draft, problems }
}

fn parts() -> Outcome<Parts> {
    use_context::<Parts>().ok_or_else(|| ApiError::new("internal", "no request is being answered"))
}

/// Who asks: the middleware has found out before the page began.
pub(super) fn actor() -> Outcome<Actor> {
    match parts()?.extensions.get::<Identity>() {
        Some(Identity(result)) => result.clone(),
        None => Err(ApiError::new("unauthorized", "log in first")),
    }
}

fn role(id: &str) -> Outcome<RoleRef> {
    id.parse()
        .map_err(|_| ApiError::new("not_found", format!("There is no role with the id `{id}`.")))
}

/// Who asks for what concerns no tenant: the one that was picked may be gone.
fn anywhere() -> Outcome<Actor> {
    match parts()?.extensions.get::<Account>() {
        Some(Account(result)) => result.clone(),
        None => Err(ApiError::new("unauthorized", "log in first")),
    }
}

fn session() -> Outcome<Session> {
    let session = parts()?.extensions.get::<Session>().cloned();
    session.ok_or_else(|| ApiError::new("internal", "the request has no session"))
}

impl ConsoleBackend {
    /// A backend over this state.
    #[must_use]
    pub fn new(state: AppState) -> Self {
        Self {
            state,
            kept: Kept::default(),
            created: Created::default(),
        }
    }

    /// The use cases.
    pub(super) fn ops(&self) -> &Ops {
        &self.state.ops
    }
}

#[async_trait]
impl Backend for ConsoleBackend {
    async fn login(&self, request: LoginRequest) -> Outcome<()> {
        let parts = parts()?;
        let from = source(&parts.extensions);
        let started = start_session(&self.state, &session()?, &request, from, &parts.headers).await?;
        if let (Some(response), Some(mark)) = (use_context::<ResponseOptions>(), started.mark) {
            response.append_header(header::SET_COOKIE, mark);
        }
        Ok(())
    }

    async fn logout(&self) -> Outcome<()> {
        session()?.flush().await.map_err(|e| session_error("ended", &e))
    }

    async fn session(&self) -> Outcome<SessionView> {
        self.state.session_view(&anywhere()?).await.map_err(failed)
    }

    async fn change_password(&self, change: PasswordChange) -> Outcome<()> {
        let actor = anywhere()?;
        change_own_password(&self.state, Some(&session()?), &actor, &change)
            .await
            .map_err(|failure| failure.error)
    }

    async fn dashboard(&self) -> Outcome<Dashboard> {
        let actor = actor()?;
        views::dashboard(&self.state, &actor).await.map_err(failed)
    }

    async fn services(&self, query: ListQuery) -> Outcome<Page<ServiceRow>> {
        let actor = actor()?;
        self.state.ops.service_rows(&actor, &query).await.map_err(failed)
    }

    async fn service(&self, id: ServiceId) -> Outcome<Stored<ServiceView>> {
        let actor = actor()?;
        let ops = &self.state.ops;
        let mut stored = ops.get_service(&actor, id).await.map_err(failed)?;
        stored.warnings = ops.service_warnings(&stored.value).await.map_err(failed)?;
        Ok(stored)
    }

    async fn create_service(&self, filled: Filled<ServiceDraft>) -> Outcome<Stored<ServiceView>> {
        let actor = actor()?;
        self.state
            .ops
            .create_service(&actor, proposal(filled))
            .await
            .map_err(failed)
    }

    async fn update_service(
        &self,
        id: ServiceId,
        filled: Filled<ServiceDraft>,
        revision: Option<u64>,
    ) -> Outcome<Stored<ServiceView>> {
        let actor = actor()?;
        self.state
            .ops
            .replace_service(&actor, id, revision, proposal(filled))
            .await
            .map_err(failed)
    }

    async fn delete_service(&self, id: ServiceId, revision: Option<u64>) -> Outcome<()> {
        let actor = actor()?;
        self.state
            .ops
            .delete_service(&actor, id, revision)
            .await
            .map_err(failed)
    }

    async fn pools(&self, query: ListQuery) -> Outcome<Page<PoolSummary>> {
        let actor = actor()?;
        self.state
            .ops
            .pool_summaries(&actor, &query)
            .await
            .map_err(failed)
    }

    async fn pool(&self, id: PoolId) -> Outcome<Stored<PoolView>> {
        let actor = actor()?;
        let mut stored = self.state.ops.get_pool(&actor, id).await.map_err(failed)?;
        stored.warnings.extend(views::region_warnings(&stored.value));
        Ok(views::pool_view(stored))
    }

    async fn create_pool(&self, filled: Filled<PoolDraft>) -> Outcome<Stored<PoolView>> {
        let actor = actor()?;
        let written = self.state.ops.create_pool(&actor, proposal(filled)).await;
        let written = written.map_err(failed)?;
        Ok(written.map(|pool| PoolView::from(&pool)))
    }

    async fn update_pool(
        &self,
        id: PoolId,
        filled: Filled<PoolDraft>,
        revision: Option<u64>,
    ) -> Outcome<Stored<PoolView>> {
        let actor = actor()?;
        let written = self
            .state
            .ops
            .replace_pool(&actor, id, revision, proposal(filled))
            .await
            .map_err(failed)?;
        Ok(written.map(|pool| PoolView::from(&pool)))
    }

    async fn delete_pool(&self, id: PoolId, revision: Option<u64>) -> Outcome<()> {
        let actor = actor()?;
        // The console asks before it deletes, members and all; a pool that a service uses is kept in any case.
        self.state
            .ops
            .delete_pool(&actor, id, revision, true)
            .await
            .map_err(failed)
    }

    async fn add_member(
        &self,
        pool: PoolId,
        filled: Filled<MemberDraft>,
        revision: Option<u64>,
    ) -> Outcome<Member> {
        let actor = actor()?;
        self.state
            .ops
            .create_member(&actor, pool, revision, proposal(filled))
            .await
            .map(|w| w.value)
            .map_err(failed)
    }

    async fn update_member(
        &self,
        _pool: PoolId,
        member: MemberId,
        filled: Filled<MemberDraft>,
        revision: Option<u64>,
    ) -> Outcome<Member> {
        let actor = actor()?;
        self.state
            .ops
            .replace_member(&actor, member, revision, proposal(filled))
            .await
            .map(|w| w.value)
            .map_err(failed)
    }

    async fn delete_member(&self, _pool: PoolId, member: MemberId, revision: Option<u64>) -> Outcome<()> {
        let actor = actor()?;
        self.state
            .ops
            .delete_member(&actor, member, revision)
            .await
            .map_err(failed)
    }

    async fn set_admin_state(&self, _pool: PoolId, member: MemberId, state: AdminState) -> Outcome<()> {
        let actor = actor()?;
        let patch = serde_json::json!({ "adminState": state });
        self.state
            .ops
            .patch_member(&actor, member, None, &patch)
            .await
            .map(|_| ())
            .map_err(failed)
    }

    async fn set_health_check(
        &self,
        pool: PoolId,
        draft: Option<HealthCheckDraft>,
        revision: Option<u64>,
    ) -> Outcome<Stored<PoolView>> {
        let actor = actor()?;
        let ops = &self.state.ops;
        match draft {
            Some(draft) => {
                ops.put_health_check(&actor, pool, revision, &draft)
                    .await
                    .map_err(failed)?;
            }
            None => ops
                .delete_health_check(&actor, pool, revision)
                .await
                .map_err(failed)?,
        }
        ops.get_pool(&actor, pool)
            .await
            .map(views::pool_view)
            .map_err(failed)
    }

    async fn pool_status(&self, pool: PoolId) -> Outcome<PoolStatus> {
        let actor = actor()?;
        let pool = self.state.ops.get_pool(&actor, pool).await.map_err(failed)?;
        Ok(views::pool_status(&self.state, &pool.value))
    }

    async fn shares(&self, pool: PoolId) -> Outcome<Vec<(MemberId, Vec<u64>)>> {
        let actor = actor()?;
        let pool = self.state.ops.get_pool(&actor, pool).await.map_err(failed)?;
        Ok(self.state.shares.of(&self.state.snapshot.load(), pool.value.id))
    }

    async fn pool_events(&self, pool: PoolId, limit: usize) -> Outcome<Vec<Event>> {
        let actor = actor()?;
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        self.state
            .ops
            .history(&actor, Some(pool), limit)
            .await
            .map_err(failed)
    }

    async fn signals(&self) -> Outcome<SignalsView> {
        self.state.ops.signals(&actor()?).map_err(failed)
    }

    async fn trace(&self, request: TraceRequest) -> Outcome<Trace> {
        views::trace(&self.state, &actor()?, &request)
            .await
            .map_err(failed)
    }

    async fn try_service(
        &self,
        id: Option<ServiceId>,
        filled: Filled<ServiceDraft>,
        clients: &[String],
    ) -> Outcome<Vec<Outcome<Trace>>> {
        let traces = views::try_service(&self.state, &actor()?, id, proposal(filled), clients).await;
        let traces = traces.map_err(failed)?;
        Ok(traces.into_iter().map(|told| told.map_err(failed)).collect())
    }

    async fn preview(&self, id: ServiceId, filled: Filled<ServiceDraft>) -> Outcome<Preview> {
        let told = views::preview_draft(&self.state, &actor()?, id, proposal(filled)).await;
        told.map_err(failed)
    }

    async fn users(&self, query: ListQuery) -> Outcome<Page<Stored<UserView>>> {
        self.state.ops.list_users(&actor()?, &query).await.map_err(failed)
    }

    async fn user(&self, id: UserId) -> Outcome<Stored<UserView>> {
        self.state.ops.get_user(&actor()?, id).await.map_err(failed)
    }

    async fn create_user(&self, draft: UserDraft) -> Outcome<UserView> {
        let written = self.state.ops.create_user(&actor()?, &draft).await;
        written.map(|w| w.value).map_err(failed)
    }

    async fn change_user(&self, id: UserId, draft: UserDraft, revision: Option<u64>) -> Outcome<UserView> {
        let mut patch = serde_json::json!({ "role": draft.role, "enabled": draft.enabled });
        // Null would take away what was to stay.
        if let Some(fields) = patch.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
            if let Some(password) = draft.password {
                fields.insert("password".to_owned(), password.into());
            }
        }
        let written = self.state.ops.patch_user(&actor()?, id, revision, &patch).await;
        written.map(|w| w.value).map_err(failed)
    }

    async fn delete_user(&self, id: UserId) -> Outcome<()> {
        self.state
            .ops
            .delete_user(&actor()?, id, None)
            .await
            .map_err(failed)
    }

    async fn roles(&self) -> Outcome<Vec<RoleView>> {
        let query = ListQuery {
            limit: Some(500),
            ..ListQuery::default()
        };
        let page = self
            .state
            .ops
            .list_roles(&actor()?, &query)
            .await
            .map_err(failed)?;
        Ok(page.items.into_iter().map(|role| role.value).collect())
    }

    async fn create_role(&self, draft: RoleDraft) -> Outcome<RoleView> {
        let written = self.state.ops.create_role(&actor()?, &draft).await;
        written.map(|w| w.value).map_err(failed)
    }

    async fn role(&self, id: String) -> Outcome<Stored<RoleView>> {
        let (actor, role) = (actor()?, role(&id)?);
        self.state.ops.get_role(&actor, role).await.map_err(failed)
    }

    async fn change_role(&self, id: String, draft: RoleDraft, revision: Option<u64>) -> Outcome<RoleView> {
        let (actor, role) = (actor()?, role(&id)?);
        let written = self.state.ops.replace_role(&actor, role, revision, &draft).await;
        written.map(|w| w.value).map_err(failed)
    }

    async fn delete_role(&self, id: String) -> Outcome<()> {
        let (actor, role) = (actor()?, role(&id)?);
        let deleted = self.state.ops.delete_role(&actor, role, None).await;
        deleted.map_err(failed)
    }

    async fn tokens(&self, query: ListQuery) -> Outcome<Page<Stored<TokenView>>> {
        self.state
            .ops
            .list_tokens(&actor()?, &query)
            .await
            .map_err(failed)
    }

    async fn create_token(&self, draft: TokenDraft) -> Outcome<()> {
        let written = self
            .state
            .ops
            .create_token(&actor()?, &draft)
            .await
            .map_err(failed)?;
        self.created.keep(sessions::shown(&session()?), written.value);
        Ok(())
    }

    async fn take_created(&self) -> Outcome<Option<TokenCreated>> {
        actor()?;
        Ok(self.created.take(sessions::shown(&session()?)))
    }

    async fn delete_token(&self, id: TokenId) -> Outcome<()> {
        self.state
            .ops
            .delete_token(&actor()?, id, None)
            .await
            .map_err(failed)
    }

    async fn sessions(&self, user: Option<UserId>) -> Outcome<Vec<OpenSession>> {
        open_sessions(&self.state, &session()?, &actor()?, user)
            .await
            .map_err(failed)
    }

    async fn end_session(&self, id: SessionId) -> Outcome<()> {
        self.state.ops.end_session(&actor()?, id).await.map_err(failed)
    }

    async fn tenants(&self, query: ListQuery) -> Outcome<Page<Stored<TenantView>>> {
        self.state
            .ops
            .list_tenants(&anywhere()?, &query)
            .await
            .map_err(failed)
    }

    async fn create_tenant(&self, draft: TenantDraft) -> Outcome<TenantView> {
        let written = self.state.ops.create_tenant(&actor()?, &draft).await;
        written.map(|w| w.value).map_err(failed)
    }

    async fn tenant(&self, id: TenantId) -> Outcome<Stored<TenantView>> {
        self.state.ops.get_tenant(&actor()?, id).await.map_err(failed)
    }

    async fn change_tenant(
        &self,
        id: TenantId,
        draft: TenantDraft,
        revision: Option<u64>,
    ) -> Outcome<TenantView> {
        let written = self
            .state
            .ops
            .replace_tenant(&actor()?, id, revision, &draft)
            .await;
        written.map(|w| w.value).map_err(failed)
    }

    async fn delete_tenant(&self, id: TenantId) -> Outcome<()> {
        self.state
            .ops
            .delete_tenant(&actor()?, id, None)
            .await
            .map_err(failed)
    }

    async fn pick_tenant(&self, wanted: String) -> Outcome<()> {
        pick_tenant(&self.state, &session()?, anywhere()?, &wanted)
            .await
            .map(drop)
    }

    async fn audit(&self, query: AuditQuery) -> Outcome<Page<AuditEntry>> {
        let filter = crate::api::access::audit_filter(query).map_err(failed)?;
        self.state
            .ops
            .list_audit(&actor()?, &filter)
            .await
            .map_err(failed)
    }

    async fn import_config(
        &self,
        text: &str,
        apply: bool,
        revision: Option<u64>,
    ) -> Outcome<(ConfigReport, u64)> {
        let query = ConfigImportQuery {
            apply,
            ..ConfigImportQuery::default()
        };
        let written = self
            .state
            .ops
            .import_config(&actor()?, text, query, revision)
            .await;
        written.map(|w| (w.value, w.revision)).map_err(failed)
    }

    async fn settings(&self) -> Outcome<Vec<SettingView>> {
        self.state.ops.list_settings(&actor()?).map_err(failed)
    }

    async fn license(&self) -> Outcome<LicenseView> {
        self.state.ops.get_license(&actor()?).map_err(failed)
    }

    async fn install_license(&self, draft: LicenseDraft) -> Outcome<LicenseView> {
        let actor = actor()?;
        self.state
            .ops
            .put_license(&actor, &draft)
            .await
            .map(|w| w.value)
            .map_err(failed)
    }
}
