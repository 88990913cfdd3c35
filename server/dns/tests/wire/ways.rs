//! The fast path and the way of all messages answer the same octets with the same octets.

use crate::support::ask::{A, AAAA, ANY, Ask, COOKIE, NSID};
use gslb_dns::fuzzing::both_ways;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const NAMES: [&str; 11] = [
    "named.gslb.test.",
    "geo.gslb.test.",
    "many.gslb.test.",
    "GeO.gSLB.tEst.",
    "x.wild.gslb.test.",
    "down.gslb.test.",
    "slow.gslb.test.",
    "lonely.example.",
    "nope.gslb.test.",
    "gslb.test.",
    "elsewhere.test.",
];

fn subnet() -> impl Strategy<Value = Option<&'static str>> {
    prop::sample::select(vec![
        None,
        Some("198.51.100.0/24"),
        Some("0.0.0.0/0"),
        Some("192.0.2.128/25"),
        Some("10.0.0.0/8"),
        Some("2001:db8:8000::/33"),
        Some("::/0"),
    ])
}

/// A whole query, mostly of the form that the fast path takes.
fn query() -> impl Strategy<Value = Vec<u8>> {
    let option = prop_oneof![
        4 => Just(None),
        1 => (prop::sample::select(vec![NSID, COOKIE, 65001]), vec(any::<u8>(), 0..40)).prop_map(Some),
    ];
    (
        prop::sample::select(&NAMES[..]),
        prop::sample::select(vec![A, A, AAAA, AAAA, ANY, 6]),
        any::<u16>(),
        prop::option::of(300_u16..5000),
        any::<bool>(),
        subnet(),
        option,
    )
        .prop_map(|(name, qtype, flags, payload, dnssec_ok, subnet, option)| {
            // RD, TC, AD, CD and the bit between them; another opcode now and then.
            let mut ask = Ask::new(name, qtype).flags(flags & 0x03b0);
            if let Some(payload) = payload {
                ask = ask.payload(payload);
                if dnssec_ok {
                    ask = ask.dnssec_ok();
                }
                if let Some(subnet) = subnet {
                    ask = ask.ecs(subnet);
                }
                if let Some((code, data)) = option {
                    ask = ask.option(code, &data);
                }
            }
            ask.octets()
        })
}

fn run(strategy: impl Strategy<Value = Vec<u8>>, cases: u32) -> usize {
    let fast = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&strategy, |message| {
            let both = both_ways(&message);
            fast.set(fast.get() + usize::from(both.fast.is_some()));
            Ok(())
        })
        .unwrap();
    fast.get()
}

#[test]
fn whole_queries() {
    let fast = run(query(), 4000);
    // A test of the fast path that never takes it would be none.
    assert!(fast > 500, "only {fast} of 4000 went the fast way");
}

#[test]
fn damaged_queries() {
    let changes = vec((any::<prop::sample::Index>(), any::<u8>()), 1..4);
    let damaged = (query(), changes, any::<prop::sample::Index>(), 0..4_u8).prop_map(
        |(mut octets, changes, end, kind)| {
            for (at, value) in changes {
                let at = at.index(octets.len());
                octets[at] = value;
            }
            match kind {
                0 => octets.truncate(end.index(octets.len())),
                1 => octets.extend([0, 1, 2]),
                _ => {}
            }
            octets
        },
    );
    run(damaged, 4000);
}

#[test]
fn what_the_fast_path_is_for_goes_that_way() {
    let ask = |name| Ask::new(name, A);
    for query in [
        ask("geo.gslb.test."),
        ask("GEO.gslb.TEST.").flags(0x0130),
        Ask::new("geo.gslb.test.", AAAA),
        ask("geo.gslb.test.").edns(),
        ask("geo.gslb.test.").ecs("198.51.100.0/24"),
        ask("geo.gslb.test.").ecs("2001:db8:8000::/33"),
        ask("a.b.wild.gslb.test.").option(65001, b"unknown"),
        ask("many.gslb.test.").payload(4096),
    ] {
        let both = both_ways(&query.octets());
        assert_eq!(both.fast.as_ref(), Some(&both.full), "{query:?}");
    }
}

#[test]
fn what_it_is_not_for_does_not() {
    let ask = || Ask::new("geo.gslb.test.", A);
    for query in [
        // Does not fit.
        Ask::new("many.gslb.test.", A),
        Ask::new("geo.gslb.test.", ANY),
        Ask::new("down.gslb.test.", A),
        Ask::new("slow.gslb.test.", A),
        Ask::new("nope.gslb.test.", A),
        ask().option(NSID, b""),
        ask().version(1),
        ask().flags(0x2000),
        ask().flags(0x8000),
    ] {
        assert_eq!(both_ways(&query.octets()).fast, None, "{query:?}");
    }
}
