//! Random secrets: API tokens and first passwords.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Begin of every API token, so that scanners for leaked secrets can know them.
pub const TOKEN_PREFIX: &str = "gslb_";

/// A new API token: 256 random bits.
///
/// # Errors
/// The operating system gives no randomness.
pub(crate) fn new_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{TOKEN_PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(bytes)))
}

/// A new password: 20 characters that cannot be mistaken for each other, about 98 random bits.
///
/// # Errors
/// The operating system gives no randomness.
pub(crate) fn new_password() -> Result<String, getrandom::Error> {
    const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz23456789-";
    let mut bytes = [0; 20];
    getrandom::fill(&mut bytes)?;
    // 32 letters: the lower five bits pick one without bias. No `-` in front, where a shell would take it for an
    // option.
    Ok(bytes
        .iter()
        .enumerate()
        .map(
            |(index, byte)| match char::from(LETTERS[usize::from(byte & 31)]) {
                '-' if index == 0 => 'z',
                letter => letter,
            },
        )
        .collect())
}

/// What is stored of a token: SHA-256, hexadecimal. Fast on purpose: 256 random bits cannot be guessed.
pub(crate) fn token_hash(secret: &str) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(secret.as_bytes()) {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_hashes_are_sha_256() {
        let (a, b) = (new_token().unwrap(), new_token().unwrap());
        assert_ne!(a, b);
        assert!(
            a.starts_with(TOKEN_PREFIX) && a.len() == TOKEN_PREFIX.len() + 43,
            "{a}"
        );
        // FIPS 180-4 example "abc".
        assert_eq!(
            token_hash("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let password = new_password().unwrap();
        assert_eq!(password.len(), 20);
        assert_ne!(password, new_password().unwrap());
    }
}
