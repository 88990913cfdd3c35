//! From a plan to a message.
//!
//! hickory-proto writes the records; the frame around them is ours, for two reasons: hickory's own response type loses
//! the OPT record when a message is truncated, and does not compress an owner against the question.

use crate::decide::{Answer, Plan};
use crate::wire::{HEADER, MAX_PAYLOAD, PLAIN_PAYLOAD, Query, ReplyEdns, flag};
use gslb_engine::snapshot::CompiledZone;
use hickory_proto::ProtoError;
use hickory_proto::rr::rdata::{A, AAAA, HINFO, NS, SOA};
use hickory_proto::rr::{Name, RData, Record};
use hickory_proto::serialize::binary::{BinDecodable, BinDecoder, BinEncodable, BinEncoder};
use std::net::IpAddr;

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
    // hickory writes names in full before it shortens them, so that its own limit would truncate too early: the length is
    // looked at afterwards.
    let written = match sections(query, plan, addresses, &mut BinEncoder::new(out)) {
        Err(ProtoError::MaxBufferSizeExceeded(_)) => None,
        counts => Some(counts?),
    };
    // The OPT record comes last and must always fit.
    let room = usize::from(limit).saturating_sub(edns.map_or(0, ReplyEdns::len));
    let written = written.filter(|_| out.len() <= room);
    let [answers, authorities] = written.unwrap_or_default();
    if written.is_none() {
        out.truncate(HEADER + query.question.len());
    }
    if let Some(edns) = edns {
        edns.write(plan.rcode, out);
    }
    let mut flags = flag::QR | query.flags & flag::RD | plan.rcode & 0xf;
    if plan.zone.is_some() {
        flags |= flag::AA;
    }
    if written.is_none() {
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
    Ok(written.is_none())
}

/// Writes everything between header and OPT. Returns the numbers of answer and authority records.
fn sections(
    query: &Query<'_>,
    plan: &Plan<'_>,
    addresses: &[IpAddr],
    encoder: &mut BinEncoder<'_>,
) -> Result<[u16; 2], ProtoError> {
    // Room for the header, which is known at the end.
    encoder.emit_vec(&[0; HEADER])?;
    encoder.emit_vec(query.question)?;
    let owner = question_name(query, encoder)?;
    let answers = match (plan.answer, plan.zone) {
        (Answer::None, _) => 0,
        (Answer::Addresses { ttl }, _) => each(encoder, addresses, |ip| Ok(address(&owner, ttl, *ip)))?,
        (Answer::Hinfo { ttl }, _) => each(encoder, &[()], |()| {
            let hinfo = HINFO::new("RFC8482".to_owned(), String::new());
            Ok(Record::from_rdata(owner.clone(), ttl, RData::HINFO(hinfo)))
        })?,
        (Answer::Soa, Some(zone)) => each(encoder, &[()], |()| soa(owner.clone(), zone, zone.soa.ttl))?,
        (Answer::NameServers, Some(zone)) => each(encoder, &zone.name_servers, |server| {
            let target = wire_name(&server.to_wire())?;
            Ok(Record::from_rdata(
                owner.clone(),
                zone.ns_ttl,
                RData::NS(NS(target)),
            ))
        })?,
        (Answer::Soa | Answer::NameServers, None) => 0,
    };
    let authorities = match (plan.negative_ttl, plan.zone) {
        (Some(ttl), Some(zone)) => each(encoder, &[()], |()| soa(wire_name(&zone.wire)?, zone, ttl))?,
        _ => 0,
    };
    Ok([answers, authorities])
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

fn each<T>(
    encoder: &mut BinEncoder<'_>,
    items: &[T],
    record: impl Fn(&T) -> Result<Record, ProtoError>,
) -> Result<u16, ProtoError> {
    let mut count = 0;
    for item in items {
        record(item)?.emit(encoder)?;
        count += 1;
    }
    Ok(count)
}

fn address(owner: &Name, ttl: u32, ip: IpAddr) -> Record {
    let data = match ip {
        IpAddr::V4(v4) => RData::A(A(v4)),
        IpAddr::V6(v6) => RData::AAAA(AAAA(v6)),
    };
    Record::from_rdata(owner.clone(), ttl, data)
}

fn soa(owner: Name, zone: &CompiledZone, ttl: u32) -> Result<Record, ProtoError> {
    // hickory keeps the intervals signed, as few others do; on the wire they are the same bits.
    let data = SOA::new(
        wire_name(&zone.soa.mname.to_wire())?,
        wire_name(&zone.soa.rname.to_wire())?,
        zone.serial,
        zone.soa.refresh.cast_signed(),
        zone.soa.retry.cast_signed(),
        zone.soa.expire.cast_signed(),
        zone.soa.minimum,
    );
    Ok(Record::from_rdata(owner, ttl, RData::SOA(data)))
}
