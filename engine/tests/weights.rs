//! Weights, under fixed seeds: `weighted-round-robin` and `sticky` follow them, A and AAAA each by their own.

use gslb_engine::chain::{NoTrace, Scratch, evaluate};
use gslb_engine::environment::Environment;
use gslb_engine::model::{MemberDraft, Tier};
use gslb_engine::query::{Family, QueryContext};
use gslb_engine::snapshot::{Slots, Snapshot};
use gslb_engine::testing::{Site, entropy, member};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::net::IpAddr;

const NAME: &str = "www.example.com.";
const DRAWS: u32 = 20_000;

struct Built {
    snapshot: Snapshot,
    _slots: Slots,
}

fn drafts(weights: &[(&str, i64)]) -> Vec<MemberDraft> {
    let one = |(ip, weight): &(&str, i64)| MemberDraft {
        weight: Some(*weight),
        ..member(ip, "DE")
    };
    weights.iter().map(one).collect()
}

impl Built {
    fn new(step: &str, weights: &[(&str, i64)]) -> Self {
        let site = Site::new()
            .pool("web", 0, drafts(weights))
            .chain(NAME, "web", &[step]);
        let env = Environment {
            tier: Tier::Pro,
            ..Environment::default()
        };
        let (snapshot, slots) = site.compile(&env).unwrap();
        Self {
            snapshot,
            _slots: slots,
        }
    }

    /// Answers of so many queries, each with its own random bits and client subnet.
    fn answers(&self, family: Family) -> Vec<IpAddr> {
        let service = self.snapshot.services().next().unwrap();
        let mut scratch = Scratch::new();
        let one = |n: u32| {
            let ctx = QueryContext {
                qname: b"",
                family,
                source: IpAddr::V4((n << 8).into()),
                subnet: None,
                now: 0,
                entropy: entropy(n.into()),
            };
            evaluate(&self.snapshot, service, &ctx, &mut scratch, &mut NoTrace);
            scratch.answers()[0]
        };
        (0..DRAWS).map(one).collect()
    }

    /// Chi-square of the answers against weights; infinite when somebody answers who has none.
    fn chi_square(&self, family: Family, weights: &[(&str, i64)]) -> f64 {
        let mut counts: BTreeMap<IpAddr, f64> = BTreeMap::new();
        for ip in self.answers(family) {
            *counts.entry(ip).or_default() += 1.0;
        }
        let total: i64 = weights.iter().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        for (ip, weight) in weights {
            let wanted = *weight as f64 / total as f64 * f64::from(DRAWS);
            let got = counts.remove(&ip.parse::<IpAddr>().unwrap()).unwrap_or(0.0);
            sum += if wanted > 0.0 {
                (got - wanted).powi(2) / wanted
            } else {
                got * f64::INFINITY.min(1e9)
            };
        }
        if counts.is_empty() { sum } else { f64::INFINITY }
    }
}

/// Bounds that a right distribution passes 99,999 times of 100,000, for 1 to 5 degrees of freedom.
const BOUNDS: [f64; 5] = [19.5, 23.0, 25.9, 28.5, 30.9];

const V4: [&str; 5] = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"];
const V6: [&str; 5] = [
    "2001:db8::1",
    "2001:db8::2",
    "2001:db8::3",
    "2001:db8::4",
    "2001:db8::5",
];

fn with<'a>(ips: &[&'a str], weights: &[i64]) -> Vec<(&'a str, i64)> {
    ips.iter().copied().zip(weights.iter().copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: prop::test_runner::RngSeed::Fixed(1), ..ProptestConfig::with_cases(24) })]

    /// Both steps, over both families at once: each family by the weights of its own members.
    #[test]
    fn shares_follow_the_weights_of_the_family(
        v4 in proptest::collection::vec(0_i64..9, 2..=5),
        v6 in proptest::collection::vec(0_i64..9, 2..=5),
        step in prop_oneof![Just("weighted-round-robin"), Just("sticky")],
    ) {
        let (four, six) = (with(&V4, &v4), with(&V6, &v6));
        // Mixed in the pool, so that an index of one family is none of the other.
        let mut all: Vec<(&str, i64)> = Vec::new();
        for n in 0..5 {
            all.extend(four.get(n));
            all.extend(six.get(n));
        }
        let built = Built::new(step, &all);
        for (family, weights) in [(Family::V4, four), (Family::V6, six)] {
            // All zero is even.
            let even = weights.iter().all(|(_, weight)| *weight == 0);
            let wanted: Vec<_> = weights.iter().map(|(ip, w)| (*ip, if even { 1 } else { *w })).collect();
            let chosen = wanted.iter().filter(|(_, weight)| *weight > 0).count();
            let chi = built.chi_square(family, &wanted);
            let bound = chosen.checked_sub(2).map_or(1e-9, |n| BOUNDS[n]);
            prop_assert!(chi < bound, "{wanted:?}: {chi}");
        }
    }

    /// More weight for one member brings it clients, and moves nobody between two others.
    #[test]
    fn sticky_moves_clients_only_to_the_member_that_gained_weight(
        weights in proptest::collection::vec(1_i64..9, 2..=5),
        more in 1_i64..9,
        who in any::<prop::sample::Index>(),
    ) {
        let who = who.index(weights.len());
        let mut raised = weights.clone();
        raised[who] += more;
        let before = Built::new("sticky", &with(&V4, &weights)).answers(Family::V4);
        let after = Built::new("sticky", &with(&V4, &raised)).answers(Family::V4);
        let gained: IpAddr = V4[who].parse().unwrap();
        for (old, new) in before.iter().zip(&after) {
            prop_assert!(old == new || *new == gained, "{old} {new}");
        }
        prop_assert!(before != after);
    }

    /// A member that comes takes its share, from the others alone.
    #[test]
    fn sticky_gives_a_new_member_its_share_and_leaves_the_rest(
        weights in proptest::collection::vec(1_i64..9, 2..=5),
    ) {
        let fewer = &weights[..weights.len() - 1];
        let before = Built::new("sticky", &with(&V4, fewer)).answers(Family::V4);
        let after = Built::new("sticky", &with(&V4, &weights)).answers(Family::V4);
        let new: IpAddr = V4[weights.len() - 1].parse().unwrap();
        let moved = before.iter().zip(&after).filter(|(old, now)| old != now);
        let mut count = 0.0;
        for (_, now) in moved {
            prop_assert_eq!(*now, new);
            count += 1.0;
        }
        let share = weights[weights.len() - 1] as f64 / weights.iter().sum::<i64>() as f64;
        let wanted = share * f64::from(DRAWS);
        let deviation = (wanted * (1.0 - share)).sqrt();
        prop_assert!((count - wanted).abs() < 5.0 * deviation, "{count} of {wanted}");
    }
}
