//! What holds for every chain.

use crate::sites::{Built, chain_of, query, rows};
use gslb_engine::chain::{NoTrace, Scratch, evaluate, trace};
use gslb_engine::model::{AdminState, ServiceDraft};
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::trace::{StepAction, TraceCandidate};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::net::IpAddr;

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
}
