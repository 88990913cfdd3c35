//! Services whose members are host names: one CNAME for every type (RFC 1034 §3.6.2), or the addresses behind it.

use crate::support::Server;
use crate::support::ask::{A, AAAA, ANY, Ask, CNAME, DS, MX, NS, NSEC, SOA, TXT};
use crate::support::dnssec::{self, Validator};
use gslb_dnssec::{Algorithm, PrivateKey};
use gslb_engine::environment::Environment;
use gslb_engine::host::HostAddresses;
use gslb_engine::model::{FallbackText, RecordDraft, ServiceDraft, Tier};
use gslb_engine::snapshot::{Slots, Snapshot};
use gslb_engine::testing::{Rows, Site, host, member};
use std::collections::HashMap;
use std::sync::Arc;

const RECORDS: [(&str, &str, &str); 3] = [
    ("web", "A", "192.0.2.80"),
    ("web", "MX", "10 web"),
    ("static", "CNAME", "inside.zone.test."),
];

fn with(change: impl FnOnce(&mut ServiceDraft)) -> ServiceDraft {
    let mut draft = ServiceDraft {
        algorithm: Some("failover".to_owned()),
        ..ServiceDraft::default()
    };
    change(&mut draft);
    draft
}

fn site() -> Site {
    let outside = vec![host("eu.lb.example.net", "DE"), host("us.lb.example.net", "US")];
    let steps = |list: &[&str]| Some(list.iter().map(|step| (*step).to_owned()).collect());
    let address = FallbackText::List(vec!["192.0.2.99".to_owned()]);
    let mut site = Site::new()
        .zone_named("zone.test.")
        .zone_named("apex.test.")
        .pool("outside", 0, outside.clone())
        .pool("down", 0, vec![host("down.example.net", "DE")])
        .pool("web", 0, vec![host("web.zone.test", "DE")])
        .pool("steered", 0, vec![host("geo.zone.test", "DE")])
        .pool("missing", 0, vec![host("nope.zone.test", "DE")])
        .pool("circle", 0, vec![host("circle.zone.test", "DE")])
        .pool(
            "addresses",
            0,
            vec![member("192.0.2.1", "DE"), member("192.0.2.2", "US")],
        )
        .service(
            "geo.zone.test.",
            "outside",
            with(|s| s.filter_chain = steps(&["geo-ip", "failover"])),
        )
        .service(
            "turns.zone.test.",
            "outside",
            with(|s| s.algorithm = Some("round-robin".to_owned())),
        )
        .service("*.wild.zone.test.", "outside", with(|_| {}))
        .service("inside.zone.test.", "web", with(|s| s.ttl = Some(7)))
        .service("two.zone.test.", "steered", with(|_| {}))
        .service("missing.zone.test.", "missing", with(|_| {}))
        .service("circle.zone.test.", "circle", with(|_| {}))
        .service("down.zone.test.", "down", with(|s| s.ttl = Some(9)))
        .service("saved.zone.test.", "down", with(|s| s.fallback = Some(address)))
        .service(
            "flat.zone.test.",
            "outside",
            with(|s| {
                s.flatten = Some(true);
                s.max_answers = Some(4);
            }),
        )
        .service("apex.test.", "outside", with(|s| s.max_answers = Some(4)))
        .service("lonely.example.", "outside", with(|_| {}));
    let zone = site.config.zones[0].clone();
    for (index, (name, rtype, data)) in RECORDS.iter().enumerate() {
        let draft = RecordDraft {
            name: Some((*name).to_owned()),
            rtype: Some((*rtype).to_owned()),
            ttl: Some(300),
            data: Some(vec![(*data).to_owned()]),
        };
        let id = format!("00000000-0000-0000-0001-{index:012x}").parse().unwrap();
        site.config.records.push(draft.validate(id, &zone).unwrap());
    }
    site
}

fn snapshot(site: &Site, environment: &Environment) -> (Snapshot, Slots) {
    let (snapshot, slots) = site.compile(environment).unwrap();
    let known = |list: &[&str]| {
        let list = list.iter().map(|text| text.parse().unwrap()).collect();
        Some(Arc::new(HostAddresses::new(list, 12, 1)))
    };
    let slot = |name: &str| site.slot(&slots, name).unwrap();
    slot("eu.lb.example.net").set_addresses(known(&["192.0.2.11", "192.0.2.12", "2001:db8::11"]));
    slot("us.lb.example.net").set_addresses(known(&["192.0.2.21"]));
    slot("down.example.net").set_score(0.0);
    (snapshot, slots)
}

fn environment() -> Environment {
    Environment {
        geo: Arc::new(
            Rows::new()
                .country("198.51.100.0/24", "US")
                .country("203.0.113.0/24", "DE"),
        ),
        tier: Tier::Enterprise,
        ..Environment::default()
    }
}

/// A server of the site; the slots keep what its members are measured by.
fn server() -> (Server, Slots) {
    let (snapshot, slots) = snapshot(&site(), &environment());
    let server = Server::start();
    server.cell.store(Arc::new(snapshot));
    (server, slots)
}

