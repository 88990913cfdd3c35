//! Parts that pages share.

pub mod chain;
pub mod chart;
pub mod empty;
pub mod field;
pub mod icon;
pub mod layout;
pub mod load;
#[cfg(feature = "ssr")]
pub mod permissions;
pub mod state;
pub mod text;
pub mod time;
#[cfg(feature = "ssr")]
pub mod trace;

pub use icon::{Icon, Mark};
pub use load::loaded;
pub use state::State;
pub use time::{Ago, Moment};
