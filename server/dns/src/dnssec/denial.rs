//! What does not exist: one NSEC record at the name itself, made for the question (RFC 9824, compact denial of existence).
//!
//! The record says which types the name has and that nothing comes before `\000` below it, so that it proves nothing about
//! other names, and nobody can walk the zone. A name that does not exist "has" the type NXNAME. Which types there are
//! depends on the configuration, never on health: a resolver may use the record for other types too (RFC 8198), and must not
//! learn from one bad minute that a service has no addresses.

use crate::wire::{MAX_NAME, code};
use gslb_engine::model::Fallback;
use gslb_engine::query::Family;
use gslb_engine::snapshot::{CompiledZone, Found, NodeRecords, RoutedService, SignedZone, Snapshot};

const FAMILIES: [(Family, u16); 2] = [(Family::V4, code::A), (Family::V6, code::AAAA)];

/// The types that a name has in a zone; `None`: it has none that the zone speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nsec {
    types: Vec<u16>,
}

/// The record for a name, as it is.
pub(crate) fn nsec(snapshot: &Snapshot, zone: &CompiledZone, name: &[u8]) -> Nsec {
    let mut types = vec![code::RRSIG, code::NSEC];
    match snapshot.find(name) {
        // The apex of a zone that is here too, seen from the zone above.
        found if found.zone().is_none_or(|other| other.wire != zone.wire) => {
            types.push(code::NS);
            let above = snapshot.above(name);
            types.extend(above.and_then(|records| records.get(code::DS)).map(|_| code::DS));
        }
        // It has nothing beside its CNAME.
        Found::Service { service, .. } if service.is_alias() => types.push(code::CNAME),
        Found::Service { service, records, .. } => {
            addresses(service, &mut types);
            stored(records, &mut types);
            if *zone.wire == *name {
                apex(zone, &mut types);
            }
        }
        Found::Records { records, .. } => stored(Some(records), &mut types),
        Found::Apex { records, .. } => {
            stored(records, &mut types);
            apex(zone, &mut types);
        }
        Found::Delegated { records, .. } => {
            types.push(code::NS);
            types.extend(records.get(code::DS).map(|_| code::DS));
        }
        Found::Empty(_) | Found::Outside => {}
        Found::Missing(_) => types.push(code::NXNAME),
    }
    Nsec { types }
}

/// The record that proves that a name has no records of a type: it leaves out that type even when the name has it, because
/// just now there is nothing to answer.
pub(crate) fn denial(snapshot: &Snapshot, zone: &CompiledZone, name: &[u8], qtype: u16) -> Nsec {
    let mut nsec = nsec(snapshot, zone, name);
    // A service without a name to lead to has no CNAME just now, and the addresses of its fallback instead. A proof with a
    // CNAME in it would prove the contrary (RFC 6840 §4.3).
    if let Found::Service { service, .. } = snapshot.find(name)
        && service.is_alias()
    {
        nsec.types.retain(|rtype| *rtype != code::CNAME);
        fallback(service, &mut nsec.types);
    }
    nsec.types
        .retain(|rtype| *rtype != qtype || matches!(*rtype, code::RRSIG | code::NSEC));
    nsec
}

/// The families of a service, by the members of its pool and by its fallback.
fn addresses(service: RoutedService<'_>, types: &mut Vec<u16>) {
    for (family, rtype) in FAMILIES {
        types.extend(service.pool.has_family(family).then_some(rtype));
    }
    fallback(service, types);
}

fn fallback(service: RoutedService<'_>, types: &mut Vec<u16>) {
    let Fallback::Addresses(list) = &service.fallback else {
        return;
    };
    for (family, rtype) in FAMILIES {
        types.extend(list.iter().any(|ip| family.matches(*ip)).then_some(rtype));
    }
}

fn stored(records: Option<&NodeRecords>, types: &mut Vec<u16>) {
    types.extend(
        records
            .into_iter()
            .flat_map(NodeRecords::sets)
            .map(|set| set.rtype),
    );
}

fn apex(zone: &CompiledZone, types: &mut Vec<u16>) {
    types.push(code::SOA);
    types.extend(zone.name_servers.as_ref().map(|_| code::NS));
    types.extend(zone.signed.iter().flat_map(SignedZone::types));
}

impl Nsec {
    /// Data of the record at `name` in the zone `apex` (RFC 4034 §4.1).
    pub(crate) fn data(mut self, name: &[u8], apex: &[u8]) -> Vec<u8> {
        self.types.sort_unstable();
        self.types.dedup();
        let mut out = next(name, apex);
        for window in self.types.chunk_by(|a, b| a >> 8 == b >> 8) {
            let mut bits = [0_u8; 32];
            let mut length = 0_u8;
            for rtype in window {
                let [_, low] = rtype.to_be_bytes();
                if let Some(octet) = bits.get_mut(usize::from(low >> 3)) {
                    *octet |= 0x80 >> (low & 7);
                }
                length = (low >> 3) + 1;
            }
            let [number, _] = window.first().copied().unwrap_or_default().to_be_bytes();
            out.extend_from_slice(&[number, length]);
            out.extend_from_slice(bits.get(..length.into()).unwrap_or_default());
        }
        out
    }
}

