//! Answers of several members, under fixed seeds: each is chosen by the rule of its step from those that are left.

use gslb_engine::chain::{NoTrace, Scratch, evaluate};
use gslb_engine::environment::{Environment, LatencySettings};
use gslb_engine::model::{MemberDraft, ServiceDraft, Tier};
use gslb_engine::query::{Family, QueryContext};
use gslb_engine::snapshot::{Slots, Snapshot};
use gslb_engine::testing::{Site, entropy, member};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::net::IpAddr;

const DRAWS: u64 = 20_000;

/// A member: weight, priority, health score, round-trip time in milliseconds if it has one.
#[derive(Debug, Clone, Copy)]
struct Row {
    weight: i64,
    priority: i64,
    score: f32,
    rtt: Option<u64>,
    region: &'static str,
}

const ROW: Row = Row {
    weight: 1,
    priority: 0,
    score: 1.0,
    rtt: None,
    region: "unknown",
};

fn weights(weights: &[i64]) -> Vec<Row> {
    weights
        .iter()
        .map(|weight| Row {
            weight: *weight,
            ..ROW
        })
        .collect()
}

struct Built {
    snapshot: Snapshot,
    _slots: Slots,
}

impl Built {
    fn new(step: &str, max_answers: i64, rows: &[Row]) -> Self {
        let drafts = (1..).zip(rows).map(|(n, row): (u16, &Row)| MemberDraft {
            weight: Some(row.weight),
            priority: Some(row.priority),
            ..member(&format!("10.0.{}.{}", n >> 8, n & 255), row.region)
        });
        let draft = ServiceDraft {
            algorithm: Some(step.to_owned()),
            max_answers: Some(max_answers),
            ..ServiceDraft::default()
        };
        let site = Site::new()
            .pool("web", 0, drafts.collect())
            .service("www.example.com.", "web", draft);
        let environment = Environment {
            tier: Tier::Pro,
            latency: LatencySettings {
                fallback_region: "DE".to_owned(),
                min_rtt_threshold_ms: 0.0,
                ..LatencySettings::default()
            },
            ..Environment::default()
        };
        let (snapshot, slots) = site.compile(&environment).unwrap();
        for (stored, row) in site.config.pools[0].members.iter().zip(rows) {
            let slot = slots.existing_member(stored.id).unwrap();
            slot.set_score(row.score);
            for _ in 0..row.rtt.map_or(0, |_| 3) {
                slot.set_rtt(row.rtt.unwrap() * 1_000_000, 0);
            }
        }
        Self {
            snapshot,
            _slots: slots,
        }
    }

    /// Members of the answer to the `n`-th query, as numbers from 0, in order.
    fn answer(&self, scratch: &mut Scratch, n: u64) -> Vec<usize> {
        let service = self.snapshot.services().next().unwrap();
        let ctx = QueryContext {
            qname: b"",
            family: Family::V4,
            source: "198.51.100.1".parse().unwrap(),
            subnet: None,
            now: 0,
            entropy: entropy(n),
        };
        evaluate(&self.snapshot, service, &ctx, scratch, &mut NoTrace);
        let number = |ip: &IpAddr| match ip {
            IpAddr::V4(ip) => usize::try_from(u32::from(*ip) & 0xffff).unwrap() - 1,
            IpAddr::V6(_) => panic!("of the other family"),
        };
        scratch.answers().iter().map(number).collect()
    }

    fn answers(&self) -> Vec<Vec<usize>> {
        let mut scratch = Scratch::new();
        (0..DRAWS).map(|n| self.answer(&mut scratch, n)).collect()
    }
}

/// Chances of each answer of two when each member is drawn by its weight, without the first for the second.
fn pairs(weights: &[f64]) -> BTreeMap<Vec<usize>, f64> {
    let total: f64 = weights.iter().sum();
    let mut chances = BTreeMap::new();
    for (first, one) in weights.iter().enumerate() {
        for (second, two) in weights.iter().enumerate() {
            if first != second && *one > 0.0 && *two > 0.0 {
                chances.insert(vec![first, second], one / total * two / (total - one));
            }
        }
    }
    chances
}

/// Checks that answers come as often as their chances say. The bound is passed by a right distribution 99,999 times of
/// 100,000 (Wilson and Hilferty's approximation).
fn follows(answers: &[Vec<usize>], chances: &BTreeMap<Vec<usize>, f64>) {
    let mut counts: BTreeMap<&[usize], f64> = BTreeMap::new();
    for answer in answers {
        assert!(chances.contains_key(answer), "{answer:?} has no chance");
        *counts.entry(answer).or_default() += 1.0;
    }
    let chi: f64 = chances
        .iter()
        .map(|(answer, chance)| {
            let wanted = chance * answers.len() as f64;
            (counts.get(&**answer).copied().unwrap_or(0.0) - wanted).powi(2) / wanted
        })
        .sum();
    let df = (chances.len() - 1).max(1) as f64;
    let bound = df * (1.0 - 2.0 / (9.0 * df) + 4.265 * (2.0 / (9.0 * df)).sqrt()).powi(3);
    assert!(chi < bound, "{chi} with {df} degrees of freedom: {counts:?}");
}

#[test]
fn random_pairs_are_even() {
    let built = Built::new("random", 2, &weights(&[0, 1, 50, 1, 1]));
    follows(&built.answers(), &pairs(&[1.0; 5]));
}

