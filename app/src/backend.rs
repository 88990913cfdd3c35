//! What the console asks of the daemon, one method a use. The daemon implements it over its use cases and puts an
//! `Arc<dyn Backend>` into the context of every page and server function.
//!
//! Who asks is not a parameter: an implementation finds the session in the request parts that `leptos_axum` puts into
//! the same context. Without a session every method but [`Backend::login`] fails with code `unauthorized`.

use async_trait::async_trait;
use gslb_api_types::model::{
    AdminState, HealthCheckDraft, Member, MemberDraft, MemberId, PoolDraft, PoolId, ServiceDraft, ServiceId,
    SessionId, TenantId, TokenId, UserId, ValidationError,
};
use gslb_api_types::{
    ApiError, AuditEntry, AuditQuery, ConfigReport, Dashboard, Event, LicenseDraft, LicenseView, ListQuery,
    LoginRequest, OpenSession, Page, PasswordChange, PoolStatus, PoolSummary, PoolView, Preview, RoleDraft,
    RoleView, ServiceRow, ServiceView, SessionView, SettingView, SignalsView, Stored, TenantDraft,
    TenantView, TokenCreated, TokenDraft, TokenView, Trace, TraceRequest, UserDraft, UserView,
};

mod zones;

pub use zones::ZoneBackend;

/// A draft with what its form alone has found to be wrong. With such problems nothing is done, and the answer has them
/// together with those that only the daemon can find.
#[derive(Debug, Clone, Default)]
pub struct Filled<D> {
    /// What could be read of the form.
    pub draft: D,
    /// Problems by field.
    pub problems: Vec<ValidationError>,
}

/// Result of a use case.
pub type Outcome<T> = Result<T, ApiError>;

