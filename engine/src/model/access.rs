//! Who may do what: permissions, roles, actors.

use super::id::{TenantId, TokenId, UserId};
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! permissions {
    ($($variant:ident = $text:literal),+ $(,)?) => {
        /// A right, written `resource:verb`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Permission {
            $(
                #[doc = concat!("`", $text, "`")]
                #[serde(rename = $text)]
                $variant,
            )+
        }

        impl Permission {
            /// Every permission there is.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// `resource:verb`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}

permissions! {
    ZonesRead = "zones:read",
    ZonesWrite = "zones:write",
    PoolsRead = "pools:read",
    PoolsWrite = "pools:write",
    ServicesRead = "services:read",
    ServicesWrite = "services:write",
    ScriptsWrite = "scripts:write",
    SignalsRead = "signals:read",
    TraceRead = "trace:read",
    EventsRead = "events:read",
    UsersRead = "users:read",
    UsersWrite = "users:write",
    TokensRead = "tokens:read",
    TokensWrite = "tokens:write",
    AuditRead = "audit:read",
    LicenseRead = "license:read",
    LicenseWrite = "license:write",
    SettingsRead = "settings:read",
    MetricsRead = "metrics:read",
    ClusterRead = "cluster:read",
    TenantsRead = "tenants:read",
    TenantsWrite = "tenants:write",
}

/// By hand, since the derived one does not see names that come out of a macro.
#[cfg(feature = "schema")]
impl utoipa::PartialSchema for Permission {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .description(Some("A right, written `resource:verb`."))
            .enum_values(Some(Self::ALL.iter().map(|permission| permission.as_str())))
            .into()
    }
}

#[cfg(feature = "schema")]
impl utoipa::ToSchema for Permission {}

impl Permission {
    /// Parses `resource:verb`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|p| p.as_str() == text)
    }

    /// Whether it is about the installation as a whole, and so for system administrators alone. Whoever has
    /// `tenants:read` sees every tenant, and may act in each with the other permissions that he has.
    #[must_use]
    pub const fn is_for_installation(self) -> bool {
        matches!(
            self,
            Self::LicenseWrite
                | Self::MetricsRead
                | Self::SettingsRead
                | Self::TenantsRead
                | Self::TenantsWrite
        )
    }

    /// The permission that brings this one along. Whoever may change objects of a kind may see them: a write is answered
    /// with the object, and a guarded one needs the revision that a read gives. Not so for tenants: to see them is to act in
    /// each.
    #[must_use]
    pub const fn comes_with(self) -> Option<Self> {
        match self {
            Self::ZonesRead => Some(Self::ZonesWrite),
            Self::PoolsRead => Some(Self::PoolsWrite),
            Self::ServicesRead => Some(Self::ServicesWrite),
            Self::UsersRead => Some(Self::UsersWrite),
            Self::TokensRead => Some(Self::TokensWrite),
            Self::LicenseRead => Some(Self::LicenseWrite),
            _ => None,
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A built-in role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Everything, in every tenant.
    SystemAdmin,
    /// Everything in one tenant.
    TenantAdmin,
    /// Reads and changes routing, without scripts.
    Operator,
    /// Reads.
    Viewer,
}

impl Role {
    /// Every built-in role, the mightiest first.
    pub const ALL: [Self; 4] = [Self::SystemAdmin, Self::TenantAdmin, Self::Operator, Self::Viewer];

    /// Name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SystemAdmin => "system-admin",
            Self::TenantAdmin => "tenant-admin",
            Self::Operator => "operator",
            Self::Viewer => "viewer",
        }
    }

    /// Parses the API's name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// What the role may do.
    #[must_use]
    pub fn permissions(self) -> Vec<Permission> {
        use Permission as P;
        let all = Permission::ALL.iter().copied();
        let of_tenant = all.clone().filter(|p| !p.is_for_installation());
        let reads = |p: &P| p.as_str().ends_with(":read") && !matches!(p, P::UsersRead | P::TokensRead);
        match self {
            Self::SystemAdmin => all.collect(),
            Self::TenantAdmin => of_tenant.collect(),
            Self::Operator => of_tenant
                .filter(|p| reads(p) || matches!(p, P::ZonesWrite | P::PoolsWrite | P::ServicesWrite))
                .collect(),
            Self::Viewer => of_tenant
                .filter(|p| reads(p) && !matches!(p, P::AuditRead))
                .collect(),
        }
    }
}

/// What kind of caller an [`Actor`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase", tag = "kind", content = "id")]
pub enum ActorKind {
    /// A person with a session.
    User(UserId),
    /// An API token.
    Token(TokenId),
    /// The bootstrap token of the environment.
    Bootstrap,
    /// The daemon itself: first start, demo.
    System,
}

/// Who asks for something, with what rights, in which tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// Kind and id.
    pub kind: ActorKind,
    /// Name for the audit trail.
    pub name: String,
    /// The tenant acted in.
    pub tenant_id: TenantId,
    /// What the actor may do there.
    pub permissions: Vec<Permission>,
    /// Source address for the audit trail, when it came over the network.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<std::net::IpAddr>,
}

impl Actor {
    /// The daemon acting for itself in the default tenant.
    #[must_use]
    pub fn system() -> Self {
        Self {
            kind: ActorKind::System,
            name: "system".to_owned(),
            tenant_id: TenantId::DEFAULT,
            permissions: Permission::ALL.to_vec(),
            from: None,
        }
    }

    /// Whether the actor has a permission, or one that brings it along.
    #[must_use]
    pub fn may(&self, permission: Permission) -> bool {
        let has = |wanted: Permission| self.permissions.contains(&wanted);
        has(permission) || permission.comes_with().is_some_and(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_may_write_may_read_and_not_the_other_way_round() {
        let with = |permission| Actor {
            permissions: vec![permission],
            ..Actor::system()
        };
        for write in Permission::ALL.iter().filter(|p| p.as_str().ends_with(":write")) {
            let kind = write.as_str().trim_end_matches("write");
            let kind = if kind == "tenants:" { "nothing:" } else { kind };
            for other in Permission::ALL.iter().filter(|p| *p != write) {
                let brought = other.as_str() == format!("{kind}read");
                assert_eq!(with(*write).may(*other), brought, "{write} and {other}");
                assert!(!with(*other).may(*write), "{other} and {write}");
            }
        }
    }
}
