//! The static records of the tests' zones.

use gslb_engine::model::RecordDraft;
use gslb_engine::snapshot::Configuration;

/// Zone, name, type, TTL, data.
const SETS: &[(&str, &str, &str, i64, &[&str])] = &[
    (
        "static.test.",
        "@",
        "MX",
        300,
        &["10 mail", "20 mail.example.net."],
    ),
    ("static.test.", "@", "TXT", 300, &["\"v=spf1 -all\""]),
    ("static.test.", "host", "A", 300, &["192.0.2.21", "192.0.2.22"]),
    ("static.test.", "host", "AAAA", 300, &["2001:db8::21"]),
    (
        "static.test.",
        "host",
        "TYPE65280",
        300,
        &["\\# 4 0a000001", "\\# 0"],
    ),
    ("static.test.", "mail", "A", 200, &["192.0.2.25"]),
    ("static.test.", "mail", "HINFO", 200, &["VAX UNIX"]),
    ("static.test.", "_sip._tcp", "SRV", 300, &["0 5 5060 host"]),
    ("static.test.", "a1", "CNAME", 100, &["a2"]),
    ("static.test.", "a2", "CNAME", 50, &["host"]),
    ("static.test.", "al", "CNAME", 100, &["nope"]),
    ("static.test.", "out", "CNAME", 100, &["www.example.net."]),
    ("static.test.", "tosub", "CNAME", 100, &["x.sub.static.test."]),
    ("static.test.", "tosvc", "CNAME", 100, &["svc"]),
    ("static.test.", "togeo", "CNAME", 100, &["both.gslb.test."]),
    ("static.test.", "todown", "CNAME", 100, &["down5.gslb.test."]),
    ("static.test.", "towild", "CNAME", 100, &["any.cdn.static.test."]),
    ("static.test.", "l1", "CNAME", 100, &["l2"]),
    ("static.test.", "l2", "CNAME", 100, &["l1"]),
    ("static.test.", "*.cdn", "CNAME", 100, &["host"]),
    ("static.test.", "*.cdnsvc", "CNAME", 100, &["svc"]),
    ("static.test.", "here.cdn", "TXT", 100, &["here"]),
    ("static.test.", "a.b.c", "TXT", 100, &["deep"]),
    ("static.test.", "f.*.e", "A", 100, &["192.0.2.2"]),
    ("static.test.", "t.e", "A", 100, &["192.0.2.1"]),
    ("static.test.", "svc", "TXT", 100, &["\"beside a service\""]),
    (
        "static.test.",
        "sub",
        "NS",
        900,
        &["ns.sub.static.test.", "ns2.sub.static.test.", "ns.example.net."],
    ),
    ("static.test.", "ns.sub", "A", 900, &["192.0.2.53"]),
    ("static.test.", "ns.sub", "AAAA", 900, &["2001:db8::53"]),
    ("static.test.", "ns2.sub", "A", 900, &["192.0.2.54"]),
    ("static.test.", "signed", "NS", 900, &["host"]),
    (
        "static.test.",
        "signed",
        "DS",
        900,
        &["60485 13 2 d4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a"],
    ),
    (
        "static.test.",
        "wide",
        "NS",
        900,
        &[
            "ns01.wide.static.test.",
            "ns02.wide.static.test.",
            "ns03.wide.static.test.",
            "ns04.wide.static.test.",
            "ns05.wide.static.test.",
            "ns06.wide.static.test.",
            "ns07.wide.static.test.",
            "ns08.wide.static.test.",
        ],
    ),
    ("static.test.", "kid", "NS", 900, &["ns.kid.static.test."]),
    ("static.test.", "ns.kid", "A", 900, &["192.0.2.99"]),
    (
        "static.test.",
        "kid",
        "DS",
        900,
        &["1 13 2 d4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a"],
    ),
    (
        "static.test.",
        "web",
        "HTTPS",
        300,
        &["1 host alpn=h2 ipv4hint=192.0.2.21"],
    ),
    ("static.test.", "tobind", "CNAME", 100, &["bind"]),
    (
        "static.test.",
        "bind",
        "HTTPS",
        300,
        &["1 both.gslb.test. alpn=h2 ipv4hint=203.0.113.9 ipv6hint=2001:db8::9"],
    ),
    (
        "static.test.",
        "bindalias",
        "HTTPS",
        300,
        &["1 togeo alpn=h2 ipv4hint=203.0.113.9"],
    ),
    ("kid.static.test.", "www", "A", 60, &["192.0.2.100"]),
    ("gslb.test.", "both", "TXT", 300, &["hello"]),
    ("gslb.test.", "both", "MX", 300, &["10 both"]),
    (
        "gslb.test.",
        "both",
        "HTTPS",
        300,
        &["1 . alpn=h2,h3 ipv4hint=203.0.113.9 ipv6hint=2001:db8::9"],
    ),
    (
        "gslb.test.",
        "gone",
        "HTTPS",
        300,
        &["1 . mandatory=ipv4hint alpn=h2 ipv4hint=203.0.113.9"],
    ),
    ("gslb.test.", "*.star", "TXT", 300, &["any"]),
    ("apex.test.", "@", "TXT", 300, &["apex"]),
    // RFC 4592 §2.2.1, without the part that needs DNAME.
    ("rfc4592.test.", "*", "TXT", 3600, &["this is a wildcard"]),
    ("rfc4592.test.", "*", "MX", 3600, &["10 host1"]),
    ("rfc4592.test.", "sub.*", "TXT", 3600, &["this is not a wildcard"]),
    ("rfc4592.test.", "host1", "A", 3600, &["192.0.2.1"]),
    ("rfc4592.test.", "_ssh._tcp.host1", "SRV", 3600, &["0 0 22 host1"]),
    ("rfc4592.test.", "_ssh._tcp.host2", "SRV", 3600, &["0 0 22 host2"]),
    (
        "rfc4592.test.",
        "subdel",
        "NS",
        3600,
        &["ns.example.com.", "ns.example.net."],
    ),
];

