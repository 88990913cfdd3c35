//! What all workers together hold of the machine's memory, while scripts do their worst. A program of its own, so that
//! every process below it is one of these workers.

use gslb_engine::query::Family;
use gslb_engine::script::{ScriptCandidate, ScriptInput, Scripts};
use gslb_script::{Limits, WorkerProgram, Workers};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// All workers together, KiB.
const MOST: u64 = 64 << 10;

/// Each wants as much as it can get, in another way.
const HUNGRY: [&str; 6] = [
    "x = [now]\nfor i in range(60):\n    x = x + x\nresult = x",
    "x = qname\nfor i in range(60):\n    x = x + x\nresult = [x]",
    "d = {}\nfor i in range(1000000000):\n    d[i] = str(i) * 100\nresult = []",
    "x = []\nfor i in range(1000000000):\n    x.append(str(i) * 1000)\nresult = x",
    "n = 1 << (now % 2 + 28)\nresult = ['a' * n]",
    "x = [now]\nfor i in range(400000):\n    x = [x]\nresult = [str(x)]",
];

/// Resident memory of the processes that this one has started, KiB.
fn held() -> u64 {
    let us = format!("PPid:\t{}", std::process::id());
    let statuses = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("status")).ok());
    let children = statuses.filter(|status| status.lines().any(|line| line == us));
    let resident = children.filter_map(|status| {
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?.to_owned();
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    resident.sum()
}

#[test]
fn workers_stay_within_their_memory() {
    let program = WorkerProgram {
        path: env!("CARGO_BIN_EXE_gslb-script-worker").into(),
        arguments: Vec::new(),
    };
    // Time enough to eat all there is.
    let limits = Limits {
        run: Duration::from_millis(200),
        grace: Duration::from_secs(2),
        queue: Duration::from_secs(20),
        compile: Duration::from_secs(5),
        compile_queue: Duration::from_secs(60),
        start: Duration::from_secs(60),
        ..Limits::default()
    };
    let workers = Workers::with(program, limits, Arc::new(|| Duration::ZERO));
    let scripts: Vec<_> = HUNGRY.iter().map(|body| workers.compile(body).unwrap()).collect();
    let (done, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                peak.fetch_max(held(), Ordering::Relaxed);
            }
        });
        let running: Vec<_> = scripts
            .iter()
            .map(|script| {
                scope.spawn(move || {
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
                    };
                    for _ in 0..5 {
                        script.run(&input, &mut Vec::new()).unwrap_err();
                    }
                })
            })
            .collect();
        running.into_iter().for_each(|thread| thread.join().unwrap());
        done.store(true, Ordering::Relaxed);
    });
    let peak = peak.into_inner();
    println!("{peak} KiB at most");
    assert!(peak > 0 && peak <= MOST, "{peak} KiB");
}