/// The use cases behind the console. `revision` is the `If-Match` of an update: when it is given and not the current
/// one, the update fails with code `stale` and changes nothing.
#[async_trait]
pub trait Backend: ZoneBackend + Send + Sync + 'static {
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
    async fn create_service(&self, filled: Filled<ServiceDraft>) -> Outcome<Stored<ServiceView>>;
    /// Replaces a service.
    async fn update_service(
        &self,
        id: ServiceId,
        filled: Filled<ServiceDraft>,
        revision: Option<u64>,
    ) -> Outcome<Stored<ServiceView>>;
    /// Deletes a service.
    async fn delete_service(&self, id: ServiceId, revision: Option<u64>) -> Outcome<()>;

    /// One page of pools; `search` looks at the name.
    async fn pools(&self, query: ListQuery) -> Outcome<Page<PoolSummary>>;
    /// One pool with its members.
    async fn pool(&self, id: PoolId) -> Outcome<Stored<PoolView>>;
    /// Creates a pool.
    async fn create_pool(&self, filled: Filled<PoolDraft>) -> Outcome<Stored<PoolView>>;
    /// Replaces name and `minHealthy`; an absent `members` or `healthCheck` stays as it is.
    async fn update_pool(
        &self,
        id: PoolId,
        filled: Filled<PoolDraft>,
        revision: Option<u64>,
    ) -> Outcome<Stored<PoolView>>;
    /// Deletes a pool; code `conflict` while a service uses it.
    async fn delete_pool(&self, id: PoolId, revision: Option<u64>) -> Outcome<()>;
    /// Adds a member at the end. `revision` in this and the next methods is the pool's.
    async fn add_member(
        &self,
        pool: PoolId,
        filled: Filled<MemberDraft>,
        revision: Option<u64>,
    ) -> Outcome<Member>;
    /// Replaces a member.
    async fn update_member(
        &self,
        pool: PoolId,
        member: MemberId,
        filled: Filled<MemberDraft>,
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
    /// Answers of each member, minute by minute over the last hour, the oldest first.
    async fn shares(&self, pool: PoolId) -> Outcome<Vec<(MemberId, Vec<u64>)>>;
    /// Health transitions of a pool's members, newest first.
    async fn pool_events(&self, pool: PoolId, limit: usize) -> Outcome<Vec<Event>>;

    /// The signal table and who uses it.
    async fn signals(&self) -> Outcome<SignalsView>;
    /// Traces one query.
    async fn trace(&self, request: TraceRequest) -> Outcome<Trace>;
    /// Traces a query of each client to a service as a form has it, stored or not; what does not concern the routing and
    /// is wrong counts as absent. `id` is that of the stored one.
    async fn try_service(
        &self,
        id: Option<ServiceId>,
        filled: Filled<ServiceDraft>,
        clients: &[String],
    ) -> Outcome<Vec<Outcome<Trace>>>;
    /// Answers recent queries to a stored service once more, as it is and as a form has it.
    async fn preview(&self, id: ServiceId, filled: Filled<ServiceDraft>) -> Outcome<Preview>;

    /// One page of accounts.
    async fn users(&self, query: ListQuery) -> Outcome<Page<Stored<UserView>>>;
    /// One account.
    async fn user(&self, id: UserId) -> Outcome<Stored<UserView>>;
    /// Makes an account.
    async fn create_user(&self, draft: UserDraft) -> Outcome<UserView>;
    /// Changes an account: what the draft leaves out stays.
    async fn change_user(&self, id: UserId, draft: UserDraft, revision: Option<u64>) -> Outcome<UserView>;
    /// Deletes an account.
    async fn delete_user(&self, id: UserId) -> Outcome<()>;
    /// All roles, built in and own.
    async fn roles(&self) -> Outcome<Vec<RoleView>>;
    /// Makes a role.
    async fn create_role(&self, draft: RoleDraft) -> Outcome<RoleView>;
    /// One role; the id of one that is built in is its name.
    async fn role(&self, id: String) -> Outcome<Stored<RoleView>>;
    /// Replaces a role of the tenant's own.
    async fn change_role(&self, id: String, draft: RoleDraft, revision: Option<u64>) -> Outcome<RoleView>;
    /// Deletes a role.
    async fn delete_role(&self, id: String) -> Outcome<()>;
    /// One page of tokens.
    async fn tokens(&self, query: ListQuery) -> Outcome<Page<Stored<TokenView>>>;
    /// Makes a token; [`take_created`](Self::take_created) tells its secret.
    async fn create_token(&self, draft: TokenDraft) -> Outcome<()>;
    /// The token that this session has just made, once.
    async fn take_created(&self) -> Outcome<Option<TokenCreated>>;
    /// Revokes a token.
    async fn delete_token(&self, id: TokenId) -> Outcome<()>;
    /// Sessions of an account, or one's own.
    async fn sessions(&self, user: Option<UserId>) -> Outcome<Vec<OpenSession>>;
    /// Ends a session.
    async fn end_session(&self, id: SessionId) -> Outcome<()>;
    /// One page of tenants.
    async fn tenants(&self, query: ListQuery) -> Outcome<Page<Stored<TenantView>>>;
    /// Makes a tenant.
    async fn create_tenant(&self, draft: TenantDraft) -> Outcome<TenantView>;
    /// One tenant.
    async fn tenant(&self, id: TenantId) -> Outcome<Stored<TenantView>>;
    /// Gives a tenant another name.
    async fn change_tenant(
        &self,
        id: TenantId,
        draft: TenantDraft,
        revision: Option<u64>,
    ) -> Outcome<TenantView>;
    /// Deletes a tenant.
    async fn delete_tenant(&self, id: TenantId) -> Outcome<()>;
    /// Lets the session act in the tenant with this id or name.
    async fn pick_tenant(&self, wanted: String) -> Outcome<()>;

    /// One page of the audit trail, newest first; `search` looks at actor, name, and object id.
    async fn audit(&self, query: AuditQuery) -> Outcome<Page<AuditEntry>>;
    /// Compares a document with the configuration of the tenant, and with `apply` takes it over, all or nothing: what
    /// changes, and the revision that this was told at.
    async fn import_config(
        &self,
        text: &str,
        apply: bool,
        revision: Option<u64>,
    ) -> Outcome<(ConfigReport, u64)>;
    /// Every setting with its origin.
    async fn settings(&self) -> Outcome<Vec<SettingView>>;
    /// The licence in force.
    async fn license(&self) -> Outcome<LicenseView>;
    /// Installs a licence.
    async fn install_license(&self, draft: LicenseDraft) -> Outcome<LicenseView>;
}
