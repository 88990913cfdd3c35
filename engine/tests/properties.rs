//! Properties that hold for every site, chain, health and client.

use gslb_engine::chain::{NoTrace, Scratch, evaluate, trace};
use gslb_engine::environment::{Environment, MapRule, Signals};
use gslb_engine::geo::{Continent, Place, Point, Subdivision};
use gslb_engine::model::{AdminState, GeoDraft, MemberDraft, ServiceDraft, Tier, WatermarksDraft};
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::script::ScriptFailure;
use gslb_engine::snapshot::{CompiledService, Found, Slots, Snapshot};
use gslb_engine::testing::{FakeScript, FakeScripts, Rows, Site, entropy, member, wire};
use gslb_engine::trace::{StepAction, TraceCandidate};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

const NAME: &str = "www.example.com.";

/// A member and its live state.
#[derive(Debug, Clone)]
struct Row {
    draft: MemberDraft,
    score: f32,
    rtt_ms: Option<u32>,
    load: Option<f64>,
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

fn rows() -> impl Strategy<Value = Vec<Row>> {
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

fn chain() -> impl Strategy<Value = Vec<&'static str>> {
    let narrowing = prop_oneof![
        Just("geo-ip"),
        Just("asn"),
        Just("map-file"),
        Just("sticky"),
        Just("signal-weight"),
        Just("geo-continent"),
        Just("geo-subdivision"),
        Just("geo-nearest"),
        Just("asn-fence"),
        Just("prefix-fence"),
        Just("shed-load"),
        Just("script:turn round"),
        Just("script:fail")
    ];
    let selecting = prop_oneof![
        Just("round-robin"),
        Just("weighted-round-robin"),
        Just("failover"),
        Just("latency"),
        Just("random"),
        Just("select-first:1"),
        Just("select-first:3")
    ];
    (
        proptest::collection::vec(narrowing, 0..5),
        proptest::option::of(selecting),
    )
        .prop_filter_map("an empty chain is none", |(mut steps, last)| {
            steps.extend(last);
            (!steps.is_empty()).then_some(steps)
        })
}

/// Chains whose answer hangs on the client and the members alone.
fn deterministic_chain() -> impl Strategy<Value = Vec<&'static str>> {
    let step = prop_oneof![
        Just("geo-ip"),
        Just("asn"),
        Just("map-file"),
        Just("sticky"),
        Just("geo-continent"),
        Just("geo-subdivision"),
        Just("geo-nearest"),
        Just("asn-fence"),
        Just("prefix-fence"),
        Just("script:turn round"),
        Just("select-first:3")
    ];
    proptest::collection::vec(step, 1..5)
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

fn client() -> impl Strategy<Value = (IpAddr, Option<ClientSubnet>)> {
    let address = prop_oneof![
        Just("198.51.100.7"),
        Just("198.51.100.200"),
        Just("203.0.113.1"),
        Just("192.0.2.1"),
        Just("10.1.1.1"),
        Just("2001:db8:1::1")
    ];
    let subnet = prop_oneof![
        Just(("198.51.100.0", 24)),
        Just(("198.51.96.0", 20)),
        Just(("203.0.113.0", 24)),
        Just(("10.9.9.0", 24)),
        Just(("0.0.0.0", 0)),
        Just(("2001:db8:1::", 56))
    ];
    (address, proptest::option::of(subnet)).prop_map(|(address, subnet)| {
        let subnet = subnet.map(|(address, source)| ClientSubnet {
            address: address.parse().unwrap(),
            source,
        });
        (address.parse().unwrap(), subnet)
    })
}

struct Built {
    snapshot: Snapshot,
    _slots: Slots,
}

impl Built {
    fn new(rows: &[Row], draft: ServiceDraft, min_healthy: i64) -> Self {
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

    fn service(&self) -> &CompiledService {
        match self.snapshot.find(&wire(NAME)) {
            Found::Service { service, .. } => service,
            other => panic!("{other:?}"),
        }
    }

    fn first(&self, ctx: &QueryContext<'_>) -> Option<IpAddr> {
        let mut scratch = Scratch::new();
        evaluate(&self.snapshot, self.service(), ctx, &mut scratch, &mut NoTrace);
        scratch.answers().first().copied()
    }
}

fn query(source: IpAddr, family: Family, bits: u64) -> QueryContext<'static> {
    QueryContext {
        qname: b"",
        family,
        source,
        subnet: None,
        now: 0,
        entropy: bits,
    }
}

fn chain_of(steps: &[&str]) -> ServiceDraft {
    ServiceDraft {
        filter_chain: Some(steps.iter().map(|step| (*step).to_owned()).collect()),
        max_answers: Some(1),
        ..ServiceDraft::default()
    }
}

fn names(list: &[TraceCandidate]) -> Vec<&str> {
    list.iter().map(|candidate| candidate.address.as_str()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whoever a chain answers with is a candidate; narrowing leaves somebody, and only those who were there;
    /// reordering loses nobody; the trace and the query agree.
    #[test]
    fn a_chain_chooses_among_its_candidates_and_the_trace_tells_the_same(
        rows in rows(),
        steps in chain(),
        (source, subnet) in client(),
        v6 in any::<bool>(),
        bits in any::<u64>(),
        max_answers in 1_i64..5,
        min_healthy in 0_i64..3,
    ) {
        let family = if v6 { Family::V6 } else { Family::V4 };
        let built = Built::new(&rows, ServiceDraft { max_answers: Some(max_answers), ..chain_of(&steps) }, min_healthy);
        let ctx = QueryContext { subnet, ..query(source, family, bits) };
        let traced = trace(&built.snapshot, built.service(), &ctx, None, || 0);
        let mut scratch = Scratch::new();
        let decision = evaluate(&built.snapshot, built.service(), &ctx, &mut scratch, &mut NoTrace);

        let answers: Vec<String> = scratch.answers().iter().map(ToString::to_string).collect();
        prop_assert_eq!(&answers, &traced.answers);
        prop_assert_eq!(decision.outcome, traced.outcome);
        prop_assert_eq!(decision.ecs_scope, traced.ecs_scope);
        prop_assert!(decision.ecs_scope <= subnet.map_or(0, |s| s.source));

        let healthy = rows.iter().filter(|row| row.draft.enabled == Some(true)).filter(|row| match row.draft.admin_state {
            Some(AdminState::Up) => true,
            Some(AdminState::Down) => false,
            _ => row.score > 0.0,
        });
        let open = healthy.count() >= usize::try_from(min_healthy).unwrap();
        let candidates: BTreeSet<String> = rows
            .iter()
            .filter(|row| row.draft.enabled == Some(true))
            .filter(|row| match row.draft.admin_state {
                Some(AdminState::Up) => true,
                Some(AdminState::Auto) => row.score > 0.0,
                _ => false,
            })
            .map(|row| row.draft.ip_address.clone().unwrap())
            .filter(|ip| family.matches(ip.parse().unwrap()))
            .collect();
        prop_assert_eq!(answers.is_empty(), !open || candidates.is_empty());
        prop_assert!(answers.iter().all(|ip| candidates.contains(ip)), "{answers:?} of {candidates:?}");
        prop_assert!(answers.iter().collect::<BTreeSet<_>>().len() == answers.len(), "a repeat in {answers:?}");

        for step in &traced.steps {
            let (before, after) = (names(&step.before), names(&step.after));
            prop_assert!(!after.is_empty(), "{step:?}");
            prop_assert!(after.iter().all(|ip| before.contains(ip)), "{step:?}");
            match step.action {
                StepAction::Skipped | StepAction::Passthrough | StepAction::Error => prop_assert_eq!(before, after),
                StepAction::Reordered => prop_assert_eq!(before.len(), after.len()),
                StepAction::Selected if step.step == "select-first:3" => prop_assert!((1..=3).contains(&after.len())),
                StepAction::Selected => prop_assert_eq!(after.len(), 1),
                StepAction::Narrowed => prop_assert!(after.len() <= before.len()),
            }
        }
    }

    /// Any client inside the scope of an answer gets the same one, asking with the same source length: with steps that
    /// draw nothing, so that the whole answer is one thing.
    #[test]
    fn every_client_inside_the_scope_gets_the_same_answer(
        rows in rows(),
        steps in deterministic_chain(),
        network in prop_oneof![Just(0xc633_6400_u32), Just(0xcb00_7100), Just(0x0a09_0900), Just(0xc000_0200)],
        source in 8_u8..=32,
        other in any::<u32>(),
    ) {
        let built = Built::new(&rows, chain_of(&steps), 0);
        let ask = |client: u32| {
            let mask = u32::MAX.checked_shl(32 - u32::from(source)).unwrap_or(0);
            let subnet = ClientSubnet { address: IpAddr::V4((client & mask).into()), source };
            let ctx = QueryContext { subnet: Some(subnet), ..query([192, 0, 2, 1].into(), Family::V4, 0) };
            let mut scratch = Scratch::new();
            let decision = evaluate(&built.snapshot, built.service(), &ctx, &mut scratch, &mut NoTrace);
            (scratch.answers().to_vec(), decision.ecs_scope)
        };
        let (answer, scope) = ask(network);
        let inside = u32::MAX.checked_shr(scope.into()).unwrap_or(0);
        prop_assert_eq!(answer, ask((network & !inside) | (other & inside)).0, "scope {}", scope);
    }

    /// The order of members in the pool does not matter to `sticky`.
    #[test]
    fn sticky_does_not_depend_on_the_order_of_members(rows in rows(), host in any::<u32>()) {
        let mut turned = rows.clone();
        turned.reverse();
        let ctx = query(IpAddr::V4(host.into()), Family::V4, 0);
        let one = Built::new(&rows, chain_of(&["sticky"]), 0);
        let other = Built::new(&turned, chain_of(&["sticky"]), 0);
        prop_assert_eq!(one.first(&ctx), other.first(&ctx));
    }

    /// A member that leaves moves only its own clients.
    #[test]
    fn sticky_moves_only_the_clients_of_the_member_that_left(rows in rows(), gone in any::<prop::sample::Index>()) {
        let all = Built::new(&rows, chain_of(&["sticky"]), 0);
        let mut fewer = rows.clone();
        let gone: IpAddr = fewer.remove(gone.index(rows.len())).draft.ip_address.unwrap().parse().unwrap();
        let fewer = Built::new(&fewer, chain_of(&["sticky"]), 0);
        for subnet in 0..200_u32 {
            let ctx = query(IpAddr::V4((0x0a00_0000 + (subnet << 8)).into()), Family::V4, 0);
            let before = all.first(&ctx);
            if before != Some(gone) {
                prop_assert_eq!(before, fewer.first(&ctx));
            }
        }
    }

    /// Every candidate gets its turn equally often, also when queries of the other family come in between.
    #[test]
    fn round_robin_is_even(rows in rows(), score in prop_oneof![Just(0.5_f32), Just(1.0)]) {
        let rows: Vec<Row> = rows.into_iter().map(|row| Row { score, ..row }).collect();
        let built = Built::new(&rows, chain_of(&["round-robin"]), 0);
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        let source = "192.0.2.1".parse().unwrap();
        for _ in 0..240 {
            for family in [Family::V4, Family::V6] {
                if let Some(ip) = built.first(&query(source, family, 0)) {
                    *counts.entry(ip).or_default() += 1;
                }
            }
        }
        for family in [Family::V4, Family::V6] {
            let those: Vec<usize> = counts.iter().filter(|(ip, _)| family.matches(**ip)).map(|(_, n)| *n).collect();
            let (min, max) = (those.iter().min(), those.iter().max());
            prop_assert!(those.is_empty() || max.unwrap() - min.unwrap() <= 1, "{counts:?}");
        }
    }
}

/// Chi-square of counts against weights.
fn chi_square(counts: &BTreeMap<IpAddr, u64>, weights: &BTreeMap<IpAddr, f64>, draws: f64) -> f64 {
    let total: f64 = weights.values().sum();
    weights
        .iter()
        .map(|(ip, weight)| {
            let wanted = weight / total * draws;
            (counts.get(ip).copied().unwrap_or(0) as f64 - wanted).powi(2) / wanted
        })
        .sum()
}

fn sticky_shares(weights: &[i64]) -> f64 {
    let rows: Vec<Row> = weights
        .iter()
        .zip(1..)
        .map(|(weight, index)| Row {
            draft: MemberDraft {
                weight: Some(*weight),
                ..member(&format!("10.0.0.{index}"), "DE")
            },
            score: 1.0,
            rtt_ms: None,
            load: None,
        })
        .collect();
    let built = Built::new(&rows, chain_of(&["sticky"]), 0);
    let mut counts = BTreeMap::new();
    let draws = 60_000_u32;
    let mut scratch = Scratch::new();
    for subnet in 0..draws {
        let ctx = query(IpAddr::V4((subnet << 8).into()), Family::V4, 0);
        evaluate(&built.snapshot, built.service(), &ctx, &mut scratch, &mut NoTrace);
        *counts.entry(scratch.answers()[0]).or_insert(0) += 1;
    }
    let wanted = rows
        .iter()
        .filter(|row| row.draft.weight != Some(0))
        .map(|row| {
            (
                row.draft.ip_address.as_ref().unwrap().parse().unwrap(),
                row.draft.weight.unwrap() as f64,
            )
        })
        .collect();
    assert!(
        counts.keys().all(|ip| BTreeMap::contains_key(&wanted, ip)),
        "{counts:?}"
    );
    chi_square(&counts, &wanted, draws.into())
}

#[test]
fn sticky_shares_over_many_subnets_follow_the_weights() {
    // Bounds for a probability of 1 in 10,000 with 1, 3 and 7 degrees of freedom.
    assert!(sticky_shares(&[1, 1]) < 15.1);
    assert!(sticky_shares(&[1, 1000]) < 15.1);
    assert!(sticky_shares(&[1, 2, 3, 4, 0]) < 21.1);
    assert!(sticky_shares(&[0x7fff_ffff, 0x7fff_ffff, 0x3fff_ffff, 0x3fff_ffff]) < 21.1);
    assert!(sticky_shares(&[1, 1, 1, 1, 2, 2, 2, 2]) < 29.9);
}

#[test]
fn two_regions_that_alternate_do_not_take_turns_with_each_other() {
    let rows: Vec<Row> = ["DE", "DE", "US", "US"]
        .iter()
        .zip(1..)
        .map(|(region, n)| Row {
            draft: member(&format!("10.0.0.{n}"), region),
            score: 1.0,
            rtt_ms: None,
            load: None,
        })
        .collect();
    let built = Built::new(&rows, chain_of(&["geo-ip", "round-robin"]), 0);
    let mut seen = BTreeSet::new();
    for n in 0..8 {
        let source = if n % 2 == 0 { "198.51.100.1" } else { "203.0.113.1" };
        seen.extend(built.first(&query(source.parse().unwrap(), Family::V4, entropy(n))));
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn a_trace_takes_no_ticket_and_counts_nothing() {
    let rows: Vec<Row> = (1..4)
        .map(|n| Row {
            draft: member(&format!("10.0.0.{n}"), "DE"),
            score: 1.0,
            rtt_ms: None,
            load: None,
        })
        .collect();
    let built = Built::new(&rows, chain_of(&["round-robin"]), 0);
    let ctx = query("192.0.2.1".parse().unwrap(), Family::V4, 0);
    let traced: Vec<_> = (0..3)
        .map(|_| trace(&built.snapshot, built.service(), &ctx, None, || 0).answers)
        .collect();
    assert_eq!(traced[0], traced[2]);
    let next = built.first(&ctx).unwrap();
    assert_eq!(traced[0], [next.to_string()]);
    assert_ne!(built.first(&ctx).unwrap(), next);
    assert_eq!(
        built
            .service()
            .slot
            .queries(gslb_engine::decision::Outcome::Answered),
        0
    );
}
