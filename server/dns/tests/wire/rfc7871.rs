//! RFC 7871, Client subnet: validity, echo, scope.

use crate::support::Server;
use crate::support::ask::{A, AAAA, ANY, Ask, DS, ECS, HTTPS, MX, NS, Opt, SOA, TXT, ecs, message};
use crate::support::reply::Reply;
use std::net::IpAddr;

fn geo(prefix: &str) -> Ask {
    Ask::new("geo.gslb.test.", A).ecs(prefix)
}

fn ips(list: &[&str]) -> Vec<IpAddr> {
    list.iter().map(|ip| ip.parse().unwrap()).collect()
}

#[test]
fn s7_2_1_the_subnet_steers() {
    let server = Server::start();
    assert_eq!(
        server.both(&geo("198.51.100.0/24")).addresses(),
        ips(&["192.0.2.1"])
    );
    assert_eq!(
        server.both(&geo("203.0.113.0/24")).addresses(),
        ips(&["192.0.2.2"])
    );
    assert_eq!(
        server.both(&geo("198.51.100.0/24")).addresses(),
        ips(&["192.0.2.1"]),
        "nothing is remembered"
    );
}

#[test]
fn s7_2_1_family_source_and_address_come_back() {
    let server = Server::start();
    for prefix in [
        "198.51.100.0/24",
        "4.0.0.0/5",
        "101.132.254.0/23",
        "203.0.113.7/32",
        "0.0.0.0/0",
        "2001:db8:8000::/33",
        "2001:db8:1:200::/57",
        "2001:db8::1/128",
        "::/0",
    ] {
        for (name, qtype) in [
            ("geo.gslb.test.", A),
            ("geo.gslb.test.", AAAA),
            ("geo.gslb.test.", MX),
            ("geo.gslb.test.", ANY),
            ("nope.gslb.test.", A),
            ("down.gslb.test.", A),
            ("gate.gslb.test.", A),
            ("saved.gslb.test.", A),
            ("c.gslb.test.", A),
            ("gslb.test.", SOA),
            ("example.net.", A),
        ] {
            let reply = server.both(&Ask::new(name, qtype).ecs(prefix));
            let mut back = reply
                .option(ECS)
                .unwrap_or_else(|| panic!("{name} {prefix}"))
                .to_vec();
            let (source, scope) = (back[2], std::mem::take(&mut back[3]));
            assert_eq!(back, ecs(prefix), "{name} {prefix}");
            assert!(scope <= source, "{name} {prefix}: scope {scope}");
            if name != "geo.gslb.test." || [MX, ANY].contains(&qtype) {
                assert_eq!(scope, 0, "{name} {prefix}: does not depend on the client");
            }
        }
    }
}

#[test]
fn s7_2_1_scope_is_what_the_answer_depended_on() {
    let server = Server::start();
    // The database knows a /20; the source is longer.
    assert_eq!(server.both(&geo("192.0.1.0/24")).scope(), Some(20));
    // Never more than the source.
    assert_eq!(server.both(&geo("192.0.0.0/18")).scope(), Some(18));
    assert_eq!(server.both(&geo("198.51.100.0/24")).scope(), Some(24));
    assert_eq!(server.both(&geo("198.51.100.9/32")).scope(), Some(24));
    // Read, though nothing was found and nobody left out.
    assert_eq!(server.both(&geo("100.0.0.0/24")).scope(), Some(16));
    assert_eq!(server.both(&geo("2001:db8:1::/56")).scope(), Some(48));
    // A /16 of the map file: with a /24 nested in the other half, 17 bits tell them apart.
    let map = |prefix| server.both(&Ask::new("map.gslb.test.", A).ecs(prefix));
    assert_eq!(
        (map("198.51.7.0/24").scope(), map("198.51.7.0/24").addresses()),
        (Some(17), ips(&["192.0.2.2"]))
    );
    assert_eq!(
        (map("198.51.200.0/24").scope(), map("198.51.200.0/24").addresses()),
        (Some(24), ips(&["192.0.2.1"]))
    );
    assert_eq!(map("2001:db8:77::/56").scope(), Some(32));
    // Not read at all.
    assert_eq!(
        server
            .both(&Ask::new("www.gslb.test.", A).ecs("198.51.100.0/24"))
            .scope(),
        Some(0)
    );
    // Pinned by /24.
    assert_eq!(
        server
            .both(&Ask::new("sticky.gslb.test.", A).ecs("198.51.100.9/32"))
            .scope(),
        Some(24)
    );
    assert_eq!(
        server
            .both(&Ask::new("sticky.gslb.test.", A).ecs("198.51.0.0/20"))
            .scope(),
        Some(20)
    );
}

#[test]
fn s7_2_1_static_records_depend_on_no_client() {
    let server = Server::start();
    for prefix in [
        "198.51.100.0/24",
        "101.132.254.0/23",
        "0.0.0.0/0",
        "2001:db8:1:200::/56",
    ] {
        for (name, qtype, rcode) in [
            ("host.static.test.", A, 0),
            ("host.static.test.", ANY, 0),
            ("host.static.test.", MX, 0),
            ("static.test.", TXT, 0),
            ("static.test.", NS, 0),
            ("static.test.", SOA, 0),
            ("both.gslb.test.", TXT, 0),
            ("web.static.test.", HTTPS, 0),
            ("q.cdn.static.test.", A, 0),
            ("a1.static.test.", A, 0),
            ("out.static.test.", A, 0),
            ("todown.static.test.", A, 0),
            ("al.static.test.", A, 3),
            ("l1.static.test.", A, 2),
            ("x.sub.static.test.", A, 0),
            ("sub.static.test.", DS, 0),
            ("b.c.static.test.", A, 0),
            ("nope.static.test.", A, 3),
        ] {
            let reply = server.both(&Ask::new(name, qtype).ecs(prefix));
            assert_eq!(reply.rcode(), rcode, "{name} {prefix}");
            // Scope 0, and else as it came.
            assert_eq!(reply.option(ECS), Some(&ecs(prefix)[..]), "{name} {prefix}");
        }
    }
    // An alias of a service depends on what the service depends on.
    for (prefix, scope) in [
        ("198.51.100.0/24", 24),
        ("192.0.1.0/24", 20),
        ("2001:db8:1::/56", 48),
    ] {
        let reply = server.both(&Ask::new("togeo.static.test.", A).ecs(prefix));
        assert_eq!(reply.scope(), Some(scope), "{prefix}");
    }
}

