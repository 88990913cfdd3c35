//! RFC 9824, compact denial of existence.

use crate::support::ask::{A, AAAA, Ask, CNAME, DS, EDE, MX, NS, NSEC, NXNAME, RRSIG, SOA, TXT};
use crate::support::dnssec::{self, Validator};
use crate::support::{Server, world};
use gslb_dnssec::Algorithm;
use hickory_proto::rr::RecordType;

/// Types as numbers, sorted.
fn types(list: &[RecordType]) -> Vec<u16> {
    let mut types: Vec<u16> = list.iter().map(|rtype| u16::from(*rtype)).collect();
    types.sort_unstable();
    types
}

/// Asks, verifies, and returns response code and the NSEC's types; owner and next name are those of the name.
fn denied(validator: &mut Validator<'_>, name: &str, qtype: u16) -> (u16, Vec<u16>) {
    let reply = validator.verified(&Ask::new(name, qtype).dnssec_ok());
    let (owner, next, list) = dnssec::nsec(&reply).unwrap_or_else(|| panic!("{name} {qtype}: no NSEC"));
    assert_eq!(owner, name);
    assert_eq!(next, format!("\\000.{name}"));
    (reply.rcode(), types(&list))
}

#[test]
fn s3_1_a_name_that_does_not_exist() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    for (name, qtype) in [
        ("nope.gslb.test.", A),
        ("a.b.nope.gslb.test.", TXT),
        ("off.gslb.test.", A),
        ("nope.static.test.", DS),
        ("x.kid.static.test.", SOA),
    ] {
        assert_eq!(
            denied(&mut validator, name, qtype),
            (0, vec![46, 47, 128]),
            "{name}"
        );
    }
    // The record that proves it can be asked for: a proof that there is none would be one.
    let reply = validator.verified(&Ask::new("nope.gslb.test.", NSEC).dnssec_ok());
    assert_eq!((reply.rcode(), reply.answers().len()), (0, 2));
    let (owner, next, list) = dnssec::nsec_in(reply.answers()).unwrap();
    assert_eq!((&*owner, &*next), ("nope.gslb.test.", "\\000.nope.gslb.test."));
    assert_eq!(types(&list), [46, 47, 128]);
    let reply = server.tcp(&Ask::new("nope.gslb.test.", RRSIG).dnssec_ok());
    assert_eq!((reply.rcode(), reply.answers().len()), (0, 1));
    for qtype in [NSEC, RRSIG] {
        // With the true response code the proof stands where it always does.
        let reply = validator.verified(&Ask::new("nope.gslb.test.", qtype).compact_ok());
        assert_eq!((reply.rcode(), reply.answers().len()), (3, 0));
        assert_eq!(types(&dnssec::nsec(&reply).unwrap().2), [46, 47, 128]);
        assert_eq!(server.both(&Ask::new("nope.gslb.test.", qtype)).rcode(), 3);
    }
    // Who does not ask for signatures gets NXDOMAIN, as ever.
    for ask in [
        Ask::new("nope.gslb.test.", A),
        Ask::new("nope.gslb.test.", A).edns(),
    ] {
        assert_eq!(server.both(&ask).rcode(), 3);
    }
}

#[test]
fn s5_1_compact_ok_restores_the_response_code() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    let reply = validator.verified(&Ask::new("nope.gslb.test.", A).compact_ok());
    assert_eq!(
        (reply.rcode(), reply.opt.as_ref().map(|opt| opt.flags)),
        (3, Some(0xc000))
    );
    assert_eq!(types(&dnssec::nsec(&reply).unwrap().2), [46, 47, 128]);
    // At the end of aliases too (RFC 6604).
    let reply = validator.verified(&Ask::new("al.static.test.", A).compact_ok());
    assert_eq!((reply.rcode(), reply.answers().len()), (3, 2));
    // What exists is no name error.
    for (name, qtype) in [
        ("www.gslb.test.", TXT),
        ("b.c.gslb.test.", A),
        ("www.gslb.test.", A),
    ] {
        assert_eq!(
            validator.verified(&Ask::new(name, qtype).compact_ok()).rcode(),
            0,
            "{name}"
        );
    }
}

