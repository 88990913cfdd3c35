//! Static records in the three sections of a reply, and the signatures of what is signed.

use crate::alias::Picked;
use crate::decide::{Answer, Plan};
use crate::dnssec::{Nsec, Set, Signer, denial, nsec};
use crate::encode::write_addresses;
use crate::lookup;
use crate::wire::{HEADER, Query, code};
use crate::writer::Writer;
use gslb_engine::model::{Rdata, RecordType};
use gslb_engine::snapshot::{CompiledSet, CompiledZone, Found, Snapshot};
use std::net::IpAddr;

/// Most names whose addresses go into the additional section.
const MAX_TARGETS: usize = 16;

/// What a reply is made from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) query: &'a Query<'a>,
    pub(crate) plan: &'a Plan<'a>,
    /// The addresses that were decided on.
    pub(crate) addresses: &'a [IpAddr],
}

/// Writes answer, authority and additional section; the latter only as far as `room` octets of the message go. Returns
/// the numbers of records. What is longer than `room` then is one whose necessary part does not fit. With a signer, the
/// records of signed zones come with their signatures, and what does not exist with its proof.
pub(crate) fn write(
    source: Source<'_>,
    room: usize,
    signer: Option<Signer<'_>>,
    out: &mut Vec<u8>,
) -> [u16; 3] {
    let Source {
        snapshot,
        query,
        plan,
        addresses,
    } = source;
    let Some(zone) = plan.zone else { return [0; 3] };
    let mut pen = Pen {
        writer: Writer::new(out, HEADER),
        signer,
    };
    let (mut answers, owner) = aliases(source, &mut pen);
    let (mut authorities, mut additionals) = (0, 0);
    match &plan.answer {
        Answer::None => {}
        Answer::Addresses { ttl } => answers += pen.addresses(zone, owner, *ttl, addresses),
        Answer::Hinfo { ttl } => {
            let data = b"\x07RFC8482\x00";
            answers += pen.record(zone, owner, code::HINFO, *ttl, data);
        }
        Answer::Set(set) => answers += pen.set(zone, owner, set),
        Answer::Made(set) => answers += pen.set(zone, owner, set),
        Answer::Nsec => answers += pen.nsec(zone, owner, zone.negative_ttl(), nsec(snapshot, zone, owner)),
        Answer::Rrsig => {
            let data = nsec(snapshot, zone, owner).data(owner, &zone.wire);
            answers += pen.sign(zone, owner, code::NSEC, zone.negative_ttl(), &[&data]);
        }
        Answer::Referral { cut, records } => {
            if let Some(servers) = records.get(code::NS) {
                // These and the glue belong to the zone below, and are never signed (RFC 4035 §2.2).
                authorities += pen.writer.set(cut, servers);
                if pen.signs(zone) {
                    authorities += match records.get(code::DS) {
                        Some(set) => pen.set(zone, cut, set),
                        None => pen.nsec(zone, cut, zone.negative_ttl(), nsec(snapshot, zone, cut)),
                    };
                }
                additionals += glue(snapshot, cut, servers, room, &mut pen.writer);
            }
        }
    }
    if let Some(ttl) = plan.negative_ttl {
        for rdata in &zone.soa_set.data {
            authorities += pen.record(zone, &zone.wire, code::SOA, ttl, rdata.as_wire());
        }
        if pen.signs(zone) {
            // No longer than the SOA (RFC 9077 §3).
            authorities += pen.nsec(zone, owner, ttl, denial(snapshot, zone, owner, query.qtype));
        }
    }
    match &plan.answer {
        Answer::Set(set) => additionals += targets(snapshot, set, room, &mut pen.writer),
        Answer::Made(set) => additionals += targets(snapshot, set, room, &mut pen.writer),
        _ => {}
    }
    [answers, authorities, additionals]
}

