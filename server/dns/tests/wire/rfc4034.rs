//! RFC 4034, the records of DNSSEC: keys, signatures, and what says which types a name has.

use crate::support::Server;
use crate::support::ask::{
    A, AAAA, ANY, Ask, CDNSKEY, CDS, DNSKEY, DS, HTTPS, MX, NS, NSEC, RRSIG, SOA, SRV, TXT,
};
use crate::support::dnssec::{self, Validator};
use gslb_dnssec::Algorithm;
use hickory_proto::dnssec::DigestType;
use hickory_proto::dnssec::rdata::DNSSECRData;
use hickory_proto::rr::{Name, RData, RecordType};

#[test]
fn s2_keys_of_both_algorithms_alone_and_in_pairs() {
    for algorithm in [Algorithm::P256, Algorithm::Ed25519] {
        for one_key in [false, true] {
            let server = dnssec::server(algorithm, one_key);
            let mut validator = Validator::new(&server);
            let keys = validator.ask("gslb.test.", DNSKEY);
            assert_eq!(keys.answers().len(), if one_key { 2 } else { 3 });
            for (name, qtype) in [("gslb.test.", SOA), ("www.gslb.test.", A), ("gslb.test.", CDS)] {
                assert_eq!(validator.ask(name, qtype).answers().len(), 2, "{name} {qtype}");
            }
            assert_eq!(validator.ask("gslb.test.", CDNSKEY).answers().len(), 2);
        }
    }
}

#[test]
fn s5_1_the_cds_is_the_digest_of_the_key_that_signs_keys() {
    let server = dnssec::server(Algorithm::P256, false);
    let keys = server.tcp(&Ask::new("gslb.test.", DNSKEY));
    let ksk = keys.answers().iter().find_map(|record| match &record.data {
        RData::DNSSEC(DNSSECRData::DNSKEY(key)) if key.secure_entry_point() => Some(key),
        _ => None,
    });
    let ksk = ksk.unwrap();
    let digest = ksk
        .to_digest(&Name::from_ascii("gslb.test.").unwrap(), DigestType::SHA256)
        .unwrap();
    let hex: String = digest
        .as_ref()
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect();
    let cds = server.tcp(&Ask::new("gslb.test.", CDS)).shown_answers();
    assert_eq!(cds.len(), 1);
    let shown = cds[0].to_lowercase();
    assert!(shown.contains(&hex), "{shown}: {hex}");
    assert!(
        shown.contains(&ksk.calculate_key_tag().unwrap().to_string()),
        "{shown}"
    );
}

#[test]
fn s3_every_kind_of_answer_is_signed() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    for (name, qtype) in [
        ("www.gslb.test.", A),
        ("www.gslb.test.", AAAA),
        ("wWw.GsLb.TeSt.", A),
        ("mixed.gslb.test.", A),
        ("saved.gslb.test.", AAAA),
        ("any.wild.gslb.test.", A),
        ("*.wild.gslb.test.", A),
        ("apex.test.", A),
        ("apex.test.", SOA),
        ("apex.test.", NS),
        ("static.test.", MX),
        ("STATIC.test.", MX),
        ("static.test.", TXT),
        ("host.static.test.", A),
        ("_sip._tcp.static.test.", SRV),
        ("web.static.test.", HTTPS),
        ("both.gslb.test.", HTTPS),
        ("both.gslb.test.", ANY),
        ("mail.static.test.", ANY),
        ("signed.static.test.", DS),
        ("kid.static.test.", DS),
    ] {
        let reply = validator.ask(name, qtype);
        let signatures = reply
            .answers()
            .iter()
            .filter(|record| dnssec::rrsig(record).is_some());
        assert_eq!(
            (reply.rcode(), reply.aa(), signatures.count()),
            (0, true, 1),
            "{name} {qtype}"
        );
    }
}

#[test]
fn s3_each_alias_is_signed_by_its_own_zone() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    // Two aliases and two addresses of one zone.
    assert_eq!(validator.ask("a1.static.test.", A).answers().len(), 2 + 2 + 2 + 1);
    assert_eq!(
        validator.ask("any.cdn.static.test.", A).answers().len(),
        1 + 1 + 2 + 1
    );
    let reply = validator.ask("togeo.static.test.", A);
    let signers = reply.answers().iter().filter_map(dnssec::rrsig);
    let signers: Vec<String> = signers
        .map(|rrsig| rrsig.input().signer_name.to_ascii())
        .collect();
    assert_eq!(signers, ["static.test.", "gslb.test."]);
    // The chain leaves this server, and leads below a delegation.
    assert_eq!(validator.ask("out.static.test.", A).answers().len(), 2);
    let below = server.tcp(&Ask::new("tosub.static.test.", A).dnssec_ok());
    assert_eq!(below.answers().len(), 2);
    assert!(dnssec::nsec(&below).is_some());
    // And at what does not exist, and what has no addresses now.
    for name in ["al.static.test.", "todown.static.test."] {
        let reply = validator.ask(name, A);
        assert_eq!((reply.rcode(), reply.answers().len()), (0, 2), "{name}");
        assert!(dnssec::nsec(&reply).is_some(), "{name}");
    }
}

