//! Services: list, detail, form.

mod delete;
mod detail;
mod form;
mod list;

pub use detail::ServicePage;
pub use form::{EditServicePage, NewServicePage};
pub use list::ServicesPage;
