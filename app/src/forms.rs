//! The forms of services, pools and the licence: their fields as texts, and the drafts that they make.

mod check;
mod license;
mod pool;
mod service;

pub use check::CheckForm;
pub use license::LicenseForm;
pub use pool::{MemberForm, PoolForm, PoolTarget, admin_name};
pub use service::{ServiceForm, ServiceTarget};
