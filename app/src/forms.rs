//! The forms of services, pools, zones and the licence: their fields as texts, and the drafts that they make.

mod check;
mod license;
mod pool;
mod service;
mod zone;

pub use check::CheckForm;
pub use license::LicenseForm;
pub use pool::{MemberForm, PoolForm, PoolTarget, admin_name};
pub use service::{ServiceForm, ServiceTarget};
pub use zone::{ZoneForm, ZoneTarget};
