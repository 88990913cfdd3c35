//! The fixed 64-bit hash of addresses and member sets.
//!
//! `sticky` promises the same member on every node, every build and every architecture, so its hash is written out
//! here, on integers only, and pinned by tests. Changing a constant moves every pinned client.

use std::net::{IpAddr, Ipv6Addr};
use uuid::Uuid;

/// Mixes 64 bits so that each input bit changes about half of the output bits: three xor-shifts and two
/// multiplications. One-to-one, 0 maps to 0.
#[must_use]
#[inline]
pub(crate) const fn mix(mut x: u64) -> u64 {
    x ^= x >> 30;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Hash of an id, for maps by it.
#[must_use]
#[inline]
pub(crate) fn id(id: Uuid) -> u64 {
    let (high, low) = id.as_u64_pair();
    mix(high ^ mix(low))
}

/// Hash of 128 bits: the halves are mixed one after the other, so that they do not commute.
#[must_use]
#[inline]
pub(crate) const fn wide(bits: u128, seed: u64) -> u64 {
    let high = (bits >> 64) as u64;
    let low = bits as u64;
    mix(mix(high ^ seed).wrapping_add(low ^ 0x9e37_79b9_7f4a_7c15))
}

/// An address as 128 bits; IPv4 in its IPv4-mapped form (RFC 4291 §2.5.5.2), so that families never meet.
#[must_use]
#[inline]
pub(crate) fn bits(ip: IpAddr) -> u128 {
    let v6: Ipv6Addr = match ip {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    };
    u128::from(v6)
}

/// Hash of a member's address, computed when the snapshot is compiled.
#[must_use]
pub(crate) fn member(ip: IpAddr) -> u64 {
    wide(bits(ip), 0x6d65_6d62_6572_0001)
}

/// Hash of a member that is a host name, in wire form.
#[must_use]
pub(crate) fn host(wire: &[u8]) -> u64 {
    wire.iter()
        .fold(0x686f_7374_6e61_0001, |h, octet| mix(h ^ u64::from(*octet)))
}

/// Hash of a client subnet, computed once a query.
#[must_use]
#[inline]
pub(crate) fn subnet(network: IpAddr) -> u64 {
    wide(bits(network), 0x7375_626e_6574_0001)
}

/// The address with everything past `prefix` bits (of its own family) cleared.
#[must_use]
#[inline]
pub(crate) fn network(ip: IpAddr, prefix: u8) -> IpAddr {
    match ip {
        IpAddr::V4(v4) => {
            let mask = u32::MAX
                .checked_shl(32_u32.saturating_sub(prefix.into()))
                .unwrap_or(0);
            IpAddr::V4((u32::from(v4) & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX
                .checked_shl(128_u32.saturating_sub(prefix.into()))
                .unwrap_or(0);
            IpAddr::V6((u128::from(v6) & mask).into())
        }
    }
}

/// A number below `n` out of 64 random bits, by multiplication; the bias is below `n` in 2⁶⁴. 0 when `n` is 0.
#[must_use]
#[inline]
pub(crate) const fn below(entropy: u64, n: u64) -> u64 {
    ((entropy as u128 * n as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_pinned() {
        assert_eq!(mix(1), 0x5692_161d_100b_05e5);
        assert_eq!(
            network("198.51.100.77".parse().unwrap(), 24),
            "198.51.100.0".parse::<IpAddr>().unwrap()
        );
        assert_eq!(
            network("198.51.100.77".parse().unwrap(), 0),
            "0.0.0.0".parse::<IpAddr>().unwrap()
        );
        assert_eq!(
            network("198.51.100.77".parse().unwrap(), 32),
            "198.51.100.77".parse::<IpAddr>().unwrap()
        );
        assert_eq!(
            network("2001:db8:1:2:3::".parse().unwrap(), 64),
            "2001:db8:1:2::".parse::<IpAddr>().unwrap()
        );
        assert_eq!(
            network("2001:db8::1".parse().unwrap(), 0),
            "::".parse::<IpAddr>().unwrap()
        );
    }

    #[test]
    fn below_covers_its_range() {
        assert_eq!(below(0, 7), 0);
        assert_eq!(below(u64::MAX, 7), 6);
        assert_eq!(below(u64::MAX, 0), 0);
    }
}
