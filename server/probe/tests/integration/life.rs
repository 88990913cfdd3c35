//! Members over time: they die and return, are changed and deleted.

use crate::stub::{PATIENCE, Reply, Stub, closed_port, http, http_with, next, prober, target, tcp, until};
use gslb_engine::model::HealthCheck;
use gslb_probe::{HealthState, ProberSettings, Target};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use HealthState::{Down, Unknown, Up};

/// Interval of these tests, milliseconds.
const INTERVAL: u32 = 20;

#[tokio::test]
async fn a_member_dies_after_fall_and_returns_after_rise() {
    let stub = Stub::start(Reply::status(200)).await;
    let (prober, mut events) = prober(ProberSettings::default());
    let check = HealthCheck {
        rise: 2,
        fall: 3,
        ..http(INTERVAL)
    };
    let member = target(stub.address, check);
    assert_eq!((member.slot.score(), member.slot.is_known()), (1.0, false));
    prober.set_targets(vec![member.clone()]);

    let first = next(&mut events).await;
    assert_eq!(
        (first.member_id, first.from, first.to),
        (member.member_id, Unknown, Up)
    );
    assert!(member.slot.is_known());

    stub.set(Reply::status(503));
    let down = next(&mut events).await;
    assert_eq!((down.from, down.to), (Up, Down));
    assert_eq!(
        down.reason,
        "3 failures in a row, the last: status 503, expected 200-399"
    );
    assert!(
        down.detection_ms >= 2 * u64::from(INTERVAL),
        "three probes, two intervals: {}",
        down.detection_ms
    );
    assert_eq!(member.slot.score(), 0.0, "written before the event is sent");

    stub.set(Reply::status(200));
    let up = next(&mut events).await;
    assert_eq!(
        (up.from, up.to, up.reason.as_str()),
        (Down, Up, "2 successes in a row")
    );
    assert_eq!(member.slot.score(), 1.0);
    let status = prober.status(member.member_id).unwrap();
    assert_eq!((status.state, status.last_error), (Up, None));
    assert_eq!(status.since_ms, up.at_ms);
    prober.shutdown().await;
    assert!(events.try_recv().is_err(), "one event for each transition");
}

#[tokio::test]
async fn a_backend_that_alternates_does_not_flip() {
    let stub = Stub::start(Reply::status(200)).await;
    let (prober, mut events) = prober(ProberSettings::default());
    prober.set_targets(vec![target(
        stub.address,
        HealthCheck {
            fall: 2,
            rise: 2,
            ..http(INTERVAL)
        },
    )]);
    let stats = prober.stats();
    for turn in 0..10 {
        until("the next probe has ended", || stats.probes() > turn).await;
        stub.set(if turn % 2 == 0 {
            Reply::Reset("")
        } else {
            Reply::status(200)
        });
    }
    assert_eq!(next(&mut events).await.to, Up);
    prober.shutdown().await;
    assert!(stats.failures() > 1, "there were failures");
    assert!(events.try_recv().is_err());
}

#[tokio::test]
async fn a_deleted_member_gets_no_more_probes() {
    let stub = Stub::start(Reply::status(200)).await;
    let (prober, _events) = prober(ProberSettings::default());
    let path = |path: &'static str| target(stub.address, http_with(INTERVAL, |c| c.path = path.to_owned()));
    let (stays, goes) = (path("/stays"), path("/goes"));
    prober.set_targets(vec![stays.clone(), goes.clone()]);
    until("both are probed", || {
        stub.hits_of("/goes") >= 2 && stub.hits_of("/stays") >= 2
    })
    .await;

    prober.set_targets(vec![stays.clone()]);
    let (before, others) = (stub.hits_of("/goes"), stub.hits_of("/stays"));
    until("five intervals have passed", || {
        stub.hits_of("/stays") >= others + 6
    })
    .await;
    // One may have been on the wire.
    assert!(stub.hits_of("/goes") <= before + 1);
    assert_eq!(prober.status(goes.member_id), None);
    assert_eq!(prober.statuses().len(), 1);
}

#[tokio::test]
async fn a_changed_path_stops_the_old_one() {
    let stub = Stub::start(Reply::status(200)).await;
    let (prober, mut events) = prober(ProberSettings::default());
    let old = target(stub.address, http_with(INTERVAL, |c| c.path = "/old".to_owned()));
    prober.set_targets(vec![old.clone()]);
    until("the old path is probed", || stub.hits_of("/old") >= 2).await;

    let check = http_with(INTERVAL, |c| c.path = "/new".to_owned());
    prober.set_targets(vec![Target {
        check: Some(check),
        ..old
    }]);
    let before = stub.hits_of("/old");
    until("five intervals have passed", || stub.hits_of("/new") >= 6).await;
    assert!(stub.hits_of("/old") <= before + 1);
    assert_eq!(next(&mut events).await.to, Up);
    prober.shutdown().await;
    assert!(events.try_recv().is_err(), "the state is carried over");
}

