//! Decides a fixed number of queries by each step and by the chains that people use, for a tool that counts
//! instructions: everything is seeded, so that two runs of one binary execute the same ones.
//!
//! Prints a line a case: number of decisions, and what is decided. Around each case `measured` is called once, for the
//! tool to begin and to end at (`cargo xtask instructions`).

use gslb_engine::chain::{NoTrace, Scratch, evaluate};
use gslb_engine::environment::{Environment, MapRule, Signals};
use gslb_engine::geo::Geo as _;
use gslb_engine::model::Tier;
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::snapshot::{Found, Slots, Snapshot};
use gslb_engine::testing::{FakeScript, FakeScripts, Placed, Site, World, crowd, entropy, measure, wire};
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

const NAME: &str = "www.example.com.";
/// Decisions per case.
const DECISIONS: u64 = 2000;

/// Steps alone, then chains.
const CHAINS: [&[&str]; 23] = [
    &["geo-ip"],
    &["asn"],
    &["map-file"],
    &["sticky"],
    &["signal-weight"],
    &["round-robin"],
    &["weighted-round-robin"],
    &["failover"],
    &["latency"],
    &["random"],
    &["geo-continent"],
    &["geo-subdivision"],
    &["geo-nearest"],
    &["asn-fence"],
    &["prefix-fence"],
    &["shed-load"],
    &["select-first:2"],
    &["script:result = []"],
    &["geo-ip", "weighted-round-robin"],
    &["geo-ip", "asn", "failover"],
    &["geo-ip", "sticky"],
    &["map-file", "geo-ip", "latency"],
    &["signal-weight", "failover"],
];

/// Runs one case. The name is what the tool looks for.
#[inline(never)]
fn measured(case: &mut dyn FnMut(u64)) {
    (0..DECISIONS).for_each(case);
}

fn report(name: &str, case: &mut dyn FnMut(u64)) {
    // Once outside, so that nothing happens for the first time inside.
    case(0);
    measured(case);
    println!("{DECISIONS} {name}");
}

fn build(environment: &Environment, size: usize, chain: &[&str]) -> (Snapshot, Slots) {
    let fence = |n| format!("{}.0.0.0/8", n * 3 % 200 + 1);
    let members = crowd(size, |n| n as i64 % 7 + 1, fence);
    let site = Site::new()
        .zone_named("example.com.")
        .pool("web", 1, members)
        .chain(NAME, "web", chain);
    let (snapshot, slots) = site.compile(environment).expect("the site compiles");
    measure(&site, &slots);
    (snapshot, slots)
}

/// Query number `n` of a client from anywhere.
fn query(qname: &[u8], n: u64) -> QueryContext<'_> {
    let client = (entropy(n) as u32 % 0xe000_0000) & !0xff;
    QueryContext {
        qname,
        family: Family::V4,
        source: IpAddr::V4([192, 0, 2, 1].into()),
        subnet: Some(ClientSubnet {
            address: Ipv4Addr::from_bits(client).into(),
            source: 24,
        }),
        now: 1,
        entropy: entropy(!n),
    }
}

fn main() {
    let world = Arc::new(Placed(World::new()));
    let script = FakeScript::order(&[1, 0]);
    let environment = Environment {
        geo: world.clone(),
        map: (0..64_u8)
            .map(|n| MapRule {
                network: format!("{}.0.0.0/{}", n * 3, 8 + n % 3)
                    .parse()
                    .expect("a network"),
                targets: vec![["DE", "US", "FR"][usize::from(n) % 3].into()],
            })
            .collect(),
        signals: Signals {
            zones: [("DE".into(), 450.0), ("US".into(), 120.0)].into(),
            weight: 0.5,
        },
        tier: Tier::Enterprise,
        scripts: Arc::new(FakeScripts::new().with("result = []", script)),
        ..Environment::default()
    };
    let qname = wire(NAME);
    report("country of an address", &mut |n| {
        black_box(world.country(Ipv4Addr::from_bits(entropy(n) as u32).into()));
    });
    for size in [8, 64] {
        for chain in CHAINS {
            let (snapshot, _slots) = build(&environment, size, chain);
            let mut scratch = Scratch::new();
            report(&format!("{}, {size} members", chain.join(" ")), &mut |n| {
                // The name too: no query does without it.
                if let Found::Service { service, .. } = snapshot.find(&qname) {
                    let ctx = query(&qname, n);
                    black_box(evaluate(&snapshot, service, &ctx, &mut scratch, &mut NoTrace));
                }
            });
        }
    }
}
