//! What databases know about an address. The databases themselves are loaded elsewhere and come in as a value.

mod codes;
mod place;

pub use place::{Continent, Place, Point, Subdivision};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;

/// ISO 3166-1 alpha-2 country code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Country(pub [u8; 2]);

impl Country {
    /// Takes exactly two ASCII upper-case letters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.as_bytes() {
            &[a, b] if a.is_ascii_uppercase() && b.is_ascii_uppercase() => Some(Self([a, b])),
            _ => None,
        }
    }

    /// The two letters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("??")
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl TryFrom<String> for Country {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no country code of two capital letters"))
    }
}

impl From<Country> for String {
    fn from(code: Country) -> Self {
        code.to_string()
    }
}

/// Autonomous system: number, and its organisation as an opaque id (equal names, equal ids; 0 is unknown).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct AsInfo {
    /// Number, 0 when unknown.
    pub number: u32,
    /// Organisation, 0 when unknown.
    pub organisation: u64,
}

/// Result of a look-up with the length of the network it holds for: every address inside that network has the same
/// result. The length is that of the address's own family (at most 32 or 128).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located<T> {
    /// What was found; `None` is a result too, and holds for the network all the same.
    pub value: Option<T>,
    /// Prefix length of the network.
    pub prefix: u8,
}

impl<T> Located<T> {
    /// Nothing known about any address: no database.
    pub const NOWHERE: Self = Self {
        value: None,
        prefix: 0,
    };
}

/// A set of geo databases.
pub trait Geo: Send + Sync + fmt::Debug {
    /// Country of an address.
    fn country(&self, ip: IpAddr) -> Located<Country>;

    /// Reads what the country of an address will be looked up in, for nothing but to have it in the cache. The result means
    /// nothing, but has to be used.
    fn approach_country(&self, _ip: IpAddr) -> u64 {
        0
    }

    /// Autonomous system of an address.
    fn asn(&self, ip: IpAddr) -> Located<AsInfo>;

    /// Place of an address. Without a database of places: nothing.
    fn place(&self, _ip: IpAddr) -> Located<Place> {
        Located::NOWHERE
    }

    /// Name of an organisation by its id, for traces.
    fn organisation(&self, id: u64) -> Option<String>;

    /// Organisation of an AS number, when any network of the database names both.
    fn organisation_of(&self, number: u32) -> Option<u64>;

    /// Whether a country database is loaded.
    fn has_country(&self) -> bool;

    /// Whether an ASN database is loaded.
    fn has_asn(&self) -> bool;

    /// Whether a database of places is loaded.
    fn has_place(&self) -> bool {
        false
    }
}

/// No database at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoGeo;

impl Geo for NoGeo {
    fn country(&self, _: IpAddr) -> Located<Country> {
        Located::NOWHERE
    }

    fn asn(&self, _: IpAddr) -> Located<AsInfo> {
        Located::NOWHERE
    }

    fn organisation(&self, _: u64) -> Option<String> {
        None
    }

    fn organisation_of(&self, _: u32) -> Option<u64> {
        None
    }

    fn has_country(&self) -> bool {
        false
    }

    fn has_asn(&self) -> bool {
        false
    }
}

/// Private, shared, loopback and link-local blocks of IPv4: network and prefix length.
const PRIVATE_V4: [(u32, u8); 6] = [
    (0x0a00_0000, 8),
    (0x6440_0000, 10),
    (0x7f00_0000, 8),
    (0xa9fe_0000, 16),
    (0xac10_0000, 12),
    (0xc0a8_0000, 16),
];
/// Unique-local, link-local and loopback blocks of IPv6.
const PRIVATE_V6: [(u128, u8); 3] = [(0xfc00 << 112, 7), (0xfe80 << 112, 10), (1, 128)];

/// Bits that two values have in common, from the left, as a prefix length of `width` bits.
fn common(differing_from: u32, width: u32) -> u8 {
    u8::try_from(differing_from.min(width)).unwrap_or(u8::MAX)
}

/// The shortest prefix around an address that lies wholly inside one private block, or wholly outside all of them.
#[must_use]
pub fn prefix_apart_from_private(ip: IpAddr) -> u8 {
    // Inside a block of length n the first n bits agree, and n is enough; outside, one bit more than agree.
    let apart = |shared: u8, length: u8| if shared >= length { length } else { shared + 1 };
    match ip {
        IpAddr::V4(v4) => {
            let bits = v4.to_bits();
            let each = PRIVATE_V4
                .iter()
                .map(|(net, length)| apart(common((bits ^ net).leading_zeros(), 32), *length));
            each.max().unwrap_or(0)
        }
        IpAddr::V6(v6) => {
            let bits = v6.to_bits();
            let each = PRIVATE_V6
                .iter()
                .map(|(net, length)| apart(common((bits ^ net).leading_zeros(), 128), *length));
            each.max().unwrap_or(0)
        }
    }
}

/// Whether an address is private, unique-local, shared (RFC 6598), loopback or link-local: an address that a public
/// geo database cannot place.
#[must_use]
pub fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            v4.is_private() || v4.is_loopback() || v4.is_link_local() || (a == 100 && (64..128).contains(&b))
        }
        IpAddr::V6(v6) => {
            let first = v6.segments()[0];
            v6.is_loopback() || first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_stay_apart_from_private_blocks() {
        let of =
            |text: &str| prefix_apart_from_private(text.parse().unwrap_or_else(|e| panic!("{text}: {e}")));
        // 10/8 itself; its neighbours share seven bits with it, so that the eighth must count.
        assert_eq!((of("10.1.2.0"), of("11.1.2.0")), (8, 8));
        assert_eq!(
            (of("192.168.7.0"), of("192.169.0.0"), of("172.16.0.0")),
            (16, 16, 12)
        );
        // Far from all: the first bits tell.
        assert_eq!(of("224.0.0.0"), 3);
        assert_eq!((of("fd00::1"), of("fe80::1"), of("::1")), (7, 10, 128));
        assert_eq!(of("2001:db8::"), 3);
    }

    #[test]
    fn every_address_inside_the_prefix_is_as_private_as_the_first() {
        for text in [
            "9.9.9.9",
            "10.255.0.1",
            "100.63.0.1",
            "100.64.0.1",
            "169.253.1.1",
            "172.32.0.1",
            "198.51.100.1",
        ] {
            let ip: std::net::Ipv4Addr = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
            let length = prefix_apart_from_private(ip.into());
            let size = 32 - u32::from(length);
            let first = ip.to_bits() >> size << size;
            for step in 0..=64_u32 {
                let other = first
                    | (u32::MAX >> length)
                        .checked_div(64)
                        .unwrap_or(0)
                        .saturating_mul(step);
                assert_eq!(
                    is_private(std::net::Ipv4Addr::from(other).into()),
                    is_private(ip.into()),
                    "{text} {other:x}"
                );
            }
        }
    }
}
