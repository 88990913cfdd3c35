//! What the fuzz target does with a text (feature `fuzzing`). It stands here so that the tests can replay the checked-in
//! inputs with the ordinary compiler.

use crate::lexer::{Token, tokens};
use crate::nesting::too_deep;
use crate::program::Program;
use crate::rewrite::{Frame, rewrite};
use crate::run::{Budget, run};
use crate::workers::{NO_WORKER, Workers};
use gslb_engine::geo::Country;
use gslb_engine::query::Family;
use gslb_engine::script::{MAX_SCRIPT_BYTES, Script, ScriptCandidate, ScriptFailure, ScriptInput, Scripts};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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
            workers.compile(body).is_err(),
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
    let script = match workers.compile(body) {
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
    let program = match Program::compile(body) {
        Ok(program) => program,
        Err(error) => unreachable!("{error}, but not in a worker"),
    };
    // The check does not know how to format: with this line at its end the same script is taken for slow.
    let slow = workers.compile(&format!("{body}\nslow__ = \"%s\" % 1"));
    let slow = slow.ok().filter(|script| !script.is_quick(CANDIDATES.into()));
    let mut order = Vec::new();
    each_input(|input| {
        match run(&program, input, Budget::QUICK, &mut order) {
            Ok(()) => check(&order),
            Err(ScriptFailure::Stopped(why)) => {
                assert!(!why.ends_with("steps"), "{why}, but is proven quick");
            }
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
