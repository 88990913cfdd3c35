//! RFC 4035 §3.1: which zone answers around a delegation, and what is signed where.

use crate::support::Server;
use crate::support::ask::{A, ANY, Ask, CDNSKEY, CDS, CNAME, DNSKEY, DS, NSEC, RRSIG, TXT};
use crate::support::dnssec::{self, Validator};
use gslb_dnssec::Algorithm;

#[test]
fn s3_1_4_1_the_parent_answers_for_ds() {
    let server = Server::start();
    for name in ["signed.static.test.", "kid.static.test."] {
        let reply = server.both(&Ask::new(name, DS));
        assert_eq!(
            (reply.rcode(), reply.aa(), reply.answers().len()),
            (0, true, 1),
            "{name}"
        );
    }
    // A delegation that is not signed: there is no DS, and the zone above says so.
    let reply = server.both(&Ask::new("sub.static.test.", DS));
    assert_eq!((reply.rcode(), reply.aa(), reply.answers().len()), (0, true, 0));
    assert_eq!(reply.negative_soa(), Some(("static.test.".into(), 60)));
    // At the service's name, and at the topmost zone that is here.
    for (name, soa) in [
        ("svc.static.test.", "static.test."),
        ("static.test.", "static.test."),
    ] {
        assert_eq!(
            server.both(&Ask::new(name, DS)).negative_soa(),
            Some((soa.into(), 60))
        );
    }
    let reply = server.both(&Ask::new("signed.static.test.", A));
    assert_eq!((reply.aa(), reply.message.authorities.len()), (false, 1));
}

#[test]
fn s3_1_4_below_a_delegation_the_records_of_dnssec_are_those_of_others() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    for name in ["sub.static.test.", "ns.sub.static.test."] {
        for qtype in [DNSKEY, NSEC, RRSIG, CDS, CDNSKEY, ANY] {
            let reply = validator.ask(name, qtype);
            assert_eq!((reply.rcode(), reply.aa()), (0, false), "{name} {qtype}");
            assert_eq!(reply.answers(), [], "{name} {qtype}");
            let (owner, _, _) = dnssec::nsec(&reply).unwrap();
            assert_eq!(owner, "sub.static.test.", "the proof that there is no DS");
        }
    }
}

#[test]
fn what_a_wildcard_leads_to_is_signed_at_the_name_asked_for() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    for (name, qtype, answers) in [
        ("q.cdn.static.test.", A, 5),
        ("q.cdn.static.test.", CNAME, 2),
        ("q.cdn.static.test.", ANY, 2),
        ("q.cdnsvc.static.test.", A, 4),
    ] {
        let reply = validator.ask(name, qtype);
        assert_eq!(
            (reply.rcode(), reply.answers().len()),
            (0, answers),
            "{name} {qtype}"
        );
        assert_eq!(reply.answers()[0].name.to_ascii(), name);
    }
    // The last name has no such type, or there is no such name: the proof is about that one.
    for (name, owner) in [
        ("q.cdn.static.test.", "host.static.test."),
        ("al.static.test.", "nope.static.test."),
    ] {
        let reply = validator.ask(name, TXT);
        assert_eq!((reply.rcode(), reply.answers().len()), (0, 2), "{name}");
        assert_eq!(dnssec::nsec(&reply).unwrap().0, owner);
    }
}
