//! Services whose members are host names: the answer is one CNAME to the name that the chain picks.
//!
//! The rest of the answer is found as behind a static CNAME. Since a second look could pick another name, the one that
//! was picked goes along with the plan, until the reply is written.

use crate::decide::{Addresses, Answer, Asker, Plan, ede_of, steer};
use crate::lookup::Peek;
use crate::wire::{Ede, code};
use gslb_engine::chain::{NoTrace, Scratch};
use gslb_engine::model::{Rdata, RecordType};
use gslb_engine::query::Family;
use gslb_engine::snapshot::{CompiledSet, CompiledZone, RoutedService, Snapshot};

/// A name that a service has picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Picked<'s> {
    /// Data of the CNAME: the name, in wire form.
    pub(crate) target: &'s Rdata,
    /// Seconds.
    pub(crate) ttl: u32,
}

/// What the decisions of the services that aliases lead over have left for the reply.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trail<'s> {
    /// What each of them has picked, in order.
    pub(crate) picked: Vec<Picked<'s>>,
    scope: u8,
    ede: [Option<Ede>; 2],
    blind: bool,
}

/// Where a question for a service's name goes on.
pub(crate) enum Next<'s> {
    /// It is answered here.
    Plan(Plan<'s>),
    /// At this name.
    Name(&'s [u8]),
}

impl<'s> Trail<'s> {
    /// Asks a service for its name. A question of a type that no address has takes no turn: clients ask for several types
    /// at once, and would otherwise use up each other's turns.
    pub(crate) fn follow(
        &mut self,
        snapshot: &'s Snapshot,
        service: RoutedService<'s>,
        zone: &'s CompiledZone,
        question: Addresses<'_>,
        asker: Asker<'_>,
        scratch: &mut Scratch,
    ) -> Next<'s> {
        let family = match question.qtype {
            code::AAAA => Family::V6,
            _ => Family::V4,
        };
        let for_address = matches!(question.qtype, code::A | code::AAAA);
        let decision = if for_address {
            steer(snapshot, service, family, question, asker, scratch, &mut NoTrace)
        } else {
            steer(snapshot, service, family, question, asker, scratch, &mut Peek)
        };
        if for_address {
            service.count(&decision, scratch);
            asker.note(service, family, question);
        }
        self.scope = self.scope.max(decision.ecs_scope);
        self.blind |= decision.blind;
        let licence = service.licence_fallback.then_some(Ede::Unlicensed);
        self.note([ede_of(&decision), licence]);
        let member = scratch.chosen().next();
        let target = member.and_then(|index| service.pool.members.get(index)?.host.as_ref());
        let Some(target) = target else {
            let plan = if for_address && !scratch.answers().is_empty() {
                Plan::positive(zone, Answer::Addresses { ttl: decision.ttl })
            } else {
                // Short, so that recovery is seen soon.
                Plan::negative(
                    zone,
                    crate::wire::rcode::NOERROR,
                    zone.negative_ttl().min(decision.ttl),
                )
            };
            return Next::Plan(plan);
        };
        if matches!(question.qtype, code::CNAME | code::ANY) {
            let set = CompiledSet::new(RecordType::CNAME, decision.ttl, vec![target.clone()]);
            return Next::Plan(Plan::positive(zone, Answer::Made(Box::new(set))));
        }
        self.picked.push(Picked {
            target,
            ttl: decision.ttl,
        });
        Next::Name(target.as_wire())
    }

    /// Of extended errors the first ones are told.
    fn note(&mut self, ede: [Option<Ede>; 2]) {
        for error in ede.into_iter().flatten() {
            if self.ede.contains(&Some(error)) {
                continue;
            }
            if let Some(place) = self.ede.iter_mut().find(|place| place.is_none()) {
                *place = Some(error);
            }
        }
    }

    /// Adds what was found on the way to the plan that it has led to.
    pub(crate) fn end(mut self, plan: Plan<'s>, aliases: u8) -> Plan<'s> {
        self.note(plan.ede);
        Plan {
            aliases,
            picked: self.picked,
            scope: plan.scope.max(self.scope),
            ede: self.ede,
            blind: plan.blind | self.blind,
            ..plan
        }
    }
}
