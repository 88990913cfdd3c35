//! Private keys.

use crate::Algorithm;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gslb_engine::snapshot::{SIGNATURE, SignData};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use std::fmt;

/// What is wrong with a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The system gave no randomness.
    #[error("the system has no randomness for a new key")]
    NoRandomness,
    /// Not PKCS#8, or of another algorithm.
    #[error("no PKCS#8 private key of ECDSA P-256 (with its public key) or Ed25519")]
    NoKey,
    /// No `PRIVATE KEY` block.
    #[error("no `-----BEGIN PRIVATE KEY-----` block in PEM form")]
    NoPem,
}

/// Makes a key, in PKCS#8 form.
///
/// # Errors
/// [`KeyError::NoRandomness`].
pub fn generate(algorithm: Algorithm) -> Result<Vec<u8>, KeyError> {
    let random = SystemRandom::new();
    let made = match algorithm {
        Algorithm::P256 => EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random),
        Algorithm::Ed25519 => Ed25519KeyPair::generate_pkcs8(&random),
    };
    let document = made.map_err(|_| KeyError::NoRandomness)?;
    Ok(document.as_ref().to_vec())
}

enum Pair {
    P256(Box<EcdsaKeyPair>),
    Ed25519(Box<Ed25519KeyPair>),
}

/// A private key, ready to sign.
pub struct PrivateKey {
    pair: Pair,
    random: SystemRandom,
}

impl fmt::Debug for PrivateKey {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PrivateKey").field(&self.algorithm()).finish()
    }
}

impl PrivateKey {
    /// Reads PKCS#8 (RFC 5208, RFC 5958), of either algorithm.
    ///
    /// # Errors
    /// [`KeyError::NoKey`].
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let p256 = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random);
        let pair = match p256 {
            Ok(pair) => Pair::P256(Box::new(pair)),
            // What other programs write has no public key beside the private one.
            Err(_) => match Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
                Ok(pair) => Pair::Ed25519(Box::new(pair)),
                Err(_) => return Err(KeyError::NoKey),
            },
        };
        Ok(Self { pair, random })
    }

    /// Reads the first `PRIVATE KEY` block of a PEM file (RFC 7468 §10).
    ///
    /// # Errors
    /// [`KeyError::NoPem`], [`KeyError::NoKey`].
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let begin = "-----BEGIN PRIVATE KEY-----";
        let (_, rest) = text.split_once(begin).ok_or(KeyError::NoPem)?;
        let (body, _) = rest
            .split_once("-----END PRIVATE KEY-----")
            .ok_or(KeyError::NoPem)?;
        let body: String = body.split_whitespace().collect();
        let der = STANDARD.decode(body).map_err(|_| KeyError::NoPem)?;
        Self::from_pkcs8(&der)
    }

    /// Its algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        match self.pair {
            Pair::P256(_) => Algorithm::P256,
            Pair::Ed25519(_) => Algorithm::Ed25519,
        }
    }

    /// The public key in the form of DNSKEY data (RFC 6605 §4, RFC 8080 §3).
    #[must_use]
    pub fn public(&self) -> &[u8] {
        match &self.pair {
            // The octet in front says that the point is not compressed; in DNS it never is.
            Pair::P256(pair) => pair.public_key().as_ref().get(1..).unwrap_or_default(),
            Pair::Ed25519(pair) => pair.public_key().as_ref(),
        }
    }
}

impl SignData for PrivateKey {
    fn sign(&self, data: &[u8]) -> Option<[u8; SIGNATURE]> {
        match &self.pair {
            Pair::P256(pair) => pair.sign(&self.random, data).ok()?.as_ref().try_into().ok(),
            Pair::Ed25519(pair) => pair.sign(data).as_ref().try_into().ok(),
        }
    }
}
