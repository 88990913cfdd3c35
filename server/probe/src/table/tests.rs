//! The set of probes over made-up time: who starts when, what survives a change, who shares.

use super::*;
use crate::error::ProbeError;
use crate::status::HealthEvent;
use gslb_engine::model::{CheckKind, HealthCheck, HttpCheck, PoolId};
use gslb_engine::slots::MemberSlot;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use uuid::Uuid;

mod changes;
mod sequences;

/// A table with its own clock.
struct World {
    table: Table,
    outlet: Outlet,
    events: UnboundedReceiver<HealthEvent>,
    start: Instant,
    now: Instant,
}

impl World {
    fn new() -> Self {
        let (sender, events) = unbounded_channel();
        let outlet = Outlet {
            rtt_threshold_ns: AtomicU64::new(0),
            events: sender,
        };
        let start = Instant::now();
        Self {
            table: Table::default(),
            outlet,
            events,
            start,
            now: start,
        }
    }

    fn moment(&self) -> Moment {
        let ms = u64::try_from((self.now - self.start).as_millis()).unwrap();
        Moment {
            instant: self.now,
            unix_ms: 1_000_000 + ms,
        }
    }

    fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    fn set(&mut self, targets: &[Target]) {
        let aborts = self
            .table
            .replace(targets.to_vec().into(), self.moment(), || 0.5, &self.outlet);
        assert!(aborts.is_empty(), "no test here starts tasks");
    }

    /// Starts what is due.
    fn due(&mut self) -> Vec<Job> {
        self.table.take_due(self.now, 100)
    }

    /// Ends a probe.
    fn end(&mut self, job: &Job, ok: bool) {
        let result = if ok {
            Ok(Duration::from_millis(3))
        } else {
            Err(ProbeError::Response("bad".to_owned()))
        };
        job.record.finish(&result, self.now, self.moment(), &self.outlet);
        self.table.ended(job.id, self.now, 100);
    }

    /// Starts what is due and ends all of it.
    fn round(&mut self, ok: bool) -> usize {
        let jobs = self.due();
        for job in &jobs {
            self.end(job, ok);
        }
        jobs.len()
    }

    fn events(&mut self) -> Vec<(HealthState, HealthState)> {
        std::iter::from_fn(|| self.events.try_recv().ok())
            .map(|e| (e.from, e.to))
            .collect()
    }

    fn status(&self, target: &Target) -> MemberStatus {
        self.table
            .record(target.member_id)
            .unwrap()
            .status(target.member_id)
            .unwrap()
    }
}

fn tcp(interval_ms: u32) -> HealthCheck {
    HealthCheck {
        kind: CheckKind::Tcp,
        port: None,
        interval_ms,
        timeout_ms: interval_ms,
        rise: 1,
        fall: 1,
        score_window: 0,
    }
}

fn http(path: &str) -> HealthCheck {
    let http = HttpCheck {
        path: path.to_owned(),
        host: None,
        method: "GET".to_owned(),
        headers: Vec::new(),
        expected_status: Vec::new(),
        contains: None,
        tls: false,
        insecure_skip_verify: false,
    };
    HealthCheck {
        kind: CheckKind::Http(http),
        ..tcp(1_000)
    }
}

fn target(member: u128, port: u16, check: HealthCheck) -> Target {
    let member_id = MemberId(Uuid::from_u128(member));
    Target {
        member_id,
        pool_id: PoolId(Uuid::from_u128(1)),
        address: SocketAddr::from(([192, 0, 2, 1], port)),
        check: Some(check),
        slot: Arc::new(MemberSlot::new(member_id)),
        last_known: None,
    }
}

use HealthState::{Down, Unknown, Up};

#[test]
fn few_start_at_once() {
    let mut w = World::new();
    let targets: Vec<_> = (0..32)
        .map(|i| target(i.into(), 1_000 + i, tcp(10_000)))
        .collect();
    w.set(&targets);
    assert_eq!(w.due().len(), 32);
}

