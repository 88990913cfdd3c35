//! Accounts, tokens, licences, the audit trail.

use gslb_engine::model::{Permission, RoleId, SessionId, TenantId, Tier, TokenId, UserId};
use serde::{Deserialize, Serialize};

/// Name and password.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    /// Account name.
    pub username: String,
    /// Password.
    pub password: String,
}

impl std::fmt::Debug for LoginRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginRequest")
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

/// Old and new password.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PasswordChange {
    /// The password in force.
    pub current: String,
    /// The new one, at least 12 characters.
    pub new: String,
}

impl std::fmt::Debug for PasswordChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordChange").finish_non_exhaustive()
    }
}

/// Who is logged in, and what the installation allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// Account or token name.
    pub name: String,
    /// The account; absent for tokens.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user_id: Option<UserId>,
    /// Tenant acted in.
    pub tenant_id: TenantId,
    /// Its name.
    pub tenant: String,
    /// What the caller may do.
    pub permissions: Vec<Permission>,
    /// Tier in force.
    pub tier: Tier,
}

/// A user account as it arrives from outside.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserDraft {
    /// 1 to 64 characters. Required.
    pub name: Option<String>,
    /// At least 12 characters, and not the name. Required for a new account; left out, it stays as it is.
    pub password: Option<String>,
    /// Name of a built-in role, or name or id of one of the tenant's own. Default `viewer`.
    pub role: Option<String>,
    /// Default true. A disabled account cannot be used: its sessions end at once, and its tokens are refused.
    pub enabled: Option<bool>,
}

impl std::fmt::Debug for UserDraft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserDraft")
            .field("name", &self.name)
            .field("role", &self.role)
            .field("enabled", &self.enabled)
            .finish_non_exhaustive()
    }
}

/// A user account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UserView {
    /// Id.
    pub id: UserId,
    /// Owner.
    pub tenant_id: TenantId,
    /// Name.
    pub name: String,
    /// Name of the role.
    pub role: String,
    /// Its id, when it is one of the tenant's own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub role_id: Option<RoleId>,
    /// Whether the account may be used.
    pub enabled: bool,
    /// Last log-in, Unix seconds.
    pub last_login: Option<u64>,
}

/// An API token as it arrives from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenDraft {
    /// 1 to 64 characters. Required.
    pub name: Option<String>,
    /// What it may do; at most what its maker may. Required.
    pub permissions: Option<Vec<String>>,
    /// Days until it expires; absent is never.
    pub expires_in_days: Option<i64>,
}

/// An API token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenView {
    /// Id.
    pub id: TokenId,
    /// Owner.
    pub tenant_id: TenantId,
    /// Name.
    pub name: String,
    /// First characters of the secret, to tell tokens apart.
    pub hint: String,
    /// What it may do, as long as the account behind it may.
    pub permissions: Vec<Permission>,
    /// The account behind it, with which it ends; absent when the bootstrap token made it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owner: Option<String>,
    /// Unix seconds.
    pub created_at: u64,
    /// Unix seconds; absent is never.
    pub expires_at: Option<u64>,
    /// Unix seconds, to the minute.
    pub last_used_at: Option<u64>,
}

/// A new token with its secret, shown this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenCreated {
    /// The token.
    #[serde(flatten)]
    pub token: TokenView,
    /// `gslb_…`, for `Authorization: Bearer`.
    pub secret: String,
}

/// A role of a tenant's own as it arrives from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RoleDraft {
    /// 1 to 64 characters, not the name of a built-in role. Required.
    pub name: Option<String>,
    /// What it allows; at most what its maker may, and nothing that concerns the installation. Required.
    pub permissions: Option<Vec<String>>,
}

/// A role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RoleView {
    /// Id; that of a built-in role is its name.
    pub id: String,
    /// Name.
    pub name: String,
    /// Whether it is built in: such a role cannot change.
    pub built_in: bool,
    /// What it allows.
    pub permissions: Vec<Permission>,
}

