//! One trace of each step as JSON, word by word: programs read it, and people read the reasons.
//!
//! A change of these files is a change of the API. `INSTA_UPDATE=always cargo test -p gslb-engine --test traces` writes
//! them anew.

use gslb_engine::chain::trace;
use gslb_engine::environment::{Environment, MapRule, Signals};
use gslb_engine::geo::{Continent, Country, Place, Point, Subdivision};
use gslb_engine::model::{AdminState, FILTERS, FilterInfo, GeoDraft, MemberDraft, Tier, WatermarksDraft};
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::script::{ScriptFailure, ScriptReads};
use gslb_engine::testing::{FakeScript, FakeScripts, Rows, Site, entropy, member, wire};
use std::sync::Arc;

const NETWORK: &str = "198.51.100.0/24";

fn members() -> Vec<MemberDraft> {
    let one = |n: i64, region: &str, continent: &str, subdivision: &str, lat: f64, lon: f64| MemberDraft {
        weight: Some(n),
        priority: Some(4 - n),
        asn: Some(64500 + n % 2),
        geo: Some(GeoDraft {
            continent: Some(continent.to_owned()),
            country: None,
            subdivision: Some(subdivision.to_owned()),
            lat: Some(lat),
            lon: Some(lon),
        }),
        fence_asns: (n == 1).then(|| vec![64999]),
        fence_prefixes: (n == 2).then(|| vec!["203.0.113.0/24".to_owned()]),
        load_watermarks: Some(WatermarksDraft {
            low: Some(10.0),
            high: Some(20.0),
        }),
        ..member(&format!("10.0.0.{n}"), region)
    };
    vec![
        one(1, "US", "NA", "US-CA", 37.8, -122.4),
        one(2, "DE", "EU", "DE-BE", 52.5, 13.4),
        one(3, "DE", "EU", "DE-HE", 50.1, 8.7),
    ]
}

fn environment() -> Environment {
    let place = Place {
        continent: Continent::parse("EU"),
        country: Country::parse("DE"),
        subdivision: Subdivision::parse("DE-HE"),
        point: Point::new(50.0, 8.3),
    };
    let all = ScriptReads {
        client_ip: true,
        client_country: true,
        client_asn: true,
    };
    let failure = ScriptFailure::Failed("line 2, column 1: division by zero".to_owned());
    let scripts = FakeScripts::new()
        .with("result = good", FakeScript::order(&[2, 0]).reading(all))
        .with("result = bad", FakeScript::failing(failure));
    Environment {
        geo: Arc::new(
            Rows::new()
                .country(NETWORK, "DE")
                .asn(NETWORK, 64500, "Example ISP")
                .place(NETWORK, place),
        ),
        map: [MapRule {
            network: NETWORK.parse().unwrap(),
            targets: vec!["FR".into(), "US".into()],
        }]
        .into(),
        signals: Signals {
            zones: [("DE".into(), 120.0), ("US".into(), 410.0)].into(),
            weight: 0.5,
        },
        tier: Tier::Enterprise,
        scripts: Arc::new(scripts),
        ..Environment::default()
    }
}

fn traced(step: &str) -> serde_json::Value {
    let site = Site::new()
        .zone_named("example.com.")
        .pool("web", 1, members())
        .chain("www.example.com.", "web", &[step]);
    let (snapshot, slots) = site.compile(&environment()).unwrap();
    for (ip, score, rtt, load) in [
        ("10.0.0.1", 1.0, 95_500_000, 5.0),
        ("10.0.0.2", 0.75, 12_250_000, 25.0),
        ("10.0.0.3", 0.5, 31_000_000, 15.0),
    ] {
        let slot = site.slot(&slots, ip).unwrap();
        slot.set_score(score);
        slot.set_load(Some(load), None);
        for _ in 0..3 {
            slot.set_rtt(rtt, 0);
        }
    }
    let qname = wire("www.example.com.");
    let context = QueryContext {
        qname: &qname,
        family: Family::V4,
        source: "203.0.113.53".parse().unwrap(),
        subnet: Some(ClientSubnet {
            address: "198.51.100.0".parse().unwrap(),
            source: 24,
        }),
        now: 1_800_000_000,
        entropy: entropy(3),
    };
    let service = snapshot.services().next().unwrap();
    let mut now = 0;
    let clock = || {
        now += 1000;
        now
    };
    serde_json::to_value(trace(&snapshot, service, &context, None, clock)).unwrap()
}

#[test]
fn the_trace_of_each_step_is_as_it_was() {
    let scripts = [
        "script:result = good",
        "script:result = bad",
        "script:does not compile",
    ];
    let steps = FILTERS
        .iter()
        .map(FilterInfo::entry)
        .chain(scripts.map(str::to_owned));
    for step in steps {
        let name = step.replace(" =", "").replace([':', ' '], "-");
        // As text: what insta makes of the numbers of a value depends on features that other crates switch on.
        insta::assert_snapshot!(name, serde_json::to_string_pretty(&traced(&step)).unwrap());
    }
}

#[test]
fn the_gate_is_told_when_it_is_off_too() {
    for (min_healthy, open) in [(0, true), (2, true), (3, false)] {
        let mut drafts = members();
        drafts[1].admin_state = Some(AdminState::Down);
        let site =
            Site::new()
                .pool("web", min_healthy, drafts)
                .chain("www.example.com.", "web", &["failover"]);
        let (snapshot, _slots) = site.compile(&environment()).unwrap();
        let context = QueryContext {
            qname: b"",
            family: Family::V4,
            source: "203.0.113.53".parse().unwrap(),
            subnet: None,
            now: 0,
            entropy: 0,
        };
        let service = snapshot.services().next().unwrap();
        let gate = trace(&snapshot, service, &context, None, || 0).gate;
        assert_eq!(i64::from(gate.min_healthy), min_healthy);
        assert_eq!((gate.healthy, gate.open), (2, open));
    }
}
