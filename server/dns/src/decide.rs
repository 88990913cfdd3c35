//! From a question to a plan: what the reply says, not yet how it is written.
//!
//! Synchronous, without allocation, lock, clock or I/O, so that any encoder on any thread can use it. Addresses of an
//! answer stay in the scratch memory of the decision.

use crate::wire::{Ede, EdnsQuery, Query, code, rcode};
use gslb_engine::chain::{NoTrace, Scratch, evaluate};
use gslb_engine::decision::Outcome;
use gslb_engine::model::ServiceId;
use gslb_engine::query::{Family, QueryContext};
use gslb_engine::snapshot::{CompiledService, CompiledZone, Found, Snapshot};
use std::net::IpAddr;

/// What a query brings that is not in the message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker {
    /// Transport source.
    pub(crate) source: IpAddr,
    /// Unix time, seconds.
    pub(crate) now: u64,
    /// Random bits for this query.
    pub(crate) entropy: u64,
    /// The thread must not wait: a query that may run a slow script is not decided.
    pub(crate) hurried: bool,
}

/// The answer section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Empty.
    None,
    /// The addresses in the scratch memory, of the family asked for.
    Addresses {
        /// Seconds.
        ttl: u32,
    },
    /// The zone's SOA.
    Soa,
    /// The zone's NS set.
    NameServers,
    /// The one record that stands for all types (RFC 8482 §4.2).
    Hinfo {
        /// Seconds.
        ttl: u32,
    },
}

/// What the reply says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'s> {
    /// Response code.
    pub(crate) rcode: u16,
    /// The zone in whose name the reply is given; `None`: it is not authoritative.
    pub(crate) zone: Option<&'s CompiledZone>,
    /// Answer section.
    pub(crate) answer: Answer,
    /// The SOA in the authority section, with this TTL: the reply is negative.
    pub(crate) negative_ttl: Option<u32>,
    /// ECS scope.
    pub(crate) scope: u8,
    /// Extended errors.
    pub(crate) ede: [Option<Ede>; 2],
    /// A private client could not be placed by any database.
    pub(crate) blind: bool,
}

impl<'s> Plan<'s> {
    const fn refused() -> Self {
        Self {
            rcode: rcode::REFUSED,
            zone: None,
            answer: Answer::None,
            negative_ttl: None,
            scope: 0,
            ede: [None; 2],
            blind: false,
        }
    }

    const fn positive(zone: &'s CompiledZone, answer: Answer) -> Self {
        Self {
            rcode: rcode::NOERROR,
            zone: Some(zone),
            answer,
            ..Self::refused()
        }
    }

    const fn negative(zone: &'s CompiledZone, rcode: u16, ttl: u32) -> Self {
        Self {
            rcode,
            zone: Some(zone),
            negative_ttl: Some(ttl),
            ..Self::refused()
        }
    }

    fn nodata(zone: &'s CompiledZone) -> Self {
        Self::negative(zone, rcode::NOERROR, zone.negative_ttl())
    }
}

/// Decides a query. The addresses of the answer are in `scratch` afterwards.
///
/// # Errors
/// The asker is hurried, and the query may run a script of this service that takes milliseconds.
pub(crate) fn decide<'s>(
    snapshot: &'s Snapshot,
    query: &Query<'_>,
    asker: Asker,
    scratch: &mut Scratch,
) -> Result<Plan<'s>, ServiceId> {
    // Zones are in class IN only; `version.bind` and its like in CH are nobody's business. Zone transfers have no
    // peers to go to.
    if query.qclass != code::CLASS_IN || matches!(query.qtype, code::AXFR | code::IXFR) {
        return Ok(Plan::refused());
    }
    let name = query.name.as_wire();
    let plan = match snapshot.find(name) {
        Found::Service { service, zone } => match query.qtype {
            code::A | code::AAAA if asker.hurried && service.has_slow_script() => {
                return Err(service.id);
            }
            code::A | code::AAAA => address(snapshot, service, zone, query.addresses(), asker, scratch),
            code::ANY => Plan::positive(zone, Answer::Hinfo { ttl: service.ttl }),
            _ => apex(snapshot, zone, name, query.qtype).unwrap_or_else(|| Plan::nodata(zone)),
        },
        Found::Apex(zone) if query.qtype == code::ANY => Plan::positive(
            zone,
            Answer::Hinfo {
                ttl: zone.negative_ttl(),
            },
        ),
        Found::Apex(zone) | Found::Empty(zone) => {
            apex(snapshot, zone, name, query.qtype).unwrap_or_else(|| Plan::nodata(zone))
        }
        Found::Missing(zone) => Plan::negative(zone, rcode::NXDOMAIN, zone.negative_ttl()),
        Found::Outside => Plan::refused(),
    };
    Ok(plan)
}