#[tokio::test]
async fn the_rate_is_never_above_one_per_interval() {
    let stub = Stub::start(Reply::status(200)).await;
    let (prober, _events) = prober(ProberSettings::default());
    let member = target(stub.address, http(INTERVAL));
    let start = Instant::now();
    let other = target(closed_port("127.0.0.1").await, tcp(INTERVAL));
    for i in 0..40 {
        // Changes elsewhere do not restart what stays.
        let others = if i % 2 == 0 {
            vec![other.clone()]
        } else {
            Vec::new()
        };
        prober.set_targets([others, vec![member.clone()]].concat());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    until("some probes have come", || stub.hits() > 5).await;
    let (hits, elapsed) = (stub.hits(), start.elapsed());
    let most = elapsed.as_millis() / u128::from(INTERVAL) + 1;
    assert!(hits as u128 <= most, "{hits} hits in {elapsed:?}");
}

#[tokio::test]
async fn deleting_cuts_off_a_probe_on_its_way() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (prober, mut events) = prober(ProberSettings::default());
    let member = target(
        listener.local_addr().unwrap(),
        HealthCheck {
            timeout_ms: 3_600_000,
            ..http(3_600_000)
        },
    );
    prober.set_targets(vec![member.clone()]);
    let (mut stream, _) = listener.accept().await.unwrap();
    prober.set_targets(Vec::new());
    let mut request = Vec::new();
    let end = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut request)).await;
    assert!(end.is_ok(), "the connection is still open");
    let stats = prober.stats();
    until("the task is gone", || stats.in_flight() == 0).await;
    assert_eq!((member.slot.is_known(), stats.probes()), (false, 0));
    assert!(events.try_recv().is_err());
}

#[tokio::test]
async fn shutdown_waits_for_every_task() {
    let stub = Stub::start(Reply::Hang).await;
    let (prober, _events) = prober(ProberSettings::default());
    let check = |n: u32| HealthCheck {
        timeout_ms: 3_600_000 + n,
        ..http(3_600_000)
    };
    prober.set_targets((0..20).map(|n| target(stub.address, check(n))).collect());
    let stats = prober.stats();
    until("all are on their way", || stub.open.load(Ordering::SeqCst) == 20).await;
    assert_eq!(stats.in_flight(), 20);
    tokio::time::timeout(PATIENCE, prober.shutdown())
        .await
        .expect("shutdown hangs");
    assert_eq!((stats.in_flight(), stats.targets()), (0, 0));
    prober.set_targets(vec![target(stub.address, http(INTERVAL))]);
    assert!(prober.statuses().is_empty(), "after the stop nothing begins");
    prober.shutdown().await;
}

#[tokio::test]
async fn dropping_the_prober_stops_it() {
    let stub = Stub::start(Reply::Hang).await;
    let (prober, mut events) = prober(ProberSettings::default());
    prober.set_targets(vec![target(stub.address, http(INTERVAL))]);
    until("a probe is on its way", || stub.open.load(Ordering::SeqCst) == 1).await;
    drop(prober);
    until("it is cut off", || stub.open.load(Ordering::SeqCst) == 0).await;
    let closed = tokio::time::timeout(PATIENCE, events.recv())
        .await
        .expect("the tasks are still there");
    assert_eq!(closed, None);
}

#[tokio::test]
async fn no_more_than_the_limit_are_on_their_way() {
    let stub = Stub::start(Reply::Hang).await;
    let (prober, _events) = prober(ProberSettings {
        max_in_flight: 3,
        ..ProberSettings::default()
    });
    let check = |n: u32| HealthCheck {
        timeout_ms: 50 + n,
        ..http(200)
    };
    prober.set_targets((0..12).map(|n| target(stub.address, check(n))).collect());
    until("each has had its turn", || {
        prober.statuses().iter().all(|s| s.last_probe_ms.is_some())
    })
    .await;
    assert!(prober.stats().max_lag() > Duration::ZERO);
    // A connection that was cut off may be seen to end a little later than the next one begins.
    assert!(stub.most_open.load(Ordering::SeqCst) <= 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_are_all_probed_again_and_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let open = listener.local_addr().unwrap();
    let accept = tokio::spawn(async move {
        loop {
            let _ = listener.accept().await;
        }
    });
    let closed = closed_port("127.0.0.1").await;
    let (prober, mut events) = prober(ProberSettings::default());
    let targets: Vec<_> = (0..400)
        .map(|n| {
            target(
                if n % 4 == 0 { closed } else { open },
                HealthCheck {
                    timeout_ms: 10_000 + n,
                    ..tcp(100)
                },
            )
        })
        .collect();
    prober.set_targets(targets.clone());
    let mut seen = (0, 0);
    for _ in 0..400 {
        match next(&mut events).await.to {
            Up => seen.0 += 1,
            _ => seen.1 += 1,
        }
    }
    assert_eq!(seen, (300, 100));
    until("all have a round-trip time for routing", || {
        targets.iter().step_by(4).all(|t| t.slot.score() == 0.0)
            && targets
                .iter()
                .skip(1)
                .step_by(4)
                .all(|t| t.slot.routing_rtt_ns().is_some())
    })
    .await;
    prober.shutdown().await;
    assert!(events.try_recv().is_err(), "nobody has changed");
    accept.abort();
}
