//! RFC 1034 §4.3.2, the algorithm: exact names, delegations, aliases, and what goes into the other sections.

use crate::support::Server;
use crate::support::ask::{A, AAAA, ANY, Ask, CNAME, DS, MX, NS, SOA, SRV, TXT};

#[test]
fn s4_3_2_3a_records_at_their_name() {
    let server = Server::start();
    let reply = server.both(&Ask::new("HOST.static.test.", A));
    assert_eq!((reply.rcode(), reply.aa()), (0, true));
    assert_eq!(
        reply.shown_answers(),
        [
            "HOST.static.test. A 300 192.0.2.21",
            "HOST.static.test. A 300 192.0.2.22"
        ]
    );
    assert_eq!(
        server.both(&Ask::new("host.static.test.", AAAA)).shown_answers(),
        ["host.static.test. AAAA 300 2001:db8::21"]
    );
    for (name, qtype) in [
        ("host.static.test.", TXT),
        ("mail.static.test.", AAAA),
        ("static.test.", AAAA),
    ] {
        let reply = server.both(&Ask::new(name, qtype));
        assert_eq!(
            (reply.rcode(), reply.aa(), reply.answers().len()),
            (0, true, 0),
            "{name}"
        );
        assert_eq!(reply.negative_soa(), Some(("static.test.".into(), 60)), "{name}");
    }
    let reply = server.both(&Ask::new("nope.host.static.test.", A));
    assert_eq!(
        (reply.rcode(), reply.negative_soa()),
        (3, Some(("static.test.".into(), 60)))
    );
}

#[test]
fn s4_3_2_3a_other_types_at_a_service() {
    let server = Server::start();
    for (name, qtype, answer) in [
        ("both.gslb.test.", TXT, "both.gslb.test. TXT 300 hello"),
        (
            "svc.static.test.",
            TXT,
            "svc.static.test. TXT 100 beside a service",
        ),
        ("x.star.gslb.test.", TXT, "x.star.gslb.test. TXT 300 any"),
        ("apex.test.", TXT, "apex.test. TXT 300 apex"),
    ] {
        let reply = server.both(&Ask::new(name, qtype));
        assert_eq!(
            (reply.rcode(), reply.aa(), reply.shown_answers()),
            (0, true, vec![answer.to_owned()])
        );
    }
    assert_eq!(server.both(&Ask::new("both.gslb.test.", A)).addresses().len(), 1);
    assert_eq!(server.both(&Ask::new("apex.test.", A)).addresses().len(), 1);
    assert_eq!(server.both(&Ask::new("apex.test.", SOA)).answers().len(), 1);
    assert_eq!(
        server.both(&Ask::new("both.gslb.test.", SRV)).negative_soa(),
        Some(("gslb.test.".into(), 60))
    );
}

#[test]
fn s4_3_2_3b_a_delegation_is_referred_to() {
    let server = Server::start();
    let servers = ["ns.sub.static.test.", "ns2.sub.static.test.", "ns.example.net."]
        .map(|name| format!("sub.static.test. NS 900 {name}"));
    for (name, qtype) in [
        ("x.sub.static.test.", A),
        ("ns.sub.static.test.", A),
        ("ns.sub.static.test.", TXT),
        ("sub.static.test.", NS),
        ("sub.static.test.", A),
        ("sub.static.test.", ANY),
        ("sub.static.test.", SOA),
        ("a.b.c.sub.static.test.", DS),
    ] {
        let reply = server.both(&Ask::new(name, qtype));
        assert_eq!((reply.rcode(), reply.aa()), (0, false), "{name} {qtype}");
        assert_eq!(reply.answers(), [], "{name} {qtype}");
        assert_eq!(reply.shown_authorities(), servers, "{name} {qtype}");
        assert_eq!(
            reply.shown_additionals(),
            [
                "ns.sub.static.test. A 900 192.0.2.53",
                "ns.sub.static.test. AAAA 900 2001:db8::53",
                "ns2.sub.static.test. A 900 192.0.2.54"
            ],
            "{name} {qtype}"
        );
    }
}

#[test]
fn s4_3_2_3b_a_zone_that_is_here_answers_for_itself() {
    let server = Server::start();
    let reply = server.both(&Ask::new("www.kid.static.test.", A));
    assert_eq!(
        (reply.aa(), reply.shown_answers()),
        (true, vec!["www.kid.static.test. A 60 192.0.2.100".into()])
    );
    // What the zone above keeps as glue is not this zone's data.
    let reply = server.both(&Ask::new("ns.kid.static.test.", A));
    assert_eq!(
        (reply.rcode(), reply.negative_soa()),
        (3, Some(("kid.static.test.".into(), 60)))
    );
    assert_eq!(server.both(&Ask::new("kid.static.test.", NS)).answers().len(), 2);
}

