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

/// Continent: one of `AF`, `AN`, `AS`, `EU`, `NA`, `OC`, `SA`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Continent([u8; 2]);

impl Continent {
    /// Every code, for error messages.
    pub const ALL: [&'static str; 7] = ["AF", "AN", "AS", "EU", "NA", "OC", "SA"];

    /// Takes one of the codes, in upper case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let &[a, b] = text.as_bytes() else { return None };
        Self::ALL.contains(&text).then_some(Self([a, b]))
    }

    /// The two letters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("??")
    }
}

impl fmt::Display for Continent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Principal subdivision of a country: an ISO 3166-2 code, `US-CA`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subdivision {
    /// The country.
    pub country: Country,
    /// One to three letters or digits, filled up with zeros.
    code: [u8; 3],
}

impl Subdivision {
    /// The part behind the hyphen, as databases give it: one to three upper-case letters or digits.
    #[must_use]
    pub fn new(country: Country, text: &str) -> Option<Self> {
        let fits = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit();
        let code = match *text.as_bytes() {
            [a] => [a, 0, 0],
            [a, b] => [a, b, 0],
            [a, b, c] => [a, b, c],
            _ => return None,
        };
        text.bytes().all(fits).then_some(Self { country, code })
    }

    /// Takes the whole code, `US-CA`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (country, code) = text.split_once('-')?;
        Self::new(Country::parse(country)?, code)
    }
}

impl fmt::Display for Subdivision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = std::str::from_utf8(&self.code).unwrap_or("???");
        write!(f, "{}-{}", self.country, code.trim_end_matches('\0'))
    }
}

/// Mean radius of the earth, kilometres.
const EARTH_KM: f64 = 6371.0;

/// A point on the earth, kept as a unit vector: distances need no trigonometry, and neither the date line nor a pole
/// is anything special.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point([f32; 3]);

impl Point {
    /// From degrees: latitude −90 to 90, longitude −180 to 180.
    #[must_use]
    pub fn new(lat: f64, lon: f64) -> Option<Self> {
        if !(-90.0..=90.0).contains(&lat) || !(-180.0..=180.0).contains(&lon) {
            return None;
        }
        let (sin_lat, cos_lat) = lat.to_radians().sin_cos();
        let (sin_lon, cos_lon) = lon.to_radians().sin_cos();
        let vector = [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat];
        Some(Self(vector.map(|part| part as f32)))
    }

    /// Square of the straight line between two points, in earth radii, 0 to 4: grows with the great-circle distance,
    /// and so orders points by it.
    #[must_use]
    #[inline]
    pub fn chord_squared(self, other: Self) -> f64 {
        let square = |a: f32, b: f32| (f64::from(a) - f64::from(b)).powi(2);
        let ([x, y, z], [u, v, w]) = (self.0, other.0);
        square(x, u) + square(y, v) + square(z, w)
    }

    /// Great-circle distance, kilometres.
    #[must_use]
    pub fn distance_km(self, other: Self) -> f64 {
        2.0 * (self.chord_squared(other).sqrt() / 2.0).min(1.0).asin() * EARTH_KM
    }

    /// Latitude and longitude, degrees.
    #[must_use]
    pub fn degrees(self) -> (f64, f64) {
        let [x, y, z] = self.0.map(f64::from);
        (z.atan2(x.hypot(y)).to_degrees(), y.atan2(x).to_degrees())
    }
}

/// Where an address is, as far as a city database knows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Place {
    /// Continent.
    pub continent: Option<Continent>,
    /// Country.
    pub country: Option<Country>,
    /// The largest subdivision that the database names.
    pub subdivision: Option<Subdivision>,
    /// Latitude and longitude.
    pub point: Option<Point>,
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

    fn point(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).unwrap_or_else(|| panic!("{lat} {lon}"))
    }

    #[test]
    fn distances_are_right_at_the_date_line_and_the_poles() {
        let km = |a: (f64, f64), b: (f64, f64)| point(a.0, a.1).distance_km(point(b.0, b.1));
        let near = |got: f64, wanted: f64| assert!((got - wanted).abs() < 1.0, "{got} {wanted}");
        // A degree is 111.19 km.
        near(km((0.0, 179.5), (0.0, -179.5)), 111.19);
        near(km((0.0, 180.0), (0.0, -180.0)), 0.0);
        near(km((90.0, 0.0), (90.0, 123.0)), 0.0);
        near(km((89.5, 0.0), (89.5, 180.0)), 111.19);
        near(km((-89.0, -90.0), (-89.0, 90.0)), 222.39);
        near(km((90.0, 0.0), (-90.0, 0.0)), 20_015.09);
        // Berlin to New York.
        near(km((52.52, 13.405), (40.7128, -74.006)), 6385.0);
    }

    #[test]
    fn small_distances_keep_their_order() {
        let home = point(52.52, 13.405);
        let mut last = -1.0;
        for step in 0..50 {
            let there = home.chord_squared(point(52.52, 13.405 + f64::from(step) * 1e-4));
            assert!(there > last, "{step}");
            last = there;
        }
    }

    #[test]
    fn points_come_back_as_degrees_and_impossible_ones_do_not_exist() {
        for (lat, lon) in [(0.0, 0.0), (52.52, 13.405), (-33.87, 151.2), (10.0, -179.9)] {
            let back = point(lat, lon).degrees();
            assert!(
                (back.0 - lat).abs() < 1e-4 && (back.1 - lon).abs() < 1e-4,
                "{back:?}"
            );
        }
        for (lat, lon) in [(90.1, 0.0), (0.0, 180.5), (f64::NAN, 0.0), (0.0, f64::INFINITY)] {
            assert_eq!(Point::new(lat, lon), None);
        }
    }

    #[test]
    fn codes_of_continents_and_subdivisions_are_checked() {
        assert_eq!(
            Continent::parse("EU").map(|c| c.to_string()),
            Some("EU".to_owned())
        );
        assert_eq!((Continent::parse("eu"), Continent::parse("XX")), (None, None));
        for code in ["US-CA", "GB-ENG", "AT-9"] {
            assert_eq!(
                Subdivision::parse(code).map(|s| s.to_string()).as_deref(),
                Some(code)
            );
        }
        for code in ["CA", "us-CA", "US-", "US-CALI", "US-ca", "US-C\0"] {
            assert_eq!(Subdivision::parse(code), None, "{code}");
        }
    }

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
