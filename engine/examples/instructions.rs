//! Decides a fixed number of queries by each step and by the chains that people use, for a tool that counts
//! instructions: everything is seeded, so that two runs of one binary execute the same ones.
//!
//! Prints a line a case: number of decisions, and what is decided. Around each case `measured` is called once, for the
//! tool to begin and to end at (`cargo xtask instructions`).

use gslb_engine::chain::{NoTrace, Scratch, evaluate};
use gslb_engine::environment::{Environment, MapRule, Signals};
use gslb_engine::geo::{AsInfo, Continent, Country, Geo, Located, Place, Point, Subdivision};
use gslb_engine::model::{GeoDraft, MemberDraft, Tier, WatermarksDraft};
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::snapshot::{Found, Slots, Snapshot};
use gslb_engine::testing::{FakeScript, FakeScripts, Site, World, entropy, member, wire};
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

/// The world, with places: the networks of a database of places are those of the countries.
#[derive(Debug)]
struct Placed(World);

impl Geo for Placed {
    fn country(&self, ip: IpAddr) -> Located<Country> {
        self.0.country(ip)
    }

    fn asn(&self, ip: IpAddr) -> Located<AsInfo> {
        self.0.asn(ip)
    }

    fn place(&self, ip: IpAddr) -> Located<Place> {
        let Located { value, prefix } = self.0.country(ip);
        Located {
            value: value.map(|country| Place {
                continent: Continent::parse("EU"),
                country: Some(country),
                subdivision: Subdivision::parse("DE-BE"),
                point: Point::new(52.5, 13.4),
            }),
            prefix,
        }
    }

    fn organisation(&self, id: u64) -> Option<String> {
        self.0.organisation(id)
    }

    fn organisation_of(&self, number: u32) -> Option<u64> {
        self.0.organisation_of(number)
    }

    fn has_country(&self) -> bool {
        true
    }

    fn has_asn(&self) -> bool {
        true
    }

    fn has_place(&self) -> bool {
        true
    }
}

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
    let regions = ["DE", "US", "FR", "unknown"];
    let members = (0..size).map(|n| MemberDraft {
        weight: Some(n as i64 % 7 + 1),
        priority: Some(n as i64 % 5),
        asn: Some(64_500 + n as i64 % 3),
        geo: Some(GeoDraft {
            continent: Some(["EU", "NA"][n % 2].to_owned()),
            country: None,
            subdivision: Some(["DE-BE", "US-CA"][n % 2].to_owned()),
            lat: Some((n * 37 % 180) as f64 - 90.0),
            lon: Some((n * 71 % 360) as f64 - 180.0),
        }),
        fence_asns: Some(vec![64_500 + n as i64 % 4]),
        fence_prefixes: Some(vec![format!("{}.0.0.0/8", n * 3 % 200 + 1)]),
        load_watermarks: Some(WatermarksDraft {
            low: Some(0.25),
            high: Some(0.75),
        }),
        ..member(&format!("10.0.{}.{}", n / 250, n % 250 + 1), regions[n % 4])
    });
    let site = Site::new()
        .zone_named("example.com.")
        .pool("web", 1, members.collect())
        .chain(NAME, "web", chain);
    let (snapshot, slots) = site.compile(environment).expect("the site compiles");
    for (n, stored) in site.config.pools[0].members.iter().enumerate() {
        let slot = slots.existing_member(stored.id).expect("a member has a slot");
        slot.set_load(Some(n as f64 % 10.0 / 10.0), None);
        (0..5).for_each(|_| slot.set_rtt(1_000_000 * (n as u64 * 7 % 90 + 5), 0));
    }
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
