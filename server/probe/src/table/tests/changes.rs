//! What survives a change of the wanted set, and what members share.

use super::*;

#[test]
fn what_stays_the_same_keeps_state_and_schedule() {
    let mut w = World::new();
    let a = target(1, 80, tcp(1_000));
    w.set(std::slice::from_ref(&a));
    w.round(false);
    assert_eq!(w.events(), [(Unknown, Down)]);
    w.pass(600);
    let id = w.table.by_member[&a.member_id];
    w.set(&[target(2, 81, tcp(1_000)), a.clone()]);
    assert_eq!(w.table.by_member[&a.member_id], id);
    assert_eq!(w.status(&a).state, Down);
    assert_eq!(w.round(true), 1, "only the new one");
    w.pass(400);
    assert_eq!(w.round(true), 1, "the old one when its interval is over");
    assert_eq!(w.events(), [(Unknown, Up), (Down, Up)]);
}

#[test]
fn a_deleted_target_is_not_started_and_its_late_result_counts_for_nothing() {
    let mut w = World::new();
    let (a, b) = (target(1, 80, tcp(1_000)), target(2, 81, tcp(1_000)));
    w.set(&[a.clone(), b.clone()]);
    let jobs = w.due();
    w.set(std::slice::from_ref(&b));
    for job in &jobs {
        w.end(job, false);
    }
    assert_eq!((a.slot.score(), a.slot.is_known()), (1.0, false));
    assert_eq!(b.slot.score(), 0.0);
    assert!(w.table.record(a.member_id).is_none());
    w.pass(10_000);
    assert_eq!(w.round(true), 1);
    w.set(&[]);
    w.pass(10_000);
    assert_eq!(
        (w.round(true), w.table.running, w.table.first_due()),
        (0, 0, None)
    );
}

#[test]
fn a_changed_path_starts_at_once_and_keeps_the_state_until_it_decides() {
    let mut w = World::new();
    let old = target(
        1,
        80,
        HealthCheck {
            rise: 2,
            ..http("/old")
        },
    );
    w.set(std::slice::from_ref(&old));
    w.round(false);
    let new = Target {
        check: Some(HealthCheck {
            rise: 2,
            ..http("/new")
        }),
        ..old.clone()
    };
    w.set(std::slice::from_ref(&new));
    assert_eq!((w.status(&new).state, new.slot.score()), (Down, 0.0));
    assert_eq!(w.status(&new).recent, [], "the history is that of the old path");
    let jobs = w.due();
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].record.key.check, http("/new").with_rise(2));
    w.end(&jobs[0], true);
    assert_eq!(w.status(&new).state, Down);
    w.pass(1_000);
    w.round(true);
    assert_eq!(w.events(), [(Unknown, Down), (Down, Up)]);
}

trait WithRise {
    fn with_rise(self, rise: u32) -> Self;
}

impl WithRise for HealthCheck {
    fn with_rise(mut self, rise: u32) -> Self {
        self.rise = rise;
        self
    }
}

#[test]
fn other_times_and_thresholds_keep_the_whole_history() {
    let mut w = World::new();
    let old = target(1, 80, tcp(1_000));
    w.set(std::slice::from_ref(&old));
    for _ in 0..3 {
        w.round(true);
        w.pass(1_000);
    }
    let before = w.status(&old);
    let new = Target {
        check: Some(HealthCheck { fall: 3, ..tcp(500) }),
        ..old
    };
    w.set(std::slice::from_ref(&new));
    assert_eq!(w.status(&new), before);
    assert_eq!(new.slot.routing_rtt_ns(), Some(3_000_000));
    w.round(false);
    assert_eq!(w.status(&new).state, Up, "the new fall counts");
    assert_eq!(w.events(), [(Unknown, Up)]);
}

#[test]
fn another_address_is_another_machine() {
    let mut w = World::new();
    let old = target(1, 80, tcp(1_000));
    w.set(std::slice::from_ref(&old));
    w.round(false);
    let new = Target {
        address: "192.0.2.9:80".parse().unwrap(),
        last_known: Some(false),
        ..old
    };
    w.set(std::slice::from_ref(&new));
    assert_eq!(
        (w.status(&new).state, new.slot.score(), new.slot.is_known()),
        (Unknown, 1.0, false)
    );
}

#[test]
fn a_member_that_is_no_longer_checked_counts_as_healthy() {
    let mut w = World::new();
    let a = target(1, 80, tcp(1_000));
    w.set(std::slice::from_ref(&a));
    w.round(false);
    assert_eq!(a.slot.score(), 0.0);
    w.set(&[Target {
        check: None,
        ..a.clone()
    }]);
    assert_eq!(
        (a.slot.score(), a.slot.is_known(), w.table.len()),
        (1.0, false, 0)
    );
}

