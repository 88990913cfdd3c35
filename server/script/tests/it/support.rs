//! Workers for tests, and inputs for scripts.

use gslb_engine::geo::Country;
use gslb_engine::query::Family;
use gslb_engine::script::{Place, Script, ScriptCandidate, ScriptFailure, ScriptInput, Scripts};
use gslb_script::{Limits, WorkerProgram, Workers};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A clock that tests move.
#[derive(Clone, Default)]
pub struct Hand(Arc<AtomicU64>);

impl Hand {
    pub fn forward(&self, by: Duration) {
        self.0
            .fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

/// The worker program of this crate.
pub fn program() -> WorkerProgram {
    WorkerProgram {
        path: env!("CARGO_BIN_EXE_gslb-script-worker").into(),
        arguments: Vec::new(),
    }
}

/// Limits that a slow, busy machine keeps; what tests wait for ends earlier where it should.
pub fn patient() -> Limits {
    Limits {
        inline: Duration::from_secs(5),
        run: Duration::from_millis(300),
        grace: Duration::from_secs(5),
        wait: Duration::ZERO,
        queue: Duration::from_secs(20),
        compile: Duration::from_secs(5),
        compile_queue: Duration::from_secs(60),
        start: Duration::from_secs(60),
        ..Limits::default()
    }
}

pub fn workers() -> Workers {
    with_limits(patient())
}

pub fn with_limits(limits: Limits) -> Workers {
    with_clock(limits, &Hand::default())
}

pub fn with_clock(limits: Limits, hand: &Hand) -> Workers {
    let hand = hand.clone();
    Workers::with(
        program(),
        limits,
        Arc::new(move || Duration::from_millis(hand.0.load(Ordering::SeqCst))),
    )
}

/// Candidates 192.0.2.1, .2 and so on, regions as given.
pub fn candidates<'a>(regions: &[&'a str]) -> Vec<ScriptCandidate<'a>> {
    let numbered = (1_u8..).zip(regions);
    numbered
        .map(|(number, region)| ScriptCandidate {
            ip: [192, 0, 2, number].into(),
            port: 80,
            region,
            weight: 1,
            priority: u32::from(number),
            asn: 64500 + u32::from(number),
            health_score: 1.0,
            rtt_ms: None,
        })
        .collect()
}

pub fn input<'a>(candidates: &'a [ScriptCandidate<'a>]) -> ScriptInput<'a> {
    ScriptInput {
        qname: "cust-42.svc.example.com.",
        qtype: Family::V4,
        client_ip: [198, 51, 100, 7].into(),
        client_country: Country::parse("NO"),
        client_asn: 64501,
        // 2023-11-14 22:13:20 UTC
        now: 1_700_000_000,
        service: "www",
        candidates,
        arrived: None,
    }
}

pub fn run(script: &dyn Script, input: &ScriptInput<'_>) -> Result<Vec<u16>, ScriptFailure> {
    let mut order = vec![7];
    script.run(input, &mut order).map(|()| order)
}

/// Compiles and runs with three candidates of regions eu, us, eu.
pub fn order(workers: &Workers, body: &str) -> Result<Vec<u16>, ScriptFailure> {
    let candidates = candidates(&["eu", "us", "eu"]);
    run(
        &*workers.compile(body, Place::Trial).unwrap(),
        &input(&candidates),
    )
}

/// Keeps a script from being proven quick, so that it runs in a worker.
pub const NOT_QUICK: &str = "slow = \"%s\" % 1\n";

/// A body that runs for minutes in few steps, and needs no memory that would end it. Depends on the turn, or the compiler
/// would work it out beforehand.
pub fn endless() -> String {
    format!("{NOT_QUICK}x = 0\nfor i in range(100000):\n    x = max(range(20000 + i % 2))\nresult = [x]")
}

/// Limits that let an endless script run until its worker is killed.
pub fn endless_limits() -> Limits {
    Limits {
        run: Duration::from_secs(50),
        grace: Duration::from_secs(50),
        ..patient()
    }
}