#[test]
fn s3_steered_answers_are_signed_as_they_are() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    let mut seen = Vec::new();
    for subnet in ["198.51.100.0/24", "203.0.113.0/24", "100.64.0.0/24"] {
        for _ in 0..3 {
            let reply = validator.verified(&Ask::new("geo.gslb.test.", A).dnssec_ok().ecs(subnet));
            seen.extend(reply.addresses());
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 2, "subnets get different members");
}

#[test]
fn s3_five_hundred_turns_of_round_robin() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    let mut sets = std::collections::BTreeSet::new();
    for _ in 0..500 {
        let reply = validator.ask("round.gslb.test.", A);
        assert_eq!(reply.answers().len(), 4);
        sets.insert(reply.addresses());
    }
    assert!(sets.len() > 30, "{} different answers", sets.len());
}

#[test]
fn s3_members_that_die() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    let snapshot = server.cell.load_full();
    let pool = &snapshot.pools().find(|pool| pool.members.len() == 128).unwrap();
    for member in &pool.members {
        member.slot.set_score(0.0);
        for qtype in [A, AAAA] {
            validator.ask("round.gslb.test.", qtype);
        }
    }
    let reply = validator.ask("round.gslb.test.", A);
    assert_eq!(reply.answers().len(), 0);
    // The other family, which is asked for by nobody here, stays in the map.
    let (_, _, types) = dnssec::nsec(&reply).unwrap();
    assert_eq!(types, [RecordType::AAAA, RecordType::RRSIG, RecordType::NSEC]);
}

#[test]
fn s4_the_types_of_a_name_can_be_asked_for() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    for (name, types) in [
        ("www.gslb.test.", "A AAAA RRSIG NSEC"),
        ("v4.gslb.test.", "A RRSIG NSEC"),
        ("down.gslb.test.", "A AAAA RRSIG NSEC"),
        ("saved.gslb.test.", "A AAAA RRSIG NSEC"),
        ("both.gslb.test.", "A MX TXT AAAA RRSIG NSEC HTTPS"),
        ("a1.static.test.", "CNAME RRSIG NSEC"),
        ("b.c.static.test.", "RRSIG NSEC"),
        ("static.test.", "NS SOA MX TXT RRSIG NSEC DNSKEY CDS CDNSKEY"),
        ("apex.test.", "A NS SOA TXT RRSIG NSEC DNSKEY CDS CDNSKEY"),
    ] {
        let reply = validator.ask(name, NSEC);
        assert_eq!(reply.answers().len(), 2, "{name}");
        let shown = reply.shown_answers()[0].clone();
        assert!(shown.ends_with(types), "{name}: {shown}");
        // One signature stands for all.
        let signature = server.tcp(&Ask::new(name, RRSIG));
        assert_eq!(signature.answers().len(), 1, "{name}");
        assert_eq!(
            dnssec::rrsig(&signature.answers()[0])
                .unwrap()
                .input()
                .type_covered,
            RecordType::NSEC
        );
    }
    // Where nothing is signed there is nothing of all this.
    for qtype in [NSEC, RRSIG, DNSKEY, CDS] {
        assert_eq!(
            server
                .tcp(&Ask::new("www.short.test.", qtype).dnssec_ok())
                .answers()
                .len(),
            0
        );
        assert_eq!(
            server
                .tcp(&Ask::new("short.test.", qtype).dnssec_ok())
                .answers()
                .len(),
            0
        );
    }
}

#[test]
fn s3_1_5_a_signature_is_the_same_for_the_same_records() {
    // ECDSA makes another signature each time: these come from the cache.
    let server = dnssec::server(Algorithm::P256, false);
    let ask = Ask::new("v4.gslb.test.", A).dnssec_ok();
    let first = server.udp(&ask);
    for _ in 0..5 {
        assert_eq!(server.udp(&ask).raw, first.raw);
    }
}

#[test]
fn s3_without_dnssec_ok_nothing_is_added() {
    let server = Server::start();
    let asks: Vec<Ask> = [
        ("www.gslb.test.", A),
        ("nope.gslb.test.", A),
        ("v4.gslb.test.", AAAA),
        ("a1.static.test.", A),
        ("x.sub.static.test.", A),
        ("b.c.static.test.", A),
    ]
    .into_iter()
    .flat_map(|(name, qtype)| [Ask::new(name, qtype), Ask::new(name, qtype).edns()])
    .collect();
    let plain: Vec<Vec<u8>> = asks.iter().map(|ask| server.both(ask).raw).collect();
    let snapshot = crate::support::world::signed(Algorithm::P256, false);
    server.cell.store(std::sync::Arc::new(snapshot));
    for (ask, plain) in asks.iter().zip(plain) {
        assert_eq!(server.both(ask).raw, plain, "{ask:?}");
    }
}
