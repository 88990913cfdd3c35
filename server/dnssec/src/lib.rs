//! Keys of signed zones: how they are made and read, what they look like as records, and how they sign.
//!
//! The private part of a key is PKCS#8 and goes nowhere but into [`PrivateKey`], which prints as its algorithm. What is
//! signed, and when, is not decided here: `gslb-dns` does that for each reply.

#![forbid(unsafe_code)]

mod private;
mod public;

pub use private::{KeyError, PrivateKey, generate};
pub use public::{Role, ds, key_tag, signing_key, zone_keys};

/// Algorithms that zones can be signed with (RFC 8624 §3.1 wants both of every implementation that signs).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// ECDSA on the curve P-256 with SHA-256 (RFC 6605): 13. Every validator knows it.
    P256,
    /// Ed25519 (RFC 8080): 15.
    Ed25519,
}

impl Algorithm {
    /// The algorithm of this number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            13 => Some(Self::P256),
            15 => Some(Self::Ed25519),
            _ => None,
        }
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::P256 => 13,
            Self::Ed25519 => 15,
        }
    }
}