#[test]
fn the_state_of_before_a_restart_is_taken_over() {
    let mut w = World::new();
    let down = Target {
        last_known: Some(false),
        ..target(1, 80, tcp(1_000))
    };
    let up = Target {
        last_known: Some(true),
        ..target(2, 81, tcp(1_000))
    };
    w.set(&[down.clone(), up.clone()]);
    assert_eq!((w.status(&down).state, down.slot.score()), (Down, 0.0));
    assert_eq!((w.status(&up).state, up.slot.score()), (Up, 1.0));
    assert_eq!(w.events(), [], "nothing has changed");
    w.round(true);
    assert_eq!(w.events(), [(Down, Up)]);
}

#[test]
fn the_same_check_of_the_same_address_is_probed_once_for_all() {
    let mut w = World::new();
    let a = target(1, 80, tcp(1_000));
    let own_port = HealthCheck {
        port: Some(80),
        ..tcp(1_000)
    };
    let b = Target {
        pool_id: PoolId(Uuid::from_u128(2)),
        ..target(2, 9, own_port)
    };
    w.set(&[a.clone(), b.clone()]);
    assert_eq!(w.table.len(), 1);
    for _ in 0..3 {
        assert_eq!(w.round(true), 1);
        w.pass(1_000);
    }
    assert_eq!(w.events(), [(Unknown, Up), (Unknown, Up)]);
    assert_eq!(
        (a.slot.routing_rtt_ns(), b.slot.routing_rtt_ns()),
        (Some(3_000_000), Some(3_000_000))
    );
    assert_eq!(w.status(&b).pool_id, b.pool_id);

    // Who comes later has at once what is known.
    let c = target(3, 80, tcp(1_000));
    w.set(&[a.clone(), b.clone(), c.clone()]);
    assert_eq!(w.events(), [(Unknown, Up)]);
    assert_eq!(
        (c.slot.is_known(), c.slot.routing_rtt_ns()),
        (true, Some(3_000_000))
    );

    // One leaves: its slot is left alone from then on.
    w.set(&[b.clone(), c.clone()]);
    assert_eq!(w.round(false), 1);
    assert_eq!((a.slot.score(), b.slot.score(), c.slot.score()), (1.0, 0.0, 0.0));
    assert_eq!(w.events(), [(Up, Down), (Up, Down)]);
}

#[test]
fn a_member_that_leaves_a_shared_probe_takes_its_history_along() {
    let mut w = World::new();
    let (a, b) = (target(1, 80, tcp(1_000)), target(2, 80, tcp(1_000)));
    w.set(&[a.clone(), b.clone()]);
    for _ in 0..3 {
        w.round(true);
        w.pass(1_000);
    }
    let own = Target {
        check: Some(tcp(500)),
        ..b.clone()
    };
    w.set(&[a.clone(), own.clone()]);
    assert_eq!(w.table.len(), 2);
    assert_eq!(
        (w.status(&own).state, own.slot.routing_rtt_ns()),
        (Up, Some(3_000_000))
    );
    let back = w.status(&own).since_ms;
    w.set(&[a, b.clone()]);
    assert_eq!(
        (w.table.len(), w.status(&b).since_ms, w.events().len()),
        (1, back, 2)
    );
}

#[test]
fn a_new_slot_of_a_known_member_is_filled() {
    let mut w = World::new();
    let a = target(1, 80, tcp(1_000));
    w.set(std::slice::from_ref(&a));
    w.round(false);
    let again = Target {
        slot: Arc::new(MemberSlot::new(a.member_id)),
        ..a
    };
    w.set(std::slice::from_ref(&again));
    assert_eq!((again.slot.score(), w.events()), (0.0, vec![(Unknown, Down)]));
}

#[test]
fn a_result_on_its_way_does_not_reach_a_slot_that_is_no_longer_checked() {
    let mut w = World::new();
    let a = target(1, 80, tcp(1_000));
    w.set(std::slice::from_ref(&a));
    let job = w.due().remove(0);
    w.set(&[Target {
        check: None,
        ..a.clone()
    }]);
    w.end(&job, false);
    assert_eq!((a.slot.score(), a.slot.is_known()), (1.0, false));
    assert_eq!(w.events(), []);
}

#[test]
fn a_member_that_moves_between_shared_probes_hears_only_of_the_new_one() {
    let mut w = World::new();
    let stay = [target(1, 80, tcp(1_000)), target(2, 81, tcp(1_000))];
    let mover = target(3, 80, tcp(1_000));
    w.set(&[stay[0].clone(), stay[1].clone(), mover.clone()]);
    w.round(true);
    w.pass(1_000);
    let jobs = w.due();
    assert_eq!(jobs.len(), 2);
    let moved = Target {
        address: stay[1].address,
        ..mover.clone()
    };
    w.set(&[stay[0].clone(), stay[1].clone(), moved.clone()]);
    assert_eq!(w.status(&moved).address, stay[1].address);
    w.events();
    let (old, new): (Vec<_>, Vec<_>) = jobs
        .iter()
        .partition(|job| job.record.key.address == stay[0].address);
    w.end(old[0], false);
    assert_eq!((stay[0].slot.score(), mover.slot.score()), (0.0, 1.0));
    w.end(new[0], false);
    assert_eq!(mover.slot.score(), 0.0);
    assert_eq!(w.events(), [(Up, Down), (Up, Down), (Up, Down)]);
}
