//! Public keys as records.

use crate::private::{KeyError, PrivateKey};
use gslb_engine::model::{DomainName, Rdata, RecordType};
use gslb_engine::snapshot::{SigningKey, ZoneKeys};
use ring::digest::{SHA256, digest};
use std::sync::Arc;

/// What a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Signs the key set, and is named by the DS.
    KeySigning,
    /// Signs everything else.
    ZoneSigning,
}

/// PROTOCOL of every DNSKEY (RFC 4034 §2.1.2).
const PROTOCOL: u8 = 3;
/// DIGEST TYPE of SHA-256 (RFC 4509).
const DIGEST_SHA256: u8 = 2;

impl Role {
    /// FLAGS (RFC 4034 §2.1.1): a key of a zone, and its secure entry point.
    const fn flags(self) -> u16 {
        match self {
            Self::KeySigning => 257,
            Self::ZoneSigning => 256,
        }
    }
}

/// Key tag of DNSKEY data (RFC 4034, appendix B).
#[must_use]
pub fn key_tag(dnskey: &[u8]) -> u16 {
    let sum: u32 = dnskey
        .iter()
        .enumerate()
        .map(|(at, octet)| u32::from(*octet) << if at % 2 == 0 { 8 } else { 0 })
        .sum();
    let [_, _, high, low] = (sum + (sum >> 16 & 0xffff)).to_be_bytes();
    u16::from_be_bytes([high, low])
}

/// DS data with the SHA-256 digest of a key (RFC 4034 §5.1, RFC 4509).
#[must_use]
pub fn ds(apex: &DomainName, key: &SigningKey) -> Vec<u8> {
    let owner = apex.to_wire();
    let hash = digest(&SHA256, &[&owner, key.dnskey.as_wire()].concat());
    let [high, low] = key.tag.to_be_bytes();
    [&[high, low, key.algorithm, DIGEST_SHA256], hash.as_ref()].concat()
}

/// A private key in its role.
///
/// # Errors
/// [`KeyError::NoKey`], if the key does not fit into a record.
pub fn signing_key(key: PrivateKey, role: Role) -> Result<SigningKey, KeyError> {
    let algorithm = key.algorithm().number();
    let [high, low] = role.flags().to_be_bytes();
    let wire = [&[high, low, PROTOCOL, algorithm], key.public()].concat();
    Ok(SigningKey {
        algorithm,
        tag: key_tag(&wire),
        dnskey: Rdata::from_wire(RecordType::DNSKEY, &wire).map_err(|_| KeyError::NoKey)?,
        signer: Arc::new(key),
    })
}

/// The keys of a zone; without `zsk` the other one signs everything.
///
/// # Errors
/// [`KeyError::NoKey`], if a key does not fit into a record.
pub fn zone_keys(apex: &DomainName, ksk: PrivateKey, zsk: Option<PrivateKey>) -> Result<ZoneKeys, KeyError> {
    let ksk = signing_key(ksk, Role::KeySigning)?;
    let zsk = match zsk {
        Some(key) => signing_key(key, Role::ZoneSigning)?,
        None => ksk.clone(),
    };
    let ds = Rdata::from_wire(RecordType::DS, &ds(apex, &ksk)).map_err(|_| KeyError::NoKey)?;
    Ok(ZoneKeys {
        ksk,
        zsk,
        ds,
        others: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
