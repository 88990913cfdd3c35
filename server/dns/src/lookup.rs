//! What the static records of a name say to a question (RFC 1034 §4.3.2), and what stands beside a service.
//!
//! All records come out of the snapshot as they are, with one exception: the address hints of an SVCB or HTTPS record
//! whose target is a service. A client may connect by them alone, and so they are what the service answers this client.

use crate::decide::{Addresses, Answer, Asker, Plan, no_such_name, steer};
use crate::wire::{Query, code, rcode};
use gslb_engine::chain::{Scratch, Sink};
use gslb_engine::model::RecordType;
use gslb_engine::query::Family;
use gslb_engine::snapshot::{
    CompiledSet, CompiledZone, Found, MAX_ALIASES, NodeRecords, RoutedService, Snapshot,
};

/// Asks what a service would answer, without that being an answer: no ticket is used up, nothing is counted.
pub(crate) struct Peek;

impl Sink for Peek {
    const LIVE: bool = false;
}

/// Where the records of a name lead for a question of this type; the alias itself can be asked for.
pub(crate) fn alias(records: &NodeRecords, qtype: u16) -> Option<&[u8]> {
    if matches!(qtype, code::CNAME | code::ANY) {
        return None;
    }
    records.get(code::CNAME)?.alias()
}

/// Questions for the records that say what a name of a signed zone has; an alias has them too, and to a validator so has a
/// name that does not exist: a proof that there is no NSEC record would be one. What is delegated is answered as for other
/// types.
pub(crate) fn security<'s>(found: Found<'s>, query: &Query<'_>) -> Option<Plan<'s>> {
    let answer = match query.qtype {
        code::NSEC => Answer::Nsec,
        code::RRSIG => Answer::Rrsig,
        _ => return None,
    };
    match found {
        Found::Delegated { .. } => return None,
        Found::Missing(zone) if no_such_name(zone, query) != rcode::NOERROR => return None,
        _ => {}
    }
    let zone = found.zone().filter(|zone| zone.signed.is_some())?;
    Some(Plan::positive(zone, answer))
}

/// The service that a name leads to, with the name it is asked by.
pub(crate) fn service_of<'a>(
    snapshot: &'a Snapshot,
    name: &'a [u8],
) -> Option<(RoutedService<'a>, &'a [u8])> {
    let mut name = name;
    for _ in 0..=MAX_ALIASES {
        name = match snapshot.find(name) {
            Found::Service { service, .. } => return Some((service, name)),
            Found::Records { records, .. } => alias(records, code::A)?,
            _ => return None,
        };
    }
    None
}

/// A name with static records and no service.
pub(crate) fn records<'s>(
    snapshot: &'s Snapshot,
    zone: &'s CompiledZone,
    records: &'s NodeRecords,
    question: Addresses<'_>,
    asker: Asker<'_>,
    scratch: &mut Scratch,
) -> Plan<'s> {
    if question.qtype == code::ANY {
        // A small answer that says nothing about the rest (RFC 8482 §4.1, §4.2); an alias is all there is.
        let own = records.get(code::CNAME).or_else(|| records.get(code::HINFO));
        let ttl = records.sets().iter().map(|set| set.ttl).min().unwrap_or_default();
        return Plan::positive(zone, own.map_or(Answer::Hinfo { ttl }, Answer::Set));
    }
    match records.get(question.qtype) {
        Some(set) => answer(snapshot, zone, set, question, asker, scratch),
        None => Plan::nodata(zone),
    }
}

/// Other types than addresses at the name of a service, which may be an apex.
pub(crate) fn beside<'s>(
    snapshot: &'s Snapshot,
    service: RoutedService<'_>,
    zone: &'s CompiledZone,
    records: Option<&'s NodeRecords>,
    question: Addresses<'_>,
    asker: Asker<'_>,
    scratch: &mut Scratch,
) -> Plan<'s> {
    if question.qtype == code::ANY {
        let own = records.and_then(|records| records.get(code::HINFO));
        return Plan::positive(zone, own.map_or(Answer::Hinfo { ttl: service.ttl }, Answer::Set));
    }
    if *zone.wire == *question.name {
        return apex(snapshot, zone, records, question, asker, scratch);
    }
    match records {
        Some(records) => self::records(snapshot, zone, records, question, asker, scratch),
        None => Plan::nodata(zone),
    }
}

