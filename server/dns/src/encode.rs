//! From a plan to a message.
//!
//! hickory-proto writes the rarer records; the frame around them is ours: hickory's own response type loses the OPT
//! record when a message is truncated, and does not compress an owner against the question. Addresses and the SOA of
//! negative answers, nearly all that is ever written, are written without it.

use crate::decide::{Answer, Plan};
use crate::wire::{HEADER, MAX_PAYLOAD, PLAIN_PAYLOAD, Query, ReplyEdns, code, flag};
use gslb_engine::snapshot::CompiledZone;
use hickory_proto::ProtoError;
use hickory_proto::rr::rdata::{HINFO, NS};
use hickory_proto::rr::{Name, RData, Record};
use hickory_proto::serialize::binary::{BinDecodable, BinDecoder, BinEncodable, BinEncoder};
use std::net::IpAddr;

/// A pointer to the question's name (RFC 1035 §4.1.4).
const QUESTION_NAME: [u8; 2] = [0xc0, HEADER as u8];

/// How long a reply may be, over UDP for this query.
pub(crate) fn udp_limit(query: &Query<'_>) -> u16 {
    query
        .edns
        .map_or(PLAIN_PAYLOAD, |edns| edns.payload.min(MAX_PAYLOAD))
}

/// Writes the reply over `out`, with at most `limit` octets. Returns whether it was truncated: then it holds nothing but
/// header with TC, question and OPT (a part of an RRset would be of no use, RFC 2181 §9).
///
/// # Errors
/// When a record cannot be encoded, which is a defect. `out` holds rubbish then.
pub(crate) fn encode(
    query: &Query<'_>,
    plan: &Plan<'_>,
    addresses: &[IpAddr],
    edns: Option<&ReplyEdns<'_>>,
    limit: u16,
    out: &mut Vec<u8>,
) -> Result<bool, ProtoError> {
    out.clear();
    // Room for the header, which is known at the end.
    out.extend_from_slice(&[0; HEADER]);
    out.extend_from_slice(query.question);
    let question_end = out.len();
    let [mut answers, mut authorities] = match plan.answer {
        Answer::Addresses { ttl } => [write_addresses(ttl, addresses, out), 0],
        _ => write_records(query, plan, out)?,
    };
    // Records are written whole and measured afterwards, because hickory counts a name before it is compressed. The OPT
    // record comes last and must always fit.
    let room = usize::from(limit).saturating_sub(edns.map_or(0, ReplyEdns::len));
    let truncated = out.len() > room;
    if truncated {
        out.truncate(question_end);
        [answers, authorities] = [0, 0];
    }
    if let Some(edns) = edns {
        edns.write(plan.rcode, out);
    }
    let mut flags = flag::QR | query.flags & flag::RD | plan.rcode & 0xf;
    if plan.zone.is_some() {
        flags |= flag::AA;
    }
    if truncated {
        flags |= flag::TC;
    }
    let header = [
        query.id,
        flags,
        1,
        answers,
        authorities,
        u16::from(edns.is_some()),
    ];
    for (to, from) in out
        .iter_mut()
        .zip(header.iter().flat_map(|field| field.to_be_bytes()))
    {
        *to = from;
    }
    Ok(truncated)
}

/// Writes A and AAAA records, nearly all that is ever written: the owner is a pointer to the question. Returns their
/// number.
fn write_addresses(ttl: u32, addresses: &[IpAddr], out: &mut Vec<u8>) -> u16 {
    let mut count = 0;
    for address in addresses {
        let (rtype, length) = match address {
            IpAddr::V4(_) => (code::A, 4),
            IpAddr::V6(_) => (code::AAAA, 16),
        };
        out.extend_from_slice(&QUESTION_NAME);
        out.extend_from_slice(&rtype.to_be_bytes());
        out.extend_from_slice(&code::CLASS_IN.to_be_bytes());
        out.extend_from_slice(&ttl.to_be_bytes());
        out.extend_from_slice(&[0, length]);
        match address {
            IpAddr::V4(v4) => out.extend_from_slice(&v4.octets()),
            IpAddr::V6(v6) => out.extend_from_slice(&v6.octets()),
        }
        count += 1;
    }
    count
}