/// Writes sets with their signatures. Each of its functions returns the number of records written.
#[derive(Debug)]
struct Pen<'o, 'c> {
    writer: Writer<'o>,
    signer: Option<Signer<'c>>,
}

impl Pen<'_, '_> {
    /// Whether what this zone says is signed.
    fn signs(&self, zone: &CompiledZone) -> bool {
        self.signer.is_some() && zone.signed.is_some()
    }

    /// Writes the signatures of a set, if it gets any.
    fn sign(&mut self, zone: &CompiledZone, owner: &[u8], rtype: u16, ttl: u32, data: &[&[u8]]) -> u16 {
        let (Some(signer), Some(signed)) = (&mut self.signer, &zone.signed) else {
            return 0;
        };
        let set = Set {
            owner,
            rtype,
            ttl,
            data,
        };
        let mut count = 0;
        for key in signed.keys(rtype) {
            if let Some(rrsig) = signer.rrsig(zone, key, set) {
                self.writer.record(owner, code::RRSIG, ttl, &rrsig);
                count += 1;
            }
        }
        count
    }

    fn record(&mut self, zone: &CompiledZone, owner: &[u8], rtype: u16, ttl: u32, data: &[u8]) -> u16 {
        self.writer.record(owner, rtype, ttl, data);
        1 + self.sign(zone, owner, rtype, ttl, &[data])
    }

    fn set(&mut self, zone: &CompiledZone, owner: &[u8], set: &CompiledSet) -> u16 {
        let mut count = self.writer.set(owner, set);
        if self.signs(zone) && count > 0 {
            let data: Vec<&[u8]> = set.data.iter().map(Rdata::as_wire).collect();
            count += self.sign(zone, owner, set.rtype, set.ttl, &data);
        }
        count
    }

    fn nsec(&mut self, zone: &CompiledZone, owner: &[u8], ttl: u32, nsec: Nsec) -> u16 {
        let data = nsec.data(owner, &zone.wire);
        self.record(zone, owner, code::NSEC, ttl, &data)
    }

    fn addresses(&mut self, zone: &CompiledZone, owner: &[u8], ttl: u32, addresses: &[IpAddr]) -> u16 {
        let mut count = 0;
        for address in addresses {
            // The owner is written once and pointed to from then on.
            let mut name = Vec::new();
            self.writer.pointer(owner, &mut name);
            count += write_addresses(&name, ttl, std::slice::from_ref(address), self.writer.out());
        }
        if self.signs(zone)
            && let Some(first) = addresses.first()
        {
            let rtype = if first.is_ipv4() { code::A } else { code::AAAA };
            let octets: Vec<Vec<u8>> = addresses.iter().map(octets).collect();
            let data: Vec<&[u8]> = octets.iter().map(Vec::as_slice).collect();
            count += self.sign(zone, owner, rtype, ttl, &data);
        }
        count
    }
}

fn octets(address: &IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// Writes the aliases that lead from the question's name to the one that the rest is about, each signed by the zone that it
/// is in. Returns the number of records, and that name.
fn aliases<'a>(source: Source<'a>, pen: &mut Pen<'_, '_>) -> (u16, &'a [u8]) {
    let Source {
        snapshot,
        query,
        plan,
        ..
    } = source;
    let (mut written, mut owner) = (0, query.name.as_wire());
    let mut picked = plan.picked.iter();
    for _ in 0..plan.aliases {
        // The same snapshot says the same as when the plan was made.
        owner = match snapshot.find(owner) {
            Found::Records { records, zone } => {
                let set = records.get(code::CNAME);
                let Some((set, target)) = set.zip(lookup::alias(records, code::A)) else {
                    break;
                };
                written += pen.set(zone, owner, set);
                target
            }
            Found::Service { zone, .. } => {
                let Some(Picked { target, ttl }) = picked.next() else {
                    break;
                };
                written += pen.record(zone, owner, code::CNAME, *ttl, target.as_wire());
                target.as_wire()
            }
            _ => break,
        };
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
