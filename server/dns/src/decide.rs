//! From a question to a plan: what the reply says, not yet how it is written.
//!
//! Synchronous, without allocation, lock, clock or I/O, so that any encoder on any thread can use it. Addresses of an
//! answer stay in the scratch memory of the decision.

use crate::alias::{Next, Picked, Trail};
use crate::lookup;
use crate::recent::RecentQueries;
use crate::wire::{Ede, EdnsQuery, Query, code, rcode};
use gslb_engine::chain::{Decision, NoTrace, Scratch, Sink, evaluate};
use gslb_engine::decision::Outcome;
use gslb_engine::model::ServiceId;
use gslb_engine::query::{Family, QueryContext};
use gslb_engine::snapshot::{
    CompiledSet, CompiledZone, Found, MAX_ALIASES, NodeRecords, RoutedService, Snapshot,
};
use std::net::IpAddr;

/// What a query brings that is not in the message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker<'a> {
    /// Transport source.
    pub(crate) source: IpAddr,
    /// Unix time, seconds.
    pub(crate) now: u64,
    /// Random bits for this query.
    pub(crate) entropy: u64,
    /// The thread must not wait: a query that may run a slow script is not decided.
    pub(crate) hurried: bool,
    /// Where some queries to services are kept.
    pub(crate) recent: &'a RecentQueries,
}

/// The answer section, behind the aliases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer<'s> {
    /// Empty.
    None,
    /// The addresses in the scratch memory, of the family asked for.
    Addresses {
        /// Seconds.
        ttl: u32,
    },
    /// These records.
    Set(&'s CompiledSet),
    /// These records, made for this client.
    Made(Box<CompiledSet>),
    /// None; the authority section names the servers of a delegated zone.
    Referral {
        /// The delegated name.
        cut: &'s [u8],
        /// Its records.
        records: &'s NodeRecords,
    },
    /// The record that says which types the name has (RFC 4034 §4).
    Nsec,
    /// The signature of that record: of all signatures of the name one is enough (RFC 8482 §4.1).
    Rrsig,
    /// The one record that stands for all types (RFC 8482 §4.2).
    Hinfo {
        /// Seconds.
        ttl: u32,
    },
}

/// What the reply says.
#[derive(Debug, Clone)]
pub(crate) struct Plan<'s> {
    /// Response code.
    pub(crate) rcode: u16,
    /// The zone in whose name the reply is given; `None`: it is not authoritative.
    pub(crate) zone: Option<&'s CompiledZone>,
    /// How many aliases lead from the name asked for to the one that the rest is about.
    pub(crate) aliases: u8,
    /// What services among these have picked, in order.
    pub(crate) picked: Vec<Picked<'s>>,
    /// Answer section.
    pub(crate) answer: Answer<'s>,
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
    pub(crate) fn error(rcode: u16) -> Self {
        Self {
            rcode,
            zone: None,
            aliases: 0,
            picked: Vec::new(),
            answer: Answer::None,
            negative_ttl: None,
            scope: 0,
            ede: [None; 2],
            blind: false,
        }
    }

    #[inline]
    pub(crate) fn positive(zone: &'s CompiledZone, answer: Answer<'s>) -> Self {
        Self {
            zone: Some(zone),
            answer,
            ..Self::error(rcode::NOERROR)
        }
    }

    pub(crate) fn negative(zone: &'s CompiledZone, rcode: u16, ttl: u32) -> Self {
        Self {
            zone: Some(zone),
            negative_ttl: Some(ttl),
            ..Self::error(rcode)
        }
    }

    pub(crate) fn nodata(zone: &'s CompiledZone) -> Self {
        Self::negative(zone, rcode::NOERROR, zone.negative_ttl())
    }

    /// Whether the server speaks for the name asked for (RFC 1035 §4.1.1: of the first name, when there are aliases).
    pub(crate) fn is_authoritative(&self) -> bool {
        self.zone.is_some() && (self.aliases > 0 || !matches!(self.answer, Answer::Referral { .. }))
    }
}

