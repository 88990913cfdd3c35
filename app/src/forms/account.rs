//! The forms of accounts, roles, tokens and tenants.

use crate::form::{Form, MIN_PASSWORD, given, ticked, whole_number};
use gslb_api_types::model::{ErrorCode, ValidationError};
use gslb_api_types::{RoleDraft, TenantDraft, TokenDraft, UserDraft};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Boxes that are ticked, by what they stand for.
pub type Ticks = BTreeMap<String, String>;

fn named(problems: &mut Vec<ValidationError>, name: &str) {
    if name.trim().is_empty() {
        problems.push(ValidationError::new("name", ErrorCode::Required, "must be given"));
    }
}

fn long_enough(problems: &mut Vec<ValidationError>, password: &str) {
    if password.chars().count() < MIN_PASSWORD {
        let message = format!("has fewer than {MIN_PASSWORD} characters");
        problems.push(ValidationError::new("password", ErrorCode::OutOfRange, message));
    }
}

fn some(problems: &mut Vec<ValidationError>, permissions: &Ticks) {
    if permissions.is_empty() {
        let message = "tick at least one permission";
        problems.push(ValidationError::new("permissions", ErrorCode::Required, message));
    }
}

/// A new account.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserForm {
    /// Log-in name.
    pub name: String,
    /// Password.
    pub password: String,
    /// Name of the role.
    pub role: String,
}

impl std::fmt::Debug for UserForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserForm")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl UserForm {
    /// What the API is asked for.
    #[must_use]
    pub fn draft(&self) -> UserDraft {
        UserDraft {
            name: given(&self.name),
            password: Some(self.password.clone()),
            role: given(&self.role),
            enabled: None,
        }
    }
}

impl Form for UserForm {
    const PARAM: &'static str = "user";

    fn problems(&self) -> Vec<ValidationError> {
        let mut problems = Vec::new();
        named(&mut problems, &self.name);
        long_enough(&mut problems, &self.password);
        problems
    }
}

/// What changes in an account.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserChange {
    /// The account.
    pub id: String,
    /// The revision that the form was made from.
    pub revision: String,
    /// Name of the role.
    pub role: String,
    /// Ticked when it may be used.
    pub enabled: String,
    /// A new password; empty leaves it.
    pub password: String,
}

impl std::fmt::Debug for UserChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserChange")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl UserChange {
    /// What the API is asked for.
    #[must_use]
    pub fn draft(&self) -> UserDraft {
        UserDraft {
            name: None,
            password: (!self.password.is_empty()).then(|| self.password.clone()),
            role: given(&self.role),
            enabled: Some(ticked(&self.enabled)),
        }
    }
}

impl Form for UserChange {
    const PARAM: &'static str = "change";

    fn problems(&self) -> Vec<ValidationError> {
        let mut problems = Vec::new();
        if !self.password.is_empty() {
            long_enough(&mut problems, &self.password);
        }
        problems
    }
}

/// A role.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoleForm {
    /// The role; empty for a new one.
    pub id: String,
    /// The revision that the form was made from.
    pub revision: String,
    /// Name.
    pub name: String,
    /// What it allows.
    pub permissions: Ticks,
}

impl RoleForm {
    /// What the API is asked for.
    #[must_use]
    pub fn draft(&self) -> RoleDraft {
        RoleDraft {
            name: given(&self.name),
            permissions: Some(self.permissions.keys().cloned().collect()),
        }
    }
}

impl Form for RoleForm {
    const PARAM: &'static str = "role";

    fn problems(&self) -> Vec<ValidationError> {
        let mut problems = Vec::new();
        named(&mut problems, &self.name);
        some(&mut problems, &self.permissions);
        problems
    }
}

/// A new token.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenForm {
    /// Name.
    pub name: String,
    /// What it may do.
    pub permissions: Ticks,
    /// Days until it ends; empty is never.
    pub expires_in_days: String,
}

impl TokenForm {
    /// What the API is asked for, and what is no number.
    #[must_use]
    pub fn draft(&self) -> (TokenDraft, Vec<ValidationError>) {
        let mut problems = Vec::new();
        let draft = TokenDraft {
            name: given(&self.name),
            permissions: Some(self.permissions.keys().cloned().collect()),
            expires_in_days: whole_number(&mut problems, "expiresInDays", &self.expires_in_days),
        };
        (draft, problems)
    }
}

impl Form for TokenForm {
    const PARAM: &'static str = "token";

    fn problems(&self) -> Vec<ValidationError> {
        let (_, mut problems) = self.draft();
        named(&mut problems, &self.name);
        some(&mut problems, &self.permissions);
        problems
    }
}

/// A tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TenantForm {
    /// The tenant; empty for a new one.
    pub id: String,
    /// The revision that the form was made from.
    pub revision: String,
    /// Name.
    pub name: String,
}

impl TenantForm {
    /// What the API is asked for.
    #[must_use]
    pub fn draft(&self) -> TenantDraft {
        TenantDraft {
            name: given(&self.name),
        }
    }
}

impl Form for TenantForm {
    const PARAM: &'static str = "tenant";

    fn problems(&self) -> Vec<ValidationError> {
        let mut problems = Vec::new();
        named(&mut problems, &self.name);
        problems
    }
}