/// The same with both zones signed.
fn signed() -> (Server, Slots) {
    let site = site();
    let key = || PrivateKey::from_pkcs8(&gslb_dnssec::generate(Algorithm::P256).unwrap()).unwrap();
    let zones = site.config.zones.iter();
    let keys: HashMap<_, _> = zones
        .map(|zone| {
            let keys = gslb_dnssec::zone_keys(&zone.name, key(), None).unwrap();
            (zone.id, Arc::new(keys))
        })
        .collect();
    let environment = Environment {
        keys: Arc::new(keys),
        ..environment()
    };
    let (snapshot, slots) = snapshot(&site, &environment);
    let server = Server::start();
    server.cell.store(Arc::new(snapshot));
    (server, slots)
}

#[test]
fn rfc_1034_s3_6_2_one_cname_for_every_type() {
    let (server, _slots) = server();
    let eu = "geo.zone.test. CNAME 30 eu.lb.example.net.";
    for qtype in [A, AAAA, MX, TXT, CNAME, ANY, NS, SOA, DS, 65] {
        let reply = server.both(&Ask::new("geo.zone.test.", qtype));
        assert_eq!((reply.rcode(), reply.aa()), (0, true), "{qtype}");
        assert_eq!(reply.shown_answers(), [eu], "{qtype}");
        assert_eq!(reply.negative_soa(), None, "{qtype}");
    }
    let reply = server.both(&Ask::new("x.Y.wild.zone.test.", A));
    assert_eq!(
        reply.shown_answers(),
        ["x.Y.wild.zone.test. CNAME 30 eu.lb.example.net."]
    );
    let reply = server.both(&Ask::new("lonely.example.", A));
    assert_eq!(
        reply.shown_answers(),
        ["lonely.example. CNAME 30 eu.lb.example.net."]
    );
}

#[test]
fn the_chain_chooses_and_says_what_it_read() {
    let (server, _slots) = server();
    for (subnet, name, scope) in [
        ("198.51.100.0/24", "us", 24),
        ("203.0.113.0/25", "eu", 24),
        ("0.0.0.0/0", "eu", 0),
    ] {
        let reply = server.both(&Ask::new("geo.zone.test.", A).ecs(subnet));
        let expected = format!("geo.zone.test. CNAME 30 {name}.lb.example.net.");
        assert_eq!(reply.shown_answers(), [expected], "{subnet}");
        assert_eq!(reply.scope(), Some(scope), "{subnet}");
        // Behind another service that is an alias too, and had nothing to read.
        let reply = server.both(&Ask::new("two.zone.test.", A).ecs(subnet));
        assert_eq!(
            (reply.answers().len(), reply.scope()),
            (2, Some(scope)),
            "{subnet}"
        );
    }
}

#[test]
fn turns_are_taken_by_questions_for_addresses_alone() {
    let (server, _slots) = server();
    let name = |qtype| server.udp(&Ask::new("turns.zone.test.", qtype)).shown_answers();
    let (first, second) = (name(A), name(A));
    assert_ne!(first, second);
    for qtype in [TXT, MX, ANY, 65] {
        assert_eq!(name(qtype), first, "{qtype}");
    }
    assert_eq!((name(A), name(A), name(A)), (first.clone(), second, first));
}

#[test]
fn rfc_1034_s3_6_2_a_target_that_is_here_is_followed() {
    let (server, _slots) = server();
    let reply = server.both(&Ask::new("inside.zone.test.", A));
    let alias = "inside.zone.test. CNAME 7 web.zone.test.";
    assert_eq!(reply.shown_answers(), [alias, "web.zone.test. A 300 192.0.2.80"]);
    let reply = server.both(&Ask::new("inside.zone.test.", TXT));
    assert_eq!(reply.shown_answers(), [alias]);
    assert_eq!(
        reply.negative_soa().map(|soa| soa.0),
        Some("zone.test.".to_owned())
    );
    // A static alias to a service, and on.
    let reply = server.both(&Ask::new("static.zone.test.", MX));
    assert_eq!(
        reply.shown_answers(),
        [
            "static.zone.test. CNAME 300 inside.zone.test.",
            alias,
            "web.zone.test. MX 300 10 web.zone.test."
        ]
    );
    // RFC 6604: the code is that of the last name.
    let reply = server.both(&Ask::new("missing.zone.test.", A));
    assert_eq!((reply.rcode(), reply.answers().len()), (3, 1));
    // The API refuses this; DNS comes to an end all the same.
    let reply = server.both(&Ask::new("circle.zone.test.", A));
    assert_eq!((reply.rcode(), reply.answers().len()), (2, 0));
}

#[test]
fn nobody_is_left() {
    let (server, _slots) = server();
    for qtype in [A, TXT, CNAME] {
        let reply = server.both(&Ask::new("down.zone.test.", qtype).edns());
        assert_eq!((reply.rcode(), reply.answers().len()), (0, 0), "{qtype}");
        assert_eq!(
            reply.negative_soa(),
            Some(("zone.test.".to_owned(), 9)),
            "{qtype}"
        );
        assert_eq!(reply.ede().len(), 1, "{qtype}");
    }
    let reply = server.both(&Ask::new("saved.zone.test.", A));
    assert_eq!(reply.shown_answers(), ["saved.zone.test. A 30 192.0.2.99"]);
    for qtype in [AAAA, TXT] {
        assert_eq!(
            server.both(&Ask::new("saved.zone.test.", qtype)).answers().len(),
            0
        );
    }
}