/// Decides a query. The addresses of the answer are in `scratch` afterwards.
///
/// # Errors
/// The asker is hurried, and the query may run a script of this service that takes milliseconds.
pub(crate) fn decide<'s>(
    snapshot: &'s Snapshot,
    query: &Query<'_>,
    asker: Asker<'_>,
    scratch: &mut Scratch,
) -> Result<Plan<'s>, ServiceId> {
    // Zones are in class IN only; `version.bind` and its like in CH are nobody's business.
    if query.qclass != code::CLASS_IN {
        return Ok(Plan::error(rcode::REFUSED));
    }
    if query.qtype == code::NXNAME {
        return Ok(Plan {
            ede: [Some(Ede::InvalidQueryType), None],
            ..Plan::error(rcode::FORMERR)
        });
    }
    // "No such data" would be true, but of no use to whoever wants something done (RFC 8906 §3.1.2).
    if code::is_meta(query.qtype) {
        return Ok(Plan {
            ede: [Some(Ede::MetaType), None],
            ..Plan::error(rcode::NOTIMP)
        });
    }
    let mut question = query.addresses();
    // The zone of the last alias: in its name a chain ends that leaves this server.
    let mut from = None;
    let mut trail = Trail::default();
    for aliases in 0..=MAX_ALIASES {
        let found = snapshot.find(question.name);
        if let Some(plan) = lookup::security(found, query) {
            return Ok(trail.end(plan, aliases));
        }
        let plan = match found {
            Found::Service { service, zone, .. } if service.is_alias() => {
                if asker.hurried && service.has_slow_script() {
                    return Err(service.id);
                }
                match trail.follow(snapshot, service, zone, question, asker, scratch) {
                    Next::Plan(plan) => plan,
                    Next::Name(target) => {
                        question.name = target;
                        from = Some(zone);
                        continue;
                    }
                }
            }
            Found::Service {
                service,
                zone,
                records,
            } => match query.qtype {
                code::A | code::AAAA if asker.hurried && service.has_slow_script() => return Err(service.id),
                code::A | code::AAAA => address(snapshot, service, zone, question, asker, scratch),
                _ => lookup::beside(snapshot, service, zone, records, question, asker, scratch),
            },
            Found::Records { records, zone } => match lookup::alias(records, query.qtype) {
                Some(target) => {
                    question.name = target;
                    from = Some(zone);
                    continue;
                }
                None => lookup::records(snapshot, zone, records, question, asker, scratch),
            },
            Found::Apex { records, zone } => lookup::apex(snapshot, zone, records, question, asker, scratch),
            Found::Delegated { cut, records, zone } => lookup::delegated(zone, cut, records, question),
            Found::Empty(zone) => Plan::nodata(zone),
            Found::Missing(zone) => Plan::negative(zone, no_such_name(zone, query), zone.negative_ttl()),
            Found::Outside => match from {
                Some(zone) => Plan::positive(zone, Answer::None),
                None => Plan::error(rcode::REFUSED),
            },
        };
        return Ok(trail.end(plan, aliases));
    }
    Ok(Plan::error(rcode::SERVFAIL))
}

/// The response code for a name that does not exist. To a validator the reply proves that the name has no data, and
/// NXDOMAIN would contradict that, unless it says that it knows better (RFC 9824 §3.1, §5.1).
pub(crate) fn no_such_name(zone: &CompiledZone, query: &Query<'_>) -> u16 {
    match query.edns {
        Some(edns) if edns.dnssec_ok && !edns.compact_ok && zone.signed.is_some() => rcode::NOERROR,
        _ => rcode::NXDOMAIN,
    }
}

