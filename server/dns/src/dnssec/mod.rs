//! Signatures of the records of a reply, made when they are sent (RFC 4034, RFC 4035).
//!
//! Answers differ by client, by health and by time, so that nothing can be signed beforehand: what is signed is exactly the
//! set that was written. A wildcard's records and a service's are signed at the name that was asked for, as if it existed,
//! and so need no proof that it does not. Signatures are kept for the next reply with the same records.

mod cache;
mod denial;

pub(crate) use cache::Signatures;
pub(crate) use denial::{Nsec, denial, nsec};

use crate::wire::code;
use gslb_engine::snapshot::{CompiledZone, SigningKey};

/// A signature begins and ends at the same time of day for all replies in this period, seconds: those are the same octets,
/// here and in caches.
const PERIOD: u32 = 86_400;
/// Clocks of validators may be behind by this much, seconds.
const SKEW: u32 = 3600;
/// A signature is valid for this long at least from the time when it is sent, seconds: resolvers that keep expired answers
/// and clocks that are ahead both need some of it.
const VALIDITY: u32 = 7 * 86_400;

/// A set of records to be signed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Set<'a> {
    /// Owner in lower case, uncompressed.
    pub(crate) owner: &'a [u8],
    pub(crate) rtype: u16,
    /// Seconds, as in the reply.
    pub(crate) ttl: u32,
    /// Data of each record: uncompressed, names in it in lower case.
    pub(crate) data: &'a [&'a [u8]],
}

/// When a signature is valid, Unix time in seconds modulo 2³² (RFC 4034 §3.1.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    inception: u32,
    expiration: u32,
}

impl Window {
    /// The window of now. Names begin theirs at different times of day, so that not all signatures are renewed at once.
    fn new(now: u32, owner: &[u8], rtype: u16) -> Self {
        // FNV-1a.
        let hash = owner
            .iter()
            .copied()
            .chain(rtype.to_be_bytes())
            .fold(0x811c_9dc5_u32, |hash, octet| {
                (hash ^ u32::from(octet)).wrapping_mul(0x0100_0193)
            });
        let begun = now.wrapping_sub(now.wrapping_add(hash % PERIOD) % PERIOD);
        Self {
            inception: begun.wrapping_sub(SKEW),
            expiration: begun.wrapping_add(PERIOD + VALIDITY),
        }
    }
}

/// LABELS: those of the owner, without the root and without `*` in front (RFC 4034 §3.1.3).
fn labels(owner: &[u8]) -> u8 {
    let mut count = 0_u8;
    let mut rest = owner.strip_prefix(b"\x01*").unwrap_or(owner);
    while let Some(length) = rest.first().copied().filter(|length| *length > 0) {
        count = count.saturating_add(1);
        rest = rest.get(usize::from(length) + 1..).unwrap_or_default();
    }
    count
}

/// Writes what a signature of `set` is made of (RFC 4034 §3.1.8.1) over `out`: the RRSIG data without the signature, and
/// the records in their canonical form and order, each once (§6.3). Returns the length of the former.
fn to_be_signed(
    set: Set<'_>,
    algorithm: u8,
    tag: u16,
    window: Window,
    signer: &[u8],
    out: &mut Vec<u8>,
) -> usize {
    out.clear();
    out.extend_from_slice(&set.rtype.to_be_bytes());
    out.extend_from_slice(&[algorithm, labels(set.owner)]);
    out.extend_from_slice(&set.ttl.to_be_bytes());
    out.extend_from_slice(&window.expiration.to_be_bytes());
    out.extend_from_slice(&window.inception.to_be_bytes());
    out.extend_from_slice(&tag.to_be_bytes());
    out.extend_from_slice(signer);
    let head = out.len();
    let mut data = set.data.to_vec();
    data.sort_unstable();
    data.dedup();
    for data in data {
        out.extend_from_slice(set.owner);
        out.extend_from_slice(&set.rtype.to_be_bytes());
        out.extend_from_slice(&code::CLASS_IN.to_be_bytes());
        out.extend_from_slice(&set.ttl.to_be_bytes());
        // Stored data is at most 65,535 octets long.
        out.extend_from_slice(&u16::try_from(data.len()).unwrap_or(u16::MAX).to_be_bytes());
        out.extend_from_slice(data);
    }
    head
}

/// Makes signatures for one reply.
#[derive(Debug)]
pub(crate) struct Signer<'c> {
    signatures: &'c mut Signatures,
    now: u32,
}

impl<'c> Signer<'c> {
    /// At `now`, Unix time in seconds.
    pub(crate) fn new(signatures: &'c mut Signatures, now: u64) -> Self {
        // Times of signatures are modulo 2³² (RFC 4034 §3.1.5).
        let [.., a, b, c, d] = now.to_be_bytes();
        Self {
            signatures,
            now: u32::from_be_bytes([a, b, c, d]),
        }
    }

    /// RRSIG data for a set of a zone by one of its keys. `None`: there is no randomness for a signature.
    pub(crate) fn rrsig(&mut self, zone: &CompiledZone, key: &SigningKey, set: Set<'_>) -> Option<Vec<u8>> {
        let window = Window::new(self.now, set.owner, set.rtype);
        let mut data = std::mem::take(&mut self.signatures.buffer);
        let head = to_be_signed(set, key.algorithm, key.tag, window, &zone.wire, &mut data);
        let rrsig = self.signatures.of(key, &data).and_then(|signature| {
            let head = data.get(..head)?;
            Some([head, &signature].concat())
        });
        self.signatures.buffer = data;
        rrsig
    }
}

#[cfg(test)]
mod tests;
