//! Static records in the three sections of a reply.

use crate::decide::{Answer, Plan};
use crate::encode::write_addresses;
use crate::lookup;
use crate::wire::{HEADER, Query, code};
use crate::writer::Writer;
use gslb_engine::model::{Rdata, RecordType};
use gslb_engine::snapshot::{CompiledSet, Found, Snapshot};
use std::net::IpAddr;

/// Most names whose addresses go into the additional section.
const MAX_TARGETS: usize = 16;

/// Writes answer, authority and additional section; the latter only as far as `room` octets of the message go. Returns
/// the numbers of records. What is longer than `room` then is one whose necessary part does not fit.
pub(crate) fn write(
    snapshot: &Snapshot,
    query: &Query<'_>,
    plan: &Plan<'_>,
    addresses: &[IpAddr],
    room: usize,
    out: &mut Vec<u8>,
) -> [u16; 3] {
    let Some(zone) = plan.zone else { return [0; 3] };
    let mut writer = Writer::new(out, HEADER);
    let (mut answers, owner) = aliases(snapshot, query.name.as_wire(), plan.aliases, &mut writer);
    let (mut authorities, mut additionals) = (0, 0);
    match &plan.answer {
        Answer::None => {}
        Answer::Addresses { ttl } => {
            for address in addresses {
                // The owner is written once and pointed to from then on.
                let mut name = Vec::new();
                writer.pointer(owner, &mut name);
                answers += write_addresses(&name, *ttl, std::slice::from_ref(address), writer.out());
            }
        }
        Answer::Hinfo { ttl } => {
            let data = b"\x07RFC8482\x00";
            writer.record(owner, code::HINFO, *ttl, data);
            answers += 1;
        }
        Answer::Set(set) => answers += writer.set(owner, set),
        Answer::Made(set) => answers += writer.set(owner, set),
        Answer::Referral { cut, records } => {
            if let Some(servers) = records.get(code::NS) {
                authorities += writer.set(cut, servers);
                additionals += glue(snapshot, cut, servers, room, &mut writer);
            }
        }
    }
    if let Some(ttl) = plan.negative_ttl {
        for rdata in &zone.soa_set.data {
            writer.record(&zone.wire, code::SOA, ttl, rdata.as_wire());
            authorities += 1;
        }
    }
    match &plan.answer {
        Answer::Set(set) => additionals += targets(snapshot, set, room, &mut writer),
        Answer::Made(set) => additionals += targets(snapshot, set, room, &mut writer),
        _ => {}
    }
    [answers, authorities, additionals]
}

/// Writes the aliases that lead from the question's name to the one that the rest is about. Returns their number, and
/// that name.
fn aliases<'a>(
    snapshot: &'a Snapshot,
    name: &'a [u8],
    count: u8,
    writer: &mut Writer<'_>,
) -> (u16, &'a [u8]) {
    let (mut written, mut owner) = (0, name);
    for _ in 0..count {
        // The same snapshot says the same as when the plan was made.
        let Found::Records { records, .. } = snapshot.find(owner) else {
            break;
        };
        let Some(set) = records.get(code::CNAME) else {
            break;
        };
        written += writer.set(owner, set);
        match lookup::alias(records, code::A) {
            Some(target) => owner = target,
            None => break,
        }
    }
    (written, owner)
}

/// Addresses of name servers at or below the delegated name: without these nobody finds them, and so they must fit
/// (RFC 9471 §2.1). Those of others are written if there is room.
fn glue(snapshot: &Snapshot, cut: &[u8], servers: &CompiledSet, room: usize, writer: &mut Writer<'_>) -> u16 {
    let target = |rdata| Rdata::target_wire(rdata, RecordType::NS);
    let (inside, outside): (Vec<&[u8]>, Vec<&[u8]>) = servers
        .data
        .iter()
        .filter_map(target)
        .partition(|name| is_within(name, cut));
    let mut count = 0;
    for name in inside {
        count += at(snapshot, name, usize::MAX, writer);
    }
    for name in outside.into_iter().take(MAX_TARGETS) {
        count += at(snapshot, name, room, writer);
    }
    count
}

/// Addresses of the names that an answer points to (RFC 1035 §3.3, RFC 2782, RFC 9460 §4.1). Services are left out: what
/// they answer is for those who ask for it.
fn targets(snapshot: &Snapshot, set: &CompiledSet, room: usize, writer: &mut Writer<'_>) -> u16 {
    if !matches!(
        set.rtype,
        code::NS | code::MX | code::SRV | code::SVCB | code::HTTPS
    ) {
        return 0;
    }
    set.data
        .iter()
        .filter_map(|rdata| rdata.target_wire(RecordType(set.rtype)))
        .take(MAX_TARGETS)
        .map(|name| at(snapshot, name, room, writer))
        .sum()
}

/// Writes the address records of a name, a set only when it fits.
fn at(snapshot: &Snapshot, name: &[u8], room: usize, writer: &mut Writer<'_>) -> u16 {
    let Some(records) = snapshot.records_at(name) else {
        return 0;
    };
    [code::A, code::AAAA]
        .into_iter()
        .filter_map(|rtype| records.get(rtype))
        .map(|set| writer.set_within(name, set, room))
        .sum()
}

/// Whether a name in wire form is another one or lies below it.
fn is_within(mut name: &[u8], other: &[u8]) -> bool {
    while name != other {
        match name.split_first() {
            Some((length, rest)) if *length > 0 => name = rest.get((*length).into()..).unwrap_or_default(),
            _ => return false,
        }
    }
    true
}