/// The name that comes next after `name` in the canonical order of its zone (RFC 4034 §6.1): nearly always `\000` below it.
/// Where that would be too long, RFC 4471 §3.1.2 says how to count on.
fn next(name: &[u8], apex: &[u8]) -> Vec<u8> {
    const ZERO: &[u8] = b"\x01\0";
    if name.len() + ZERO.len() <= MAX_NAME {
        return [ZERO, name].concat();
    }
    let mut rest = name;
    while rest != apex {
        let Some((length, tail)) = rest.split_first() else {
            break;
        };
        let (label, above) = tail.split_at_checked((*length).into()).unwrap_or_default();
        if let Some(label) = longer(label, rest.len()).or_else(|| greater(label)) {
            // A label stays within 63 octets.
            let length = u8::try_from(label.len()).unwrap_or_default();
            return [&[length], &*label, above].concat();
        }
        rest = above;
    }
    // The last name of the zone; what follows is the first.
    apex.to_vec()
}

/// The label with a zero octet behind it, if it and the name around it may be that long.
fn longer(label: &[u8], name: usize) -> Option<Vec<u8>> {
    (label.len() < 63 && name < MAX_NAME).then(|| [label, &[0]].concat())
}

/// The label with its last octet counted up; those that cannot be are cut off. Upper case is no octet of its own.
fn greater(label: &[u8]) -> Option<Vec<u8>> {
    let last = label.iter().rposition(|octet| *octet < u8::MAX)?;
    let mut label = label.get(..=last)?.to_vec();
    let octet = label.last_mut()?;
    *octet = match *octet {
        b'@' => b'[',
        other => other + 1,
    };
    Some(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(types: &[u16]) -> Vec<u8> {
        let nsec = Nsec {
            types: types.to_vec(),
        };
        nsec.data(b"\x01a\0", b"\0")
    }

    #[test]
    fn rfc_4034_s4_1_2_bitmap() {
        // The example of §4.3: A MX RRSIG NSEC TYPE1234.
        let bits = [
            &[0x00, 0x06, 0x40, 0x01, 0x00, 0x00, 0x00, 0x03, 0x04, 0x1b][..],
            &[0; 26],
            &[0x20],
        ]
        .concat();
        let next = b"\x01\0\x01a\0";
        assert_eq!(data(&[46, 1, 1234, 47, 15, 15]), [&next[..], &bits].concat());
        // NXNAME begins an octet of its own.
        let missing = [&next[..], &[0, 17, 0, 0, 0, 0, 0, 3], &[0; 10], &[0x80]].concat();
        assert_eq!(data(&[46, 47, 128]), missing);
    }

    #[test]
    fn rfc_4471_s3_1_2_the_name_after_a_long_one() {
        let apex = b"\x04test\0";
        let name = |first: &[u8], total: usize| {
            let mut wire = vec![u8::try_from(first.len()).unwrap()];
            wire.extend_from_slice(first);
            while wire.len() + apex.len() < total {
                let label = (total - wire.len() - apex.len() - 1).min(63);
                // No label of this length would leave a length octet alone at the end.
                let label = if total - wire.len() - apex.len() == label + 2 {
                    label - 1
                } else {
                    label
                };
                wire.push(u8::try_from(label).unwrap());
                wire.extend(std::iter::repeat_n(b'x', label));
            }
            wire.extend_from_slice(apex);
            assert_eq!(wire.len(), total);
            wire
        };
        let after = |first: &[u8], total: usize| {
            let name = name(first, total);
            let next = next(&name, apex);
            let above = &name[first.len() + 1..];
            (next.strip_suffix(above).map(<[u8]>::to_vec), next.len())
        };
        assert_eq!(after(b"ab", 253), (Some(b"\x01\0\x02ab".to_vec()), 255));
        assert_eq!(after(b"ab", 254), (Some(b"\x03ab\0".to_vec()), 255));
        assert_eq!(after(b"ab", 255), (Some(b"\x02ac".to_vec()), 255));
        assert_eq!(after(b"a@", 255), (Some(b"\x02a[".to_vec()), 255));
        assert_eq!(after(b"a\xff", 255), (Some(b"\x01b".to_vec()), 254));
        // A label of 63 octets cannot become longer.
        let full = [b'a'; 63];
        let mut greater = full.to_vec();
        greater[62] = b'b';
        assert_eq!(after(&full, 254).0, Some([&[63], &greater[..]].concat()));
        // Nothing is greater in this label: the one above counts.
        let name = name(b"\xff", 255);
        let next = next(&name, apex);
        assert_eq!(next[..4], *b"\x3fxxx");
        assert_eq!(next[63], b'y');
    }
}