/// Writes the other answers and the authority section. Returns the numbers of answer and authority records.
fn write_records(query: &Query<'_>, plan: &Plan<'_>, out: &mut Vec<u8>) -> Result<[u16; 2], ProtoError> {
    let Some(zone) = plan.zone else { return Ok([0, 0]) };
    let answers = match plan.answer {
        Answer::None | Answer::Addresses { .. } => 0,
        Answer::Soa => {
            out.extend_from_slice(&QUESTION_NAME);
            write_soa(query, zone, zone.soa.ttl, out);
            1
        }
        Answer::Hinfo { .. } | Answer::NameServers => write_by_hickory(query, plan, zone, out)?,
    };
    let authorities = match plan.negative_ttl {
        Some(ttl) => {
            write_name(query, zone, &zone.wire, out);
            write_soa(query, zone, ttl, out);
            1
        }
        None => 0,
    };
    Ok([answers, authorities])
}

/// Writes the rarer answers. Returns their number.
fn write_by_hickory(
    query: &Query<'_>,
    plan: &Plan<'_>,
    zone: &CompiledZone,
    out: &mut Vec<u8>,
) -> Result<u16, ProtoError> {
    let offset = u32::try_from(out.len()).unwrap_or(u32::MAX);
    let encoder = &mut BinEncoder::with_offset(out, offset);
    let owner = question_name(query, encoder)?;
    match plan.answer {
        Answer::None | Answer::Addresses { .. } | Answer::Soa => Ok(0),
        Answer::Hinfo { ttl } => {
            let hinfo = HINFO::new("RFC8482".to_owned(), String::new());
            Record::from_rdata(owner, ttl, RData::HINFO(hinfo)).emit(encoder)?;
            Ok(1)
        }
        Answer::NameServers => {
            let mut count = 0;
            for server in &zone.name_servers {
                let target = RData::NS(NS(wire_name(&server.to_wire())?));
                Record::from_rdata(owner.clone(), zone.ns_ttl, target).emit(encoder)?;
                count += 1;
            }
            Ok(count)
        }
    }
}

/// Writes all of a SOA record but its owner: every negative answer has one.
fn write_soa(query: &Query<'_>, zone: &CompiledZone, ttl: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&code::SOA.to_be_bytes());
    out.extend_from_slice(&code::CLASS_IN.to_be_bytes());
    out.extend_from_slice(&ttl.to_be_bytes());
    let length_at = out.len();
    out.extend_from_slice(&[0; 2]);
    write_name(query, zone, &zone.soa.mname.to_wire(), out);
    write_name(query, zone, &zone.soa.rname.to_wire(), out);
    let soa = &zone.soa;
    for field in [zone.serial, soa.refresh, soa.retry, soa.expire, soa.minimum] {
        out.extend_from_slice(&field.to_be_bytes());
    }
    let length = u16::try_from(out.len() - length_at - 2).unwrap_or(u16::MAX);
    for (to, from) in out.iter_mut().skip(length_at).zip(length.to_be_bytes()) {
        *to = from;
    }
}

/// Writes a name of the zone, compressed: the apex stands at the end of the question (RFC 1035 §4.1.4).
fn write_name(query: &Query<'_>, zone: &CompiledZone, name: &[u8], out: &mut Vec<u8>) {
    let apex = match query.name.as_wire().strip_suffix(&*zone.wire) {
        // The root is shorter than a pointer to it.
        Some(before) if zone.wire.len() > 1 => u16::try_from(HEADER + before.len()).ok(),
        _ => None,
    };
    let mut rest = name;
    while let Some((&length, after)) = rest.split_first() {
        if let Some(at) = apex
            && *rest == *zone.wire
        {
            out.extend_from_slice(&(0xc000 | at).to_be_bytes());
            return;
        }
        let (label, next) = after.split_at_checked(length.into()).unwrap_or_default();
        out.push(length);
        out.extend_from_slice(label);
        rest = next;
    }
}

/// The question's name in the case it came in, and every label of it known to the encoder as a target of pointers.
fn question_name(query: &Query<'_>, encoder: &mut BinEncoder<'_>) -> Result<Name, ProtoError> {
    let name = query.name.as_wire();
    // The encoder compares names without the root label.
    let end = (HEADER + name.len()).saturating_sub(1);
    let mut at = HEADER;
    let mut rest = name;
    while let Some((&length, after)) = rest.split_first()
        && length > 0
    {
        encoder.store_label_pointer(at, end);
        at += 1 + usize::from(length);
        rest = after.get(length.into()..).unwrap_or_default();
    }
    wire_name(query.question)
}

fn wire_name(wire: &[u8]) -> Result<Name, ProtoError> {
    Ok(Name::read(&mut BinDecoder::new(wire))?)
}
