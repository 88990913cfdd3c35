//! Settings, with where each value came from.

use super::{Ops, require};
use crate::error::OpError;
use gslb_api_types::SettingView;
use gslb_engine::model::{Actor, Permission};

impl Ops {
    /// Every setting; secrets are masked.
    ///
    /// # Errors
    /// [`OpError::Forbidden`].
    pub fn list_settings(&self, actor: &Actor) -> Result<Vec<SettingView>, OpError> {
        require(actor, Permission::SettingsRead)?;
        Ok(self.settings().views())
    }
}
