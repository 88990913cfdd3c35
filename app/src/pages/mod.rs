//! One folder or file a page.

mod login;
mod missing;

pub use login::LoginPage;
pub use missing::MissingPage;
