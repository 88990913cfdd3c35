//! Examples and properties of the state machine.

use super::*;
use proptest::prelude::*;

const OK: Option<u64> = Some(1_000);
const BAD: Option<u64> = None;

fn health(rise: u32, fall: u32, score_window: u32, assumed: HealthState) -> Health {
    Health::new(
        Thresholds {
            rise,
            fall,
            score_window,
        },
        assumed,
    )
}

/// The states after each result.
fn states(health: &mut Health, results: &[Option<u64>]) -> Vec<HealthState> {
    results
        .iter()
        .map(|r| {
            health.apply(*r);
            health.state()
        })
        .collect()
}

#[test]
fn a_new_target_is_unknown_and_counts_as_healthy() {
    let h = health(1, 1, 10, HealthState::Unknown);
    assert_eq!(
        (h.state(), h.score(), h.rtt_ns(), h.streak()),
        (HealthState::Unknown, 1.0, None, 0)
    );
}

#[test]
fn the_first_success_decides_whatever_rise_says() {
    let mut h = health(3, 3, 0, HealthState::Unknown);
    let t = h.apply(OK).unwrap();
    assert_eq!((t.from, t.to), (HealthState::Unknown, HealthState::Up));
    assert_eq!(t.reason(None), "first successful probe");
}

#[test]
fn a_dead_new_target_is_down_after_fall_failures() {
    use HealthState::{Down, Unknown};
    let mut h = health(1, 3, 0, Unknown);
    assert_eq!(
        states(&mut h, &[BAD, BAD, BAD, BAD]),
        [Unknown, Unknown, Down, Down]
    );
    assert_eq!(h.score(), 0.0);
}

#[test]
fn rise_and_fall_count_consecutive_results() {
    use HealthState::{Down, Up};
    let mut h = health(2, 3, 0, Up);
    assert_eq!(
        states(&mut h, &[BAD, BAD, OK, BAD, BAD, BAD, OK, BAD, OK, OK, BAD]),
        [Up, Up, Up, Up, Up, Down, Down, Down, Down, Up, Up]
    );
}

#[test]
fn a_target_known_to_be_down_stays_down_until_rise() {
    let mut h = health(2, 1, 0, HealthState::Down);
    assert_eq!(h.score(), 0.0);
    assert_eq!(h.apply(OK), None);
    let t = h.apply(OK).unwrap();
    assert_eq!((t.from, t.to, t.streak), (HealthState::Down, HealthState::Up, 2));
    assert_eq!(t.reason(None), "2 successes in a row");
}

#[test]
fn the_window_gives_the_share_of_successes() {
    let mut h = health(1, 3, 4, HealthState::Unknown);
    let scores: Vec<f32> = [OK, BAD, OK, BAD, BAD, OK]
        .into_iter()
        .map(|r| {
            h.apply(r);
            h.score()
        })
        .collect();
    assert_eq!(scores, [1.0, 0.75, 0.75, 0.5, 0.25, 0.5]);
}

#[test]
fn below_fall_the_score_is_zero_whatever_the_window_says() {
    let mut h = health(1, 1, 10, HealthState::Unknown);
    h.apply(OK);
    h.apply(BAD);
    assert_eq!((h.state(), h.score()), (HealthState::Down, 0.0));
    h.apply(OK);
    assert_eq!(h.state(), HealthState::Up);
    assert!((h.score() - 0.9).abs() < 1e-6);
}

#[test]
fn rtt_is_the_mean_of_the_last_five_successes() {
    let mut h = health(1, 1, 0, HealthState::Unknown);
    for ns in [10, 20] {
        h.apply(Some(ns));
    }
    assert_eq!(h.rtt_ns(), Some(15));
    h.apply(None);
    assert_eq!(h.rtt_ns(), Some(15), "failures do not count");
    for ns in [100, 200, 300, 400, 500] {
        h.apply(Some(ns));
    }
    assert_eq!(h.rtt_ns(), Some(300));
    assert_eq!(h.successes(), 7);
}