impl Asker<'_> {
    /// The query as the engine sees it.
    #[inline]
    fn context<'q>(self, family: Family, question: Addresses<'q>) -> QueryContext<'q> {
        QueryContext {
            qname: question.name,
            family,
            source: self.source,
            subnet: question
                .edns
                .and_then(|edns| edns.subnet)
                .map(|option| option.subnet),
            now: self.now,
            entropy: self.entropy,
        }
    }

    /// Keeps a query that was decided, if it is one to be kept.
    #[inline]
    pub(crate) fn note(self, service: RoutedService<'_>, family: Family, question: Addresses<'_>) {
        if service.slot.sampling.takes(self.entropy) {
            self.recent
                .keep(service.service(), &self.context(family, question));
        }
    }
}

/// A question for the addresses of a service.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Addresses<'q> {
    /// The name in lower case.
    pub(crate) name: &'q [u8],
    /// A or AAAA; another type where the addresses are only a part of the answer.
    pub(crate) qtype: u16,
    /// OPT, if there was one.
    pub(crate) edns: Option<&'q EdnsQuery>,
}

/// Runs the chain of a service.
#[inline]
pub(crate) fn steer<S: Sink>(
    snapshot: &Snapshot,
    service: RoutedService<'_>,
    family: Family,
    question: Addresses<'_>,
    asker: Asker<'_>,
    scratch: &mut Scratch,
    sink: &mut S,
) -> Decision {
    let context = asker.context(family, question);
    evaluate(snapshot, service, &context, scratch, sink)
}

/// What there is to say about a decision beside the answer.
#[inline]
pub(crate) fn ede_of(decision: &Decision) -> Option<Ede> {
    match decision.outcome {
        Outcome::Answered => (decision.script_errors > 0).then_some(Ede::ScriptFailedOpen),
        Outcome::NoSuchFamily => None,
        Outcome::Fallback => Some(Ede::FallbackUsed),
        Outcome::NoCandidate => Some(Ede::AllMembersDown),
        Outcome::BelowMinHealthy => Some(Ede::BelowMinHealthy),
    }
}

/// Decides which addresses of a service are the answer, and counts it.
pub(crate) fn address<'s>(
    snapshot: &'s Snapshot,
    service: RoutedService<'_>,
    zone: &'s CompiledZone,
    question: Addresses<'_>,
    asker: Asker<'_>,
    scratch: &mut Scratch,
) -> Plan<'s> {
    let (decision, plan) = choose(snapshot, service, zone, question, asker, scratch);
    service.count(&decision, scratch);
    asker.note(service, family_of(question.qtype), question);
    plan
}

/// As [`address`], without counting.
#[inline]
pub(crate) fn choose<'s>(
    snapshot: &'s Snapshot,
    service: RoutedService<'_>,
    zone: &'s CompiledZone,
    question: Addresses<'_>,
    asker: Asker<'_>,
    scratch: &mut Scratch,
) -> (Decision, Plan<'s>) {
    let family = family_of(question.qtype);
    let decision = steer(snapshot, service, family, question, asker, scratch, &mut NoTrace);
    let plan = plan_of(&decision, service, zone, scratch);
    (decision, plan)
}

/// Which addresses a question of this type is for.
#[inline]
pub(crate) fn family_of(qtype: u16) -> Family {
    match qtype {
        code::AAAA => Family::V6,
        _ => Family::V4,
    }
}

/// What is to be said after a decision.
#[inline]
pub(crate) fn plan_of<'s>(
    decision: &Decision,
    service: RoutedService<'_>,
    zone: &'s CompiledZone,
    scratch: &Scratch,
) -> Plan<'s> {
    let plan = if scratch.answers().is_empty() {
        // Short, so that recovery is seen soon.
        Plan::negative(zone, rcode::NOERROR, zone.negative_ttl().min(decision.ttl))
    } else {
        Plan::positive(zone, Answer::Addresses { ttl: decision.ttl })
    };
    Plan {
        scope: decision.ecs_scope,
        ede: [
            ede_of(decision),
            service.licence_fallback.then_some(Ede::Unlicensed),
        ],
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
