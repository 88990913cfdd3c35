//! The ECS scope is honest: whoever asks from inside the scope of an answer gets that answer (RFC 7871 §7.3.1: a resolver
//! hands a cached answer to every client inside its scope).

use gslb_engine::chain::trace;
use gslb_engine::environment::{Environment, LatencySettings, MapRule};
use gslb_engine::model::{FILTERS, FilterInfo, MemberDraft, ServiceDraft, Tier};
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::snapshot::Found;
use gslb_engine::testing::{Rows, Site, member, wire};
use gslb_engine::trace::Trace;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use proptest::prelude::*;
use std::net::IpAddr;
use std::sync::Arc;

const NAME: &str = "www.example.com.";
const COUNTRIES: [&str; 3] = ["DE", "US", "FR"];

/// Network of a resolver.
const RESOLVER: &str = "198.51.100.0/24";

/// Corners of the address space where rules, databases and private blocks meet.
const V4: [u32; 6] = [
    0xc633_6400,
    0x0a00_0000,
    0x0aff_ff00,
    0xac10_0000,
    0x0900_0000,
    0x0000_0000,
];
const V6: [u128; 6] = [
    0x2001_0db8 << 96,
    0xfd00 << 112,
    0xfe80 << 112,
    0,
    0xfc00 << 112,
    0x2001_0db8_0001 << 80,
];

/// An address near one of the corners.
fn address() -> impl Strategy<Value = IpAddr> {
    let v4 = (prop::sample::select(&V4[..]), any::<u32>(), 0_u32..=32);
    let v4 = v4.prop_map(|(base, random, same)| {
        IpAddr::V4((base ^ (random & u32::MAX.checked_shr(same).unwrap_or(0))).into())
    });
    let v6 = (prop::sample::select(&V6[..]), any::<u128>(), 0_u32..=128);
    let v6 = v6.prop_map(|(base, random, same)| {
        IpAddr::V6((base ^ (random & u128::MAX.checked_shr(same).unwrap_or(0))).into())
    });
    prop_oneof![v4, v6]
}

/// The address that a query comes from.
fn transport() -> impl Strategy<Value = IpAddr> {
    prop_oneof![Just(IpAddr::from([198, 51, 100, 7])), address()]
}

fn network() -> impl Strategy<Value = IpNet> {
    (address(), any::<prop::sample::Index>()).prop_map(|(ip, length)| match ip {
        IpAddr::V4(v4) => Ipv4Net::new(v4, length.index(33) as u8).unwrap().trunc().into(),
        IpAddr::V6(v6) => Ipv6Net::new(v6, length.index(129) as u8).unwrap().trunc().into(),
    })
}

/// No two rows with the same network.
fn unique<T>(mut rows: Vec<(IpNet, T)>) -> Vec<(IpNet, T)> {
    rows.sort_by_key(|(net, _)| *net);
    rows.dedup_by_key(|(net, _)| *net);
    rows
}

fn environment() -> impl Strategy<Value = Environment> {
    let countries = prop::collection::vec((network(), 0_usize..3), 0..12);
    let systems = prop::collection::vec((network(), 64500_u32..64503), 0..12);
    let targets = prop::sample::subsequence(vec!["DE", "US", "mars", "10.0.0.1", "2001:db8::2"], 1..3);
    let map = prop::collection::vec((network(), targets), 0..12);
    let fallback = prop::sample::select(vec!["unknown", "DE"]);
    // Which families the databases know; and the resolver's own network is often in them.
    let families = prop::sample::select(vec![(true, false), (false, true), (true, true)]);
    let kept = (families, prop::bool::weighted(0.7));
    let all = (countries, systems, map, fallback, any::<bool>(), kept);
    all.prop_map(
        |(mut countries, mut systems, map, fallback, compiled, ((v4, v6), resolver))| {
            let mut rows = Rows::new();
            let keep = |net: &IpNet| if net.addr().is_ipv4() { v4 } else { v6 };
            countries.retain(|(net, _)| keep(net));
            systems.retain(|(net, _)| keep(net));
            if resolver {
                countries.push((RESOLVER.parse().unwrap(), 0));
                systems.push((RESOLVER.parse().unwrap(), 64500));
            }
            for (net, country) in unique(countries) {
                rows = rows.country(&net.to_string(), COUNTRIES[country]);
            }
            for (net, number) in unique(systems) {
                rows = rows.asn(&net.to_string(), number, ["One", "Two"][number as usize % 2]);
            }
            let rule = |(network, targets): (IpNet, Vec<&str>)| MapRule {
                network,
                targets: targets.into_iter().map(str::to_owned).collect(),
            };
            Environment {
                geo: if compiled {
                    Arc::new(rows.compile())
                } else {
                    Arc::new(rows)
                },
                map: unique(map).into_iter().map(rule).collect(),
                latency: LatencySettings {
                    fallback_region: fallback.to_owned(),
                    ..LatencySettings::default()
                },
                tier: Tier::Enterprise,
                ..Environment::default()
            }
        },
    )
}

/// Any built-in steps in any order; those that read the client more often.
fn chain() -> impl Strategy<Value = Vec<String>> {
    let names: Vec<String> = FILTERS.iter().map(FilterInfo::entry).collect();
    let reading = ["geo-ip", "asn", "map-file", "latency"]
        .map(str::to_owned)
        .to_vec();
    let step = prop_oneof![prop::sample::select(names), prop::sample::select(reading)];
    prop::collection::vec(step, 1..5)
}

