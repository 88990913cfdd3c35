//! The compiled geo databases against the library that reads the files: for any file and any address the same.

use gslb_core::geo::GeoSet;
use gslb_core::mmdb_writer::{Database, Row};
use gslb_engine::geo::{Geo as _, Located};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use maxminddb::{Reader, geoip2};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of any length, close to each other so that they nest, at both ends of the address space too.
fn network() -> impl Strategy<Value = IpNet> {
    let v4 = (
        any::<u32>(),
        0_u8..=32,
        prop::sample::select(vec![0, 0x0a00_0000, 0xffff_ff00_u32]),
    );
    let v4 = v4.prop_map(|(random, length, base)| {
        let address = base ^ (random & 0x0300_00ff);
        IpNet::V4(Ipv4Net::new(address.into(), length).unwrap().trunc())
    });
    let bases = vec![
        0,
        0xffff_ffff,
        0x2001_0db8 << 96,
        0x2001 << 112,
        0x2002 << 112,
        u128::MAX,
    ];
    let v6 = (any::<u128>(), 0_u8..=128, prop::sample::select(bases));
    let v6 = v6.prop_map(|(random, length, base)| {
        let address = base ^ (random & (0xff << 80 | 0x3 << 64 | 0xffff));
        IpNet::V6(Ipv6Net::new(address.into(), length).unwrap().trunc())
    });
    prop_oneof![v4, v6]
}

