//! Chained comparisons mean what they mean in Python.
//!
//! Random expressions are evaluated by `python3` and by a script; their values have to be equal, and so has the order in
//! which operands were evaluated, each at most once. `chains.table` holds what Python said about some of them, so that the
//! test does not need Python; where there is one, it is asked about new ones, too.

use crate::support::{candidates, input, run, workers};
use gslb_engine::script::{Place, ScriptFailure, Scripts};
use gslb_script::Workers;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::io::Write;
use std::process::{Command, Stdio};

/// Expressions of whole numbers.
fn number() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0..5_i32).prop_map(|n| n.to_string()),
        proptest::sample::select(vec!["a", "b", "c"]).prop_map(str::to_owned),
        (0..5_i32).prop_map(|n| format!("t({n})")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} + {b}")),
            inner.clone().prop_map(|a| format!("-{a}")),
            inner.clone().prop_map(|a| format!("t({a})")),
            inner.clone().prop_map(|a| format!("[{a}, 1][0]")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("({a} if {b} < {c} < 3 else {b})")),
        ]
    })
}

/// Expressions of truth values.
fn truth() -> impl Strategy<Value = String> {
    let operator = proptest::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
    let links = proptest::collection::vec((operator, number()), 1..5);
    let chain = (number(), links).prop_map(|(first, links)| {
        links.into_iter().fold(first, |text, (operator, operand)| {
            format!("{text} {operator} {operand}")
        })
    });
    let member = (number(), number(), number()).prop_map(|(a, b, c)| format!("{a} < {b} in [{c}, a, t(1)]"));
    let leaf = prop_oneof![4 => chain, 1 => member];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} and {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} or {b}")),
            inner.clone().prop_map(|a| format!("not {a}")),
            inner.clone().prop_map(|a| format!("({a})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            inner.clone().prop_map(|a| format!("(lambda a, b: {a})(b, c)")),
            inner
                .clone()
                .prop_map(|a| format!("any([{a} for a in [0, 1, 2]])")),
            inner.prop_map(|a| format!("len([c for c in [1, 2, 3] if {a}]) == 2")),
        ]
    })
}

fn expressions(count: usize, seed: u8) -> Vec<String> {
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let mut found = Vec::new();
    while found.len() < count {
        let text = truth().new_tree(&mut runner).unwrap().current();
        if text.len() < 400 {
            found.push(text);
        }
    }
    found
}

/// What both languages run before: `t` notes that it was evaluated, and hands its operand on.
const BEFORE: &str = "a = 1\nb = 2\nc = 3\nnotes = []\ndef t(x):\n    notes.append(x)\n    return x\n";

/// Value and notes, as Python prints them.
fn by_script(workers: &Workers, expression: &str) -> String {
    let body = format!("{BEFORE}value = ({expression})\nresult = fail(value, notes)");
    let script = workers
        .compile(&body, Place::Trial)
        .unwrap_or_else(|error| panic!("{expression}: {error}"));
    let candidates = candidates(&["eu"]);
    match run(&*script, &input(&candidates)) {
        Err(ScriptFailure::Failed(text)) => text
            .rsplit_once("fail: ")
            .unwrap_or_else(|| panic!("{expression}: {text}"))
            .1
            .to_owned(),
        other => panic!("{expression}: {other:?}"),
    }
}

/// The same of many expressions; none where there is no Python.
fn by_python(expressions: &[String]) -> Option<Vec<String>> {
    let mut program = String::new();
    for expression in expressions {
        program.push_str(&format!("{BEFORE}value = ({expression})\nprint(value, notes)\n"));
    }
    let mut python = Command::new("python3")
        .args(["-W", "ignore", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    python.stdin.take()?.write_all(program.as_bytes()).ok()?;
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect(),
    )
}

const TABLE: &str = include_str!("chains.table");

#[test]
fn the_table_of_pythons_answers() {
    let workers = workers();
    let mut looked_at = 0;
    for line in TABLE.lines() {
        let (expression, answer) = line.split_once('\t').unwrap();
        assert_eq!(by_script(&workers, expression), answer, "{expression}");
        looked_at += 1;
    }
    assert!(looked_at >= 300);
}

#[test]
fn python_itself_agrees() {
    let expressions = expressions(200, std::process::id().to_le_bytes()[0]);
    let Some(answers) = by_python(&expressions) else {
        eprintln!("no python3 here: only the table was looked at");
        return;
    };
    let workers = workers();
    for (expression, answer) in expressions.iter().zip(answers) {
        assert_eq!(by_script(&workers, expression), answer, "{expression}");
    }
}

#[test]
#[ignore = "writes chains.table anew, by asking python3"]
fn write_the_table() {
    let expressions = expressions(400, 1);
    let answers = by_python(&expressions).expect("python3");
    let lines: String = expressions
        .iter()
        .zip(answers)
        .map(|(expression, answer)| format!("{expression}\t{answer}\n"))
        .collect();
    std::fs::write(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/chains.table"),
        lines,
    )
    .unwrap();
}
