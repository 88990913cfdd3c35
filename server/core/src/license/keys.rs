//! Ed25519 keys of licences: 32 bytes, in files as one line of base64url.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use std::fmt;

/// Why a text is no key, or none could be made.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Not 32 bytes in base64url.
    #[error("a key is 32 bytes in base64url (43 characters)")]
    Form,
    /// 32 bytes that are no point of the curve, or a weak one.
    #[error("these bytes are no Ed25519 public key")]
    Point,
    /// The operating system gives no randomness.
    #[error("no randomness for a new key")]
    Random(#[from] getrandom::Error),
}

fn bytes(text: &str) -> Result<[u8; 32], KeyError> {
    let bytes = BASE64_URL_SAFE_NO_PAD
        .decode(text.trim())
        .map_err(|_| KeyError::Form)?;
    bytes.try_into().map_err(|_| KeyError::Form)
}

/// Signs licences. Its `Debug` form shows nothing.
#[derive(Clone)]
pub struct PrivateKey(SigningKey);

impl PrivateKey {
    /// Reads the text form.
    ///
    /// # Errors
    /// Not 32 bytes in base64url.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        Ok(Self(SigningKey::from_bytes(&bytes(text)?)))
    }

    /// The text form: keep it secret.
    #[must_use]
    pub fn to_text(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0.to_bytes())
    }

    /// The key that checks what this one signs.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub(super) fn sign(&self, message: &[u8]) -> Signature {
        self.0.sign(message)
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey")
    }
}

/// Checks licences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads the text form.
    ///
    /// # Errors
    /// Not 32 bytes in base64url, or no safe point of the curve.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let key = VerifyingKey::from_bytes(&bytes(text)?).map_err(|_| KeyError::Point)?;
        if key.is_weak() {
            Err(KeyError::Point)
        } else {
            Ok(Self(key))
        }
    }

    /// The text form, for `license.publicKeys`.
    #[must_use]
    pub fn to_text(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0.as_bytes())
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &Signature) -> bool {
        self.0.verify_strict(message, signature).is_ok()
    }
}

/// Makes a key.
///
/// # Errors
/// The operating system gives no randomness.
pub fn keygen() -> Result<PrivateKey, KeyError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    Ok(PrivateKey(SigningKey::from_bytes(&seed)))
}
