//! Times what a client's address costs: look-ups in a table as large as a published country database, and the chain
//! that most services have, with a client that comes again and with clients from anywhere.

mod timing;

use criterion::{Criterion, criterion_group, criterion_main};
use gslb_engine::chain::{NoTrace, Scratch, evaluate};
use gslb_engine::environment::Environment;
use gslb_engine::geo::Geo;
use gslb_engine::model::Tier;
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::snapshot::Found;
use gslb_engine::testing::{Site, World, entropy, member, wire};
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

const NAME: &str = "www.example.com.";

/// Any public-looking IPv4 address.
fn v4(n: u64) -> IpAddr {
    Ipv4Addr::from_bits(entropy(n) as u32 % 0xe000_0000).into()
}

/// An address in a network of the table.
fn v6(n: u64) -> IpAddr {
    let host = u128::from(entropy(n));
    Ipv6Addr::from_bits(World::network_v6(entropy(!n)) | host).into()
}

fn lookups(c: &mut Criterion) {
    let world = World::new();
    println!("{} ranges, {} bytes", world.ranges(), world.bytes());
    let mut group = c.benchmark_group("country of an address");
    let ip = v4(1);
    let find = || {
        black_box(world.country(black_box(ip)));
    };
    timing::least(find, "the same IPv4 address");
    group.bench_function("the same IPv4 address", |b| b.iter(find));
    type Address = fn(u64) -> IpAddr;
    for (name, address) in [("any IPv4 address", v4 as Address), ("any IPv6 address", v6)] {
        // Addresses are made ahead; each look-up waits for the one before it, as a query waits for its own.
        let addresses: Vec<IpAddr> = (0..1 << 16).map(address).collect();
        let mut n = 0_usize;
        let mut find = || {
            let found = world.country(addresses[n & 0xffff]);
            n += 1 + usize::from(black_box(found.prefix) & 1);
        };
        timing::least(&mut find, name);
        group.bench_function(name, |b| b.iter(&mut find));
    }
    group.finish();
}

fn decisions(c: &mut Criterion) {
    let environment = Environment {
        geo: Arc::new(World::new()),
        tier: Tier::Enterprise,
        ..Environment::default()
    };
    let regions = ["DE", "US", "FR", "JP"];
    let members = (0..8)
        .map(|n| member(&format!("10.0.0.{n}"), regions[n % 4]))
        .collect();
    let site = Site::new()
        .pool("web", 0, members)
        .chain(NAME, "web", &["geo-ip", "weighted-round-robin"]);
    let (snapshot, _slots) = site.compile(&environment).unwrap();
    let qname = wire(NAME);
    let Found::Service { service, .. } = snapshot.find(&qname) else {
        panic!("not found")
    };
    let mut group = c.benchmark_group("geo-ip weighted-round-robin, 8 members");
    let clients: Vec<ClientSubnet> = (0..1 << 16)
        .map(|n| match v4(n) {
            IpAddr::V4(ip) => ClientSubnet {
                address: Ipv4Addr::from_bits(ip.to_bits() & !0xff).into(),
                source: 24,
            },
            IpAddr::V6(_) => panic!("an IPv4 address"),
        })
        .collect();
    for (name, mask) in [("the same client", 0), ("any client", 0xffff)] {
        let mut scratch = Scratch::new();
        let mut n = 0_usize;
        let mut decide = || {
            let ctx = QueryContext {
                qname: &qname,
                family: Family::V4,
                source: [192, 0, 2, 1].into(),
                subnet: Some(clients[n & mask]),
                now: 1,
                entropy: entropy(n as u64),
            };
            let decision = evaluate(&snapshot, service, black_box(&ctx), &mut scratch, &mut NoTrace);
            n += 1 + usize::from(black_box(decision.ecs_scope) & 1);
        };
        timing::least(&mut decide, name);
        group.bench_function(name, |b| b.iter(&mut decide));
    }
    group.finish();
}

criterion_group!(benches, lookups, decisions);
criterion_main!(benches);
