//! Networks with a value each, compiled to sorted ranges without overlap: geo databases and the map file.
//!
//! A look-up is one index slot and a short binary search. It finds the value and the shortest prefix around the address
//! that holds no other value: what an answer that depended on the value has as its ECS scope.
//!
//! Values are numbers; what they stand for, the owner of the table keeps. Neighbours with the same number are one range.
//!
//! IPv6 ranges are kept by the upper half of the address, since next to no network is longer than /64. A /64 with more
//! than one value has its ranges in a list of their own, by the whole address.

mod builder;
mod nested;
mod sorted;
#[cfg(test)]
mod tests;

pub use builder::Builder;

use sorted::Ranges;
use std::net::IpAddr;

/// No value.
const NONE: u32 = u32::MAX;
/// The ranges of this /64 are in the list of whole addresses.
const SPLIT: u32 = NONE - 1;
/// From here on: a network in which `id - EMBEDS` bits are followed by an IPv4 address, whose value it has.
const EMBEDS: u32 = SPLIT - 128;

/// A closed set of networks with values.
#[derive(Debug)]
pub struct Table {
    v4: Ranges<u32>,
    v6: Ranges<u64>,
    split: Ranges<u128>,
}

impl Default for Table {
    fn default() -> Self {
        Builder::default().finish()
    }
}

impl Table {
    /// Values are below this number.
    pub const LIMIT: u32 = EMBEDS;

    /// Value of an address, and the length of the shortest prefix around it in which every address has that value. The
    /// length is that of the address's own family.
    #[inline]
    #[must_use]
    pub fn find(&self, ip: IpAddr) -> (Option<u32>, u8) {
        let (id, prefix) = match ip {
            IpAddr::V4(v4) => self.v4.find(v4.to_bits()),
            IpAddr::V6(v6) => self.find_v6(v6.to_bits()),
        };
        ((id != NONE).then_some(id), prefix)
    }

    /// Reads where [`find`](Self::find) will read, for nothing but to have it in the cache: many addresses that are
    /// approached together are waited for once. The result means nothing, but has to be used.
    #[inline]
    #[must_use]
    pub fn approach(&self, ip: IpAddr) -> u64 {
        match ip {
            IpAddr::V4(v4) => self.v4.approach(v4.to_bits()),
            IpAddr::V6(v6) => self.v6.approach((v6.to_bits() >> 64) as u64),
        }
    }

    #[inline]
    fn find_v6(&self, address: u128) -> (u32, u8) {
        let (id, prefix) = match self.v6.find((address >> 64) as u64) {
            (SPLIT, _) => {
                let (id, prefix) = self.split.find(address);
                (id, prefix.max(64))
            }
            found => found,
        };
        match id.checked_sub(EMBEDS) {
            Some(before) if id < SPLIT => {
                let shift = 96_u32.saturating_sub(before);
                let (id, inside) = self.v4.find((address >> shift) as u32);
                (id, u8::try_from(before).unwrap_or_default() + inside)
            }
            _ => (id, prefix),
        }
    }

    /// Number of ranges.
    #[must_use]
    pub fn ranges(&self) -> usize {
        self.v4.len() + self.v6.len() + self.split.len()
    }

    /// Heap memory, bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.v4.bytes() + self.v6.bytes() + self.split.bytes()
    }
}