/// Mail servers of `heap.static.test.`: names that take more octets than compression pointers reach.
pub const HEAP: usize = 400;

/// The name of one of them.
pub fn heap_target(number: usize) -> String {
    format!("t{number:03}-{}", "x".repeat(40))
}

/// Adds the records. Their form is checked, what stands beside what is not: the loop is meant.
pub fn add(config: &mut Configuration) {
    let heap = (1..=HEAP).map(|n| format!("{n} {}", heap_target(n))).collect();
    let sixty: Vec<String> = (1..=60).map(|n| format!("192.0.2.{n}")).collect();
    let glue: Vec<(String, Vec<String>)> = (1..=8)
        .map(|n| {
            (
                format!("ns0{n}.wide"),
                (1..=6).map(|m| format!("2001:db8:{n}::{m}")).collect(),
            )
        })
        .collect();
    let listed = SETS.iter().map(|(zone, name, rtype, ttl, data)| {
        let data = data.iter().map(|text| (*text).to_owned()).collect();
        (*zone, (*name).to_owned(), *rtype, *ttl, data)
    });
    let made = glue
        .into_iter()
        .map(|(name, data)| ("static.test.", name, "AAAA", 900, data))
        .chain([("static.test.", "many".to_owned(), "A", 300, sixty)])
        .chain([("static.test.", "heap".to_owned(), "MX", 300, heap)])
        .chain([(
            "static.test.",
            heap_target(1),
            "A",
            300,
            vec!["192.0.2.77".to_owned()],
        )]);
    for (n, (zone, name, rtype, ttl, data)) in listed.chain(made).enumerate() {
        let zone = config
            .zones
            .iter()
            .find(|known| known.name.as_str() == zone)
            .unwrap();
        let draft = RecordDraft {
            name: Some(name.clone()),
            rtype: Some(rtype.to_owned()),
            ttl: Some(ttl),
            data: Some(data),
        };
        let id = format!("00000000-0000-0000-0001-{n:012x}").parse().unwrap();
        let set = draft
            .validate(id, zone)
            .unwrap_or_else(|e| panic!("{name} {rtype}: {e:?}"));
        config.records.push(set);
    }
}
