//! The ECS scope is exact: not one bit shorter than what the steps looked at, and not one longer.

use gslb_engine::chain::trace;
use gslb_engine::environment::{Environment, MapRule};
use gslb_engine::model::Tier;
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::testing::{Rows, Site, member};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// Values by network, of which the longest around an address counts.
type Known = BTreeMap<IpNet, usize>;

const COUNTRIES: [&str; 3] = ["DE", "US", "FR"];
const TARGETS: [&str; 3] = ["DE", "US", "mars"];

fn bits(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(v4) => v4.to_bits().into(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

fn like(ip: IpAddr, bits: u128) -> IpAddr {
    match ip {
        IpAddr::V4(_) => IpAddr::V4((bits as u32).into()),
        IpAddr::V6(_) => IpAddr::V6(bits.into()),
    }
}

fn value(known: &Known, ip: IpAddr) -> Option<usize> {
    let around = known.iter().filter(|(net, _)| net.contains(&ip));
    around
        .max_by_key(|(net, _)| net.prefix_len())
        .map(|(_, value)| *value)
}

/// Length of the shortest prefix around an address in which every address has the same value: tried one by one, at each
/// place where a value can change.
fn shortest(known: &Known, ip: IpAddr) -> u8 {
    let mine = value(known, ip);
    let even = |length: u8| {
        let block = IpNet::new(ip, length).unwrap();
        let mut edges = vec![block.network()];
        for net in known.keys().filter(|net| net.addr().is_ipv4() == ip.is_ipv4()) {
            edges.push(net.network());
            edges.extend(bits(net.broadcast()).checked_add(1).map(|next| like(ip, next)));
        }
        edges
            .into_iter()
            .filter(|edge| block.contains(edge))
            .all(|edge| value(known, edge) == mine)
    };
    (0..=block_bits(ip)).find(|length| even(*length)).unwrap()
}

fn block_bits(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

/// An address in one of two small corners, where networks meet.
fn address() -> impl Strategy<Value = IpAddr> {
    let v4 = any::<u32>().prop_map(|random| IpAddr::V4((0xc633_0000 | (random & 0x3_ffff)).into()));
    let v6 = any::<u64>()
        .prop_map(|random| IpAddr::V6((0x2001_0db8 << 96 | u128::from(random & 0x3_ffff_ffff) << 60).into()));
    prop_oneof![v4, v6]
}

fn known() -> impl Strategy<Value = Known> {
    let network = (address(), 0_u8..=20).prop_map(|(ip, more)| match ip {
        IpAddr::V4(v4) => IpNet::V4(Ipv4Net::new(v4, 12 + more).unwrap().trunc()),
        IpAddr::V6(v6) => IpNet::V6(Ipv6Net::new(v6, 32 + 2 * more).unwrap().trunc()),
    });
    prop::collection::btree_map(network, 0_usize..3, 0..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_scope_is_the_shortest_prefix_with_one_answer_to_what_was_asked(
        countries in known(),
        systems in known(),
        rules in known(),
        steps in proptest::collection::vec(prop::sample::select(vec!["geo-ip", "asn", "map-file", "sticky", "random"]), 1..5),
        client in address(),
        length in any::<prop::sample::Index>(),
        regions in proptest::collection::vec(prop::sample::select(vec!["DE", "US", "FR", "unknown"]), 1..6),
    ) {
        let mut rows = Rows::new();
        for (net, n) in &countries {
            rows = rows.country(&net.to_string(), COUNTRIES[*n]);
        }
        for (net, n) in &systems {
            rows = rows.asn(&net.to_string(), 64500 + *n as u32, ["One", "Two", "Three"][*n]);
        }
        let map = rules.iter().map(|(net, n)| MapRule { network: *net, targets: vec![TARGETS[*n].to_owned()] });
        let environment = Environment {
            geo: Arc::new(rows.compile()),
            map: map.collect(),
            tier: Tier::Pro,
            ..Environment::default()
        };
        let members = (1..).zip(&regions).map(|(n, region): (u8, _)| member(&format!("10.0.0.{n}"), region)).collect();
        let site = Site::new().pool("web", 0, members).chain("www.example.com.", "web", &steps);
        let (snapshot, _slots) = site.compile(&environment).unwrap();
        let source = 1 + length.index(block_bits(client).into()) as u8;
        let subnet = ClientSubnet { address: IpNet::new(client, source).unwrap().network(), source };
        // The resolver is in no database.
        let ctx = QueryContext {
            qname: b"",
            family: Family::V4,
            source: [192, 0, 2, 1].into(),
            subnet: Some(subnet),
            now: 1,
            entropy: 1,
        };
        let service = snapshot.services().next().unwrap();
        let traced = trace(&snapshot, service, &ctx, None, || 0);
        let (geo_bits, pin_bits) = if client.is_ipv4() { (24, 24) } else { (48, 64) };
        let seen = IpNet::new(subnet.address, geo_bits).unwrap().network();
        // A step with one candidate looks at nobody, and a selecting one ends the chain.
        let looked = traced.steps.iter().filter(|step| step.before.len() > 1);
        let wanted = looked.map(|step| match step.step.as_str() {
            "geo-ip" => shortest(&countries, seen).min(geo_bits),
            "asn" => shortest(&systems, seen).min(geo_bits),
            "map-file" if rules.is_empty() => 0,
            "map-file" => shortest(&rules, subnet.address),
            "sticky" => pin_bits,
            _ => 0,
        });
        let wanted = wanted.max().unwrap_or(0).min(source);
        prop_assert_eq!(traced.ecs_scope, wanted, "{:?}", traced);
    }
}
