//! What databases know about an address. The databases themselves are loaded elsewhere and come in as a value.

use std::fmt;
use std::net::IpAddr;

/// ISO 3166-1 alpha-2 country code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

    /// Autonomous system of an address.
    fn asn(&self, ip: IpAddr) -> Located<AsInfo>;

    /// Name of an organisation by its id, for traces.
    fn organisation(&self, id: u64) -> Option<String>;

    /// Organisation of an AS number, when any network of the database names both.
    fn organisation_of(&self, number: u32) -> Option<u64>;

    /// Whether a country database is loaded.
    fn has_country(&self) -> bool;

    /// Whether an ASN database is loaded.
    fn has_asn(&self) -> bool;
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
