//! Verifies the signatures of replies, with hickory-proto.

use super::Server;
use super::ask::{Ask, DNSKEY};
use super::reply::Reply;
use super::world;
use gslb_dnssec::Algorithm;
use hickory_proto::dnssec::Verifier as _;
use hickory_proto::dnssec::rdata::{DNSKEY as Key, DNSSECRData, NSEC, RRSIG};
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Zones without keys; the second is made up for its service.
const UNSIGNED: [&str; 2] = ["short.test.", "lonely.example."];

/// A resolver that trusts the keys that each zone shows.
pub struct Validator<'s> {
    server: &'s Server,
    keys: BTreeMap<String, Vec<Key>>,
}

/// A server of the signed world.
pub fn server(algorithm: Algorithm, one_key: bool) -> Server {
    let server = Server::start();
    server.cell.store(Arc::new(world::signed(algorithm, one_key)));
    server
}

pub fn rrsig(record: &Record) -> Option<&RRSIG> {
    match &record.data {
        RData::DNSSEC(DNSSECRData::RRSIG(rrsig)) => Some(rrsig),
        _ => None,
    }
}

/// The one NSEC of the authority section: owner, next name, types.
pub fn nsec(reply: &Reply) -> Option<(String, String, Vec<RecordType>)> {
    nsec_in(&reply.message.authorities)
}

/// The one NSEC of a section.
pub fn nsec_in(section: &[Record]) -> Option<(String, String, Vec<RecordType>)> {
    let found = |record: &Record| match &record.data {
        RData::DNSSEC(DNSSECRData::NSEC(nsec)) => Some(shown(record, nsec)),
        _ => None,
    };
    let mut all = section.iter().filter_map(found);
    let first = all.next();
    assert_eq!(all.next(), None, "one NSEC is enough");
    first
}

fn shown(record: &Record, nsec: &NSEC) -> (String, String, Vec<RecordType>) {
    let types = nsec.type_bit_maps().collect();
    (record.name.to_ascii(), nsec.next_domain_name().to_ascii(), types)
}

fn now() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u32::try_from(since.as_secs()).unwrap()
}

impl<'s> Validator<'s> {
    pub fn new(server: &'s Server) -> Self {
        Self {
            server,
            keys: BTreeMap::new(),
        }
    }

    /// Asks over UDP and TCP with DO, and verifies.
    pub fn ask(&mut self, name: &str, qtype: u16) -> Reply {
        self.verified(&Ask::new(name, qtype).dnssec_ok())
    }

    /// Asks over TCP, and over UDP when the reply fits, and verifies.
    pub fn verified(&mut self, ask: &Ask) -> Reply {
        let reply = self.server.tcp(ask);
        self.verify(&reply);
        reply
    }

    /// Every set of the first two sections has one signature, which is right; a referral's name servers have none.
    pub fn verify(&mut self, reply: &Reply) {
        let referral = !reply.aa();
        self.section(&reply.message.answers, false);
        self.section(&reply.message.authorities, referral);
        assert!(
            reply
                .message
                .additionals
                .iter()
                .all(|record| rrsig(record).is_none())
        );
    }

    fn section(&mut self, records: &[Record], referral: bool) {
        let mut sets: BTreeMap<(String, RecordType), Vec<&Record>> = BTreeMap::new();
        for record in records.iter().filter(|record| rrsig(record).is_none()) {
            let key = (record.name.to_lowercase().to_ascii(), record.record_type());
            sets.entry(key).or_default().push(record);
        }
        let signatures = records.iter().filter_map(|record| Some((record, rrsig(record)?)));
        let mut signatures: Vec<_> = signatures.collect();
        for ((name, rtype), set) in sets {
            let covers = |(record, rrsig): &(&Record, &RRSIG)| {
                record.name.to_lowercase().to_ascii() == name && rrsig.input().type_covered == rtype
            };
            let (own, rest) = signatures.into_iter().partition(covers);
            signatures = rest;
            let own: Vec<_> = own;
            // A set is as old as its zone says: the whole set has one TTL (RFC 2181 §5.2).
            assert!(
                set.iter().all(|record| record.ttl == set[0].ttl),
                "{name} {rtype}"
            );
            if referral && rtype == RecordType::NS || UNSIGNED.iter().any(|zone| name.ends_with(zone)) {
                assert_eq!(own.len(), 0, "{name} {rtype} is not ours to sign");
                continue;
            }
            let signer = own.first().map(|(_, rrsig)| rrsig.input().signer_name.clone());
            let signer = signer.unwrap_or_else(|| panic!("{name} {rtype} has no signature"));
            // While keys change, each that a DS may name signs the key set.
            let wanted = match rtype {
                RecordType::DNSKEY | RecordType::CDS | RecordType::CDNSKEY => self
                    .keys(&signer)
                    .iter()
                    .filter(|key| key.secure_entry_point())
                    .count(),
                _ => 1,
            };
            assert_eq!(own.len(), wanted, "signatures of {name} {rtype}");
            for (record, rrsig) in own {
                self.signature(record, rrsig, &set);
            }
        }
        assert_eq!(signatures.len(), 0, "signatures of nothing: {signatures:?}");
    }

    /// Verifies one signature of a set (RFC 4035 §5.3).
    fn signature(&mut self, record: &Record, rrsig: &RRSIG, set: &[&Record]) {
        let input = rrsig.input();
        let rtype = input.type_covered;
        assert_eq!((record.ttl, input.original_ttl), (set[0].ttl, set[0].ttl));
        // An asterisk in front is no label; nothing comes from a wildcard as far as anybody can see.
        assert_eq!(input.num_labels, record.name.num_labels(), "{record}");
        let (now, week) = (now(), 7 * 86_400);
        assert!(input.sig_inception.get() < now - 3500 && now + week <= input.sig_expiration.get());
        let of_key_set = matches!(rtype, RecordType::DNSKEY | RecordType::CDS | RecordType::CDNSKEY);
        let keys = self.keys(&input.signer_name);
        let one = keys.iter().all(Key::secure_entry_point);
        let key = keys
            .iter()
            .find(|key| key.calculate_key_tag().unwrap() == input.key_tag)
            .expect("the key of the signature is in the key set");
        assert_eq!(key.secure_entry_point(), one || of_key_set, "{rtype}");
        assert!(key.zone_key());
        key.verify_rrsig(&set[0].name, DNSClass::IN, rrsig, set.iter().copied())
            .unwrap_or_else(|e| panic!("{e}: {record}"));
    }

    fn keys(&mut self, zone: &Name) -> &[Key] {
        let name = zone.to_ascii();
        if !self.keys.contains_key(&name) {
            let reply = self.server.tcp(&Ask::new(&name, DNSKEY));
            let keys = reply.answers().iter().map(|record| match &record.data {
                RData::DNSSEC(DNSSECRData::DNSKEY(key)) => key.clone(),
                other => panic!("{other} among the keys"),
            });
            let keys: Vec<Key> = keys.collect();
            assert!(!keys.is_empty(), "{name} has keys");
            self.keys.insert(name.clone(), keys);
        }
        &self.keys[&name]
    }
}
