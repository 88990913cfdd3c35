//! Times a routing decision: name look-up apart, no step, each step, the usual chains; 8, 64 and 512 candidates.

mod timing;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use gslb_engine::chain::{Decision, NoTrace, Scratch, evaluate};
use gslb_engine::environment::{Environment, MapRule, Signals};
use gslb_engine::geo::{AsInfo, Country, Geo, Located};
use gslb_engine::model::Tier;
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::snapshot::{Found, RoutedService, Slots, Snapshot};
use gslb_engine::testing::{Placed, Site, crowd, entropy, measure, member, wire, without_steps};
use std::hint::black_box;
use std::net::IpAddr;
use std::sync::Arc;

const NAME: &str = "www.example.com.";

/// A database that answers at once: what is timed is the engine.
#[derive(Debug)]
struct Known;

impl Geo for Known {
    fn country(&self, ip: IpAddr) -> Located<Country> {
        Located {
            value: Some(Country(*b"DE")),
            prefix: if ip.is_ipv4() { 24 } else { 48 },
        }
    }

    fn asn(&self, _: IpAddr) -> Located<AsInfo> {
        Located {
            value: Some(AsInfo {
                number: 64500,
                organisation: 1,
            }),
            prefix: 24,
        }
    }

    fn organisation(&self, _: u64) -> Option<String> {
        None
    }

    fn organisation_of(&self, number: u32) -> Option<u64> {
        Some(u64::from(number))
    }

    fn has_country(&self) -> bool {
        true
    }

    fn has_asn(&self) -> bool {
        true
    }
}

fn environment() -> Environment {
    Environment {
        geo: Arc::new(Placed(Known)),
        map: [MapRule {
            network: "198.51.100.0/24".parse().unwrap(),
            targets: vec!["US".into()],
        }]
        .into(),
        signals: Signals {
            zones: [("DE".into(), 450.0), ("US".into(), 120.0)].into(),
            weight: 0.5,
        },
        tier: Tier::Enterprise,
        ..Environment::default()
    }
}

fn build(size: usize, chain: &[&str], weight: impl Fn(usize) -> i64) -> (Snapshot, Slots) {
    let fence = |n| format!("198.51.{}.0/24", 98 + n % 4);
    let site = Site::new()
        .zone_named("example.com.")
        .pool("web", 0, crowd(size, weight, fence))
        .chain(NAME, "web", chain);
    let (snapshot, slots) = site.compile(&environment()).unwrap();
    measure(&site, &slots);
    (snapshot, slots)
}

fn decisions(c: &mut Criterion) {
    let chains: [&[&str]; 22] = [
        &["geo-ip"],
        &["geo-continent"],
        &["geo-subdivision"],
        &["geo-nearest"],
        &["asn-fence"],
        &["prefix-fence"],
        &["shed-load"],
        &["select-first:3"],
        &["geo-nearest", "select-first:2"],
        &["asn"],
        &["map-file"],
        &["sticky"],
        &["signal-weight"],
        &["round-robin"],
        &["weighted-round-robin"],
        &["failover"],
        &["latency"],
        &["random"],
        &["geo-ip", "weighted-round-robin"],
        &["geo-ip", "sticky", "weighted-round-robin"],
        &["geo-ip", "asn", "failover"],
        &["map-file", "latency"],
    ];
    for size in [8, 64, 512] {
        let mut group = c.benchmark_group(format!("{size} members"));
        time(
            &mut group,
            "no step",
            &build(size, &["random"], |_| 1),
            without_steps,
        );
        for chain in chains {
            time(
                &mut group,
                &chain.join(" "),
                &build(size, chain, |_| 1),
                with_its_steps,
            );
        }
        time(
            &mut group,
            "sticky, weights differ",
            &build(size, &["sticky"], |n| n as i64 % 7 + 1),
            with_its_steps,
        );
        group.finish();
    }
}

fn with_its_steps(
    snapshot: &Snapshot,
    service: RoutedService<'_>,
    ctx: &QueryContext<'_>,
    scratch: &mut Scratch,
) -> Decision {
    evaluate(snapshot, service, ctx, scratch, &mut NoTrace)
}

fn time(
    group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>,
    name: &str,
    (snapshot, _slots): &(Snapshot, Slots),
    decision: impl Fn(&Snapshot, RoutedService<'_>, &QueryContext<'_>, &mut Scratch) -> Decision,
) {
    let qname = wire(NAME);
    let Found::Service { service, .. } = snapshot.find(&qname) else {
        panic!("not found")
    };
    let mut scratch = Scratch::new();
    let source = [192, 0, 2, 1].into();
    let subnet = Some(ClientSubnet {
        address: [198, 51, 100, 0].into(),
        source: 24,
    });
    let mut n = 0;
    let mut decide = || {
        n += 1;
        let ctx = QueryContext {
            qname: &qname,
            family: Family::V4,
            source,
            subnet,
            now: 1,
            entropy: entropy(n),
        };
        black_box(decision(snapshot, service, black_box(&ctx), &mut scratch));
    };
    timing::least(&mut decide, name);
    group.bench_function(BenchmarkId::from_parameter(name), |b| b.iter(&mut decide));
}

fn names(c: &mut Criterion) {
    let mut site = Site::new()
        .zone_named("example.com.")
        .pool("web", 0, vec![member("10.0.0.1", "DE")]);
    for n in 0..10_000 {
        site = site.chain(&format!("s{n}.svc.example.com."), "web", &["random"]);
    }
    let (snapshot, _slots) = site
        .chain("*.wild.example.com.", "web", &["random"])
        .compile(&environment())
        .unwrap();
    for (what, name) in [
        ("exact", "s77.svc.example.com."),
        ("wildcard", "any.wild.example.com."),
        ("missing", "nope.svc.example.com."),
        ("outside", "www.elsewhere.test."),
    ] {
        let qname = wire(name);
        c.bench_function(&format!("find/{what}"), |b| {
            b.iter(|| black_box(snapshot.find(black_box(&qname))));
        });
    }
}

criterion_group!(benches, decisions, names);
criterion_main!(benches);