fn members() -> impl Strategy<Value = Vec<MemberDraft>> {
    let one = (0_usize..4, 0_i64..3, prop::option::of(64500_i64..64503));
    prop::collection::vec(one, 2..8).prop_map(|members| {
        let draft = |(n, (region, weight, asn)): (usize, (usize, i64, Option<i64>))| MemberDraft {
            weight: Some(weight),
            asn,
            ..member(
                &if n % 3 == 2 {
                    format!("2001:db8::{n}")
                } else {
                    format!("10.0.0.{n}")
                },
                ["DE", "US", "FR", "unknown"][region],
            )
        };
        (1..).zip(members).map(draft).collect()
    })
}

/// The subnet of an address as an option of this length carries it.
fn subnet(ip: IpAddr, source: u8) -> ClientSubnet {
    let net = IpNet::new(ip, source).unwrap().trunc();
    ClientSubnet {
        address: net.addr(),
        source,
    }
}

/// Another address that has the first `shared` bits in common with this one, and else those of `random`.
fn sibling(ip: IpAddr, shared: u8, random: u128) -> IpAddr {
    match ip {
        IpAddr::V4(v4) => {
            let low = u32::MAX.checked_shr(shared.into()).unwrap_or(0);
            IpAddr::V4(((v4.to_bits() & !low) | (random as u32 & low)).into())
        }
        IpAddr::V6(v6) => {
            let low = u128::MAX.checked_shr(shared.into()).unwrap_or(0);
            IpAddr::V6(((v6.to_bits() & !low) | (random & low)).into())
        }
    }
}

/// What of a trace does not name the client.
fn decision(trace: &Trace) -> impl PartialEq + std::fmt::Debug {
    let steps: Vec<_> = trace
        .steps
        .iter()
        .map(|step| {
            let names: Vec<_> = step
                .after
                .iter()
                .map(|candidate| candidate.address.clone())
                .collect();
            (step.step.clone(), step.action, names)
        })
        .collect();
    (trace.outcome, trace.answers.clone(), steps, trace.ecs_scope)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everyone_inside_the_scope_gets_the_same_answer(
        environment in environment(),
        steps in chain(),
        members in members(),
        transport in transport(),
        client in address(),
        length in any::<prop::sample::Index>(),
        v6 in any::<bool>(),
        bits in any::<u64>(),
        others in prop::collection::vec((address(), any::<u128>()), 12),
    ) {
        let site = Site::new()
            .pool("web", 0, members)
            .service(NAME, "web", ServiceDraft { filter_chain: Some(steps), ..ServiceDraft::default() });
        let (snapshot, _slots) = site.compile(&environment).unwrap();
        let Found::Service { service, .. } = snapshot.find(&wire(NAME)) else { panic!("not found") };
        let source = 1 + length.index(if client.is_ipv4() { 32 } else { 128 }) as u8;
        let ask = |subnet| {
            let family = if v6 { Family::V6 } else { Family::V4 };
            let ctx = QueryContext { qname: b"", family, source: transport, subnet: Some(subnet), now: 7, entropy: bits };
            trace(&snapshot, service, &ctx, None, || 0)
        };
        let asked = subnet(client, source);
        let mine = ask(asked);
        let scope = mine.ecs_scope;
        prop_assert!(scope <= source);
        let edges = [0, u128::MAX, 1].into_iter();
        let near = environment.map.iter().map(|rule| rule.network.addr());
        let random = others.iter().map(|(_, random)| *random).chain(edges);
        let inside = others
            .iter()
            .map(|(ip, _)| *ip)
            .chain(near)
            // Of those with addresses that mean something, the part behind the scope; and any bits at all.
            .filter(|ip| ip.is_ipv4() == client.is_ipv4())
            .map(|ip| match ip {
                IpAddr::V4(v4) => v4.to_bits().into(),
                IpAddr::V6(v6) => v6.to_bits(),
            })
            .chain(random);
        for bits in inside {
            let other = subnet(sibling(client, scope, bits), source);
            let theirs = ask(other);
            prop_assert_eq!(decision(&theirs), decision(&mine), "{:?} and {:?}", asked, other);
        }
    }

    /// Source 0 asks not to be looked at, and the answer holds for everyone.
    #[test]
    fn a_client_that_hides_is_not_looked_at(
        environment in environment(),
        steps in chain(),
        members in members(),
        transport in transport(),
        bits in any::<u64>(),
    ) {
        let site = Site::new()
            .pool("web", 0, members)
            .service(NAME, "web", ServiceDraft { filter_chain: Some(steps), ..ServiceDraft::default() });
        let (snapshot, _slots) = site.compile(&environment).unwrap();
        let Found::Service { service, .. } = snapshot.find(&wire(NAME)) else { panic!("not found") };
        let ask = |subnet| {
            let ctx = QueryContext { qname: b"", family: Family::V4, source: transport, subnet, now: 7, entropy: bits };
            trace(&snapshot, service, &ctx, None, || 0)
        };
        let bare = ask(None);
        prop_assert_eq!(bare.ecs_scope, 0);
        for zero in ["0.0.0.0", "::"] {
            let hidden = ask(Some(ClientSubnet { address: zero.parse().unwrap(), source: 0 }));
            prop_assert_eq!(decision(&hidden), decision(&bare));
        }
    }
}
