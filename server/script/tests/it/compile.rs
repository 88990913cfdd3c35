//! What is no script, and where the author is told that it is not.

use crate::support::{order, workers};
use gslb_engine::script::{Place, Scripts};
use gslb_script::Workers;
use proptest::prelude::*;
use std::sync::LazyLock;

#[test]
fn errors_name_the_place_in_the_authors_text() {
    let workers = workers();
    let cases = [
        ("result = [", 1, "expected"),
        ("x = 1\nresult = [nosuch]", 2, "nosuch"),
        (
            "x = 1\nif 1 < now < 3:\n    y = unknown\nresult = []",
            3,
            "unknown",
        ),
        ("s = '''a\nb\nc'''\nresult = [wrong]", 4, "wrong"),
        ("return 5\nresult = []", 1, "return"),
        ("result = []\nbreak", 2, "break"),
        ("load('x', 'y')\nresult = []", 1, "load"),
        ("x = 1\n", 1, "result"),
        ("", 1, "result"),
        ("def f():\n    result = []\nf()", 3, "result"),
        ("result = [1 < 2 < open('x') < 3]", 1, "open"),
        ("import os\nresult = []", 1, ""),
        ("while True:\n    pass\nresult = []", 1, ""),
        ("result = []\nx = 'no end\n", 2, ""),
        ("result = []\n\tx = 1", 2, "tabs"),
        ("result = []\nif now:\n\n  # a\n\tx = 1", 5, "tabs"),
        ("result = []\nx =\t1", 2, "tabs"),
        ("result = []\nx = step__", 2, "step__"),
        ("result = [step(1)]", 1, "step"),
        ("result = []\nx = 'a' < 'b' \"c\" < 'd'", 2, "new line"),
        ("result = []\nx = 1 < 2 3 < 4", 2, "new line"),
        ("result = []\nимя = 1", 2, "`и` (u+0438) may stand"),
        ("result = []\nx\u{301} = 1", 2, "u+0301 may stand"),
        ("result = []\nx = \u{201c}a\u{201d}", 2, "u+201c may stand"),
    ];
    for (body, line, word) in cases {
        let error = workers.compile(body, Place::Trial).map(|_| ()).expect_err(body);
        assert_eq!(error.line, line, "{body:?}: {error}");
        assert!(error.message.to_lowercase().contains(word), "{body:?}: {error}");
    }
}

#[test]
fn columns_are_those_of_the_author() {
    let workers = workers();
    let column = |body: &str| {
        workers
            .compile(body, Place::Trial)
            .map(|_| ())
            .expect_err(body)
            .column
    };
    assert_eq!(column("result = [1 < now < 9, nosuch]"), 24);
    assert_eq!(column("result = [1 < len(qname) < nosuch]"), 28);
    assert_eq!(column("result = ['ä', nosuch]"), 16);
    assert_eq!(column("if now:\n    result = [nosuch]"), 15);
    assert_eq!(column("if now:\n\tresult = []"), 1);
    assert_eq!(column("result =\t[]"), 9);
}

#[test]
fn names_of_the_wrapping_stay_usable() {
    let workers = workers();
    assert_eq!(
        order(&workers, "step__ = '192.0.2.2'\nresult = [step__]"),
        Ok(vec![1])
    );
    assert_eq!(
        order(
            &workers,
            "candidates = candidates[1:]\nresult = [c['ip'] for c in candidates]"
        ),
        Ok(vec![1, 2])
    );
    let text = "text = '''\nif a:\n  b'''\nresult = ['192.0.2.2'] if text == '\\nif a:\\n  b' else []";
    assert_eq!(
        order(&workers, text),
        Ok(vec![1]),
        "lines within strings are not indented"
    );
}

#[test]
fn one_text_is_compiled_once() {
    let workers = workers();
    let body = "result = [c['ip'] for c in candidates]";
    let scripts = [(); 3].map(|()| workers.compile(body, Place::Trial).unwrap());
    assert_eq!(workers.texts(), 1);
    drop(scripts);
    assert_eq!(workers.texts(), 0);
}

static SHARED: LazyLock<Workers> = LazyLock::new(workers);

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => proptest::sample::select(vec![
            "result", "=", "[", "]", "(", ")", "{", "}", ":", ",", "\n", "\n    ", "for", "in", "if", "else", "not", "and",
            "or", "lambda", "def", "f", "x", "candidates", "now", "1", "0", "'a'", "\"", "'''", "#", "<", "<=", "==", "!=",
            "+", "-", "*", "//", "%", "<<", ".", "len", "range", "sorted", "return", "pass", "\\", "\\\n", "\t", "result = []\n",
            "c[\"ip\"]", "**", "*", "->", ";", "99999999999", "1e9", "r'", "b'", "\r\n", "ä",
        ]).prop_map(str::to_owned),
        1 => "[ -~]{0,6}",
        1 => "\\PC{0,3}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is typed, compiling ends, and the workers go on.
    #[test]
    fn no_text_stops_the_compiler(words in proptest::collection::vec(word(), 0..60), glue in "[ ]?") {
        let body = words.join(&glue);
        if let Err(error) = SHARED.compile(&body, Place::Trial) {
            let lines = u32::try_from(body.split('\n').count()).unwrap();
            prop_assert!((1..=lines).contains(&error.line), "{error} for {body:?}");
            prop_assert!(error.column >= 1);
            prop_assert!(!error.message.contains("too long") && !error.message.contains("no worker"), "{error} for {body:?}");
        }
    }
}
