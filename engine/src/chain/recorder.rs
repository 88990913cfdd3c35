//! The sink that writes everything down, and the trace made of it.

use super::name::write_name;
use super::reason::Reason;
use super::scratch::Scratch;
use super::sink::Sink;
use super::{Candidate, Client, CompiledStep, evaluate_steps};
use crate::decision::Outcome;
use crate::model::{AdminState, Routing};
use crate::query::{Family, QueryContext};
use crate::script::Place;
use crate::snapshot::{CompiledMember, CompiledPool, RoutedService, Snapshot};
use crate::trace::{Detail, StepAction, StepTrace, Trace, TraceCandidate, TraceClient, TraceGate};
use std::fmt::Display;

/// Writes a decision down. Takes no round-robin ticket and counts nothing.
///
/// `clock` gives nanoseconds from any fixed point; the engine has no clock of its own.
#[derive(Debug)]
pub struct Recorder<C> {
    clock: C,
    started: u64,
    /// Begin of the part that is timed on its own.
    begun: u64,
    gate: Option<TraceGate>,
    excluded: Option<Vec<Detail>>,
    steps: Vec<StepTrace>,
    /// Why the step that runs has failed.
    failure: Option<String>,
}

impl<C: FnMut() -> u64> Recorder<C> {
    /// An empty record.
    pub fn new(clock: C) -> Self {
        Self {
            clock,
            started: 0,
            begun: 0,
            gate: None,
            excluded: None,
            steps: Vec::new(),
            failure: None,
        }
    }

    /// The steps so far.
    #[must_use]
    pub fn steps(&self) -> &[StepTrace] {
        &self.steps
    }
}

fn describe(pool: &CompiledPool, set: &[Candidate]) -> Vec<TraceCandidate> {
    let one = |candidate: &Candidate| {
        let member = candidate.member(pool)?;
        Some(TraceCandidate {
            address: member.stored.endpoint.to_string(),
            region: member.stored.region.to_string(),
            score: candidate.score,
            rtt_ms: member.slot.routing_rtt_ns().map(|ns| ns as f64 / 1e6),
            weight: member.stored.weight,
            priority: member.stored.priority,
        })
    };
    set.iter().filter_map(one).collect()
}

/// Why a member is no candidate.
fn why_excluded(member: &CompiledMember, by_name: bool, family: Family) -> &'static str {
    match (member.ip, member.stored.admin_state) {
        _ if !member.stored.enabled => "disabled",
        (Some(ip), _) if !family.matches(ip) => "of the other address family",
        (_, AdminState::Down) => "set down by the operator",
        (_, AdminState::Drain) => "draining",
        (None, state) if by_name && (state == AdminState::Up || member.slot.score() > 0.0) => {
            let known = member.slot.addresses();
            match known.as_ref() {
                Some(known) if known.leads_nowhere() => "a host name without addresses",
                _ => "a host name without a known address of this family",
            }
        }
        _ => "unhealthy: its score is 0",
    }
}

impl<C: FnMut() -> u64> Sink for Recorder<C> {
    const LIVE: bool = false;

    fn gate(&mut self, min_healthy: u32, healthy: u32, open: bool) {
        self.gate = Some(TraceGate {
            min_healthy,
            healthy,
            open,
        });
    }

    fn candidates(&mut self, pool: &CompiledPool, family: Family, set: &[Candidate]) {
        let out = (0_u16..)
            .zip(&pool.members)
            .filter(|(index, _)| !set.iter().any(|c| c.index == *index));
        let excluded = out.map(|(_, member)| Detail {
            name: member.stored.endpoint.to_string(),
            value: why_excluded(member, pool.by_name, family).to_owned(),
        });
        self.excluded = Some(excluded.collect());
    }

    fn before(&mut self, step: &CompiledStep, pool: &CompiledPool, set: &[Candidate]) {
        self.steps.push(StepTrace {
            step: step.to_string(),
            action: StepAction::Skipped,
            reason: String::new(),
            before: describe(pool, set),
            after: Vec::new(),
            details: Vec::new(),
            micros: 0.0,
        });
        self.started = (self.clock)();
    }

    fn detail(&mut self, detail: impl FnOnce() -> Detail) {
        if let Some(step) = self.steps.last_mut() {
            let detail = detail();
            if !step.details.contains(&detail) {
                step.details.push(detail);
            }
        }
    }

    fn begin(&mut self) {
        self.begun = (self.clock)();
    }

    fn end(&mut self, what: &str) {
        let micros = (self.clock)().saturating_sub(self.begun) as f64 / 1e3;
        self.detail(|| Detail {
            name: what.to_owned(),
            value: format!("{micros:.1} µs"),
        });
    }

    fn failed(&mut self, why: &dyn Display) {
        self.failure = Some(why.to_string());
    }

