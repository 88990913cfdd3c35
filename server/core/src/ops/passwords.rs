//! What a password must be like, and changing one's own.

use super::Ops;
use crate::auth::password;
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, UserRecord};
use gslb_api_types::{PasswordChange, UserView};
use gslb_engine::model::{Actor, ActorKind, ErrorCode, ValidationError};
use std::collections::HashSet;

/// Shortest password, characters.
pub const MIN_PASSWORD: usize = 12;
/// Longest password, bytes: hashing time must not be the caller's choice.
pub const MAX_PASSWORD: usize = 1024;
/// Fewest characters that a password has beside the name of the account, if that is in it.
const MIN_BESIDE_NAME: usize = 8;
/// Fewest different characters of a password.
const MIN_DIFFERENT: usize = 5;

/// Why a password of the account `name` is refused: too short, too long, or the first thing that anybody tries.
#[must_use]
pub fn weakness(name: &str, password: &str) -> Option<(ErrorCode, String)> {
    let count = password.chars().count();
    if password.is_empty() {
        return Some((ErrorCode::Required, "must be given".to_owned()));
    }
    if count < MIN_PASSWORD || password.len() > MAX_PASSWORD {
        let message =
            format!("a password has {MIN_PASSWORD} characters at least and {MAX_PASSWORD} bytes at most");
        return Some((ErrorCode::OutOfRange, message));
    }
    // `admin`, `AdminAdmin`, `admin1234567`: what is left without the name must be a password by itself.
    let (folded, name) = (password.to_lowercase(), name.trim().to_lowercase());
    let rest = if name.is_empty() {
        folded
    } else {
        folded.replace(&name, "")
    };
    if rest.chars().count() < count && rest.chars().count() < MIN_BESIDE_NAME {
        return Some((
            ErrorCode::Invalid,
            "is little more than the name of the account".to_owned(),
        ));
    }
    if password.chars().collect::<HashSet<_>>().len() < MIN_DIFFERENT {
        let message = format!("has fewer than {MIN_DIFFERENT} different characters");
        return Some((ErrorCode::Invalid, message));
    }
    None
}

pub(super) fn check_password(
    errors: &mut Vec<ValidationError>,
    field: &str,
    name: &str,
    password: Option<&str>,
) {
    if let Some((code, message)) = weakness(name, password.unwrap_or_default()) {
        errors.push(ValidationError::new(field, code, message));
    }
}

impl Ops {
    /// Changes the actor's own password; the old one is asked for. Every session of the account ends with it: the one
    /// that asked has to be written anew by who keeps sessions.
    ///
    /// # Errors
    /// [`OpError::Invalid`] for a wrong old or too weak new password, [`OpError::NoAccount`] when the actor is no
    /// user account.
    pub async fn change_password(
        &self,
        actor: &Actor,
        change: impl Into<Proposal<PasswordChange>>,
    ) -> Result<Written<UserView>, OpError> {
        let ActorKind::User(id) = actor.kind else {
            return Err(OpError::NoAccount);
        };
        let proposal = change.into();
        let change = &proposal.draft;
        let gone = || OpError::not_found("user", id);
        // In whatever tenant: a system administrator may be acting in another than the account's.
        let row = self.parts.store.user_by_id(id.0).await?.ok_or_else(gone)?;
        let mut errors = Vec::new();
        check_password(&mut errors, "new", &row.value.name, Some(&change.new));
        let offered = Some(&change.current).filter(|text| text.len() <= MAX_PASSWORD);
        let hash = Some(row.value.password_hash.as_str()).filter(|_| offered.is_some());
        if !password::verify(offered.map_or("", String::as_str), hash).await {
            errors.push(ValidationError::new(
                "current",
                ErrorCode::Invalid,
                "this is not the password in force",
            ));
        }
        let errors = proposal.with(errors);
        if !errors.is_empty() {
            return Err(OpError::Invalid(errors));
        }
        let hash = password::hash(&change.new).await.map_err(OpError::internal)?;
        let guard = self.lock().await;
        let checked = row.value.password_hash;
        let row = self.parts.store.user_by_id(id.0).await?.ok_or_else(gone)?;
        // Reset by somebody else meanwhile: the password that was checked is the right one no more.
        if row.value.password_hash != checked {
            return Err(OpError::conflict(
                "current",
                "the password was changed meanwhile; log in again",
            ));
        }
        let user = UserRecord {
            password_hash: hash,
            ..row.value.clone()
        };
        let view = self.user_view(user.clone()).await?;
        let before = Some((Document::User(row.value), row.revision));
        self.put(guard, actor, before, Document::User(user), view, Vec::new())
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_passwords_are_told_from_others() {
        for weak in [
            "",
            "hunter22",
            "elevenchars",
            "admin1234567",
            "AdminAdminAdmin",
            "aaaaaaaaaaaaaaaa",
            "abababababababab",
            &"x1y2z3".repeat(200),
        ] {
            assert!(weakness("admin", weak).is_some(), "{weak}");
        }
        for good in [
            "correct horse",
            "twelve chars",
            "my admin is a fine fellow",
            "päßwörtchen.",
        ] {
            assert_eq!(weakness("admin", good), None, "{good}");
        }
        assert_eq!(weakness("", "correct horse"), None);
    }
}
