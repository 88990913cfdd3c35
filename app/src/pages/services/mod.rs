//! Services: detail, form.

mod delete;
mod detail;
mod form;

pub use detail::ServicePage;
pub use form::{EditServicePage, NewServicePage};
