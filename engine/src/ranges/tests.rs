//! The table against the plainest possible one: a list that is searched from its beginning.

use super::{Builder, Table};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// First address, last address, value; in rising order without overlap.
type List = Vec<(u128, u128, u32)>;

fn bits(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(v4) => v4.to_bits().into(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// Value and shortest prefix, found the long way.
fn plain(list: &List, ip: IpAddr) -> (Option<u32>, u8) {
    let width = if ip.is_ipv4() { 32 } else { 128 };
    let value = |address: u128| {
        let found = list
            .iter()
            .find(|(first, last, _)| (*first..=*last).contains(&address));
        found.map(|(_, _, id)| *id)
    };
    let mine = value(bits(ip));
    let even = |prefix: &u8| {
        let block = IpNet::new(ip, *prefix).unwrap();
        let (from, to) = (bits(block.network()), bits(block.broadcast()));
        let edges = list
            .iter()
            .flat_map(|(first, last, _)| [Some(*first), last.checked_add(1)]);
        edges
            .flatten()
            .filter(|edge| (from..=to).contains(edge))
            .chain([from])
            .all(|address| value(address) == mine)
    };
    // A longer prefix is never less even.
    let prefixes: Vec<u8> = (0..=width).collect();
    let shortest = prefixes.partition_point(|prefix| !even(prefix));
    (mine, prefixes[shortest])
}

/// Networks that do not overlap, a few of them neighbours, out of a small corner so that they come close.
fn networks(v6: bool) -> impl Strategy<Value = Vec<(IpNet, u32)>> {
    // With the last number, values no longer fit 16 bits.
    let ids = vec![0_u32, 1, 2, 0xfeff, 0xff00, 70_000];
    let one =
        (any::<u128>(), any::<u8>(), prop::sample::select(ids)).prop_map(move |(random, length, id)| {
            let net: IpNet = if v6 {
                let corner = (random & 0xff_0000_0000_0000_00ff) | ((0x2001_0db8 << 96) * (random >> 127));
                Ipv6Net::new(
                    corner.into(),
                    [0, 1, 3, 64, 65, 127, 128, 48, 56, 60, 96][usize::from(length) % 11],
                )
                .unwrap()
                .trunc()
                .into()
            } else {
                let corner = (random as u32 & 0x0300_00ff) | 0x0a00_0000;
                Ipv4Net::new(corner.into(), length % 33).unwrap().trunc().into()
            };
            (net, id)
        });
    prop::collection::vec(one, 0..30).prop_map(|mut nets| {
        nets.sort_by_key(|(net, _)| (bits(net.network()), net.prefix_len()));
        // Of two that overlap one goes, now and then the larger.
        let mut kept: Vec<(IpNet, u32)> = Vec::new();
        for (net, id) in nets {
            while kept.len() % 3 == 1 && kept.last().is_some_and(|(last, _)| last.contains(&net)) {
                kept.pop();
            }
            if kept.last().is_none_or(|(last, _)| !last.contains(&net)) {
                kept.push((net, id));
            }
        }
        kept
    })
}

fn table(nets: &[(IpNet, u32)]) -> (Table, List) {
    let mut builder = Builder::default();
    nets.iter().for_each(|(net, id)| builder.add(*net, *id));
    let list = nets
        .iter()
        .map(|(net, id)| (bits(net.network()), bits(net.broadcast()), *id))
        .collect();
    (builder.finish(), list)
}

/// Addresses at every edge and beside it, and random ones.
fn probes(nets: &[(IpNet, u32)], random: &[u128], v6: bool) -> Vec<IpAddr> {
    let edges = nets.iter().flat_map(|(net, _)| {
        let (first, last) = (bits(net.network()), bits(net.broadcast()));
        [
            first,
            first.wrapping_sub(1),
            last,
            last.wrapping_add(1),
            first ^ 1 << 17,
        ]
    });
    let all = edges.chain(random.iter().copied()).chain([0, u128::MAX]);
    all.map(|address| {
        if v6 {
            Ipv6Addr::from_bits(address).into()
        } else {
            Ipv4Addr::from_bits(address as u32).into()
        }
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ipv4_is_found_with_the_shortest_prefix(nets in networks(false), random in prop::array::uniform8(any::<u128>())) {
        let (table, list) = table(&nets);
        for ip in probes(&nets, &random, false) {
            prop_assert_eq!(table.find(ip), plain(&list, ip), "{} in {:?}", ip, nets);
        }
    }

    #[test]
    fn ipv6_is_found_with_the_shortest_prefix(nets in networks(true), random in prop::array::uniform8(any::<u128>())) {
        let (table, list) = table(&nets);
        for ip in probes(&nets, &random, true) {
            let (value, prefix) = table.find(ip);
            let (wanted, shortest) = plain(&list, ip);
            prop_assert_eq!(value, wanted, "{} in {:?}", ip, nets);
            prop_assert_eq!(prefix, shortest, "{} in {:?}", ip, nets);
        }
    }
}

/// So many networks that the index is built: every one is found, and what lies between them is not.
#[test]
fn an_indexed_table_finds_the_same() {
    let nets = |n: u32| -> [(IpNet, u32); 2] {
        // Spread over the whole space, several to a slot here and there.
        let first = n * 0x0008_3105;
        let v6 = u128::from(n % 3 + 1) << 125 | ((u128::from(n) * 0x2_0001) << 80);
        [
            (
                Ipv4Net::new(first.into(), 24 + (n % 9) as u8)
                    .unwrap()
                    .trunc()
                    .into(),
                n % 1000,
            ),
            (
                Ipv6Net::new(v6.into(), 48 + (n % 30) as u8)
                    .unwrap()
                    .trunc()
                    .into(),
                n % 1000,
            ),
        ]
    };
    let mut all: Vec<_> = (0..8000).flat_map(nets).collect();
    all.sort_by_key(|(net, _)| (net.addr().is_ipv6(), bits(net.network())));
    let (table, list) = table(&all);
    let (v4, v6): (List, List) = list
        .into_iter()
        .partition(|(_, last, _)| *last <= u32::MAX.into());
    assert!(
        table.bytes() > 2 * 4 * 65537,
        "two indexes: {} bytes",
        table.bytes()
    );
    for (net, _) in all.iter().step_by(199) {
        let list = if net.addr().is_ipv4() { &v4 } else { &v6 };
        for ip in probes(&[(*net, 0)], &[], net.addr().is_ipv6()) {
            assert_eq!(table.find(ip), plain(list, ip), "{ip}");
        }
    }
}

#[test]
fn embedded_addresses_have_the_value_of_their_ipv4_address() {
    let mut builder = Builder::default();
    builder.add("198.51.100.0/24".parse().unwrap(), 7);
    builder.embed("::/96".parse().unwrap());
    builder.embed("::ffff:0:0/96".parse().unwrap());
    builder.add("2001:db8::/32".parse().unwrap(), 3);
    builder.embed("2002::/16".parse().unwrap());
    let table = builder.finish();
    for (ip, found) in [
        ("198.51.100.7", (Some(7), 24)),
        ("::198.51.100.7", (Some(7), 96 + 24)),
        ("::ffff:198.51.100.7", (Some(7), 96 + 24)),
        ("2002:c633:6407::1", (Some(7), 16 + 24)),
        ("2002:c633:6507::1", (None, 16 + 24)),
        ("::1:0:0", (None, 96)),
        ("2001:db8::1", (Some(3), 32)),
        ("2003::", (None, 16)),
    ] {
        assert_eq!(table.find(ip.parse().unwrap()), found, "{ip}");
    }
}

#[test]
fn an_empty_table_knows_nothing_about_everything() {
    let table = Table::default();
    assert_eq!(table.find("192.0.2.1".parse().unwrap()), (None, 0));
    assert_eq!(table.find("::1".parse().unwrap()), (None, 0));
}
