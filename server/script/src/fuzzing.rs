//! What the fuzz target does with a text (feature `fuzzing`). It stands here so that the tests can replay the checked-in
//! inputs with the ordinary compiler.

mod grammar;

use crate::lexer::{Token, tokens};
use crate::nesting::too_deep;
use crate::placed::MAX_QNAME;
use crate::program::{Checked, Program};
use crate::rewrite::{Frame, rewrite};
use crate::run::{Budget, run};
use crate::stopwatch::Stopwatch;
use crate::workers::{NO_WORKER, Workers};
use gslb_engine::geo::Country;
use gslb_engine::query::Family;
use gslb_engine::script::{
    MAX_SCRIPT_BYTES, Place, Script, ScriptCandidate, ScriptError, ScriptFailure, ScriptInput, Scripts,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;
use std::time::Duration;

/// Candidates of each run: the smallest number that the check proves scripts for.
const CANDIDATES: u16 = 8;

/// Where a text was run as a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    /// It is no script.
    NotAtAll,
    /// In a worker only.
    InWorker,
    /// On this thread as well: it is proven quick.
    Here,
}

static NOTHING: LazyLock<Result<Program, ScriptError>> =
    LazyLock::new(|| Checked::new("result = []")?.compile(true));

/// What a script that is proven quick has used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Proven {
    /// Its text.
    pub body: String,
    /// What the proof allows for.
    pub steps: u16,
    /// With so many candidates.
    pub candidates: u16,
    /// Most calls and turns of loops of any run.
    pub ticks: u64,
    /// Most bytes of values that any run made.
    pub heap: usize,
    /// Most processor time of any run, without that of making its input.
    pub time: Duration,
    /// Runs that came to their end.
    pub ended: u32,
}

/// Makes a script out of octets, and if it is proven to be quick, runs it for queries that are as bad as queries can be.
/// `None` for what is not proven.
///
/// # Panics
/// A run uses more than the proof says: the proof has a hole.
#[must_use]
pub fn proof(octets: &[u8]) -> Option<Proven> {
    let body = grammar::script(octets);
    if body.len() > MAX_SCRIPT_BYTES || too_deep(&body, &tokens(&body)).is_some() {
        return None;
    }
    let checked = Checked::new(&body).ok()?;
    let facts = checked.facts;
    if facts.quick_up_to == 0 {
        return None;
    }
    // What is wrong with it may well be found when it is compiled.
    let program = checked.compile(true).ok()?;
    let mut proven = Proven {
        body,
        steps: facts.steps,
        candidates: facts.quick_up_to,
        ..Proven::default()
    };
    let budget = Budget::proven(facts.steps, Duration::from_secs(60));
    let mut order = Vec::new();
    // What any script costs, whatever it does.
    let nothing = NOTHING.as_ref().ok()?;
    each_worst(facts.quick_up_to, |input| {
        let watch = Stopwatch::start();
        let (result, usage) = run(&program, input, budget, &mut order);
        let all = watch.at_least();
        let watch = Stopwatch::start();
        let _ = run(nothing, input, budget, &mut order);
        let time = all.saturating_sub(watch.at_least());
        assert!(
            !usage.over,
            "a hole in the proof: {usage:?} of {budget:?}\n{}",
            proven.body
        );
        proven.ticks = proven.ticks.max(usage.ticks);
        proven.heap = proven.heap.max(usage.heap);
        proven.time = proven.time.max(time);
        proven.ended += u32::from(!matches!(result, Err(ScriptFailure::Failed(_))));
    });
    Some(proven)
}

