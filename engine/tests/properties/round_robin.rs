//! The counter of `round-robin`.

use crate::sites::{Built, Row, chain_of, query, rows};
use gslb_engine::chain::trace;
use gslb_engine::query::Family;
use gslb_engine::testing::{entropy, member};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

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

#[test]
fn two_regions_that_alternate_do_not_take_turns_with_each_other() {
    let rows: Vec<Row> = ["DE", "DE", "US", "US"]
        .iter()
        .zip(1..)
        .map(|(region, n)| Row::healthy(member(&format!("10.0.0.{n}"), region)))
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
        .map(|n| Row::healthy(member(&format!("10.0.0.{n}"), "DE")))
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
