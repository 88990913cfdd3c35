//! Random octets and damaged queries: no panic, no reply longer than allowed, and the next query is answered.

use crate::support::Server;
use crate::support::ask::{A, AAAA, ANY, Ask, NSID};
use gslb_engine::model::Tier;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

fn queries() -> Vec<Vec<u8>> {
    let ask = || Ask::new("crowd.gslb.test.", AAAA);
    [
        ask(),
        ask().flags(0x0100).payload(4096).ecs("198.51.100.0/24"),
        ask()
            .ecs("2001:db8:8000::/33")
            .option(65001, &[1; 9])
            .option(NSID, b""),
        Ask::new("geo.gslb.test.", A).ecs("10.0.0.0/24"),
        Ask::new("x.y.wild.gslb.test.", ANY).edns(),
        ask().version(3),
    ]
    .iter()
    .map(Ask::octets)
    .collect()
}

/// A query with some octets changed, cut or extended.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let changes = vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    let tail = prop_oneof![Just(vec![]), vec(any::<u8>(), 1..40)];
    (
        prop::sample::select(queries()),
        changes,
        any::<prop::sample::Index>(),
        any::<bool>(),
        tail,
    )
        .prop_map(|(mut octets, changes, end, cut, tail)| {
            for (at, value) in changes {
                let at = at.index(octets.len());
                octets[at] = value;
            }
            if cut {
                octets.truncate(end.index(octets.len()));
            }
            octets.extend(tail);
            octets
        })
}

fn run(strategy: impl Strategy<Value = Vec<u8>>, cases: u32) {
    let server = Server::with(Tier::Enterprise, |s| s.nsid = Some(vec![b'n'; 64]));
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&strategy, |octets| {
            // `udp_octets` checks that the query behind this one is answered.
            let reply = server.udp_octets(&octets);
            prop_assert_eq!(server.counts().panics, 0);
            if let Some(reply) = reply {
                prop_assert!(reply.len() >= 12 && reply.len() <= 1232);
                prop_assert_eq!(&reply[..2], &octets[..2]);
                prop_assert_eq!(reply[2] & 0x80, 0x80);
                prop_assert!(octets[2] & 0x80 == 0);
            } else {
                prop_assert!(
                    octets.len() < 12 || octets[2] & 0x80 != 0,
                    "a query without an answer"
                );
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn random_octets() {
    run(vec(any::<u8>(), 0..300), 1000);
}

#[test]
fn random_octets_behind_a_query_header() {
    let header = Just(vec![0x12, 0x34, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
    run(
        (header, vec(any::<u8>(), 0..300)).prop_map(|(header, rest)| [header, rest].concat()),
        1000,
    );
}

#[test]
fn damaged_queries() {
    run(damaged(), 3000);
}