#[test]
fn many_are_spread_over_at_most_one_interval() {
    for (interval, window) in [(100, 100), (10_000, 1_000)] {
        let mut w = World::new();
        let targets: Vec<_> = (0..1_000)
            .map(|i| target(i.into(), 1_000 + i, tcp(interval)))
            .collect();
        let mut i = 0_u32;
        let chance = || {
            i += 1;
            f64::from(i) / 1_000.0
        };
        w.table.replace(targets.into(), w.moment(), chance, &w.outlet);
        let dues: Vec<_> = w.table.queue.iter().map(|(due, _)| *due - w.start).collect();
        assert_eq!(dues.len(), 1_000);
        assert!(dues[0] < Duration::from_millis(2) && dues[999] <= Duration::from_millis(window));
        assert!(
            dues[499] <= Duration::from_millis(window / 2 + 1),
            "evenly, not all at the end"
        );
    }
}

#[test]
fn from_start_to_start_is_one_interval_and_late_ones_are_not_caught_up() {
    let mut w = World::new();
    w.set(&[target(1, 80, tcp(1_000))]);
    let job = w.due().remove(0);
    w.pass(300);
    w.end(&job, true);
    w.pass(699);
    assert_eq!(w.round(true), 0);
    w.pass(1);
    assert_eq!(w.round(true), 1);
    w.pass(5_000);
    assert_eq!(w.round(true), 1);
    assert_eq!(w.round(true), 0);
    w.pass(999);
    assert_eq!(w.round(true), 0);
}

#[test]
fn a_probe_on_its_way_is_not_started_again() {
    let mut w = World::new();
    w.set(&[target(1, 80, tcp(100))]);
    let job = w.due().remove(0);
    w.pass(1_000);
    assert!(w.due().is_empty());
    w.end(&job, true);
    assert_eq!(w.due().len(), 1, "at once, since it is overdue");
}

#[test]
fn no_more_than_the_limit_are_on_their_way() {
    let mut w = World::new();
    let targets: Vec<_> = (0..5).map(|i| target(i.into(), 80 + i, tcp(1_000))).collect();
    w.set(&targets);
    let first = w.table.take_due(w.now, 3);
    assert_eq!(first.len(), 3);
    assert_eq!(w.table.wake_at, None, "the end of a probe is what to wait for");
    assert!(w.table.take_due(w.now, 3).is_empty());
    assert!(w.table.ended(first[0].id, w.now, 3), "the end makes room");
    assert_eq!(w.table.take_due(w.now, 3).len(), 1);
}

#[test]
fn an_undecided_member_is_unknown() {
    let mut w = World::new();
    let a = target(
        1,
        80,
        HealthCheck {
            fall: 2,
            ..tcp(1_000)
        },
    );
    w.set(std::slice::from_ref(&a));
    w.round(false);
    assert_eq!(
        (w.status(&a).state, a.slot.score(), a.slot.is_known()),
        (Unknown, 1.0, false)
    );
    assert_eq!(w.status(&a).last_error.as_deref(), Some("bad"));
    w.pass(1_000);
    let jobs = w.due();
    w.pass(50);
    w.end(&jobs[0], false);
    let event = w.events.try_recv().unwrap();
    assert_eq!(
        (event.to, event.reason.as_str()),
        (Down, "2 failures in a row, the last: bad")
    );
    assert_eq!((event.at_ms, event.detection_ms), (1_001_050, 1_050));
}

#[test]
fn a_shortage_on_this_machine_changes_nothing() {
    let mut w = World::new();
    let a = target(1, 80, tcp(1_000));
    w.set(std::slice::from_ref(&a));
    let job = w.due().remove(0);
    let source = std::io::Error::from_raw_os_error(24);
    let result = Err(ProbeError::Connection {
        phase: crate::error::Phase::Connect,
        source,
    });
    job.record.finish(&result, w.now, w.moment(), &w.outlet);
    let status = w.status(&a);
    assert_eq!(
        (status.state, status.recent, a.slot.is_known()),
        (Unknown, vec![], false)
    );
    assert!(status.last_error.is_some());
}

#[test]
fn the_last_sixty_results_are_kept() {
    let mut w = World::new();
    let a = target(1, 80, tcp(1_000));
    w.set(std::slice::from_ref(&a));
    for i in 0..65 {
        w.round(i % 2 == 0);
        w.pass(1_000);
    }
    let recent = w.status(&a).recent;
    assert_eq!(recent.len(), 60);
    assert_eq!((recent[0].at_ms, recent[0].rtt_ns), (1_005_000, None));
    assert_eq!(
        (recent[59].at_ms, recent[59].rtt_ns),
        (1_064_000, Some(3_000_000))
    );
}
