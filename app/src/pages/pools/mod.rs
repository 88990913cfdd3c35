//! Pools: detail with live members, forms.

mod actions;
mod check;
mod detail;
mod edit;
mod member_form;
mod members;

pub use detail::PoolPage;
pub use edit::NewPoolPage;
