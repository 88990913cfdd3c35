//! RFC 6891, EDNS(0): who gets an OPT record, versions, payload sizes, options.

use crate::support::Server;
use crate::support::ask::{A, AAAA, Ask, ECS, NSID, Opt, message};
use crate::support::reply::{Reply, ReplyOpt};

const PLAIN: ReplyOpt = ReplyOpt {
    payload: 1232,
    extended: 0,
    version: 0,
    flags: 0,
    options: Vec::new(),
};

#[test]
fn s6_1_1_opt_for_those_who_sent_one() {
    let server = Server::start();
    for name in [
        "www.gslb.test.",
        "nope.gslb.test.",
        "down.gslb.test.",
        "example.net.",
    ] {
        assert_eq!(server.both(&Ask::new(name, A)).opt, None, "{name}");
        let opt = server.both(&Ask::new(name, A).edns()).opt.unwrap();
        assert_eq!(
            (opt.payload, opt.version, opt.extended, opt.flags),
            (1232, 0, 0, 0),
            "{name}"
        );
    }
}

#[test]
fn s6_1_1_two_opt_records_are_an_error() {
    let server = Server::start();
    let question = Ask::new("www.gslb.test.", A).question();
    let opt = Opt {
        payload: 1232,
        ..Opt::default()
    }
    .octets();
    let octets = message(9, 0, std::slice::from_ref(&question), &[opt.clone(), opt]);
    let reply = Reply::new(server.udp_octets(&octets).unwrap());
    assert_eq!((reply.rcode(), reply.id()), (1, 9));
    assert_eq!(reply.opt, Some(PLAIN));
    assert_eq!(reply.question(), question);
}

#[test]
fn s6_1_1_opt_belongs_to_the_root_and_to_the_additional_section() {
    let server = Server::start();
    let question = Ask::new("www.gslb.test.", A).question();
    let opt = Opt {
        payload: 1232,
        ..Opt::default()
    }
    .octets();
    let owned = [b"\x01x", &opt[..]].concat();
    let reply = Reply::new(
        server
            .udp_octets(&message(9, 0, std::slice::from_ref(&question), &[owned]))
            .unwrap(),
    );
    assert_eq!(reply.rcode(), 1);
    let mut in_answer = message(9, 0, &[question], &[opt]);
    in_answer.swap(7, 11);
    assert_eq!(Reply::new(server.udp_octets(&in_answer).unwrap()).rcode(), 1);
}

#[test]
fn s6_1_2_options_nobody_knows_are_ignored() {
    let server = Server::start();
    for name in ["www.gslb.test.", "mail.static.test."] {
        let ask = || Ask::new(name, A);
        for ask in [
            ask().option(9, b""),
            ask().option(65001, b""),
            ask().option(65001, &[7; 200]),
            ask().option(12, &[0; 64]).option(14, b"").option(65535, b"x"),
            ask().option(65001, b"x").option(NSID, b""),
        ] {
            let reply = server.both(&ask);
            assert_eq!((reply.rcode(), reply.addresses().len()), (0, 1), "{ask:?}");
            assert_eq!(reply.opt, Some(PLAIN));
        }
    }
}

#[test]
fn s6_1_2_lengths_past_the_end_are_errors() {
    let server = Server::start();
    let whole = Ask::new("www.gslb.test.", A).option(65001, &[7; 4]).octets();
    let at = whole.len() - 6;
    for (offset, value) in [(at, 5), (at, 255), (at - 4, 100)] {
        let mut octets = whole.clone();
        octets[offset + 1] = value;
        let reply = Reply::new(server.udp_octets(&octets).unwrap());
        assert_eq!(reply.rcode(), 1, "octet {offset} = {value}");
        assert_eq!(
            reply.opt,
            Some(PLAIN),
            "the error goes to a client that speaks EDNS"
        );
        assert_eq!(reply.question(), Ask::new("www.gslb.test.", A).question());
    }
    for length in 12..whole.len() {
        let reply = Reply::new(server.udp_octets(&whole[..length]).unwrap());
        assert_eq!(reply.rcode(), 1, "cut to {length} octets");
    }
}

