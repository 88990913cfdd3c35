//! `latency` over time: jitter below the threshold moves no traffic, a real shift moves it once.
//!
//! Probes come one after another as they do from the prober: each tells the mean of the last five round-trip times.

use gslb_engine::chain::{NoTrace, Scratch, evaluate};
use gslb_engine::environment::{Environment, LatencySettings};
use gslb_engine::model::{ServiceDraft, Tier};
use gslb_engine::query::{Family, QueryContext};
use gslb_engine::slots::MemberSlot;
use gslb_engine::snapshot::{Slots, Snapshot};
use gslb_engine::testing::{Site, entropy, member, wire};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;

const NAME: &str = "www.example.com.";
const MS: f64 = 1e6;
/// `minRTTThresholdMs`.
const THRESHOLD: f64 = 5.0;
/// Queries that the traffic is looked at by.
const QUERIES: u64 = 300;

/// A member with the times that its probes will take.
struct Probed {
    slot: Arc<MemberSlot>,
    base: f64,
    last: VecDeque<f64>,
}

impl Probed {
    /// One probe, off by `jitter` milliseconds.
    fn probe(&mut self, jitter: f64) {
        self.last.push_back(self.base + jitter);
        if self.last.len() > 5 {
            self.last.pop_front();
        }
        let mean = self.last.iter().sum::<f64>() / self.last.len() as f64;
        self.slot.set_rtt((mean * MS) as u64, (THRESHOLD * MS) as u64);
    }
}

struct World {
    snapshot: Snapshot,
    _slots: Slots,
    members: Vec<Probed>,
    /// Number of the next jitter.
    drawn: u64,
    seed: u64,
}

impl World {
    fn new(bases: &[f64], seed: u64) -> Self {
        let ip = |n: usize| format!("10.0.0.{}", n + 1);
        let drafts = (0..bases.len()).map(|n| member(&ip(n), "unknown")).collect();
        let draft = ServiceDraft {
            algorithm: Some("latency".to_owned()),
            ..ServiceDraft::default()
        };
        let site = Site::new().pool("web", 0, drafts).service(NAME, "web", draft);
        let env = Environment {
            latency: LatencySettings {
                min_rtt_threshold_ms: THRESHOLD,
                ..LatencySettings::default()
            },
            tier: Tier::Pro,
            ..Environment::default()
        };
        let (snapshot, slots) = site.compile(&env).unwrap();
        let probed = |(n, base): (usize, &f64)| Probed {
            slot: site.slot(&slots, &ip(n)).unwrap(),
            base: *base,
            last: VecDeque::new(),
        };
        let members = bases.iter().enumerate().map(probed).collect();
        Self {
            snapshot,
            _slots: slots,
            members,
            drawn: 0,
            seed,
        }
    }

    /// A round of probes, each off by at most `jitter` milliseconds either way.
    fn round(&mut self, jitter: f64) {
        for member in &mut self.members {
            self.drawn += 1;
            let unit = (entropy(self.seed ^ self.drawn) >> 11) as f64 / (1_u64 << 53) as f64;
            member.probe((2.0 * unit - 1.0) * jitter);
        }
    }

    /// Where each of the same queries goes.
    fn traffic(&self) -> Vec<IpAddr> {
        let qname = wire(NAME);
        let service = self.snapshot.services().next().unwrap();
        let mut scratch = Scratch::new();
        let one = |n| {
            let ctx = QueryContext {
                qname: &qname,
                family: Family::V4,
                source: IpAddr::from([192, 0, 2, 1]),
                subnet: None,
                now: 0,
                entropy: entropy(n),
            };
            evaluate(&self.snapshot, service, &ctx, &mut scratch, &mut NoTrace);
            scratch.answers()[0]
        };
        (0..QUERIES).map(one).collect()
    }

    /// How often the traffic changes within so many rounds.
    fn moves(&mut self, rounds: usize, jitter: f64) -> usize {
        let mut before = self.traffic();
        let mut moves = 0;
        for _ in 0..rounds {
            self.round(jitter);
            let now = self.traffic();
            moves += usize::from(now != before);
            before = now;
        }
        moves
    }

    fn share(&self, number: u8) -> usize {
        let ip = IpAddr::from([10, 0, 0, number]);
        self.traffic().iter().filter(|answer| **answer == ip).count()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The means of two times stay within twice the jitter of each other, which is below the threshold.
    #[test]
    fn jitter_below_the_threshold_moves_no_traffic(
        bases in proptest::collection::vec(8.0_f64..200.0, 2..6),
        jitter in 0.0_f64..2.4,
        seed in any::<u64>(),
    ) {
        let mut world = World::new(&bases, seed);
        world.moves(3, jitter);
        prop_assert_eq!(world.moves(150, jitter), 0);
    }

    /// A shift of more than the threshold and less than twice of it: the mean creeps, and traffic follows in one move;
    /// then it stays, and it comes back in one move too.
    #[test]
    fn a_real_shift_moves_traffic_once(
        base in 20.0_f64..80.0,
        shift in 6.5_f64..9.0,
        slower in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut world = World::new(&[50.0, base, 95.0], seed);
        world.moves(8, 0.3);
        let shift = if slower { shift } else { -shift };
        world.members[1].base += shift;
        let used = world.members[1].slot.routing_rtt_ns();
        let moved = world.moves(60, 0.3);
        prop_assert!(moved <= 1, "{moved} moves");
        let now = world.members[1].slot.routing_rtt_ns();
        prop_assert_ne!(used, now);
        world.members[1].base -= shift;
        let back = world.moves(60, 0.3);
        prop_assert!(back <= 1, "{back} moves back");
    }
}

#[test]
fn a_large_shift_is_followed_in_one_direction_and_done_with_the_window() {
    let mut world = World::new(&[20.0, 40.0], 7);
    world.moves(8, 0.0);
    let mut shares = vec![world.share(1)];
    world.members[0].base = 120.0;
    for _ in 0..5 {
        world.round(0.0);
        shares.push(world.share(1));
    }
    assert!(shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
    assert!(shares[5] < shares[0] / 2, "{shares:?}");
    assert_eq!(world.members[0].slot.routing_rtt_ns(), Some(120_000_000));
    assert_eq!(world.moves(50, 0.0), 0);
}

#[test]
fn members_within_the_threshold_of_the_fastest_share_evenly() {
    let mut world = World::new(&[20.0, 24.9, 24.0, 26.0], 1);
    world.moves(8, 0.0);
    let shares: Vec<usize> = (1..=4).map(|n| world.share(n)).collect();
    // Weights 1/20 three times, and 1/26.
    let wanted = [79.6, 79.6, 79.6, 61.2];
    let chi: f64 = shares
        .iter()
        .zip(wanted)
        .map(|(n, w)| (*n as f64 - w).powi(2) / w)
        .sum();
    assert!(chi < 21.1, "{shares:?} {chi}");
}