/// What is special at the zone's apex: SOA, NS and DS. (A synthetic zone has no NS set.)
fn apex<'s>(snapshot: &'s Snapshot, zone: &'s CompiledZone, name: &[u8], qtype: u16) -> Option<Plan<'s>> {
    if *zone.wire != *name {
        return None;
    }
    match qtype {
        code::SOA => Some(Plan::positive(zone, Answer::Soa)),
        code::NS if !zone.name_servers.is_empty() => Some(Plan::positive(zone, Answer::NameServers)),
        // DS belongs to the zone above, if that one is here too (RFC 4035 §3.1.4.1).
        code::DS => zone_above(snapshot, name).map(Plan::nodata),
        _ => None,
    }
}

/// The zone that the name above an apex belongs to.
fn zone_above<'s>(snapshot: &'s Snapshot, name: &[u8]) -> Option<&'s CompiledZone> {
    let length = usize::from(*name.first()?);
    match snapshot.find(name.get(length + 1..)?) {
        Found::Service { zone, .. } | Found::Apex(zone) | Found::Empty(zone) | Found::Missing(zone) => {
            Some(zone)
        }
        Found::Outside => None,
    }
}

/// A question for the addresses of a service.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Addresses<'q> {
    /// The name in lower case.
    pub(crate) name: &'q [u8],
    /// A or AAAA.
    pub(crate) qtype: u16,
    /// OPT, if there was one.
    pub(crate) edns: Option<&'q EdnsQuery>,
}

/// Decides which addresses of a service are the answer.
#[inline]
pub(crate) fn address<'s>(
    snapshot: &'s Snapshot,
    service: &CompiledService,
    zone: &'s CompiledZone,
    question: Addresses<'_>,
    asker: Asker,
    scratch: &mut Scratch,
) -> Plan<'s> {
    let family = match question.qtype {
        code::AAAA => Family::V6,
        _ => Family::V4,
    };
    let context = QueryContext {
        qname: question.name,
        family,
        source: asker.source,
        subnet: question
            .edns
            .and_then(|edns| edns.subnet)
            .map(|option| option.subnet),
        now: asker.now,
        entropy: asker.entropy,
    };
    let decision = evaluate(snapshot, service, &context, scratch, &mut NoTrace);
    service.count(&decision, scratch);
    let ede = match decision.outcome {
        Outcome::Answered => (decision.script_errors > 0).then_some(Ede::ScriptFailedOpen),
        Outcome::NoSuchFamily => None,
        Outcome::Fallback => Some(Ede::FallbackUsed),
        Outcome::NoCandidate => Some(Ede::AllMembersDown),
        Outcome::BelowMinHealthy => Some(Ede::BelowMinHealthy),
    };
    let plan = if scratch.answers().is_empty() {
        // Short, so that recovery is seen soon.
        Plan::negative(zone, rcode::NOERROR, zone.negative_ttl().min(decision.ttl))
    } else {
        Plan::positive(zone, Answer::Addresses { ttl: decision.ttl })
    };
    Plan {
        scope: decision.ecs_scope,
        ede: [ede, service.licence_fallback.then_some(Ede::Unlicensed)],
        blind: decision.blind,
        ..plan
    }
}

impl Query<'_> {
    fn addresses(&self) -> Addresses<'_> {
        Addresses {
            name: self.name.as_wire(),
            qtype: self.qtype,
            edns: self.edns.as_ref(),
        }
    }
}
