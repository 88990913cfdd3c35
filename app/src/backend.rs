//! What the console asks of the daemon, one method a use. The daemon implements it over its use cases and puts an
//! `Arc<dyn Backend>` into the context of every page and server function.
//!
//! Who asks is not a parameter: an implementation finds the session in the request parts that `leptos_axum` puts into
//! the same context. Without a session every method but [`Backend::login`] fails with code `unauthorized`.

use async_trait::async_trait;
use gslb_api_types::model::{
    AdminState, HealthCheckDraft, Member, MemberDraft, MemberId, PoolDraft, PoolId, ServiceDraft, ServiceId,
    ZoneDraft, ZoneId,
};
use gslb_api_types::{
    ApiError, AuditEntry, Dashboard, Event, LicenseDraft, LicenseView, ListQuery, LoginRequest, Page,
    PasswordChange, PoolStatus, PoolSummary, PoolView, ServiceRow, ServiceView, SessionView, SettingView,
    SignalsView, Stored, Trace, TraceRequest, ZoneView,
};

/// Result of a use case.
pub type Outcome<T> = Result<T, ApiError>;

/// The use cases behind the console. `revision` is the `If-Match` of an update: when it is given and not the current
/// one, the update fails with code `stale` and changes nothing.
#[async_trait]
pub trait Backend: Send + Sync + 'static {
    /// Starts a session and sets its cookie on the response. Says nothing about which of the two was wrong.
    async fn login(&self, request: LoginRequest) -> Outcome<()>;
    /// Ends the session.
    async fn logout(&self) -> Outcome<()>;
    /// Who is logged in, with what rights, and the tier in force.
    async fn session(&self) -> Outcome<SessionView>;
    /// Changes the caller's own password.
    async fn change_password(&self, change: PasswordChange) -> Outcome<()>;

    /// Rates, health, last events.
    async fn dashboard(&self) -> Outcome<Dashboard>;

    /// One page of services; `search` looks at name and domain, `sort` is `name` or `domain`, `-` in front descends.
    async fn services(&self, query: ListQuery) -> Outcome<Page<ServiceRow>>;
    /// One service.
    async fn service(&self, id: ServiceId) -> Outcome<Stored<ServiceView>>;
    /// Creates a service.
    async fn create_service(&self, draft: ServiceDraft) -> Outcome<Stored<ServiceView>>;
    /// Replaces a service.
    async fn update_service(
        &self,
        id: ServiceId,
        draft: ServiceDraft,
        revision: Option<u64>,
    ) -> Outcome<Stored<ServiceView>>;
    /// Deletes a service.
    async fn delete_service(&self, id: ServiceId, revision: Option<u64>) -> Outcome<()>;

    /// One page of pools; `search` looks at the name.
    async fn pools(&self, query: ListQuery) -> Outcome<Page<PoolSummary>>;
    /// One pool with its members.
    async fn pool(&self, id: PoolId) -> Outcome<Stored<PoolView>>;
    /// Creates a pool.
    async fn create_pool(&self, draft: PoolDraft) -> Outcome<Stored<PoolView>>;
    /// Replaces name and `minHealthy`; an absent `members` or `healthCheck` stays as it is.
    async fn update_pool(
        &self,
        id: PoolId,
        draft: PoolDraft,
        revision: Option<u64>,
    ) -> Outcome<Stored<PoolView>>;
    /// Deletes a pool; code `conflict` while a service uses it.
    async fn delete_pool(&self, id: PoolId, revision: Option<u64>) -> Outcome<()>;
    /// Adds a member at the end. `revision` in this and the next methods is the pool's.
    async fn add_member(&self, pool: PoolId, draft: MemberDraft, revision: Option<u64>) -> Outcome<Member>;
    /// Replaces a member.
    async fn update_member(
        &self,
        pool: PoolId,
        member: MemberId,
        draft: MemberDraft,
        revision: Option<u64>,
    ) -> Outcome<Member>;
    /// Removes a member.
    async fn delete_member(&self, pool: PoolId, member: MemberId, revision: Option<u64>) -> Outcome<()>;
    /// Drains a member, forces it up or down, or leaves it to its health.
    async fn set_admin_state(&self, pool: PoolId, member: MemberId, state: AdminState) -> Outcome<()>;
    /// Replaces the health check; `None` removes it.
    async fn set_health_check(
        &self,
        pool: PoolId,
        draft: Option<HealthCheckDraft>,
        revision: Option<u64>,
    ) -> Outcome<Stored<PoolView>>;
    /// Live state of the members, by address, with their last probes.
    async fn pool_status(&self, pool: PoolId) -> Outcome<PoolStatus>;
    /// Health transitions of a pool's members, newest first.
    async fn pool_events(&self, pool: PoolId, limit: usize) -> Outcome<Vec<Event>>;

    /// The signal table and who uses it.
    async fn signals(&self) -> Outcome<SignalsView>;
    /// Traces one query.
    async fn trace(&self, request: TraceRequest) -> Outcome<Trace>;

    /// One page of zones.
    async fn zones(&self, query: ListQuery) -> Outcome<Page<ZoneView>>;
    /// Creates a zone.
    async fn create_zone(&self, draft: ZoneDraft) -> Outcome<Stored<ZoneView>>;
    /// Deletes a zone.
    async fn delete_zone(&self, id: ZoneId) -> Outcome<()>;

    /// One page of the audit trail, newest first; `search` looks at actor, name, and object id.
    async fn audit(&self, query: ListQuery) -> Outcome<Page<AuditEntry>>;
    /// Every setting with its origin.
    async fn settings(&self) -> Outcome<Vec<SettingView>>;
    /// The licence in force.
    async fn license(&self) -> Outcome<LicenseView>;
    /// Installs a licence.
    async fn install_license(&self, draft: LicenseDraft) -> Outcome<LicenseView>;
}
