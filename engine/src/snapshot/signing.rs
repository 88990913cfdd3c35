//! What makes a zone a signed one: its keys as records, and something that signs with them.
//!
//! No cryptography is here. Whoever compiles a snapshot brings keys along that can sign, as it brings scripts that can run;
//! the private part stays behind [`SignData`], and nothing of it can be read or printed through this module.

use crate::model::{Rdata, RecordType};
use crate::snapshot::records::CompiledSet;
use std::fmt;
use std::sync::Arc;

/// Octets of a signature: both algorithms in use (RFC 6605 §4, RFC 8080 §4) have the same.
pub const SIGNATURE: usize = 64;

/// A private key.
pub trait SignData: fmt::Debug + Send + Sync {
    /// The signature over these octets; `None` when the system has no randomness for it.
    fn sign(&self, data: &[u8]) -> Option<[u8; SIGNATURE]>;
}

/// A key of a zone.
#[derive(Debug, Clone)]
pub struct SigningKey {
    /// Algorithm number (RFC 8624 §3.1).
    pub algorithm: u8,
    /// Key tag (RFC 4034, appendix B).
    pub tag: u16,
    /// The public key as DNSKEY data.
    pub dnskey: Rdata,
    /// The private key.
    pub signer: Arc<dyn SignData>,
}

impl SigningKey {
    /// Whether it has the flag of secure entry points (RFC 4034 §2.1.1): a DS may name it.
    #[must_use]
    pub fn is_entry_point(&self) -> bool {
        self.dnskey.as_wire().get(1).is_some_and(|flags| flags & 1 == 1)
    }
}

impl PartialEq for SigningKey {
    /// The public key says which private key it is.
    fn eq(&self, other: &Self) -> bool {
        (self.algorithm, self.tag, &self.dnskey) == (other.algorithm, other.tag, &other.dnskey)
    }
}

impl Eq for SigningKey {}

/// The keys of a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneKeys {
    /// Signs the key set (and what asks the zone above to change the DS); its digest is the DS.
    pub ksk: SigningKey,
    /// Signs everything else; the same as `ksk` when the zone has one key for all.
    pub zsk: SigningKey,
    /// Data of the DS record, which the zone publishes as CDS (RFC 7344 §3.1).
    pub ds: Rdata,
    /// Keys on their way in or out, which are published beside those two. Of these, whatever the DS may name signs the key
    /// set too (RFC 6781 §4.1.2: a DS of either key leads to a set that it has signed).
    pub others: Vec<SigningKey>,
}

/// A signed zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedZone {
    keys: Arc<ZoneKeys>,
    /// DNSKEY, CDS and CDNSKEY of the apex.
    sets: [CompiledSet; 3],
}

impl SignedZone {
    /// A zone whose key records have this TTL, seconds.
    pub(super) fn new(keys: Arc<ZoneKeys>, ttl: u32) -> Self {
        let mut public = vec![keys.ksk.dnskey.clone()];
        if keys.zsk != keys.ksk {
            public.push(keys.zsk.dnskey.clone());
        }
        public.extend(keys.others.iter().map(|key| key.dnskey.clone()));
        let sets = [
            CompiledSet::new(RecordType::DNSKEY, ttl, public),
            CompiledSet::new(RecordType::CDS, ttl, vec![keys.ds.clone()]),
            CompiledSet::new(RecordType::CDNSKEY, ttl, vec![keys.ksk.dnskey.clone()]),
        ];
        Self { keys, sets }
    }

    /// The set of a type that the apex has because the zone is signed.
    #[must_use]
    pub fn get(&self, rtype: u16) -> Option<&CompiledSet> {
        self.sets.iter().find(|set| set.rtype == rtype)
    }

    /// The types of those sets.
    pub fn types(&self) -> impl Iterator<Item = u16> {
        self.sets.iter().map(|set| set.rtype)
    }

    /// The keys that sign records of a type: one, unless the key set is signed while keys change.
    pub fn keys(&self, rtype: u16) -> impl Iterator<Item = &SigningKey> {
        let of_apex = self.get(rtype).is_some();
        let first = if of_apex { &self.keys.ksk } else { &self.keys.zsk };
        let others = self.keys.others.iter();
        std::iter::once(first).chain(others.filter(move |key| of_apex && key.is_entry_point()))
    }
}
