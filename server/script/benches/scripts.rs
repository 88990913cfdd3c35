//! What a script step costs, on the caller's thread (at most 5 µs for 8 candidates, is the aim) and by way of a worker (100 µs).

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use gslb_engine::geo::Country;
use gslb_engine::query::Family;
use gslb_engine::script::{Place, ScriptCandidate, ScriptInput, Scripts};
use gslb_script::{Limits, WorkerProgram, Workers};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

const SCRIPTS: [(&str, &str); 4] = [
    (
        "office hours",
        "hour = (now // 3600) % 24\nif 8 <= hour < 18:\n    result = [c[\"ip\"] for c in candidates if c[\"region\"] == \"eu\"]\nelse:\n    result = [c[\"ip\"] for c in candidates]",
    ),
    (
        "label",
        "n = int(qname.split(\".\")[0].split(\"-\")[1])\nwanted = \"eu\" if n % 2 == 0 else \"us\"\nresult = [c[\"ip\"] for c in candidates if c[\"region\"] == wanted]",
    ),
    (
        "nearest",
        "alive = [c for c in candidates if c[\"health_score\"] > 0.5]\nresult = [c[\"ip\"] for c in sorted(alive, key = lambda c: c[\"rtt_ms\"])]",
    ),
    (
        "loop",
        "result = []\nfor c in candidates:\n    if c[\"weight\"] > 0:\n        result.append(c[\"ip\"])",
    ),
];

fn scripts(criterion: &mut Criterion) {
    let program = WorkerProgram {
        path: env!("CARGO_BIN_EXE_gslb-script-worker").into(),
        arguments: Vec::new(),
    };
    // Patient, so that the way is measured and not what the machine does besides.
    let limits = Limits {
        run: Duration::from_secs(1),
        grace: Duration::from_secs(1),
        wait: Duration::ZERO,
        queue: Duration::from_secs(1),
        compile_queue: Duration::from_secs(30),
        ..Limits::default()
    };
    let workers = Workers::with(program, limits, Arc::new(|| Duration::ZERO));
    for (name, body) in SCRIPTS {
        let mut group = criterion.benchmark_group(name);
        for count in [8_u8, 64] {
            let candidates: Vec<_> = (0..count)
                .map(|n| ScriptCandidate {
                    ip: [192, 0, 2, n].into(),
                    port: 443,
                    region: if n % 2 == 0 { "eu" } else { "us" },
                    weight: 1,
                    priority: 0,
                    asn: 64500,
                    health_score: 1.0,
                    rtt_ms: Some(f64::from(n.reverse_bits())),
                })
                .collect();
            let input = ScriptInput {
                qname: "cust-42.svc.example.com.",
                qtype: Family::V4,
                client_ip: [198, 51, 100, 7].into(),
                client_country: Country::parse("NO"),
                client_asn: 64501,
                now: 1_700_000_000,
                service: "www",
                candidates: &candidates,
                arrived: None,
            };
            let inline = workers.compile(body, Place::Trial).expect("the script compiles");
            assert!(inline.is_quick(candidates.len()), "{name} is not proven quick");
            // Formatting is not among the things that the check knows.
            let isolated = workers
                .compile(&format!("x = \"%s\" % now\n{body}"), Place::Trial)
                .expect("the script compiles");
            assert!(!isolated.is_quick(1));
            let mut order = Vec::new();
            for (way, script) in [("inline", &inline), ("isolated", &isolated)] {
                group.bench_function(BenchmarkId::new(way, count), |bencher| {
                    bencher.iter(|| script.run(black_box(&input), &mut order).expect("it runs"));
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, scripts);
criterion_main!(benches);