#[test]
fn s6_1_3_another_version_is_badvers_with_the_question() {
    let server = Server::start();
    for (version, name) in [
        (1, "wWw.gslb.test."),
        (100, "HOST.static.test."),
        (255, "nope.example."),
    ] {
        // AD, CD and Z set: none of them comes back.
        for flags in [0, 0x0070, 0x0100] {
            let ask = Ask::new(name, A).version(version).flags(flags);
            for ask in [
                ask.clone(),
                ask.clone().option(65001, b"?"),
                ask.option(ECS, b"malformed"),
            ] {
                let reply = server.both(&ask);
                assert_eq!(reply.rcode(), 16);
                assert_eq!(reply.flags(), 0x8000 | flags & 0x0100);
                assert_eq!(reply.question(), ask.question());
                assert_eq!(reply.opt, Some(ReplyOpt { extended: 1, ..PLAIN }));
                assert_eq!(reply.answers(), []);
            }
        }
    }
}

#[test]
fn s6_1_4_do_comes_back_and_z_does_not() {
    // With DO, CO is a flag too (RFC 9824 §5.1).
    let server = Server::start();
    let mut ask = Ask::new("www.gslb.test.", A).edns();
    for (sent, back) in [(0x8000, 0x8000), (0x7fff, 0), (0xffff, 0xc000)] {
        ask.opt.as_mut().unwrap().flags = sent;
        assert_eq!(server.both(&ask).opt.unwrap().flags, back);
    }
}

#[test]
fn s6_2_3_payload_sizes() {
    let server = Server::start();
    // 512 octets hold 29 answers of 16 octets beside header, question and OPT, but not the 30 of `few`.
    for payload in [0, 1, 300, 511, 512] {
        let ask = Ask::new("few.gslb.test.", A).payload(payload);
        let reply = server.udp(&ask);
        assert!(reply.tc() && reply.raw.len() <= 512, "payload {payload}");
        assert_eq!(reply.question(), ask.question());
        assert_eq!(reply.opt, Some(PLAIN));
    }
    for payload in [600, 1232, 65535] {
        let reply = server.udp(&Ask::new("few.gslb.test.", A).payload(payload));
        assert!(!reply.tc(), "payload {payload}");
        assert_eq!(reply.addresses().len(), 30);
    }
}

#[test]
fn s6_2_3_payload_sizes_hold_for_static_records() {
    let server = Server::start();
    // 60 answers take 960 octets beside header, question and OPT.
    for (payload, limit) in [(300, 512), (512, 512), (900, 900), (1232, 1232), (65535, 1232)] {
        let ask = Ask::new("many.static.test.", A).payload(payload);
        let reply = server.udp(&ask);
        assert!(reply.raw.len() <= limit, "payload {payload}");
        assert_eq!(reply.tc(), limit < 1000, "payload {payload}");
        assert_eq!(reply.opt, Some(PLAIN));
        assert_eq!(server.tcp(&ask).addresses().len(), 60);
    }
    let plain = Ask::new("many.static.test.", A);
    let reply = server.udp(&plain);
    assert!(reply.tc() && reply.raw.len() <= 512 && reply.opt.is_none());
    assert_eq!(server.tcp(&plain).addresses().len(), 60);
}

#[test]
fn s6_2_5_never_more_than_the_servers_own_limit() {
    let server = Server::start();
    // 64 AAAA records take 1,800 octets.
    for payload in [1232, 4096, 65535] {
        let ask = Ask::new("crowd.gslb.test.", AAAA)
            .payload(payload)
            .ecs("198.51.100.0/24");
        let reply = server.udp(&ask);
        assert!(reply.tc() && reply.raw.len() <= 1232, "payload {payload}");
        assert_eq!((reply.question(), reply.scope()), (&ask.question()[..], Some(0)));
        assert!(!server.tcp(&ask).tc());
    }
}

#[test]
fn s6_2_5_a_query_longer_than_advertised_is_an_error() {
    let server = Server::start();
    let ask = Ask::new("www.gslb.test.", A).option(65001, &[7; 1300]);
    let reply = server.udp(&ask);
    assert_eq!((reply.rcode(), reply.opt.is_some()), (1, true));
    assert_eq!(reply.question(), ask.question());
    assert_eq!(server.tcp(&ask).rcode(), 0);
}
