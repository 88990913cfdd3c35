//! Random members, and sites made of them.

use gslb_engine::chain::{NoTrace, Scratch, evaluate};
use gslb_engine::environment::{Environment, MapRule, Signals};
use gslb_engine::geo::{Continent, Place, Point, Subdivision};
use gslb_engine::model::{AdminState, GeoDraft, MemberDraft, ServiceDraft, Tier, WatermarksDraft};
use gslb_engine::query::{Family, QueryContext};
use gslb_engine::script::ScriptFailure;
use gslb_engine::snapshot::{Found, RoutedService, Slots, Snapshot};
use gslb_engine::testing::{FakeScript, FakeScripts, Rows, Site, member, wire};
use proptest::prelude::*;
use std::net::IpAddr;
use std::sync::Arc;

const NAME: &str = "www.example.com.";

/// A member and its live state.
#[derive(Debug, Clone)]
pub struct Row {
    pub draft: MemberDraft,
    pub score: f32,
    pub rtt_ms: Option<u32>,
    pub load: Option<f64>,
}

/// Facts about a member.
fn facts() -> impl Strategy<Value = MemberDraft> {
    let place = (
        proptest::option::of(prop_oneof![Just("EU"), Just("NA")]),
        proptest::option::of(prop_oneof![Just("US"), Just("AT")]),
        proptest::option::of(prop_oneof![Just("DE-BE"), Just("US-CA")]),
        proptest::option::of((-90_i32..=90, -180_i32..=180)),
    );
    let fences = (
        prop_oneof![2 => Just(vec![]), 1 => Just(vec![64500]), 1 => Just(vec![64501, 64502])],
        prop_oneof![
            2 => Just(vec![]),
            1 => Just(vec!["198.51.100.0/24", "10.0.0.0/8"]),
            1 => Just(vec!["198.51.96.0/20", "2001:db8:1::/56"]),
            1 => Just(vec!["198.51.100.128/25"])
        ],
    );
    (place, fences, any::<bool>()).prop_map(|((continent, country, subdivision, point), fences, marks)| {
        MemberDraft {
            geo: Some(GeoDraft {
                continent: continent.map(str::to_owned),
                country: country.map(|country| vec![country.to_owned()]),
                subdivision: subdivision.map(str::to_owned),
                lat: point.map(|(lat, _)| lat.into()),
                lon: point.map(|(_, lon)| lon.into()),
            }),
            fence_asns: Some(fences.0),
            fence_prefixes: Some(fences.1.into_iter().map(str::to_owned).collect()),
            load_watermarks: marks.then_some(WatermarksDraft {
                low: Some(0.25),
                high: Some(0.75),
            }),
            ..MemberDraft::default()
        }
    })
}

pub fn rows() -> impl Strategy<Value = Vec<Row>> {
    let state = (
        prop_oneof![
            4 => Just(AdminState::Auto),
            1 => Just(AdminState::Up),
            1 => Just(AdminState::Down),
            1 => Just(AdminState::Drain)
        ],
        prop::bool::weighted(0.9),
        prop_oneof![Just(0.0_f32), Just(0.5), Just(1.0)],
        proptest::option::of(1_u32..200),
        proptest::option::of(0.0_f64..1.0),
    );
    let labels = (
        prop_oneof![Just("DE"), Just("US"), Just("unknown"), Just("eu-west")],
        prop_oneof![Just(0_i64), Just(1), Just(3), Just(0x7fff_ffff)],
        0_i64..4,
        proptest::option::of(64500_i64..64503),
    );
    let row = (any::<bool>(), labels, state, facts()).prop_map(
        |(v6, labels, (admin_state, enabled, score, rtt_ms, load), facts)| {
            let (region, weight, priority, asn) = labels;
            let draft = MemberDraft {
                weight: Some(weight),
                priority: Some(priority),
                asn,
                admin_state: Some(admin_state),
                enabled: Some(enabled),
                geo: facts.geo,
                fence_asns: facts.fence_asns,
                fence_prefixes: facts.fence_prefixes,
                load_watermarks: facts.load_watermarks,
                ..member(if v6 { "2001:db8::" } else { "10.0.0." }, region)
            };
            Row {
                draft,
                score,
                rtt_ms,
                load,
            }
        },
    );
    let row = row.boxed();
    // Some pools are larger than one word of bits.
    let size = prop_oneof![4 => 1_usize..9, 1 => 60_usize..80];
    size.prop_flat_map(move |size| proptest::collection::vec(row.clone(), size))
        .prop_map(|mut rows| {
            for (row, number) in rows.iter_mut().zip(1..) {
                row.draft.ip_address = row
                    .draft
                    .ip_address
                    .take()
                    .map(|start| format!("{start}{number}"));
            }
            rows
        })
}

