//! From a plan to a message.

use crate::decide::Answer;
use crate::dnssec::Signer;
use crate::sections::{self, Source};
use crate::wire::{HEADER, MAX_PAYLOAD, PLAIN_PAYLOAD, Query, ReplyEdns, code, flag};
use gslb_engine::model::Rdata;
use gslb_engine::snapshot::CompiledZone;
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
/// header with TC, question and OPT (a part of an RRset would be of no use, RFC 2181 §9). With a signer, records of signed
/// zones are signed.
pub(crate) fn encode(
    source: Source<'_>,
    edns: Option<&ReplyEdns<'_>>,
    limit: u16,
    signer: Option<Signer<'_>>,
    out: &mut Vec<u8>,
) -> bool {
    let Source {
        query,
        plan,
        addresses,
        ..
    } = source;
    out.clear();
    // Room for the header, which is known at the end.
    out.extend_from_slice(&[0; HEADER]);
    out.extend_from_slice(query.question);
    let question_end = out.len();
    // The OPT record comes last and must always fit.
    let room = usize::from(limit).saturating_sub(edns.map_or(0, ReplyEdns::len));
    let plain = plan.aliases == 0 && signer.is_none();
    let mut counts = match plan.answer {
        Answer::Addresses { ttl } if plain => [write_addresses(&QUESTION_NAME, ttl, addresses, out), 0, 0],
        _ => match (plan.zone, plan.negative_ttl) {
            // Of negative answers there are many too.
            (Some(zone), Some(ttl)) if plain => [0, write_soa(query, zone, ttl, out), 0],
            _ => sections::write(source, room, signer, out),
        },
    };
    let truncated = out.len() > room;
    if truncated {
        out.truncate(question_end);
        counts = [0; 3];
    }
    if let Some(edns) = edns {
        edns.write(plan.rcode, out);
    }
    let mut flags = flag::QR | query.flags & flag::RD | plan.rcode & 0xf;
    if plan.is_authoritative() {
        flags |= flag::AA;
    }
    if truncated {
        flags |= flag::TC;
    }
    let [answers, authorities, additionals] = counts;
    let header = [
        query.id,
        flags,
        1,
        answers,
        authorities,
        additionals + u16::from(edns.is_some()),
    ];
    for (to, from) in out
        .iter_mut()
        .zip(header.iter().flat_map(|field| field.to_be_bytes()))
    {
        *to = from;
    }
    truncated
}

/// Writes A and AAAA records, nearly all that is ever written. `owner` is their name, or a pointer to it. Returns their
/// number.
pub(crate) fn write_addresses(owner: &[u8], ttl: u32, addresses: &[IpAddr], out: &mut Vec<u8>) -> u16 {
    let mut count = 0;
    for address in addresses {
        let (rtype, length) = match address {
            IpAddr::V4(_) => (code::A, 4),
            IpAddr::V6(_) => (code::AAAA, 16),
        };
        out.extend_from_slice(owner);
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

/// Writes the SOA of a negative answer, in the authority section. Returns the number of records.
fn write_soa(query: &Query<'_>, zone: &CompiledZone, ttl: u32, out: &mut Vec<u8>) -> u16 {
    let Some(data) = zone.soa_set.data.first().map(Rdata::as_wire) else {
        return 0;
    };
    write_name(query, zone, &zone.wire, out);
    out.extend_from_slice(&code::SOA.to_be_bytes());
    out.extend_from_slice(&code::CLASS_IN.to_be_bytes());
    out.extend_from_slice(&ttl.to_be_bytes());
    let length_at = out.len();
    out.extend_from_slice(&[0; 2]);
    // Behind the two names are five numbers (RFC 1035 §3.3.13).
    let (names, numbers) = data
        .split_at_checked(data.len().saturating_sub(20))
        .unwrap_or_default();
    let (first, second) = names.split_at_checked(first_name(names)).unwrap_or_default();
    write_name(query, zone, first, out);
    write_name(query, zone, second, out);
    out.extend_from_slice(numbers);
    let length = u16::try_from(out.len() - length_at - 2).unwrap_or(u16::MAX);
    for (to, from) in out.iter_mut().skip(length_at).zip(length.to_be_bytes()) {
        *to = from;
    }
    1
}

/// Octets of the name at the front.
fn first_name(wire: &[u8]) -> usize {
    let mut at = 0;
    while let Some(length) = wire.get(at) {
        at += 1 + usize::from(*length);
        if *length == 0 {
            break;
        }
    }
    at
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