/// Queries with everything as long and as large as it can be.
fn each_worst(count: u16, mut with: impl FnMut(&ScriptInput<'_>)) {
    let dots = "e.".repeat(MAX_QNAME / 2);
    let digits = format!("{}.", "9".repeat(MAX_QNAME - 1));
    let escapes = "\\200".repeat(MAX_QNAME / 4);
    let regions = ["e".repeat(256), "\u{390}".repeat(128), "e ".repeat(128)];
    for (qname, extreme) in [(&dots, true), (&digits, true), (&escapes, false)] {
        let candidates: Vec<_> = (0..count)
            .map(|n| ScriptCandidate {
                ip: Ipv6Addr::from_bits(u128::MAX - u128::from(n)).into(),
                port: u16::MAX - n,
                region: regions.get(usize::from(n % 3)).map_or("", String::as_str),
                weight: if extreme { u32::MAX } else { u32::from(n) },
                priority: u32::MAX - u32::from(n),
                asn: u32::MAX,
                health_score: f64::from(n) / 64.0,
                rtt_ms: extreme.then_some(1e9 / 3.0),
            })
            .collect();
        with(&ScriptInput {
            qname,
            qtype: Family::V6,
            client_ip: Ipv6Addr::from_bits(u128::MAX).into(),
            client_country: Country::parse("DE"),
            client_asn: u32::MAX,
            now: if extreme { u64::MAX } else { 0 },
            service: regions.first().map_or("", String::as_str),
            candidates: &candidates,
            arrived: None,
        });
    }
}

/// Takes a text apart, bounds it, rewrites it, has it compiled and run in a worker. What is then proven quick is compiled
/// and run on this thread too, as the daemon does it; what is not may do anything there.
///
/// # Panics
/// Anything panics; a token stands outside of the text or in another one; a place of the made text comes from outside of the
/// author's; a script that is proven quick uses up its steps; an order has repeats, strangers or nobody; no worker is left
/// for the script; here it orders otherwise than there.
pub fn script(data: &[u8], workers: &Workers) -> Ran {
    let text = String::from_utf8_lossy(data);
    let body = text.as_ref();
    let tokens = tokens(body);
    in_order(body, &tokens);
    if body.len() > MAX_SCRIPT_BYTES || too_deep(body, &tokens).is_some() {
        assert!(
            workers.compile(body, Place::Trial).is_err(),
            "too long or too deep, but compiles"
        );
        return Ran::NotAtAll;
    }
    let frame = Frame {
        head: "def f():\n",
        indent: " ",
        tail: "\n return result\n",
    };
    for frame in [Frame::NONE, frame] {
        match rewrite(body, &tokens, frame) {
            Ok(made) => {
                for at in 0..=made.text().len() {
                    assert!(made.origin(at) <= body.len(), "byte {at} comes from nowhere");
                }
            }
            Err(at) => {
                assert!(at <= body.len(), "a place outside of the text");
                return Ran::NotAtAll;
            }
        }
    }
    let script = match workers.compile(body, Place::Trial) {
        Ok(script) => script,
        Err(error) => {
            // The whole text: errors quote what the author wrote.
            assert_ne!(error.message, NO_WORKER);
            return Ran::NotAtAll;
        }
    };
    if script.is_quick(CANDIDATES.into()) {
        here(body, workers);
        Ran::Here
    } else {
        there(&*script);
        Ran::InWorker
    }
}

fn in_order(body: &str, tokens: &[Token]) {
    let mut end = 0;
    for token in tokens {
        assert!(token.span.start >= end, "a token in another one");
        assert!(token.span.end > token.span.start, "an empty token");
        assert!(body.get(token.span.clone()).is_some(), "a token in half a letter");
        end = token.span.end;
    }
}

/// Runs a quick script on this thread, and once more in a worker.
fn here(body: &str, workers: &Workers) {
    let program = match Checked::new(body).and_then(|checked| checked.compile(true)) {
        Ok(program) => program,
        Err(error) => unreachable!("{error}, but not in a worker"),
    };
    // The check does not know how to format: with this line at its end the same script is taken for slow.
    let slow = workers.compile(&format!("{body}\nslow__ = \"%s\" % 1"), Place::Trial);
    let slow = slow.ok().filter(|script| !script.is_quick(CANDIDATES.into()));
    let mut order = Vec::new();
    each_input(|input| {
        let budget = Budget::proven(program.facts.steps, Duration::from_secs(1));
        let (result, usage) = run(&program, input, budget, &mut order);
        assert!(
            !usage.over,
            "proven quick, but used more: {usage:?} of {budget:?}"
        );
        match result {
            Ok(()) => check(&order),
            Err(_) => order.clear(),
        }
        let mut other = Vec::new();
        match slow.as_ref().map(|script| script.run(input, &mut other)) {
            Some(Ok(())) => assert_eq!(order, other, "here and there"),
            Some(Err(ScriptFailure::Failed(why))) => assert!(order.is_empty(), "{why}, but not here"),
            // Had to give way to something else on the machine.
            Some(Err(_)) | None => {}
        }
    });
}

/// Runs a script in a worker, whatever becomes of it.
fn there(script: &dyn Script) {
    let mut order = Vec::new();
    each_input(|input| {
        if script.run(input, &mut order).is_ok() {
            check(&order);
        }
    });
}

fn each_input(mut with: impl FnMut(&ScriptInput<'_>)) {
    let candidates: Vec<ScriptCandidate<'_>> = (0..CANDIDATES).map(candidate).collect();
    for (qtype, client_country) in [(Family::V4, Country::parse("DE")), (Family::V6, None)] {
        with(&ScriptInput {
            qname: "www-7.example.com.",
            qtype,
            client_ip: Ipv4Addr::new(198, 51, 100, 9).into(),
            client_country,
            client_asn: 64_500,
            now: 1_700_000_000,
            service: "web",
            candidates: &candidates,
            arrived: None,
        });
    }
}

fn check(order: &[u16]) {
    assert!(!order.is_empty(), "nobody");
    assert!(order.iter().all(|at| *at < CANDIDATES), "a stranger: {order:?}");
    let mut unique = order.to_vec();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), order.len(), "a repeat: {order:?}");
}

fn candidate(n: u16) -> ScriptCandidate<'static> {
    let ip: IpAddr = if n % 4 == 3 {
        Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, n).into()
    } else {
        Ipv4Addr::from_bits(0xc000_0200 | u32::from(n)).into()
    };
    ScriptCandidate {
        ip,
        port: 443,
        region: if n.is_multiple_of(2) { "eu" } else { "DE" },
        weight: u32::from(n) * 3,
        priority: u32::from(n % 3),
        asn: 64_500 + u32::from(n % 2),
        health_score: 1.0 - f64::from(n) / 16.0,
        rtt_ms: (!n.is_multiple_of(3)).then(|| f64::from(n) * 7.5),
    }
}