#[test]
fn reasons_carry_the_error() {
    let mut h = health(1, 2, 0, HealthState::Up);
    assert_eq!(h.apply(BAD), None);
    let t = h.apply(BAD).unwrap();
    assert_eq!(
        t.reason(Some("connection refused")),
        "2 failures in a row, the last: connection refused"
    );
    let t = health(1, 1, 0, HealthState::Up).apply(BAD).unwrap();
    assert_eq!(t.reason(Some("connection refused")), "connection refused");
}

fn assumed() -> impl Strategy<Value = HealthState> {
    prop_oneof![
        Just(HealthState::Unknown),
        Just(HealthState::Up),
        Just(HealthState::Down)
    ]
}

proptest! {
    /// State, score and mean equal those of a plain reading of the rules over the whole history.
    #[test]
    fn equals_the_rules_read_plainly(
        rise in 1_u32..6, fall in 1_u32..6, window in 0_u32..=100, assumed in assumed(),
        results in prop::collection::vec(prop::option::weighted(0.6, 1_u64..10_000_000), 0..200),
    ) {
        let mut h = health(rise, fall, window, assumed);
        let mut state = assumed;
        for end in 1..=results.len() {
            let seen = &results[..end];
            let ok = seen[end - 1].is_some();
            let run = seen.iter().rev().take_while(|r| r.is_some() == ok).count() as u32;
            let next = match state {
                HealthState::Down if ok && run >= rise => HealthState::Up,
                HealthState::Unknown if ok => HealthState::Up,
                HealthState::Up | HealthState::Unknown if !ok && run >= fall => HealthState::Down,
                same => same,
            };
            let transition = h.apply(seen[end - 1]);
            prop_assert_eq!(transition.is_some(), next != state);
            if let Some(t) = transition {
                prop_assert_eq!((t.from, t.to, t.streak), (state, next, run));
            }
            state = next;
            prop_assert_eq!(h.state(), state);
            prop_assert_eq!(h.streak(), run);

            let n = window as usize;
            let good = seen.iter().rev().take(n).filter(|r| r.is_some()).count();
            let before = if assumed == HealthState::Down { 0 } else { n.saturating_sub(end) };
            let expected = match (state, n) {
                (HealthState::Down, _) => 0.0,
                (_, 0) => 1.0,
                _ => (good + before) as f32 / n as f32,
            };
            prop_assert!((h.score() - expected).abs() < 1e-6, "{} is not {}", h.score(), expected);

            let last: Vec<u64> = seen.iter().rev().filter_map(|r| *r).take(RTT_SAMPLES).collect();
            let mean = last.iter().sum::<u64>().checked_div(last.len() as u64);
            prop_assert_eq!(h.rtt_ns(), mean);
        }
    }

    /// A backend that alternates never flips when both thresholds are at least 2.
    #[test]
    fn alternating_results_never_flip(rise in 2_u32..100, fall in 2_u32..100, up in any::<bool>(), n in 1_usize..300) {
        let start = HealthState::from_last_known(Some(up));
        let mut h = health(rise, fall, 0, start);
        for i in 0..n {
            prop_assert_eq!(h.apply((i % 2 == 0).then_some(1)), None);
        }
        prop_assert_eq!(h.state(), start);
    }

    /// Other thresholds keep the history.
    #[test]
    fn new_thresholds_keep_state_and_round_trip_time(results in prop::collection::vec(prop::option::of(1_u64..1_000), 1..50)) {
        let mut h = health(1, 1, 0, HealthState::Unknown);
        for r in &results {
            h.apply(*r);
        }
        let other = h.clone().with_thresholds(Thresholds { rise: 5, fall: 5, score_window: 10 });
        prop_assert_eq!((other.state(), other.rtt_ns(), other.streak()), (h.state(), h.rtt_ns(), h.streak()));
    }

    /// Extreme numbers neither panic nor leave the range of a score.
    #[test]
    fn extremes(rise in any::<u32>(), fall in any::<u32>(), window in any::<u32>(), rtts in prop::collection::vec(any::<Option<u64>>(), 0..20)) {
        let mut h = health(rise, fall, window, HealthState::Unknown);
        for r in rtts {
            h.apply(r);
            prop_assert!((0.0..=1.0).contains(&h.score()));
            let _ = h.rtt_ns();
        }
    }
}
