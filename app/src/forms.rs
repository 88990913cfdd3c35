//! The forms of services, pools, accounts and the licence: their fields as texts, and the drafts that they make.

#[cfg(feature = "ssr")]
mod account;
mod check;
#[cfg(feature = "ssr")]
mod license;
mod pool;
mod service;

#[cfg(feature = "ssr")]
pub use account::{RoleForm, TenantForm, Ticks, TokenForm, UserChange, UserForm};
pub use check::CheckForm;
#[cfg(feature = "ssr")]
pub use license::LicenseForm;
pub use pool::{MemberForm, PoolForm, PoolTarget, admin_name};
pub use service::{ServiceForm, ServiceTarget};