/// What a row says, out of few so that neighbours say the same.
#[derive(Debug, Clone, Copy)]
enum Says {
    Country(&'static str),
    Registered(&'static str),
}

fn rows() -> impl Strategy<Value = Vec<(IpNet, Says)>> {
    let says = prop::sample::select(vec![
        Says::Country("DE"),
        Says::Country("US"),
        Says::Country("FR"),
        Says::Registered("DE"),
    ]);
    prop::collection::vec((network(), says), 1..40)
}

/// An IPv4 address in every form that a file may have it in.
fn forms(v4: u32) -> [IpAddr; 5] {
    let (plain, wide) = (Ipv4Addr::from_bits(v4), u128::from(v4));
    [
        plain.into(),
        plain.to_ipv6_mapped().into(),
        Ipv6Addr::from_bits(wide).into(),
        Ipv6Addr::from_bits(0x2002 << 112 | wide << 80 | 7).into(),
        Ipv6Addr::from_bits(0x2001 << 112 | wide << 64 | 7).into(),
    ]
}

/// The IPv4 address embedded in one of IPv6, if it is of such a form.
fn embedded(v6: u128) -> Option<u32> {
    let behind = match v6 {
        v6 if v6 >> 32 == 0 || v6 >> 32 == 0xffff => 0,
        v6 if v6 >> 96 == 0x2001_0000 => 64,
        v6 if v6 >> 112 == 0x2002 => 80,
        _ => return None,
    };
    Some((v6 >> behind) as u32)
}

/// Addresses in every network and just outside, in the forms that embed IPv4, and anywhere.
fn probes(rows: &[IpNet], random: &[u128]) -> Vec<IpAddr> {
    let mut all: Vec<IpAddr> = random
        .iter()
        .flat_map(|bits| [IpAddr::V6((*bits).into()), IpAddr::V4((*bits as u32).into())])
        .collect();
    for net in rows {
        match (net.network(), net.broadcast()) {
            (IpAddr::V4(first), IpAddr::V4(last)) => {
                let (first, last) = (first.to_bits(), last.to_bits());
                for bits in [first, first.wrapping_sub(1), last, last.wrapping_add(1)] {
                    all.extend(forms(bits));
                }
            }
            (IpAddr::V6(first), IpAddr::V6(last)) => {
                let (first, last) = (first.to_bits(), last.to_bits());
                for bits in [first, first.wrapping_sub(1), last, last.wrapping_add(1)] {
                    all.push(Ipv6Addr::from_bits(bits).into());
                    // Such a network reaches into the IPv4 addresses.
                    all.extend(embedded(bits).into_iter().flat_map(forms));
                }
            }
            _ => {}
        }
    }
    all
}

/// What the library says: the value, and the prefix of the network that it found, in the address's own family.
fn read<T>(
    reader: &Reader<Vec<u8>>,
    ip: IpAddr,
    value: impl Fn(geoip2::Country<'_>) -> Option<T>,
) -> Located<T> {
    let found = reader.lookup(ip).unwrap();
    let prefix = match found.network().unwrap() {
        network if network.is_ipv4() == ip.is_ipv4() => network.prefix(),
        _ => 0,
    };
    let value = found.decode::<geoip2::Country<'_>>().unwrap().and_then(value);
    Located { value, prefix }
}

fn code(record: geoip2::Country<'_>) -> Option<String> {
    record.country.iso_code.map(str::to_owned)
}

/// Networks in which an IPv4 address follows the prefix.
const EMBEDDING: [&str; 4] = ["::/96", "::ffff:0:0/96", "2002::/16", "2001::/32"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_table_says_what_the_file_says(
        rows in rows(),
        bits in prop::sample::select(vec![24_u8, 28, 32]),
        aliases in any::<bool>(),
        random in prop::array::uniform8(any::<u128>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("country.mmdb");
        let mut database = Database::country(rows.iter().map(|(net, says)| match says {
            Says::Country(code) => Row::country(*net, code),
            Says::Registered(code) => Row::registered(*net, code),
        }))
        .with_record_bits(bits);
        if aliases {
            database = database.with_aliases();
        }
        std::fs::write(&path, database.to_bytes()).unwrap();
        let mut geo = GeoSet::default();
        let loaded = geo.set_country(Some(&path));
        let reader = Reader::open_readfile(&path).unwrap();
        let nets: Vec<IpNet> = rows.iter().map(|(net, _)| *net).collect();
        for ip in probes(&nets, &random) {
            let wanted = read(&reader, ip, code);
            let found = geo.country(ip);
            if loaded.is_err() {
                // Not one country anywhere.
                prop_assert_eq!(wanted.value, None, "{}", ip);
                continue;
            }
            prop_assert_eq!(found.value.map(|c| c.to_string()), wanted.value.clone(), "{}", ip);
            prop_assert!(found.prefix <= wanted.prefix, "{ip}: {} {}", found.prefix, wanted.prefix);
            // The network that the result claims to hold for: all of it has that result, and one bit less would not do.
            let network = IpNet::new(ip, found.prefix).unwrap().trunc();
            let same = |net: &IpNet| {
                let around = [net.network(), net.broadcast()];
                let inside = probes(&nets, &[]).into_iter().filter(|other| net.contains(other));
                around.into_iter().chain(inside).all(|other| read(&reader, other, code).value == wanted.value)
            };
            prop_assert!(same(&network), "{} in {}", ip, network);
            // Ranges end where IPv4 addresses are embedded, whatever these have.
            let embeds = |net: &IpNet| EMBEDDING.iter().any(|text| net.contains(&text.parse::<IpNet>().unwrap()));
            if let Some(wider) = network.supernet().filter(|wider| !embeds(wider)) {
                prop_assert!(!same(&wider), "{} in {}", ip, wider);
            }
        }
    }

    #[test]
    fn systems_are_found_as_the_file_has_them(rows in prop::collection::vec((network(), 1_u32..5), 1..30)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("asn.mmdb");
        let organisation = |number: u32| ["One", "Two"][number as usize % 2];
        let database = Database::asn(rows.iter().map(|(net, number)| Row::asn(*net, *number, organisation(*number))));
        std::fs::write(&path, database.to_bytes()).unwrap();
        let mut geo = GeoSet::default();
        geo.set_asn(Some(&path)).unwrap();
        let reader = Reader::open_readfile(&path).unwrap();
        let nets: Vec<IpNet> = rows.iter().map(|(net, _)| *net).collect();
        for ip in probes(&nets, &[]) {
            let wanted = reader.lookup(ip).unwrap().decode::<geoip2::Asn<'_>>().unwrap();
            let found = geo.asn(ip).value;
            prop_assert_eq!(found.map(|info| info.number), wanted.as_ref().and_then(|r| r.autonomous_system_number), "{}", ip);
            let name = found.and_then(|info| geo.organisation(info.organisation));
            prop_assert_eq!(name.as_deref(), wanted.and_then(|r| r.autonomous_system_organization), "{}", ip);
        }
    }
}

#[test]
fn a_file_for_ipv4_alone_knows_no_ipv6() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("country.mmdb");
    let database = Database::country([Row::country("192.0.2.0/24".parse().unwrap(), "JP")]).for_ipv4_alone();
    std::fs::write(&path, database.to_bytes()).unwrap();
    let mut geo = GeoSet::default();
    geo.set_country(Some(&path)).unwrap();
    let country = |ip: &str| {
        let found = geo.country(ip.parse().unwrap());
        (found.value.map(|c| c.to_string()), found.prefix)
    };
    assert_eq!(country("192.0.2.1"), (Some("JP".to_owned()), 24));
    assert_eq!(country("192.0.3.1"), (None, 24));
    assert_eq!(country("2001:db8::1"), (None, 0));
    assert_eq!(country("::192.0.2.1"), (None, 0));
}
