//! A country database as large as a published one, made of nothing but a fixed seed: what is timed with it can be
//! repeated anywhere.

use super::entropy;
use crate::geo::{AsInfo, Country, Geo, Located};
use crate::ranges::{Builder, Table};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::IpAddr;

/// IPv4 networks are at least and at most this long.
const LENGTHS: (u8, u8) = (8, 24);
/// Of 100 networks that could be cut in two, so many are.
const CUT: u64 = 79;
/// First IPv4 address behind what is handed out to networks.
const END_V4: u32 = 0xe000_0000;
/// Number of IPv6 networks.
const NETWORKS_V6: u64 = 150_000;
/// Blocks that IPv6 networks are handed out from: the first 16 bits, and how many such blocks follow each other.
const BLOCKS_V6: [(u64, u64); 5] = [(0x2001, 1), (0x2400, 16), (0x2600, 16), (0x2800, 4), (0x2a00, 16)];
/// Countries there are.
const COUNTRIES: u64 = 240;

/// The database.
#[derive(Debug)]
pub struct World {
    table: Table,
    countries: Vec<Country>,
}

/// One of the countries: a quarter of the networks are in the first.
fn country(random: u64) -> u32 {
    let id = if random & 3 == 0 {
        0
    } else {
        (random >> 2) % COUNTRIES
    };
    u32::try_from(id).unwrap_or_default()
}

/// Length of a network that can be as short as `shortest`.
fn length(shortest: u8, seed: u64) -> u8 {
    let (least, most) = LENGTHS;
    let mut length = shortest.max(least);
    while length < most && entropy((seed << 8) | u64::from(length)) % 100 < CUT {
        length += 1;
    }
    length
}

impl World {
    /// Several hundred thousand ranges. Takes a moment.
    #[must_use]
    pub fn new() -> Self {
        let mut v6: Vec<Ipv6Net> = (0..NETWORKS_V6)
            .filter_map(|n| {
                let length = if entropy(n ^ 0xffff) & 1 == 0 { 32 } else { 48 };
                Ipv6Net::new(Self::network_v6(entropy(n << 20)).into(), length).ok()
            })
            .map(|net| net.trunc())
            .collect();
        v6.sort_unstable();
        let mut builder = Builder::default();
        let (mut next, mut n) = (0_u32, 0_u64);
        while next < END_V4 {
            n += 1;
            // A network begins at a multiple of its size.
            let aligned = u8::try_from(32 - next.trailing_zeros().min(32)).unwrap_or(32);
            let length = length(aligned, n);
            if let Ok(net) = Ipv4Net::new(next.into(), length) {
                builder.add(net.into(), country(entropy(!n)));
            }
            next = next.saturating_add(1 << (32 - length));
        }
        for (n, net) in (0..).zip(v6) {
            builder.add(IpNet::V6(net), country(entropy(n)));
        }
        let letter = |n: u64| b'A' + u8::try_from(n % 26).unwrap_or_default();
        let countries = (0..COUNTRIES).map(|n| Country([letter(n / 26), letter(n)]));
        let known = [*b"US", *b"DE", *b"FR", *b"JP"].map(Country);
        Self {
            table: builder.finish(),
            countries: known
                .into_iter()
                .chain(countries)
                .take(COUNTRIES as usize)
                .collect(),
        }
    }

    /// First address of an IPv6 network somewhere in the blocks of the database.
    #[must_use]
    pub fn network_v6(random: u64) -> u128 {
        let (base, count) = BLOCKS_V6
            .get(random as usize % BLOCKS_V6.len())
            .copied()
            .unwrap_or((0x2001, 1));
        let block = base + (random >> 8) % count;
        (u128::from((block << 48) | (random >> 16)) << 64) & (u128::MAX << 80)
    }

    /// Number of ranges.
    #[must_use]
    pub fn ranges(&self) -> usize {
        self.table.ranges()
    }

    /// Memory of the table, bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.table.bytes()
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl Geo for World {
    fn country(&self, ip: IpAddr) -> Located<Country> {
        let (id, prefix) = self.table.find(ip);
        let value = id.and_then(|id| self.countries.get(id as usize).copied());
        Located { value, prefix }
    }

    fn approach_country(&self, ip: IpAddr) -> u64 {
        self.table.approach(ip)
    }

    fn asn(&self, ip: IpAddr) -> Located<AsInfo> {
        let (id, prefix) = self.table.find(ip);
        let value = id.map(|id| AsInfo {
            number: 64_500 + id,
            organisation: 1 + u64::from(id),
        });
        Located { value, prefix }
    }

    fn organisation(&self, _: u64) -> Option<String> {
        None
    }

    fn organisation_of(&self, number: u32) -> Option<u64> {
        number.checked_sub(64_500).map(|id| 1 + u64::from(id))
    }

    fn has_country(&self) -> bool {
        true
    }

    fn has_asn(&self) -> bool {
        true
    }
}
