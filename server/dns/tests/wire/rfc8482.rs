//! RFC 8482, Minimal answers to ANY.

use crate::support::Server;
use crate::support::ask::{ANY, Ask, HINFO};
use hickory_proto::rr::RData;

#[test]
fn s4_2_one_hinfo_on_both_transports() {
    let server = Server::start();
    for name in [
        "www.gslb.test.",
        "down.gslb.test.",
        "x.wild.gslb.test.",
        "gslb.test.",
        "apex.test.",
        "lonely.example.",
    ] {
        let reply = server.both(&Ask::new(name, ANY));
        assert_eq!((reply.rcode(), reply.aa()), (0, true), "{name}");
        let [record] = reply.answers() else {
            panic!("{name}: {:?}", reply.answers())
        };
        assert_eq!(record.name.to_ascii(), name);
        let RData::HINFO(hinfo) = &record.data else {
            panic!("{record:?}")
        };
        assert_eq!((&*hinfo.cpu, &*hinfo.os), (&b"RFC8482"[..], &b""[..]));
        assert!(reply.message.authorities.is_empty());
    }
}

#[test]
fn s4_2_hinfo_itself_is_not_there() {
    let server = Server::start();
    let reply = server.both(&Ask::new("www.gslb.test.", HINFO));
    assert_eq!((reply.rcode(), reply.answers().len()), (0, 0));
}

#[test]
fn s4_empty_and_missing_names_stay_what_they_are() {
    let server = Server::start();
    let empty = server.both(&Ask::new("b.c.gslb.test.", ANY));
    assert_eq!((empty.rcode(), empty.answers().len()), (0, 0));
    assert!(empty.negative_soa().is_some());
    assert_eq!(server.both(&Ask::new("nope.gslb.test.", ANY)).rcode(), 3);
    assert_eq!(server.both(&Ask::new("example.net.", ANY)).rcode(), 5);
}

#[test]
fn s4_static_names_are_answered_small_too() {
    let server = Server::start();
    for name in [
        "host.static.test.",
        "static.test.",
        "both.gslb.test.",
        "web.static.test.",
        "many.static.test.",
    ] {
        let reply = server.both(&Ask::new(name, ANY));
        assert_eq!(
            (reply.rcode(), reply.aa(), reply.answers().len()),
            (0, true, 1),
            "{name}"
        );
        assert!(reply.shown_answers()[0].contains("RFC8482"), "{name}");
    }
    let own = server.both(&Ask::new("mail.static.test.", ANY));
    assert_eq!(own.shown_answers(), ["mail.static.test. HINFO 200 VAX UNIX"]);
}