#[test]
fn each_of_three_answers_has_a_draw_of_its_own() {
    for step in ["random", "weighted-round-robin"] {
        let built = Built::new(step, 3, &weights(&[1; 4]));
        let mut chances = BTreeMap::new();
        for number in 0..64_usize {
            let answer = vec![number / 16, number / 4 % 4, number % 4];
            if answer[0] != answer[1] && answer[1] != answer[2] && answer[0] != answer[2] {
                chances.insert(answer, 1.0 / 24.0);
            }
        }
        follows(&built.answers(), &chances);
    }
}

#[test]
fn weighted_pairs_follow_the_weights_and_nobody_without_one_comes_along() {
    for row in [&[5, 3, 2, 0][..], &[0, 1, 100], &[1, 1, 1, 1], &[7, 0, 0, 9, 2]] {
        let built = Built::new("weighted-round-robin", 2, &weights(row));
        let row: Vec<f64> = row.iter().map(|weight| *weight as f64).collect();
        follows(&built.answers(), &pairs(&row));
    }
}

#[test]
fn those_without_weight_make_an_answer_shorter_unless_nobody_has_any() {
    let mut scratch = Scratch::new();
    let built = Built::new("weighted-round-robin", 4, &weights(&[0, 3, 0, 1]));
    for n in 0..200 {
        let mut answer = built.answer(&mut scratch, n);
        answer.sort_unstable();
        assert_eq!(answer, [1, 3]);
    }
    let built = Built::new("weighted-round-robin", 2, &weights(&[0; 4]));
    follows(&built.answers(), &pairs(&[1.0; 4]));
}

#[test]
fn turns_go_on_within_an_answer() {
    let mut rows = vec![ROW; 5];
    // Another order of candidates than that of members, and one that is not there.
    (rows[0].score, rows[2].score, rows[4].score) = (0.3, 0.0, 0.9);
    for size in [5, 70] {
        rows.resize(size, Row { score: 0.0, ..ROW });
        let built = Built::new("round-robin", 3, &rows);
        let mut scratch = Scratch::new();
        let ring = [0, 1, 3, 4];
        let first = built.answer(&mut scratch, 0)[0];
        let from = ring.iter().position(|n| *n == first).unwrap();
        for n in 1..20 {
            let wanted: Vec<usize> = (0..3).map(|k| ring[(from + n + k) % 4]).collect();
            assert_eq!(built.answer(&mut scratch, 0), wanted, "query {n} of {size}");
        }
    }
}

#[test]
fn times_without_regions_weigh_in_each_draw() {
    let rtt = |rtt| Row {
        rtt: Some(rtt),
        ..ROW
    };
    let built = Built::new("latency", 2, &[rtt(10), rtt(20), rtt(40), rtt(50)]);
    follows(&built.answers(), &pairs(&[10.0, 5.0, 2.5, 2.0]));
}

#[test]
fn without_times_the_region_goes_first() {
    let de = Row { region: "DE", ..ROW };
    let built = Built::new("latency", 3, &[ROW, de, ROW, de, ROW]);
    let (mut scratch, mut last, mut first) = (Scratch::new(), [0_i32; 5], [0_i32; 5]);
    for n in 0..6000 {
        let answer = built.answer(&mut scratch, n);
        let mut region = answer[..2].to_vec();
        region.sort_unstable();
        assert_eq!(region, [1, 3]);
        first[answer[0]] += 1;
        last[answer[2]] += 1;
    }
    assert!((first[1] - 3000).abs() < 200, "{first:?}");
    for n in [0, 2, 4] {
        assert!((last[n] - 2000).abs() < 200, "{last:?}");
    }
    // Without anybody in the region either: turns, which go on within the answer.
    let built = Built::new("latency", 2, &[ROW; 3]);
    let start = built.answer(&mut scratch, 0)[0];
    for n in 1..9 {
        assert_eq!(
            built.answer(&mut scratch, 0),
            [(start + n) % 3, (start + n + 1) % 3]
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: prop::test_runner::RngSeed::Fixed(1), ..ProptestConfig::with_cases(64) })]

    /// Whatever the step: nobody twice, as many as there may and can be, and the first is whom a single answer has.
    #[test]
    fn the_first_is_the_single_answer(
        rows in proptest::collection::vec((0_i64..4, 0_i64..4, 0_u8..3, 0_u64..4), 1..=9),
        step in proptest::sample::select(vec!["round-robin", "weighted-round-robin", "failover", "latency", "random"]),
        max_answers in 2_i64..=16,
    ) {
        let rows: Vec<Row> = rows
            .into_iter()
            .map(|(weight, priority, score, rtt)| Row {
                weight,
                priority,
                score: f32::from(score) / 2.0,
                rtt: (rtt > 0).then_some(rtt * 10),
                region: if rtt == 1 { "DE" } else { "unknown" },
            })
            .collect();
        let (one, several) = (Built::new(step, 1, &rows), Built::new(step, max_answers, &rows));
        let healthy = |row: &&Row| row.score > 0.0;
        let there = rows.iter().filter(healthy).count();
        let weighing = rows.iter().filter(healthy).filter(|row| row.weight > 0).count();
        let most = if step == "weighted-round-robin" && weighing > 0 { weighing } else { there };
        let (mut left, mut right) = (Scratch::new(), Scratch::new());
        for n in 0..50 {
            let single = one.answer(&mut left, n);
            let answer = several.answer(&mut right, n);
            prop_assert_eq!(single.first(), answer.first());
            prop_assert_eq!(answer.len(), most.min(usize::try_from(max_answers).unwrap()));
            let mut different = answer.clone();
            different.sort_unstable();
            different.dedup();
            prop_assert_eq!(different.len(), answer.len());
            if step == "failover" {
                let rank = |n: &usize| rows[*n].priority.wrapping_sub(1) as u64;
                prop_assert!(answer.is_sorted_by_key(rank));
            }
        }
    }
}
