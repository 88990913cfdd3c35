//! The form to install a licence.

use crate::form::Form;
use gslb_api_types::LicenseDraft;
use gslb_api_types::model::{ErrorCode, ValidationError};
use serde::{Deserialize, Serialize};

/// A licence text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LicenseForm {
    /// The text, as it came.
    pub license: String,
}

impl LicenseForm {
    /// The draft: mail programs like to break the one long line.
    #[must_use]
    pub fn draft(&self) -> LicenseDraft {
        LicenseDraft {
            license: self.license.split_whitespace().collect(),
        }
    }
}

impl Form for LicenseForm {
    const PARAM: &'static str = "license";

    fn problems(&self) -> Vec<ValidationError> {
        let text = self.draft().license;
        let message = if text.is_empty() {
            "must be given"
        } else if text.split('.').count() != 2 {
            "is no licence: two parts with a dot between them are expected"
        } else {
            return Vec::new();
        };
        vec![ValidationError::new("license", ErrorCode::Invalid, message)]
    }
}
