//! Accounts, tokens, licences, the audit trail.

use gslb_engine::model::{Permission, Role, TenantId, Tier, TokenId, UserId};
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
    /// The new one, at least 8 characters.
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
    /// Tenant acted in.
    pub tenant_id: TenantId,
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
    /// At least 8 characters. Required for a new account.
    pub password: Option<String>,
    /// Default `viewer`.
    pub role: Option<Role>,
}

impl std::fmt::Debug for UserDraft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserDraft")
            .field("name", &self.name)
            .field("role", &self.role)
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
    /// Role.
    pub role: Role,
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
    /// What it may do.
    pub permissions: Vec<Permission>,
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
