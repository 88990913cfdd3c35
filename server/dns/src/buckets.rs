//! How much each network has had lately: a table of fixed size without a lock. When it is full, the network that is
//! quietest gives way.

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Places of a set, which is a cache line.
pub(crate) const WAYS: usize = 8;
/// Bits of an entry that are a time; the others tell whose it is.
const TIME_BITS: u32 = 40;
pub(crate) const TIME: u64 = (1 << TIME_BITS) - 1;
/// Microseconds of a second.
pub(crate) const SECOND: u64 = 1_000_000;

/// Eight entries: 24 bits of a hash, and when its owner will have all it can save up again, microseconds.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Set([AtomicU64; WAYS]);

/// The table.
#[derive(Debug)]
pub(crate) struct Buckets {
    hasher: RandomState,
    sets: Box<[Set]>,
}

impl Buckets {
    /// With `sets` times [`WAYS`] places.
    pub(crate) fn new(sets: usize) -> Self {
        Self {
            hasher: RandomState::new(),
            sets: std::iter::repeat_with(Set::default).take(sets.max(1)).collect(),
        }
    }

    /// The owner of an entry, for [`admit`](Self::admit).
    pub(crate) fn hash(&self, owner: impl Hash) -> u64 {
        self.hasher.hash_one(owner)
    }

    /// Takes one of what there is one of in every `interval` microseconds, if the owner has one left (the generic cell rate
    /// algorithm). What comes in `depth` microseconds is saved up. `now` is in microseconds since any moment.
    pub(crate) fn admit(&self, hash: u64, now: u64, interval: u64, depth: u64) -> bool {
        let now = now & TIME;
        let Some(Set(entries)) = self.sets.get(hash as usize % self.sets.len()) else {
            return true;
        };
        let tag = hash & !TIME;
        // How far the time of an entry lies ahead; what has passed is nothing.
        let ahead = |entry: u64| {
            let ahead = (entry & TIME).wrapping_sub(now) & TIME;
            if ahead > TIME / 2 { 0 } else { ahead }
        };
        let mut quietest = (u64::MAX, None);
        for place in entries {
            let entry = place.load(Ordering::Relaxed);
            if entry & !TIME == tag {
                let next = ahead(entry) + interval;
                if next > depth.max(interval) {
                    return false;
                }
                // Two threads at once: one more than the limit is no harm.
                place.store(tag | ((now + next) & TIME), Ordering::Relaxed);
                return true;
            }
            if ahead(entry) < quietest.0 {
                quietest = (ahead(entry), Some(place));
            }
        }
        if let (_, Some(place)) = quietest {
            place.store(tag | ((now + interval) & TIME), Ordering::Relaxed);
        }
        true
    }
}

/// The network of a client: so many bits of its address. Those of the two families are never the same.
pub(crate) fn network(ip: IpAddr, bits_v4: u8, bits_v6: u8) -> u128 {
    match ip {
        IpAddr::V4(v4) => u128::from(v4.to_bits() & mask(bits_v4, 32) as u32) | 1 << 127,
        IpAddr::V6(v6) => v6.to_bits() & mask(bits_v6, 128),
    }
}

/// The upper `bits` of `of`.
fn mask(bits: u8, of: u8) -> u128 {
    let all = u128::MAX >> (128 - u32::from(of));
    all.checked_shl(u32::from(of - bits)).unwrap_or(0) & all
}
