//! RFC 4343, Case insensitivity: any case is found, and the question's case comes back (also for those who hide entropy
//! in it).

use crate::support::Server;
use crate::support::ask::{A, AAAA, Ask, NS, SOA};

#[test]
fn s3_the_question_comes_back_octet_for_octet() {
    let server = Server::start();
    for name in [
        "wWw.GsLb.TeSt.",
        "WWW.GSLB.TEST.",
        "nOpE.gSlB.tEsT.",
        "GSLB.test.",
        "eXample.NET.",
    ] {
        for qtype in [A, AAAA, SOA, NS] {
            let ask = Ask::new(name, qtype).edns();
            assert_eq!(server.both(&ask).question(), ask.question());
        }
    }
}

#[test]
fn s4_1_any_case_finds_the_same() {
    let server = Server::start();
    for name in ["wWw.GsLb.TeSt.", "A.B.C.gslb.TEST.", "ANYthing.WILD.gslb.test."] {
        let reply = server.both(&Ask::new(name, A));
        assert_eq!(reply.addresses().len(), 1, "{name}");
        assert_eq!(
            reply.answers()[0].name.to_ascii(),
            name,
            "the owner is the question's name"
        );
    }
    let sticky = |name: &str| server.udp(&Ask::new(name, A).ecs("198.51.100.0/24")).addresses();
    assert_eq!(sticky("sticky.gslb.test."), sticky("StIcKy.GsLb.TeSt."));
}

#[test]
fn s4_1_owners_are_pointers_to_the_question() {
    let server = Server::start();
    for name in ["wWw.GsLb.TeSt.", "hOsT.static.TEST.", "A1.static.test."] {
        let ask = Ask::new(name, A);
        let reply = server.both(&ask);
        assert_eq!(
            reply.raw[12 + ask.question().len()..][..2],
            [0xc0, 0x0c],
            "{name}"
        );
    }
}
