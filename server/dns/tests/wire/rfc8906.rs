//! RFC 8906, A common operational problem: servers that do not answer. Everything that is a query gets a reply.

use crate::support::Server;
use crate::support::ask::{A, AXFR, Ask, IXFR, NS, SOA, TXT, message};
use crate::support::reply::Reply;

#[test]
fn s3_1_1_names_of_others_are_refused() {
    let server = Server::start();
    for (name, qtype) in [
        ("example.net.", A),
        ("example.net.", NS),
        ("test.", SOA),
        ("wwwgslb.test.", A),
        (".", NS),
    ] {
        let reply = server.both(&Ask::new(name, qtype));
        assert_eq!((reply.rcode(), reply.aa()), (5, false), "{name}");
        assert!(reply.message.authorities.is_empty() && reply.answers().is_empty());
    }
}

#[test]
fn s3_1_2_unknown_types_are_answered() {
    let server = Server::start();
    for qtype in [64, 1000, 65280, 65534] {
        let reply = server.both(&Ask::new("www.gslb.test.", qtype).edns());
        assert_eq!((reply.rcode(), reply.aa()), (0, true));
    }
}

#[test]
fn s3_1_3_flags_change_nothing() {
    let server = Server::start();
    for flags in [0x0010, 0x0020, 0x0040, 0x0070] {
        let ask = Ask::new("www.gslb.test.", A).flags(flags).edns();
        assert_eq!(server.both(&ask).addresses().len(), 1);
    }
}

#[test]
fn s3_1_4_other_opcodes_are_not_implemented() {
    let server = Server::start();
    for opcode in 1..16_u16 {
        let ask = Ask::new("www.gslb.test.", A).flags(opcode << 11 | 0x0100);
        let reply = server.both(&ask);
        assert_eq!(reply.rcode(), 4, "opcode {opcode}");
        assert_eq!(reply.flags(), 0x8000 | opcode << 11 | 0x0100 | 4);
        assert_eq!(reply.id(), ask.id);
        assert_eq!(server.both(&ask.edns()).opt.map(|opt| opt.version), Some(0));
        // What follows the header need not look like a query at all.
        for rest in [&b""[..], b"\xff\xff\xff", &[0x40; 100]] {
            let octets = [&message(1, opcode << 11, &[vec![]], &[])[..], rest].concat();
            assert_eq!(
                Reply::new(server.udp_octets(&octets).unwrap()).rcode(),
                4,
                "opcode {opcode} {rest:?}"
            );
        }
    }
}

#[test]
fn s3_1_5_both_transports_answer() {
    let server = Server::start();
    assert_eq!(server.tcp(&Ask::new("www.gslb.test.", A)).addresses().len(), 1);
}

#[test]
fn other_classes_are_refused() {
    let server = Server::start();
    for (name, class) in [
        ("version.bind.", 3),
        ("id.server.", 3),
        ("www.gslb.test.", 3),
        ("www.gslb.test.", 255),
    ] {
        let reply = server.both(&Ask::new(name, TXT).class(class));
        assert_eq!(
            (reply.rcode(), reply.aa(), reply.answers().len()),
            (5, false, 0),
            "{name} class {class}"
        );
    }
}

#[test]
fn zone_transfers_are_refused() {
    let server = Server::start();
    for qtype in [AXFR, IXFR] {
        for (name, rcode) in [
            ("gslb.test.", 5),
            ("GSLB.TEST.", 5),
            ("www.gslb.test.", 9),
            ("nope.gslb.test.", 9),
        ] {
            let reply = server.both(&Ask::new(name, qtype));
            assert_eq!((reply.rcode(), reply.answers().len()), (rcode, 0), "{name}");
        }
    }
}

#[test]
fn replies_are_counted() {
    let server = Server::start();
    for (name, qtype) in [
        ("www.gslb.test.", A),
        ("nope.gslb.test.", A),
        ("example.net.", NS),
    ] {
        server.tcp(&Ask::new(name, qtype));
    }
    server.tcp(&Ask::new("www.gslb.test.", A).flags(0x1000));
    server.tcp(&Ask::new("www.gslb.test.", A).version(1));
    server.until("every reply timed", |counts| counts.latency_count() == 5);
    let counts = server.counts();
    for rcode in ["NOERROR", "NXDOMAIN", "REFUSED", "NOTIMP", "BADVERS"] {
        assert_eq!(counts.responses_of(rcode), 1, "{rcode}");
    }
    assert_eq!(
        counts.responses[gslb_dns::Transport::Udp as usize]
            .iter()
            .sum::<u64>(),
        0
    );
    assert_eq!((counts.qtypes[0], counts.qtypes[3]), (2, 1));
    let snapshot = server.cell.load();
    let www = snapshot
        .services()
        .find(|s| s.domain.as_str() == "www.gslb.test.")
        .unwrap();
    assert_eq!(www.slot.queries(gslb_engine::decision::Outcome::Answered), 1);
}
