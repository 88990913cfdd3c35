//! The licence.

use super::{Ops, require};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::license;
use crate::store::{Document, LicenseRecord};
use gslb_api_types::{LicenseDraft, LicenseView};
use gslb_engine::model::{Actor, ErrorCode, Permission};

impl Ops {
    /// The licence in force.
    ///
    /// # Errors
    /// [`OpError::Forbidden`].
    pub fn get_license(&self, actor: &Actor) -> Result<LicenseView, OpError> {
        require(actor, Permission::LicenseRead)?;
        Ok(self.parts.license.load().view())
    }

    /// Stores a licence. It takes the place of one from the configuration while its signature holds.
    ///
    /// # Errors
    /// [`OpError::Invalid`] for a text that is no licence or that no trusted key has signed.
    pub async fn put_license(
        &self,
        actor: &Actor,
        draft: impl Into<Proposal<LicenseDraft>>,
    ) -> Result<Written<LicenseView>, OpError> {
        require(actor, Permission::LicenseWrite)?;
        let Proposal { draft, problems } = draft.into();
        if !problems.is_empty() {
            return Err(OpError::Invalid(problems));
        }
        let text = draft.license.trim().to_owned();
        if text.is_empty() {
            return Err(OpError::invalid("license", ErrorCode::Required, "must be given"));
        }
        let settings = self.settings();
        license::verify(&text, &settings.license.public_keys.keys())
            .map_err(|error| OpError::invalid("license", ErrorCode::Invalid, error.to_string()))?;
        let guard = self.lock().await;
        let stored = self.parts.store.license().await?;
        let before = stored.map(|row| (Document::License(row.value), row.revision));
        let document = Document::License(LicenseRecord { text });
        let written = self.put(guard, actor, before, document, (), Vec::new()).await?;
        let value = self.parts.license.load().view();
        Ok(Written {
            value,
            revision: written.revision,
            warnings: written.warnings,
        })
    }

    /// Removes the stored licence; one from the configuration is in force again.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::NotFound`] when none is stored.
    pub async fn delete_license(&self, actor: &Actor) -> Result<(), OpError> {
        require(actor, Permission::LicenseWrite)?;
        let guard = self.lock().await;
        let row = self.parts.store.license().await?;
        let row = row.ok_or_else(|| OpError::not_found("stored licence", ""))?;
        self.delete(guard, actor, Document::License(row.value), row.revision)
            .await
    }
}
