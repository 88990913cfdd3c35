//! The weighted rendezvous hash of `sticky`.

use crate::sites::{Built, Row, chain_of, query, rows};
use gslb_engine::chain::{NoTrace, Scratch, evaluate};
use gslb_engine::model::MemberDraft;
use gslb_engine::query::Family;
use gslb_engine::testing::member;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::net::IpAddr;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

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
        .map(|(weight, index)| {
            Row::healthy(MemberDraft {
                weight: Some(*weight),
                ..member(&format!("10.0.0.{index}"), "DE")
            })
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