#[test]
fn s3_2_a_type_that_is_not_there() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    for (name, qtype, expected) in [
        ("v4.gslb.test.", AAAA, vec![1, 46, 47]),
        ("www.gslb.test.", TXT, vec![1, 28, 46, 47]),
        ("www.gslb.test.", CNAME, vec![1, 28, 46, 47]),
        ("host.static.test.", MX, vec![1, 28, 46, 47, 65280]),
        ("gslb.test.", A, vec![2, 6, 46, 47, 48, 59, 60]),
        ("apex.test.", AAAA, vec![1, 2, 6, 16, 46, 47, 48, 59, 60]),
        // Below a wildcard every name is as if it existed.
        ("any.wild.gslb.test.", TXT, vec![1, 28, 46, 47]),
        ("svc.static.test.", AAAA, vec![1, 16, 46, 47]),
    ] {
        assert_eq!(
            denied(&mut validator, name, qtype),
            (0, expected),
            "{name} {qtype}"
        );
    }
}

#[test]
fn s3_2_1_an_empty_non_terminal() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    for name in [
        "b.c.gslb.test.",
        "c.gslb.test.",
        "b.c.static.test.",
        "wild.gslb.test.",
        "x.e.static.test.",
    ] {
        assert_eq!(denied(&mut validator, name, A), (0, vec![46, 47]), "{name}");
    }
}

#[test]
fn s3_2_what_just_now_has_no_address_leaves_out_the_type_asked_for() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    // All members down, and fewer than the pool's minimum: what is left out of the map is asked for, nothing else.
    for (qtype, expected) in [
        (A, vec![28, 46, 47]),
        (AAAA, vec![1, 46, 47]),
        (TXT, vec![1, 28, 46, 47]),
    ] {
        assert_eq!(denied(&mut validator, "down.gslb.test.", qtype), (0, expected));
    }
    assert_eq!(denied(&mut validator, "gate.gslb.test.", A), (0, vec![46, 47]));
    assert_eq!(
        denied(&mut validator, "gate.gslb.test.", TXT),
        (0, vec![1, 46, 47])
    );
}

#[test]
fn s3_4_referrals() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    // A delegation without DS: the NSEC proves that there is none.
    for (name, qtype) in [
        ("sub.static.test.", A),
        ("x.sub.static.test.", A),
        ("sub.static.test.", NS),
    ] {
        let reply = validator.verified(&Ask::new(name, qtype).dnssec_ok());
        assert!(!reply.aa());
        let (owner, next, list) = dnssec::nsec(&reply).unwrap();
        assert_eq!((&*owner, &*next), ("sub.static.test.", "\\000.sub.static.test."));
        assert_eq!(types(&list), [2, 46, 47]);
        assert!(reply.message.additionals.len() >= 3, "the glue is there");
    }
    assert_eq!(
        denied(&mut validator, "sub.static.test.", DS),
        (0, vec![2, 46, 47])
    );
    // One with DS.
    let reply = validator.verified(&Ask::new("x.signed.static.test.", A).dnssec_ok());
    assert_eq!((reply.aa(), dnssec::nsec(&reply)), (false, None));
    let count = |rtype| {
        let records = reply.message.authorities.iter();
        records.filter(|record| record.record_type() == rtype).count()
    };
    assert_eq!(
        [RecordType::NS, RecordType::DS, RecordType::RRSIG].map(count),
        [1; 3]
    );
    // A zone that is here, below one that is here and does not know of it.
    assert_eq!(
        denied(&mut validator, "inner.gslb.test.", DS),
        (0, vec![2, 46, 47])
    );
    assert_eq!(
        denied(&mut validator, "inner.gslb.test.", TXT).1,
        [2, 6, 46, 47, 48, 59, 60]
    );
}

#[test]
fn s3_5_nobody_has_the_type_nxname() {
    let server = Server::start();
    for name in ["www.gslb.test.", "nope.gslb.test.", "example.net."] {
        let reply = server.both(&Ask::new(name, NXNAME).edns());
        assert_eq!((reply.rcode(), reply.answers().len()), (1, 0));
        assert_eq!(
            reply.option(EDE).map(|data| data[..2].to_vec()),
            Some(vec![0, 30])
        );
        assert_eq!(server.both(&Ask::new(name, NXNAME)).rcode(), 1);
    }
}

#[test]
fn s3_1_the_longest_names_have_a_next_one_too() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    let longest = world::longest_name();
    let reply = validator.verified(&Ask::new(&longest, TXT).dnssec_ok());
    let (owner, next, _) = dnssec::nsec(&reply).unwrap();
    assert_eq!(owner, longest);
    assert_eq!(
        next,
        longest.replacen(&"x".repeat(63), &format!("{}y", "x".repeat(62)), 1)
    );
}
