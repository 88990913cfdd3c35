//! Password hashes: argon2id, off the threads that answer requests.

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash};
use std::sync::LazyLock;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Hashes that are computed at the same time: each takes 19 MiB and a core.
static SLOTS: Semaphore = Semaphore::const_new(2);

/// The hash of a password nobody has: an unknown account costs as much as a wrong password.
static NOBODY: LazyLock<Option<String>> = LazyLock::new(|| {
    let mut password = [0; 32];
    getrandom::fill(&mut password).ok()?;
    argon2id(&password).ok()
});

/// Why a password cannot be hashed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PasswordError {
    #[error("argon2: {0}")]
    Argon2(String),
    #[error("the hashing task was lost")]
    Task(#[from] tokio::task::JoinError),
}

fn argon2id(password: &[u8]) -> Result<String, PasswordError> {
    // The defaults of the crate are argon2id, 19 MiB, 2 passes: the first choice of OWASP's list. The salt comes from
    // the operating system.
    let hash = Argon2::default()
        .hash_password(password)
        .map_err(|error| PasswordError::Argon2(error.to_string()))?;
    Ok(hash.to_string())
}

/// Hashes a password with a new salt, in PHC form.
pub(crate) async fn hash(password: &str) -> Result<String, PasswordError> {
    let _slot = SLOTS.acquire().await;
    let password = password.to_owned();
    spawn_blocking(move || argon2id(password.as_bytes())).await?
}

/// Whether a password fits a hash; takes as long when there is no hash to compare with.
pub(crate) async fn verify(password: &str, hash: Option<&str>) -> bool {
    let _slot = SLOTS.acquire().await;
    let password = password.to_owned();
    let hash = hash.map(str::to_owned);
    let work = move || {
        let Some(text) = hash.as_ref().or(NOBODY.as_ref()) else {
            return false;
        };
        let Ok(parsed) = PasswordHash::new(text) else {
            return false;
        };
        Argon2::default()
            .verify_password(password.as_bytes(), &parsed)
            .is_ok()
            && hash.is_some()
    };
    spawn_blocking(work).await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn hashes_are_argon2id_salted_and_checked() {
        let (a, b) = (
            hash("correct horse").await.unwrap(),
            hash("correct horse").await.unwrap(),
        );
        assert!(a.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{a}");
        assert_ne!(a, b);
        assert!(verify("correct horse", Some(&a)).await);
        assert!(!verify("wrong horse", Some(&a)).await);
        assert!(!verify("correct horse", Some("garbage")).await);
        assert!(!verify("correct horse", None).await);
    }
}
