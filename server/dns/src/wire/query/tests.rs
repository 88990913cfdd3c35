//! What hickory-proto writes is read here as it was meant; what is damaged is an error and nothing worse.

use super::*;
use crate::wire::flag::RD;
use hickory_proto::op::{Edns as HickoryEdns, Message, Query as Question, ResponseCode};
use hickory_proto::rr::rdata::opt::{ClientSubnet, EdnsCode, EdnsOption};
use hickory_proto::rr::{DNSClass, Name, Record, RecordType};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

fn labels() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 1..=63), 0..4)
}

/// A subnet without bits past its length, as `ClientSubnet` of both libraries.
fn subnet() -> impl Strategy<Value = (IpAddr, u8)> {
    let v4 = (any::<u32>(), 0..=32_u8).prop_map(|(bits, length)| {
        let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
        (IpAddr::V4(Ipv4Addr::from_bits(bits & mask)), length)
    });
    let v6 = (any::<u128>(), 0..=128_u8).prop_map(|(bits, length)| {
        let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
        (IpAddr::V6(Ipv6Addr::from_bits(bits & mask)), length)
    });
    prop_oneof![v4, v6]
}

type Options = (u16, bool, Option<(IpAddr, u8)>, bool, Vec<u8>);

fn edns() -> impl Strategy<Value = Option<Options>> {
    let unknown = prop::collection::vec(any::<u8>(), 0..40);
    prop::option::of((
        any::<u16>(),
        any::<bool>(),
        prop::option::of(subnet()),
        any::<bool>(),
        unknown,
    ))
}

fn write(id: u16, rd: bool, name: &[Vec<u8>], qtype: u16, class: u16, edns: Option<&Options>) -> Vec<u8> {
    let mut message = Message::query();
    message.metadata.id = id;
    message.metadata.recursion_desired = rd;
    let name = Name::from_labels(name.iter().map(Vec::as_slice)).unwrap();
    let mut question = Question::query(name, RecordType::from(qtype));
    question.set_query_class(DNSClass::from(class));
    message.add_query(question);
    // Records that are none of our business stand before and behind.
    message
        .authorities
        .push(Record::update0(Name::root(), 7, RecordType::TXT));
    message.edns = edns.map(|(payload, dnssec_ok, subnet, nsid, unknown)| {
        let mut edns = HickoryEdns::new();
        edns.set_max_payload(*payload)
            .set_version(0)
            .set_dnssec_ok(*dnssec_ok);
        edns.options_mut()
            .insert(EdnsOption::Unknown(65001, unknown.clone()));
        if let Some((address, length)) = subnet {
            edns.options_mut()
                .insert(EdnsOption::Subnet(ClientSubnet::new(*address, *length, 0)));
        }
        if *nsid {
            edns.options_mut()
                .insert(EdnsOption::Unknown(EdnsCode::NSID.into(), vec![]));
        }
        edns
    });
    message.to_vec().unwrap()
}

proptest! {
    #[test]
    fn reads_what_hickory_writes(
        id: u16, rd: bool, name in labels(), qtype: u16, class in prop_oneof![Just(1_u16), Just(3), Just(254)],
        edns in edns(),
    ) {
        let octets = write(id, rd, &name, qtype, class, edns.as_ref());
        let query = parse(&octets).unwrap_or_else(|e| panic!("{e:?}"));
        prop_assert_eq!((query.id, query.flags & RD != 0, query.qtype, query.qclass), (id, rd, qtype, class));
        let mut lower: Vec<u8> = name
            .iter()
            .flat_map(|label| [&[u8::try_from(label.len()).unwrap()], &label.to_ascii_lowercase()[..]].concat())
            .collect();
        lower.push(0);
        prop_assert_eq!(query.name.as_wire(), &lower[..]);
        prop_assert_eq!(query.question.len(), lower.len() + 4);
        prop_assert_eq!(query.edns.is_some(), edns.is_some());
        if let (Some(read), Some((payload, dnssec_ok, subnet, nsid, _))) = (query.edns, edns) {
            prop_assert_eq!((read.payload, read.dnssec_ok, read.nsid), (payload.max(512), dnssec_ok, nsid));
            prop_assert_eq!(read.subnet.map(|option| (option.subnet.address, option.subnet.source)), subnet);
        }
    }

    #[test]
    fn a_query_that_is_cut_anywhere_is_an_error(name in labels(), edns in edns(), at: prop::sample::Index) {
        let octets = write(1, true, &name, 1, 1, edns.as_ref());
        let cut = &octets[..at.index(octets.len())];
        match parse(cut) {
            Err(Rejection::Drop) => prop_assert!(cut.len() < HEADER),
            Err(Rejection::Answer(error)) => {
                prop_assert_eq!(error.rcode, rcode::FORMERR);
                let mut out = Vec::new();
                error.write(None, &mut out);
                let reply = Message::from_vec(&out).unwrap();
                prop_assert_eq!(reply.metadata.response_code, ResponseCode::FormErr);
            }
            Ok(_) => prop_assert!(false, "read {} of {} octets", cut.len(), octets.len()),
        }
    }

    #[test]
    fn any_octets_are_read_or_rejected(octets in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut out = Vec::new();
        match parse(&octets) {
            Ok(query) => prop_assert!(query.question.len() >= 5),
            Err(Rejection::Drop) => {}
            Err(Rejection::Answer(error)) => {
                error.write(None, &mut out);
                prop_assert!(out.len() <= 512);
            }
        }
    }
}