/// Whoever gets the CNAME could do nothing with it.
#[test]
fn a_name_that_leads_nowhere_is_no_candidate() {
    let (server, slots) = server();
    let ask = |qtype| server.both(&Ask::new("x.wild.zone.test.", qtype));
    let to = |name: &str| [format!("x.wild.zone.test. CNAME 30 {name}.lb.example.net.")];
    let slot = |name: &str| site().slot(&slots, &format!("{name}.lb.example.net")).unwrap();
    assert_eq!(ask(A).shown_answers(), to("eu"));
    // A resolver that does not answer says nothing about it: clients have others.
    let nowhere = HostAddresses::new(Vec::new(), 60, 2);
    let failed = HostAddresses::default().failed(3, "SERVFAIL".to_owned());
    slot("eu").set_addresses(Some(Arc::new(failed)));
    assert_eq!(ask(A).shown_answers(), to("eu"));
    // What one has said before stays, though.
    for known in [nowhere.clone(), nowhere.failed(3, "SERVFAIL".to_owned())] {
        slot("eu").set_addresses(Some(Arc::new(known)));
        for qtype in [A, TXT, CNAME] {
            assert_eq!(ask(qtype).shown_answers(), to("us"), "{qtype}");
        }
    }
    slot("us").set_addresses(Some(Arc::new(nowhere)));
    for qtype in [A, TXT] {
        let reply = ask(qtype);
        assert_eq!((reply.rcode(), reply.answers().len()), (0, 0), "{qtype}");
        assert!(reply.negative_soa().is_some());
    }
    slot("eu").set_addresses(None);
    assert_eq!(ask(A).shown_answers(), to("eu"), "it is not known yet");
}

#[test]
fn flattened_the_addresses_are_the_answer() {
    let (server, slots) = server();
    for name in ["flat.zone.test.", "apex.test."] {
        let reply = server.both(&Ask::new(name, A));
        let expected = [11, 12].map(|n| format!("{name} A 12 192.0.2.{n}"));
        assert_eq!(reply.shown_answers(), expected);
        let reply = server.both(&Ask::new(name, AAAA));
        assert_eq!(reply.shown_answers(), [format!("{name} AAAA 12 2001:db8::11")]);
        let reply = server.both(&Ask::new(name, TXT));
        assert_eq!((reply.answers().len(), reply.negative_soa().is_some()), (0, true));
    }
    assert_eq!(server.both(&Ask::new("apex.test.", SOA)).answers().len(), 1);
    // The first member loses its addresses: the second answers.
    let eu = site().slot(&slots, "eu.lb.example.net").unwrap();
    eu.set_addresses(Some(Arc::new(HostAddresses::new(Vec::new(), 60, 2))));
    let reply = server.both(&Ask::new("flat.zone.test.", A));
    assert_eq!(reply.shown_answers(), ["flat.zone.test. A 12 192.0.2.21"]);
    assert_eq!(server.both(&Ask::new("flat.zone.test.", AAAA)).answers().len(), 0);
}

#[test]
fn rfc_4035_s3_1_the_name_that_was_picked_is_signed() {
    let (server, _slots) = signed();
    let mut validator = Validator::new(&server);
    for name in [
        "geo.zone.test.",
        "x.wild.zone.test.",
        "inside.zone.test.",
        "two.zone.test.",
        "static.zone.test.",
        "missing.zone.test.",
        "flat.zone.test.",
        "apex.test.",
        "saved.zone.test.",
    ] {
        for qtype in [A, AAAA, TXT, CNAME, ANY, NSEC] {
            let reply = validator.ask(name, qtype);
            assert_eq!(reply.rcode(), 0, "{name} {qtype}");
        }
    }
}

#[test]
fn rfc_6840_s4_3_no_proof_that_there_is_nothing_has_a_cname_in_it() {
    let (server, _slots) = signed();
    let mut validator = Validator::new(&server);
    let mut types = |name: &str, qtype| {
        let reply = validator.ask(name, qtype);
        let (_, _, types) = dnssec::nsec(&reply).unwrap();
        let mut types: Vec<u16> = types.into_iter().map(u16::from).collect();
        types.sort_unstable();
        types
    };
    for qtype in [A, TXT, CNAME] {
        assert_eq!(types("down.zone.test.", qtype), [46, 47]);
    }
    // In its place there may be addresses.
    assert_eq!(types("saved.zone.test.", TXT), [1, 46, 47]);
    assert_eq!(types("flat.zone.test.", TXT), [1, 28, 46, 47]);
    // The record itself says what the configuration has.
    let reply = server.both(&Ask::new("geo.zone.test.", NSEC));
    assert!(
        reply.shown_answers()[0].ends_with("CNAME RRSIG NSEC"),
        "{:?}",
        reply.shown_answers()
    );
}
