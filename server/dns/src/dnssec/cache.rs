//! Signatures that have been made, by what they sign.

use gslb_engine::snapshot::{SIGNATURE, SigningKey};
use ring::digest::{Context, SHA256};
use std::collections::HashMap;

/// Signatures in one half. Both together take about half a MiB.
const HALF: usize = 2048;

/// SHA-256 of the key and of the signed octets: whoever could make two sets of it could forge signatures as well.
type Digest = [u8; 32];

/// A bounded cache in two halves: what is asked for moves to the young half; when that is full it becomes the old one, and
/// what nobody has asked for since goes with the old one. A snapshot does not matter to it: other records are other octets.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    young: HashMap<Digest, [u8; SIGNATURE]>,
    old: HashMap<Digest, [u8; SIGNATURE]>,
    /// Memory for the octets to be signed.
    pub(super) buffer: Vec<u8>,
}

impl Signatures {
    /// The signature of these octets. Failures are not kept.
    pub(super) fn of(&mut self, key: &SigningKey, data: &[u8]) -> Option<[u8; SIGNATURE]> {
        let mut context = Context::new(&SHA256);
        context.update(key.dnskey.as_wire());
        context.update(data);
        let digest: Digest = context.finish().as_ref().try_into().ok()?;
        if let Some(known) = self.young.get(&digest) {
            return Some(*known);
        }
        let signature = match self.old.remove(&digest) {
            Some(known) => known,
            None => key.signer.sign(data)?,
        };
        if self.young.len() >= HALF {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(digest, signature);
        Some(signature)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}