/// A tenant as it arrives from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantDraft {
    /// 1 to 64 characters, unique. Required.
    pub name: Option<String>,
}

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TenantView {
    /// Id.
    pub id: TenantId,
    /// Name.
    pub name: String,
}

/// The tenant that a session is to act in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TenantChoice {
    /// Id or name.
    pub tenant: String,
}

/// A session that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenSession {
    /// Id; no secret, it opens nothing.
    pub id: SessionId,
    /// The account.
    pub user_id: UserId,
    /// Its name.
    pub user: String,
    /// Where the log-in came from.
    pub from: Option<String>,
    /// What the browser called itself.
    pub agent: Option<String>,
    /// Log-in, Unix seconds.
    pub since: u64,
    /// Last request, Unix seconds, to the minute.
    pub last_seen: u64,
    /// Whether it is the one that asks.
    pub current: bool,
}

/// Whose sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema, utoipa::IntoParams))]
#[cfg_attr(feature = "schema", into_params(parameter_in = Query))]
#[serde(rename_all = "camelCase", default)]
pub struct SessionQuery {
    /// Id of an account; absent: one's own.
    pub user: Option<UserId>,
}

/// One row of the audit trail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Revision of the change.
    pub revision: u64,
    /// Unix milliseconds.
    pub at: u64,
    /// Owner of the object.
    pub tenant_id: TenantId,
    /// Who.
    pub actor: String,
    /// From where, if over the network.
    pub from: Option<String>,
    /// `created`, `updated`, `deleted`.
    pub action: String,
    /// `service`, `pool`, ...
    pub object: String,
    /// Id of the object.
    pub object_id: String,
    /// Name of the object.
    pub name: String,
    /// The document before; null when created.
    pub before: Option<serde_json::Value>,
    /// The document after; null when deleted.
    pub after: Option<serde_json::Value>,
}

/// What part of the audit trail. Times are RFC 3339 (`2027-01-15T08:00:00Z`), a day (`2027-01-15`), or Unix
/// milliseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema, utoipa::IntoParams))]
#[cfg_attr(feature = "schema", into_params(parameter_in = Query))]
#[serde(rename_all = "camelCase", default)]
pub struct AuditQuery {
    /// Entries a page, 1 to 500, default 100.
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    pub cursor: Option<String>,
    /// Only entries whose actor, action, object kind or object name contains this text; or the id of an object.
    pub search: Option<String>,
    /// Only changes by who has this name.
    pub actor: Option<String>,
    /// Only `created`, `updated`, `deleted` or `imported`.
    pub action: Option<String>,
    /// Only changes of this kind of object: `zone`, `pool`, `service`, ...
    pub object: Option<String>,
    /// Only changes of the object with this id.
    pub object_id: Option<String>,
    /// Only from this time on.
    pub from: Option<String>,
    /// Only before this time.
    pub to: Option<String>,
    /// The trail of every tenant, for system administrators.
    pub all_tenants: bool,
    /// `jsonl`: everything that fits, as JSON lines, as `Accept: application/x-ndjson` asks for too.
    pub format: Option<String>,
}

/// A licence to install.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct LicenseDraft {
    /// The licence text.
    pub license: String,
}

/// The licence in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LicenseView {
    /// Tier in force.
    pub tier: Tier,
    /// Whether the licence is good: `valid`, `missing`, `expired`, `notYetValid`, `invalid`.
    pub state: String,
    /// Why, in a sentence.
    pub message: String,
    /// Id of the licence.
    pub id: Option<String>,
    /// Customer.
    pub customer: Option<String>,
    /// Issued, Unix seconds.
    pub issued_at: Option<u64>,
    /// Expires, Unix seconds.
    pub expires_at: Option<u64>,
    /// Queries a second allowed; absent is no limit.
    pub max_rps: Option<u64>,
}
