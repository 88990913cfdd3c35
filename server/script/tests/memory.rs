//! What all workers together hold of the machine's memory, while scripts do their worst. A program of its own, so that
//! every process below it is one of these workers.

#[path = "it/bodies.rs"]
mod bodies;

use bodies::AT_RUN_TIME;
use gslb_engine::query::Family;
use gslb_engine::script::{Place, ScriptCandidate, ScriptInput, Scripts};
use gslb_script::{Limits, WorkerProgram, Workers};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// All workers together, KiB.
const MOST: u64 = 64 << 10;
/// Processes there are at most: two run scripts, one compiles, one is a spare. One that has been killed is gone before the
/// next one is started.
const WORKERS: usize = 4;
/// Nearly all the values that a script may have, after which its worker goes on to live.
const FILLED: &str = "x = []\nfor i in range(900):\n    x.append(str(i) * 1000 + \"%s\" % i)\nresult = [now]";
/// What the compiler already, which folds constants, wants all it can get for.
const AT_COMPILE_TIME: [&str; 3] = [
    "result = ['a' * (1 << 30)]",
    "result = [0] * (1 << 27)",
    "result = sorted(range(1 << 24))",
];

/// Own memory of each process that this one has started, KiB: what it has written to, its share of libraries and data
/// included, but not the text of the program, which is in memory once for all of them and the daemon.
fn held() -> Vec<u64> {
    let us = format!("PPid:\t{}", std::process::id());
    let statuses = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("status")).ok());
    let children = statuses.filter(|status| status.lines().any(|line| line == us));
    let own = children.filter_map(|status| {
        let line = status
            .lines()
            .find(|line| line.starts_with("RssAnon:"))?
            .to_owned();
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    own.collect()
}

fn run_once(script: &dyn gslb_engine::script::Script) {
    let candidate = |n: u8| ScriptCandidate {
        ip: [192, 0, 2, n].into(),
        port: 80,
        region: "eu",
        weight: 1,
        priority: 0,
        asn: 0,
        health_score: 1.0,
        rtt_ms: None,
    };
    let candidates = [candidate(1), candidate(2)];
    let input = ScriptInput {
        qname: "www.example.com.",
        qtype: Family::V4,
        client_ip: [198, 51, 100, 7].into(),
        client_country: None,
        client_asn: 0,
        now: 1_700_000_000,
        service: "www",
        candidates: &candidates,
        arrived: None,
    };
    script.run(&input, &mut Vec::new()).unwrap_err();
}

#[test]
fn workers_stay_within_their_memory() {
    let program = WorkerProgram {
        path: env!("CARGO_BIN_EXE_gslb-script-worker").into(),
        arguments: Vec::new(),
    };
    // Time enough to eat all there is.
    let limits = Limits {
        run: Duration::from_millis(50),
        grace: Duration::from_secs(2),
        wait: Duration::ZERO,
        queue: Duration::from_secs(60),
        compile: Duration::from_secs(5),
        compile_queue: Duration::from_secs(60),
        start: Duration::from_secs(60),
        ..Limits::default()
    };
    let workers = Workers::with(program, limits, Arc::new(|| Duration::ZERO));
    let bodies = AT_RUN_TIME.iter().flat_map(|(_, body)| [FILLED, body]);
    let scripts: Vec<_> = bodies
        .map(|body| workers.compile(body, Place::Trial).unwrap())
        .collect();
    let done = AtomicBool::new(false);
    let peak = std::thread::scope(|scope| {
        let sampling = scope.spawn(|| {
            let mut peak = Vec::new();
            while !done.load(Ordering::Relaxed) {
                let now = held();
                assert!(now.len() <= WORKERS, "{} processes", now.len());
                if now.iter().sum::<u64>() > peak.iter().sum() {
                    peak = now;
                }
            }
            peak
        });
        // As many as there are places, and the compiler all the while.
        let compiling = scope.spawn(|| {
            for body in AT_COMPILE_TIME.iter().cycle() {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let _ = workers.compile(body, Place::Trial);
            }
        });
        let half = scripts.len() / 2;
        let running = [&scripts[..half], &scripts[half..]].map(|scripts| {
            scope.spawn(move || {
                scripts.iter().for_each(|script| run_once(&**script));
            })
        });
        running.into_iter().for_each(|thread| thread.join().unwrap());
        done.store(true, Ordering::Relaxed);
        compiling.join().unwrap();
        sampling.join().unwrap()
    });
    let all: u64 = peak.iter().sum();
    println!("{all} KiB at most: {peak:?}");
    assert!(all > MOST / 16 && all <= MOST, "{all} KiB: {peak:?}");
}