fn environment() -> Environment {
    let rule = |network: &str, targets: &[&str]| MapRule {
        network: network.parse().unwrap(),
        targets: targets.iter().map(|t| (*t).to_owned()).collect(),
    };
    Environment {
        geo: Arc::new(
            Rows::new()
                .country("198.51.100.0/24", "DE")
                .country("203.0.113.0/24", "US")
                .country("2001:db8:1::/48", "DE")
                .asn("198.51.100.0/25", 64500, "One")
                .asn("198.51.100.128/25", 64501, "One")
                .asn("203.0.113.0/24", 64502, "Two")
                .place("198.51.100.0/24", place("EU", "DE-BE", 52.0, 13.0))
                .place("203.0.113.0/24", place("NA", "US-CA", 37.0, -122.0)),
        ),
        map: [
            rule("198.51.100.0/24", &["eu-west", "10.0.0.1"]),
            rule("203.0.113.0/24", &["mars"]),
            rule("0.0.0.0/0", &["US"]),
        ]
        .into(),
        signals: Signals {
            zones: [("DE".to_owned(), 450.0), ("US".to_owned(), 120.0)].into(),
            weight: 0.5,
        },
        tier: Tier::Enterprise,
        scripts: Arc::new(
            FakeScripts::new()
                .with(
                    "turn round",
                    FakeScript::new(|input, order| {
                        let count = u16::try_from(input.candidates.len()).unwrap_or(u16::MAX);
                        order.extend((count / 3..count).rev());
                        Ok(())
                    }),
                )
                .with("fail", FakeScript::failing(ScriptFailure::Busy)),
        ),
        ..Environment::default()
    }
}

fn place(continent: &str, subdivision: &str, lat: f64, lon: f64) -> Place {
    Place {
        continent: Continent::parse(continent),
        country: None,
        subdivision: Subdivision::parse(subdivision),
        point: Point::new(lat, lon),
    }
}

pub struct Built {
    pub snapshot: Snapshot,
    _slots: Slots,
}

impl Row {
    /// A healthy member about which nothing else is known.
    pub fn healthy(draft: MemberDraft) -> Self {
        Self {
            draft,
            score: 1.0,
            rtt_ms: None,
            load: None,
        }
    }
}

impl Built {
    pub fn new(rows: &[Row], draft: ServiceDraft, min_healthy: i64) -> Self {
        let drafts = rows.iter().map(|row| row.draft.clone()).collect();
        let site = Site::new()
            .pool("web", min_healthy, drafts)
            .service(NAME, "web", draft);
        let (snapshot, slots) = site.compile(&environment()).unwrap();
        for row in rows {
            let slot = site.slot(&slots, row.draft.ip_address.as_ref().unwrap()).unwrap();
            slot.set_score(row.score);
            slot.set_load(row.load, None);
            for _ in 0..row.rtt_ms.map_or(0, |_| 3) {
                slot.set_rtt(u64::from(row.rtt_ms.unwrap()) * 1_000_000, 0);
            }
        }
        Self {
            snapshot,
            _slots: slots,
        }
    }

    pub fn service(&self) -> RoutedService<'_> {
        match self.snapshot.find(&wire(NAME)) {
            Found::Service { service, .. } => service,
            other => panic!("{other:?}"),
        }
    }

    pub fn first(&self, ctx: &QueryContext<'_>) -> Option<IpAddr> {
        let mut scratch = Scratch::new();
        evaluate(&self.snapshot, self.service(), ctx, &mut scratch, &mut NoTrace);
        scratch.answers().first().copied()
    }
}

pub fn query(source: IpAddr, family: Family, bits: u64) -> QueryContext<'static> {
    QueryContext {
        qname: b"",
        family,
        source,
        subnet: None,
        now: 0,
        entropy: bits,
    }
}

pub fn chain_of(steps: &[&str]) -> ServiceDraft {
    ServiceDraft {
        filter_chain: Some(steps.iter().map(|step| (*step).to_owned()).collect()),
        max_answers: Some(1),
        ..ServiceDraft::default()
    }
}