    fn after(&mut self, action: StepAction, reason: &Reason, pool: &CompiledPool, set: &[Candidate]) {
        let ended = (self.clock)();
        let failure = self.failure.take();
        if let Some(step) = self.steps.last_mut() {
            step.micros = ended.saturating_sub(self.started) as f64 / 1e3;
            step.action = action;
            step.reason = match failure {
                Some(why) => format!("{reason}: {why}"),
                None => reason.to_string(),
            };
            // Behind the choice of most selecting steps stand the others, for a service with more answers.
            step.after = match (action, reason) {
                (StepAction::Selected, Reason::First { .. }) => describe(pool, set),
                (StepAction::Selected, _) => describe(pool, set.get(..1).unwrap_or_default()),
                _ => describe(pool, set),
            };
        }
    }
}

/// What is known about the client, whatever the chain has asked.
fn describe_client(snapshot: &Snapshot, ctx: &QueryContext<'_>) -> TraceClient {
    let geo = &*snapshot.settings.geo;
    let mut client = Client::new(ctx, geo);
    let asn = client.asn();
    let effective = client.effective();
    let subnet = ctx.subnet.filter(|subnet| subnet.source > 0);
    TraceClient {
        effective: subnet.map_or_else(|| effective.to_string(), |s| format!("{effective}/{}", s.source)),
        from_ecs: subnet.is_some(),
        resolver: ctx.source.to_string(),
        country: client.country().map(|country| country.to_string()),
        asn: asn.map(|info| info.number),
        organisation: asn.and_then(|info| geo.organisation(info.organisation)),
    }
}

/// The host name that a service answers with.
fn names(service: RoutedService<'_>, scratch: &Scratch) -> Vec<String> {
    let members = scratch
        .chosen()
        .filter_map(|index| service.pool.members.get(index));
    members.map(|member| member.stored.endpoint.to_string()).collect()
}

fn notes(service: RoutedService<'_>, outcome: Outcome, proposed: bool, blind: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !service.enabled {
        notes.push("the service is disabled: no query finds it".to_owned());
    }
    if proposed {
        notes.push("a proposed routing was traced, not the stored one".to_owned());
    } else if service.licence_fallback {
        notes.push(format!(
            "the stored routing ({}) needs tier {}; without it the service answers by round-robin",
            service.routing.summary(),
            service.routing.required_tier()
        ));
    }
    match outcome {
        Outcome::Answered => {}
        Outcome::Fallback => {
            notes.push("no member is a candidate: the service's fallback answers".to_owned());
        }
        Outcome::NoCandidate => notes.push("no member is a candidate, and there is no fallback".to_owned()),
        Outcome::BelowMinHealthy => {
            notes.push(
                "fewer healthy members than minHealthy: no step runs and nothing is answered".to_owned(),
            );
        }
        Outcome::NoSuchFamily => {
            notes.push("the pool has no enabled member of this address family".to_owned());
        }
    }
    if service.is_alias() {
        notes.push("the answer is a CNAME, for every type: the members are host names".to_owned());
    }
    if blind {
        notes.push(
            "the client's address is private and no database knows it: geo steering is blind".to_owned(),
        );
    }
    notes
}

/// Traces a query to a service, with its stored routing or a proposed one. `clock` gives nanoseconds.
pub fn trace(
    snapshot: &Snapshot,
    service: RoutedService<'_>,
    ctx: &QueryContext<'_>,
    routing: Option<&Routing>,
    clock: impl FnMut() -> u64,
) -> Trace {
    let scripts = &*snapshot.settings.env.scripts;
    let proposed = routing.map(|routing| CompiledStep::compile(routing, scripts, Place::Trial));
    let steps = proposed.as_deref().unwrap_or(&service.steps);
    let mut scratch = Scratch::new();
    let mut recorder = Recorder::new(clock);
    let decision = evaluate_steps(snapshot, service, steps, ctx, &mut scratch, &mut recorder);
    let mut domain = String::new();
    write_name(ctx.qname, &mut domain);
    Trace {
        domain,
        qtype: ctx.family,
        service: service.name.to_string(),
        service_id: service.id,
        client: describe_client(snapshot, ctx),
        gate: recorder.gate.unwrap_or(TraceGate {
            min_healthy: 0,
            healthy: 0,
            open: true,
        }),
        chain: steps.iter().map(ToString::to_string).collect(),
        excluded: recorder.excluded.unwrap_or_default(),
        steps: recorder.steps,
        outcome: decision.outcome,
        answers: if scratch.answers().is_empty() {
            names(service, &scratch)
        } else {
            scratch.answers().iter().map(ToString::to_string).collect()
        },
        ttl: decision.ttl,
        ecs_scope: decision.ecs_scope,
        notes: notes(service, decision.outcome, proposed.is_some(), decision.blind),
    }
}