#[test]
fn s3_6_2_an_alias_is_followed_here_and_no_further() {
    let server = Server::start();
    let chain = [
        "a1.static.test. CNAME 100 a2.static.test.",
        "a2.static.test. CNAME 50 host.static.test.",
    ];
    let reply = server.both(&Ask::new("a1.static.test.", A));
    assert_eq!((reply.rcode(), reply.aa()), (0, true));
    let ends = [
        "host.static.test. A 300 192.0.2.21",
        "host.static.test. A 300 192.0.2.22",
    ];
    assert_eq!(reply.shown_answers(), [chain, ends].concat());
    for qtype in [CNAME, ANY] {
        assert_eq!(
            server.both(&Ask::new("a1.static.test.", qtype)).shown_answers(),
            chain[..1]
        );
    }
    let reply = server.both(&Ask::new("out.static.test.", A));
    assert_eq!((reply.rcode(), reply.aa()), (0, true));
    assert_eq!(
        reply.shown_answers(),
        ["out.static.test. CNAME 100 www.example.net."]
    );
    assert!(reply.message.authorities.is_empty());
}

#[test]
fn s3_6_2_an_alias_of_a_service_is_steered() {
    let server = Server::start();
    let reply = server.both(&Ask::new("tosvc.static.test.", A));
    assert_eq!(
        reply.shown_answers(),
        [
            "tosvc.static.test. CNAME 100 svc.static.test.",
            "svc.static.test. A 30 192.0.2.4"
        ]
    );
    for (subnet, address) in [("198.51.100.0/24", "192.0.2.1"), ("203.0.113.0/24", "192.0.2.2")] {
        let reply = server.both(&Ask::new("togeo.static.test.", A).ecs(subnet));
        assert_eq!(
            reply.shown_answers(),
            [
                "togeo.static.test. CNAME 100 both.gslb.test.".to_owned(),
                format!("both.gslb.test. A 30 {address}")
            ]
        );
        assert_eq!(reply.scope(), Some(24));
    }
    // Nobody is there: the alias, and a SOA that is as short as the service says.
    let reply = server.both(&Ask::new("todown.static.test.", A).edns());
    assert_eq!(
        reply.shown_answers(),
        ["todown.static.test. CNAME 100 down5.gslb.test."]
    );
    assert_eq!(
        (reply.rcode(), reply.negative_soa()),
        (0, Some(("gslb.test.".into(), 5)))
    );
    assert_eq!(reply.ede(), ["all members down"]);
    let reply = server.both(&Ask::new("togeo.static.test.", TXT));
    assert_eq!(
        reply.shown_answers().last().unwrap(),
        "both.gslb.test. TXT 300 hello"
    );
}

#[test]
fn s3_6_2_an_alias_into_a_delegation_ends_with_a_referral() {
    let server = Server::start();
    let reply = server.both(&Ask::new("tosub.static.test.", A));
    // The first name is ours (RFC 1035 §4.1.1).
    assert_eq!((reply.rcode(), reply.aa()), (0, true));
    assert_eq!(
        reply.shown_answers(),
        ["tosub.static.test. CNAME 100 x.sub.static.test."]
    );
    assert_eq!(reply.message.authorities.len(), 3);
    assert_eq!(reply.message.additionals.len(), 3);
}

#[test]
fn s3_6_2_a_loop_is_an_error_in_bounded_time() {
    let server = Server::start();
    let reply = server.both(&Ask::new("l1.static.test.", A));
    assert_eq!((reply.rcode(), reply.answers().len()), (2, 0));
    assert_eq!(
        server.both(&Ask::new("l1.static.test.", CNAME)).shown_answers(),
        ["l1.static.test. CNAME 100 l2.static.test."]
    );
}

#[test]
fn s4_3_2_6_addresses_of_the_names_in_an_answer() {
    let server = Server::start();
    let reply = server.both(&Ask::new("static.test.", MX));
    assert_eq!(reply.answers().len(), 2);
    assert_eq!(reply.shown_additionals(), ["mail.static.test. A 200 192.0.2.25"]);
    let reply = server.both(&Ask::new("_sip._tcp.static.test.", SRV));
    assert_eq!(
        reply.shown_additionals(),
        [
            "host.static.test. A 300 192.0.2.21",
            "host.static.test. A 300 192.0.2.22",
            "host.static.test. AAAA 300 2001:db8::21"
        ]
    );
    // The addresses of a service are for those who ask for it.
    assert_eq!(
        server.both(&Ask::new("both.gslb.test.", MX)).shown_additionals(),
        [""; 0]
    );
}