/// A zone's apex: SOA, NS and DS, and what else is stored there. (A synthetic zone has no NS set.)
pub(crate) fn apex<'s>(
    snapshot: &'s Snapshot,
    zone: &'s CompiledZone,
    records: Option<&'s NodeRecords>,
    question: Addresses<'_>,
    asker: Asker<'_>,
    scratch: &mut Scratch,
) -> Plan<'s> {
    match (question.qtype, &zone.name_servers) {
        (code::SOA, _) => Plan::positive(zone, Answer::Set(&zone.soa_set)),
        (code::NS, Some(servers)) => Plan::positive(zone, Answer::Set(servers)),
        // DS belongs to the zone above, if that one is here too (RFC 4035 §3.1.4.1).
        (code::DS, _) => parent_side(snapshot, question.name).unwrap_or_else(|| Plan::nodata(zone)),
        (code::ANY, _) => {
            let own = records.and_then(|records| records.get(code::HINFO));
            let ttl = zone.negative_ttl();
            Plan::positive(zone, own.map_or(Answer::Hinfo { ttl }, Answer::Set))
        }
        (qtype, _) => match (zone.signed.as_ref().and_then(|signed| signed.get(qtype)), records) {
            (Some(set), _) => Plan::positive(zone, Answer::Set(set)),
            (None, Some(records)) => self::records(snapshot, zone, records, question, asker, scratch),
            (None, None) => Plan::nodata(zone),
        },
    }
}

/// What the zone above an apex says about its DS.
fn parent_side<'s>(snapshot: &'s Snapshot, apex: &[u8]) -> Option<Plan<'s>> {
    let length = usize::from(*apex.first()?);
    let zone = snapshot.find(apex.get(length + 1..)?).zone()?;
    let set = snapshot.above(apex).and_then(|records| records.get(code::DS));
    Some(set.map_or_else(
        || Plan::nodata(zone),
        |set| Plan::positive(zone, Answer::Set(set)),
    ))
}

/// At or below a delegation: the DS of the delegated name is ours, the rest is for its servers (RFC 1034 §4.3.2, 3b).
pub(crate) fn delegated<'s>(
    zone: &'s CompiledZone,
    cut: &'s [u8],
    records: &'s NodeRecords,
    question: Addresses<'_>,
) -> Plan<'s> {
    if question.qtype == code::DS && *question.name == *cut {
        return match records.get(code::DS) {
            Some(set) => Plan::positive(zone, Answer::Set(set)),
            None => Plan::nodata(zone),
        };
    }
    Plan::positive(zone, Answer::Referral { cut, records })
}

/// A set as the answer, with the hints of service bindings made for this client.
fn answer<'s>(
    snapshot: &'s Snapshot,
    zone: &'s CompiledZone,
    set: &'s CompiledSet,
    question: Addresses<'_>,
    asker: Asker<'_>,
    scratch: &mut Scratch,
) -> Plan<'s> {
    let plain = Plan::positive(zone, Answer::Set(set));
    if !matches!(set.rtype, code::SVCB | code::HTTPS) {
        return plain;
    }
    let (mut made, mut scope) = (None::<CompiledSet>, 0);
    for (index, rdata) in set.data.iter().enumerate() {
        let Some(target) = rdata.target_wire(RecordType(set.rtype)) else {
            continue;
        };
        let wanted = rdata.hints();
        if wanted == [false, false] {
            continue;
        }
        // The root stands for the owner (RFC 9460 §2.5.2).
        let name = match target {
            [0] => question.name,
            name => name,
        };
        let Some((service, name)) = service_of(snapshot, name) else {
            continue;
        };
        let mut hints = Vec::new();
        for (family, wanted) in [Family::V4, Family::V6].into_iter().zip(wanted) {
            // A hint must not keep anybody waiting.
            if !wanted || asker.hurried && service.has_slow_script() {
                continue;
            }
            let asked = Addresses { name, ..question };
            let decision = steer(snapshot, service, family, asked, asker, scratch, &mut Peek);
            scope = scope.max(decision.ecs_scope);
            hints.extend_from_slice(scratch.answers());
        }
        let made = made.get_or_insert_with(|| set.clone());
        // They hold as long as the service's own answers do.
        made.ttl = made.ttl.min(service.ttl);
        if let Some(place) = made.data.get_mut(index) {
            *place = rdata.with_hints(&hints);
        }
    }
    match made {
        Some(made) => Plan {
            scope,
            ..Plan::positive(zone, Answer::Made(Box::new(made)))
        },
        None => plain,
    }
}
