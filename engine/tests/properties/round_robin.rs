//! The counter of `round-robin`.

use crate::sites::{Built, Row, chain_of, query, rows};
use gslb_engine::chain::{NoTrace, Scratch, evaluate, trace};
use gslb_engine::environment::Environment;
use gslb_engine::host::HostAddresses;
use gslb_engine::model::{Pool, ServiceDraft};
use gslb_engine::query::Family;
use gslb_engine::snapshot::{Changes, Slots, Snapshot};
use gslb_engine::testing::{Site, entropy, host, member};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

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

fn first(snapshot: &Snapshot, family: Family) -> IpAddr {
    let ctx = query("192.0.2.1".parse().unwrap(), family, 0);
    let mut scratch = Scratch::new();
    let service = snapshot.services().next().unwrap();
    evaluate(snapshot, service, &ctx, &mut scratch, &mut NoTrace);
    scratch.answers()[0]
}

/// A site whose one service takes turns among so many members.
fn turning(members: u8) -> Site {
    let drafts = (1..=members).map(|n| member(&format!("10.0.0.{n}"), "DE"));
    Site::new()
        .pool("web", 0, drafts.collect())
        .service("www.example.com.", "web", ServiceDraft::default())
}

#[test]
fn threads_share_the_turns() {
    let rows: Vec<Row> = (1..4)
        .map(|n| Row::healthy(member(&format!("10.0.0.{n}"), "DE")))
        .collect();
    let built = Built::new(&rows, chain_of(&["round-robin"]), 0);
    let ctx = query("192.0.2.1".parse().unwrap(), Family::V4, 0);
    let answers: Vec<IpAddr> = std::thread::scope(|scope| {
        let ask = || -> Vec<IpAddr> { (0..300).filter_map(|_| built.first(&ctx)).collect() };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    for row in &rows {
        let ip: IpAddr = row.draft.ip_address.as_ref().unwrap().parse().unwrap();
        assert_eq!(answers.iter().filter(|answer| **answer == ip).count(), 400);
    }
}

#[test]
fn each_start_begins_elsewhere() {
    let site = turning(4);
    let begins: BTreeSet<IpAddr> = (0..64)
        .map(|start| {
            let mut slots = Slots::new();
            let env = Environment::default();
            let snapshot = Snapshot::compile(&site.config, &env, &mut slots, entropy(start)).unwrap();
            first(&snapshot, Family::V4)
        })
        .collect();
    assert_eq!(begins.len(), 4, "{begins:?}");
}

#[test]
fn each_member_set_begins_elsewhere() {
    let site = turning(40);
    let all = &site.config.pools[0];
    let mut slots = Slots::new();
    let env = Environment::default();
    let mut snapshot = Snapshot::compile(&site.config, &env, &mut slots, 1).unwrap();
    // Fewer changes than there are counters: each begins with one of its own.
    let begins: BTreeSet<usize> = (0..12)
        .map(|n| {
            let members = all.members[n * 3..n * 3 + 4].to_vec();
            let changes = Changes {
                pools: vec![Pool {
                    members: members.clone(),
                    ..all.clone()
                }],
                ..Changes::default()
            };
            snapshot = snapshot.with_changes(&changes, &mut slots, 1).unwrap().unwrap();
            let answer = first(&snapshot, Family::V4);
            let is_it = |member: &gslb_engine::model::Member| member.endpoint.ip() == Some(answer);
            members.iter().position(is_it).unwrap()
        })
        .collect();
    assert!(begins.len() >= 3, "{begins:?}");
}

#[test]
fn a_disabled_member_that_changes_restarts_nobodys_turns() {
    let site = turning(5);
    let mut pool = site.config.pools[0].clone();
    pool.members[4].enabled = false;
    let mut slots = Slots::new();
    let env = Environment::default();
    let put = |pool: &Pool| Changes {
        pools: vec![pool.clone()],
        ..Changes::default()
    };
    let snapshot = Snapshot::compile(&site.config, &env, &mut slots, 1).unwrap();
    let snapshot = snapshot
        .with_changes(&put(&pool), &mut slots, 1)
        .unwrap()
        .unwrap();
    let before: Vec<IpAddr> = (0..4).map(|_| first(&snapshot, Family::V4)).collect();
    first(&snapshot, Family::V4);
    pool.members.pop();
    let snapshot = snapshot
        .with_changes(&put(&pool), &mut slots, 1)
        .unwrap()
        .unwrap();
    assert_eq!(first(&snapshot, Family::V4), before[1]);
}

#[test]
fn host_names_take_turns_for_each_family() {
    // The same members answer both families here, so that only the family tells the two counters apart.
    let names = ["a.example.net", "b.example.net"];
    let draft = ServiceDraft {
        flatten: Some(true),
        ..ServiceDraft::default()
    };
    let site = Site::new()
        .pool("web", 0, names.map(|name| host(name, "DE")).to_vec())
        .service("www.example.com.", "web", draft);
    let (snapshot, slots) = site.compile(&Environment::default()).unwrap();
    for (name, n) in names.iter().zip(1_u8..) {
        let v6 = format!("2001:db8::{n}").parse().unwrap();
        let known = HostAddresses::new(vec![[192, 0, 2, n].into(), v6], 60, 1);
        site.slot(&slots, name)
            .unwrap()
            .set_addresses(Some(Arc::new(known)));
    }
    for family in [Family::V4, Family::V6] {
        let other = match family {
            Family::V4 => Family::V6,
            Family::V6 => Family::V4,
        };
        let one = first(&snapshot, family);
        first(&snapshot, other);
        assert_ne!(first(&snapshot, family), one);
    }
}
