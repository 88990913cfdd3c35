//! The forms of services, pools, accounts and the licence: their fields as texts, and the drafts that they make.

mod account;
mod check;
mod license;
mod pool;
mod service;

pub use account::{MIN_PASSWORD, RoleForm, Target, TenantForm, Ticks, TokenForm, UserChange, UserForm};
pub use check::CheckForm;
pub use license::LicenseForm;
pub use pool::{MemberForm, PoolForm, PoolTarget, admin_name};
pub use service::{ServiceForm, ServiceTarget};
