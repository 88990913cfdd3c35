//! Answers a fixed number of messages, packet in and packet out and a batch at a time, for a tool that counts instructions: everything is
//! seeded, so that two runs of one binary execute the same ones.
//!
//! Prints a line a case: number of messages, and what they are. Around each case `measured` is called once, for the
//! tool to begin and to end at (`cargo xtask instructions`).

use gslb_dns::offline::Answerer;
use gslb_engine::environment::Environment;
use gslb_engine::model::{MemberDraft, Tier};
use gslb_engine::testing::{Site, World, entropy, member, wire};
use std::hint::black_box;
use std::sync::Arc;

/// Messages per case.
const MESSAGES: u64 = 2000;
const SERVICES: u64 = 1000;
const A: u16 = 1;
const AAAA: u16 = 28;
const TXT: u16 = 16;
const SUBNET: u16 = 8;
const COOKIE: u16 = 10;

/// Runs one case. The name is what the tool looks for.
#[inline(never)]
fn measured(case: &mut dyn FnMut(u64)) {
    (0..MESSAGES / Answerer::BATCH as u64).for_each(case);
}

fn name(n: u64) -> String {
    format!("s{:03}.example.com.", n % SERVICES)
}

/// A service of 8 members for each name, routed as most are.
fn answerer() -> Answerer {
    let members = (0..8_i64).map(|n| MemberDraft {
        weight: Some(n + 1),
        ..member(&format!("192.0.2.{}", n + 1), ["DE", "US"][n as usize % 2])
    });
    let mut site = Site::new()
        .zone_named("example.com.")
        .pool("web", 0, members.collect());
    for n in 0..SERVICES {
        site = site.chain(&name(n), "web", &["geo-ip", "weighted-round-robin"]);
    }
    let environment = Environment {
        geo: Arc::new(World::new()),
        tier: Tier::Enterprise,
        ..Environment::default()
    };
    let (snapshot, slots) = site.compile(&environment).expect("the site compiles");
    // What members are measured by lives as long as this program.
    std::mem::forget(slots);
    Answerer::new(snapshot)
}

/// A query, with an OPT record if there are options to send.
fn query(name: &str, qtype: u16, options: Option<&[(u16, Vec<u8>)]>) -> Vec<u8> {
    let mut message = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, u8::from(options.is_some())];
    message.extend(wire(name));
    message.extend(qtype.to_be_bytes());
    message.extend([0, 1]);
    if let Some(options) = options {
        let mut data = Vec::new();
        for (code, octets) in options {
            data.extend(code.to_be_bytes());
            data.extend((octets.len() as u16).to_be_bytes());
            data.extend(octets);
        }
        message.extend([0, 0, 41, 4, 208, 0, 0, 0, 0]);
        message.extend((data.len() as u16).to_be_bytes());
        message.extend(data);
    }
    message
}

fn main() {
    let subnet = |n: u64| {
        let [a, b, c, _] = (entropy(n) as u32 % 0xe000_0000).to_be_bytes();
        (SUBNET, vec![0, 1, 24, 0, a, b, c])
    };
    let cookie = |n: u64| (COOKIE, entropy(!n).to_be_bytes().to_vec());
    type Make<'m> = &'m dyn Fn(u64) -> Vec<u8>;
    let cases: [(&str, Make<'_>); 7] = [
        ("A", &|n| query(&name(n * 389), A, None)),
        ("AAAA, no such family", &|n| query(&name(n * 389), AAAA, None)),
        ("A, EDNS", &|n| query(&name(n * 389), A, Some(&[]))),
        ("A, client subnet", &|n| {
            query(&name(n * 389), A, Some(&[subnet(n)]))
        }),
        ("A, client cookie", &|n| {
            query(&name(n * 389), A, Some(&[cookie(n)]))
        }),
        ("TXT, no data", &|n| query(&name(n * 389), TXT, None)),
        ("A, no such name", &|n| {
            query(&format!("x{n:04}.example.com."), A, Some(&[]))
        }),
    ];
    let mut answerer = answerer();
    for (what, make) in cases {
        let messages: Vec<_> = (0..MESSAGES).map(make).collect();
        let mut case = |n: u64| {
            let begin = n as usize * Answerer::BATCH;
            let batch = &messages[begin..begin + Answerer::BATCH];
            black_box(answerer.answer(black_box(batch)));
        };
        // Once outside, so that nothing happens for the first time inside.
        case(0);
        measured(&mut case);
        println!("{MESSAGES} wire: {what}");
    }
}
