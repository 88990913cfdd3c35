//! RFC 6840, clarifications of DNSSEC: which bits come back, and what unsigned zones do with DO.

use crate::support::ask::{A, AAAA, Ask, DNSKEY};
use crate::support::dnssec::{self, Validator};
use gslb_dnssec::Algorithm;

#[test]
fn s5_7_an_authoritative_server_sets_neither_ad_nor_cd() {
    let server = dnssec::server(Algorithm::P256, false);
    for flags in [0x0020, 0x0010, 0x0030] {
        let reply = server.udp(&Ask::new("www.gslb.test.", A).dnssec_ok().flags(flags));
        assert_eq!(reply.flags() & 0x0030, 0);
        assert_eq!(reply.opt.unwrap().flags, 0x8000);
        assert_eq!(reply.message.answers.len(), 2);
    }
}

#[test]
fn s4_4_an_unsigned_zone_beside_signed_ones_answers_as_ever() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    for (name, qtype, rcode) in [
        ("www.short.test.", A, 0),
        ("nope.short.test.", A, 3),
        ("lonely.example.", AAAA, 0),
    ] {
        let reply = validator.verified(&Ask::new(name, qtype).dnssec_ok());
        assert_eq!(
            (reply.rcode(), reply.message.authorities.len()),
            (rcode, 1),
            "{name}"
        );
    }
}

#[test]
fn s5_11_large_answers_are_cut_whole() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    // Thirty addresses fit into 1232 octets, but not with their signature into 512.
    let ask = Ask::new("few.gslb.test.", A).dnssec_ok();
    let reply = server.udp(&ask);
    assert!(!reply.tc() && reply.raw.len() <= 1232);
    validator.verify(&reply);
    let cut = server.udp(&ask.clone().payload(512));
    assert!(cut.tc() && cut.raw.len() <= 512);
    assert_eq!((cut.answers().len(), cut.opt.is_some()), (0, true));
    let whole = validator.verified(&ask.payload(512));
    assert_eq!(whole.answers().len(), 31);
    // The keys of a zone fit into the smallest payload.
    let keys = server.udp(&Ask::new("gslb.test.", DNSKEY).dnssec_ok().payload(512));
    assert!(!keys.tc());
    validator.verify(&keys);
}
