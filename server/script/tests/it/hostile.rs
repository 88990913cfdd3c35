//! What the worst scripts do: fail, each for itself.

use crate::bodies::AT_RUN_TIME;
use crate::support::{NOT_QUICK, order, patient, run, with_limits, workers};
use crate::support::{candidates, input};
use gslb_engine::script::{Place, Script, ScriptFailure, Scripts};
use gslb_script::{Limits, Workers};
use std::sync::Arc;
use std::time::Duration;

fn good(workers: &Workers) -> Arc<dyn Script> {
    let body = format!("{NOT_QUICK}result = [c[\"ip\"] for c in candidates if c[\"region\"] == \"us\"]");
    let script = workers.compile(&body, Place::Trial).unwrap();
    assert!(!script.is_quick(1), "it has to go through a worker for this test");
    script
}

#[test]
fn each_is_stopped_and_the_next_script_runs_right_after() {
    let workers = workers();
    let good = good(&workers);
    let candidates = candidates(&["eu", "us", "eu"]);
    for (name, body) in AT_RUN_TIME {
        let script = workers
            .compile(body, Place::Trial)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!script.is_quick(1), "{name} is taken for quick");
        match run(&*script, &input(&candidates)) {
            Err(ScriptFailure::Stopped(_) | ScriptFailure::Failed(_)) => {}
            other => panic!("{name}: {other:?}"),
        }
        assert_eq!(run(&*good, &input(&candidates)), Ok(vec![1]), "after {name}");
    }
}

/// Bodies that already the compiler, which folds constants, cannot stand, or must refuse.
#[test]
fn hostile_text_is_refused_or_harmless() {
    let workers = workers();
    let good = good(&workers);
    let candidates = candidates(&["eu", "us", "eu"]);
    let nested = |open: &str, close: &str, n: usize| {
        format!("x = {}1{}\nresult = []", open.repeat(n), close.repeat(n))
    };
    let bodies = [
        ("list of a range", "result = list(range(2147483647))".to_owned()),
        ("repetition", "result = ['a' * (1 << 30)]".to_owned()),
        ("repetition of a list", "result = [0] * (1 << 27)".to_owned()),
        (
            "never called",
            "def f():\n    return list(range(2147483647))\nresult = []".to_owned(),
        ),
        ("shift", "result = [str(1 << 40000)]".to_owned()),
        ("sorted", "result = sorted(range(1 << 24))".to_owned()),
        ("brackets", nested("(", ")", 1000)),
        ("lists", nested("[", "]", 3000)),
        ("dicts", nested("{1:", "}", 1500)),
        ("minus", nested("-", "", 4000)),
        ("not", nested("not ", "", 1500)),
        ("lambda", nested("lambda: ", "", 700)),
        ("sum", format!("x = 1{}\nresult = []", "+1".repeat(3900))),
        ("or", format!("x = now{}\nresult = []", " or 1".repeat(1500))),
        (
            "attributes",
            format!("x = qname{}\nresult = []", ".x".repeat(3900)),
        ),
        ("calls", format!("x = len{}\nresult = []", "()".repeat(3900))),
        ("index", format!("x = qname{}\nresult = []", "[0]".repeat(2500))),
        (
            "elif",
            format!("if now:\n  pass\n{}result = []", "elif 1:\n  1\n".repeat(600)),
        ),
        ("chains", format!("x = {}1\nresult = []", "f()<".repeat(2000))),
        (
            "chains in chains",
            format!(
                "f = len\nx = {}1{}\nresult = []",
                "(f()<f()<".repeat(49),
                ")".repeat(49)
            ),
        ),
        (
            "blocks",
            (0..110).map(|n| format!("{}if 1:\n", " ".repeat(n))).collect(),
        ),
        ("constants", format!("x = [{}]\nresult = []", "1,".repeat(4000))),
        (
            "names",
            format!(
                "{}result = []",
                (0..1000).map(|n| format!("v{n}=1\n")).collect::<String>()
            ),
        ),
    ];
    for (name, body) in &bodies {
        if let Ok(script) = workers.compile(body, Place::Trial) {
            // Compiled after all; then it has to be stopped, or succeed.
            let _ = run(&*script, &input(&candidates));
        }
        assert_eq!(run(&*good, &input(&candidates)), Ok(vec![1]), "after {name}");
    }
}

#[test]
fn too_long_a_body_is_refused() {
    let body = format!("result = []\n#{}", "x".repeat(8192));
    assert!(
        workers()
            .compile(&body, Place::Trial)
            .unwrap_err()
            .message
            .contains("8192")
    );
}

#[test]
fn a_script_that_overruns_is_told_so() {
    let limits = Limits {
        run: Duration::from_millis(20),
        ..patient()
    };
    let workers = with_limits(limits);
    let endless = "n = 0\nfor i in range(1000000000):\n    n += 1\nresult = []";
    assert!(matches!(order(&workers, endless), Err(ScriptFailure::Stopped(_))));
    let recursion = "def f(x):\n    return f(x + 1)\nresult = f(now)";
    assert!(matches!(order(&workers, recursion), Err(ScriptFailure::Stopped(why)) if why.contains("calls")));
}
