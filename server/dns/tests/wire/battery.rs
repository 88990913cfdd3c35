//! What holds for every reply, asked of every kind of name with every kind of query.

use crate::support::Server;
use crate::support::ask::{A, AAAA, ANY, AXFR, Ask, ECS, MX, NS, NSID, SOA, TXT};
use gslb_engine::model::Tier;

const NAMES: [&str; 27] = [
    "www.gslb.test.",
    "v4.gslb.test.",
    "x.wild.gslb.test.",
    "host.wild.gslb.test.",
    "a.b.c.gslb.test.",
    "c.gslb.test.",
    "down.gslb.test.",
    "gate.gslb.test.",
    "saved.gslb.test.",
    "geo.gslb.test.",
    "sticky.gslb.test.",
    "crowd.gslb.test.",
    "nope.gslb.test.",
    "gslb.test.",
    "lonely.example.",
    "example.net.",
    "host.static.test.",
    "mail.static.test.",
    "many.static.test.",
    "heap.static.test.",
    "static.test.",
    "b.c.static.test.",
    "nope.static.test.",
    "svc.static.test.",
    "both.gslb.test.",
    "foo.bar.rfc4592.test.",
    "www.kid.static.test.",
];

fn shapes(name: &str, qtype: u16) -> Vec<Ask> {
    let ask = || Ask::new(name, qtype);
    let upper: String = name
        .chars()
        .enumerate()
        .map(|(n, c)| if n % 2 == 0 { c.to_ascii_uppercase() } else { c })
        .collect();
    vec![
        ask(),
        ask().flags(0x0100),
        ask().flags(0x0170),
        Ask::new(&upper, qtype),
        ask().edns(),
        ask().payload(0),
        ask().payload(512).ecs("198.51.100.0/24"),
        ask().payload(65535).ecs("2001:db8:1::/48"),
        ask().ecs("0.0.0.0/0").option(65001, b"?").option(NSID, b""),
        ask().version(1),
        ask().option(ECS, &[0, 1, 24, 0, 1, 2]),
        ask().class(3),
    ]
}

#[test]
fn every_reply_to_every_query() {
    let server = Server::with(Tier::Enterprise, |s| s.nsid = Some(b"battery".to_vec()));
    for name in NAMES {
        for qtype in [A, AAAA, SOA, NS, MX, TXT, ANY, AXFR] {
            for ask in shapes(name, qtype) {
                let context = format!("{name} type {qtype}: {ask:?}");
                for (transport, reply) in [("udp", server.udp(&ask)), ("tcp", server.tcp(&ask))] {
                    let context = format!("{transport} {context}");
                    assert_eq!(reply.id(), ask.id, "{context}");
                    assert_eq!(reply.question(), ask.question(), "{context}");
                    assert_eq!(reply.flags() & 0x8000, 0x8000, "{context}");
                    assert_eq!(reply.flags() & 0x0100, ask.flags & 0x0100, "{context}");
                    assert_eq!(reply.flags() & 0x00f0, 0, "RA, Z, AD, CD: {context}");
                    assert_eq!(reply.opt.is_some(), ask.opt.is_some(), "{context}");
                    assert_eq!(reply.aa(), matches!(reply.rcode(), 0 | 3), "{context}");
                    let limit = match &ask.opt {
                        _ if transport == "tcp" => 65_535,
                        None => 512,
                        Some(opt) => opt.payload.clamp(512, 1232).into(),
                    };
                    assert!(reply.raw.len() <= limit, "{context}");
                    let negative = reply.answers().is_empty() && reply.aa() && !reply.tc();
                    assert_eq!(reply.negative_soa().is_some(), negative, "{context}");
                    for record in reply.answers() {
                        assert_eq!(record.name.to_ascii().to_ascii_lowercase(), name, "{context}");
                    }
                    if matches!(reply.rcode(), 0 | 3 | 5) {
                        let sent = ask
                            .opt
                            .iter()
                            .flat_map(|opt| &opt.options)
                            .find(|(code, _)| *code == ECS);
                        assert_eq!(reply.option(ECS).is_some(), sent.is_some(), "{context}");
                    }
                }
            }
        }
    }
    assert_eq!(server.counts().panics, 0);
}