#[test]
fn s7_1_2_source_0_keeps_the_client_out() {
    let server = Server::start();
    let without = server.both(&Ask::new("geo.gslb.test.", A));
    for data in [[0, 1, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0]] {
        let reply = server.both(&Ask::new("geo.gslb.test.", A).option(ECS, &data));
        assert_eq!(reply.rcode(), 0);
        assert_eq!(reply.addresses(), without.addresses());
        assert_eq!(reply.option(ECS), Some(&data[..]));
    }
}

#[test]
fn s7_1_2_malformed_options_are_errors_with_opt() {
    let server = Server::start();
    for data in [
        &[0, 1, 33, 0, 198, 51, 100, 0, 0][..],
        &[0, 1, 255, 0, 198, 51, 100, 0],
        &[&[0, 2, 129, 0][..], &[0; 17]].concat(),
        &[0, 3, 0, 0],
        &[0, 3, 8, 0, 1],
        &[0, 0, 8, 0, 1],
        &[0, 1, 23, 0, 101, 132, 255],
        &[0, 1, 24, 0, 198, 51, 100, 0],
        &[0, 1, 24, 0, 198, 51],
        &[0, 1, 0, 0, 0],
        &[0, 1, 24],
        &[],
    ] {
        for name in ["wWw.gslb.test.", "HOST.static.test.", "nope.gslb.test."] {
            let ask = Ask::new(name, A).option(ECS, data);
            let reply = server.both(&ask);
            assert_eq!(reply.rcode(), 1, "{name} {data:?}");
            assert_eq!(reply.question(), ask.question());
            assert!(reply.opt.is_some() && reply.answers().is_empty());
        }
    }
    let two = Ask::new("www.gslb.test.", A)
        .ecs("198.51.100.0/24")
        .ecs("203.0.113.0/24");
    assert_eq!(
        server.both(&two).rcode(),
        1,
        "for which of the two would the answer be?"
    );
}

#[test]
fn s11_1_a_private_client_that_no_database_knows_is_counted() {
    let server = Server::start();
    assert_eq!(server.counts().private_client_ip, 0);
    server.udp(&Ask::new("www.gslb.test.", A).ecs("10.0.0.0/24"));
    assert_eq!(
        server.counts().private_client_ip,
        0,
        "geography was not asked for"
    );
    for prefix in ["10.0.0.0/24", "192.168.7.0/24", "fd00:1::/56", "127.0.0.0/24"] {
        let before = server.counts().private_client_ip;
        let reply = server.udp(&geo(prefix));
        assert_eq!(reply.addresses().len(), 1);
        assert_eq!(server.counts().private_client_ip, before + 1, "{prefix}");
    }
    let before = server.counts().private_client_ip;
    server.udp(&geo("198.51.100.0/24"));
    assert_eq!(server.counts().private_client_ip, before);
    // The source is 127.0.0.1.
    server.udp(&Ask::new("geo.gslb.test.", A));
    assert_eq!(server.counts().private_client_ip, before + 1);
}

#[test]
fn s7_1_1_no_option_for_those_who_sent_none() {
    let server = Server::start();
    assert_eq!(
        server.both(&Ask::new("geo.gslb.test.", A).edns()).option(ECS),
        None
    );
}

#[test]
fn s7_2_2_replies_that_are_only_a_code_echo_it_too() {
    let server = Server::start();
    for prefix in ["198.51.100.0/24", "2001:db8:8000::/33", "0.0.0.0/0"] {
        let ask = Ask::new("geo.gslb.test.", A).ecs(prefix);
        for (ask, rcode) in [
            (ask.clone().version(1), 16),
            (ask.clone().flags(2 << 11), 4),
            (ask.clone().flags(5 << 11), 4),
        ] {
            let reply = server.both(&ask);
            assert_eq!(reply.rcode(), rcode);
            assert_eq!(reply.option(ECS), Some(&ecs(prefix)[..]), "{rcode} {prefix}");
        }
        // No question, and two.
        let opt = ask.opt.as_ref().map(Opt::octets).unwrap();
        for questions in [vec![], vec![ask.question(), ask.question()]] {
            let octets = message(7, 0, &questions, std::slice::from_ref(&opt));
            let reply = Reply::new(server.udp_octets(&octets).unwrap());
            assert_eq!(reply.rcode(), 1);
            assert_eq!(reply.option(ECS), Some(&ecs(prefix)[..]), "{prefix}");
        }
    }
    // What cannot be read does not come back.
    let broken = Ask::new("geo.gslb.test.", A).option(ECS, &[0, 1, 24, 0, 198]);
    for ask in [broken.clone(), broken.clone().version(1), broken.flags(2 << 11)] {
        assert_eq!(server.both(&ask).option(ECS), None);
    }
}
