//! The filter chain: from a query to a decision.
//!
//! [`evaluate`] is the only code that decides. The wire path runs it with [`NoTrace`], which compiles away; the tracer
//! runs it with a [`Recorder`], which writes down what each step saw and did. No lock, no allocation, no clock.

mod candidates;
mod client;
mod hosts;
mod name;
mod reason;
mod recorder;
mod scratch;
mod sink;
mod steps;

pub use recorder::{Recorder, trace};
pub use scratch::Scratch;
pub use sink::{NoTrace, Sink};
pub use steps::CompiledStep;

pub(crate) use candidates::Candidate;
pub(crate) use client::Client;
pub(crate) use reason::{Area, Reason};

use crate::decision::Outcome;
use crate::hash::mix;
use crate::model::Fallback;
use crate::query::QueryContext;
use crate::slots::MemberSlot;
use crate::snapshot::{CompiledPool, CompiledService, RoutedService, Settings, Snapshot};
use crate::trace::StepAction;
use std::sync::atomic::Ordering;

/// What a query to a service gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// How it ended. The addresses are in [`Scratch::answers`]; of a service that answers with names, the one chosen is in
    /// [`Scratch::chosen`].
    pub outcome: Outcome,
    /// TTL of the answer, seconds; without an answer a bound for the SOA's.
    pub ttl: u32,
    /// ECS scope: the longest prefix that a step needed of the client subnet, never more than its source length. 0
    /// without a usable ECS option.
    pub ecs_scope: u8,
    /// `signal-weight` changed the first candidate.
    pub steered: bool,
    /// A database was asked about a private effective client address and knew nothing.
    pub blind: bool,
    /// Script steps that failed open. The last failure is [`Scratch::script_failure`].
    pub script_errors: u8,
}

/// What one step needs to run.
pub(crate) struct Run<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) service: &'a CompiledService,
    pub(crate) pool: &'a CompiledPool,
    pub(crate) ctx: &'a QueryContext<'a>,
    pub(crate) client: Client<'a>,
    pub(crate) steered: bool,
    pub(crate) script_errors: u8,
    /// Answers with up to this many candidates.
    pub(crate) answers: u8,
    /// TTL of the answer, seconds.
    pub(crate) ttl: u32,
}

impl Run<'_> {
    /// Whether the answer holds one member at most: a selecting step then looks for no other.
    #[inline]
    pub(crate) fn one_answer(&self) -> bool {
        self.service.max_answers <= 1
    }

    /// Puts the only choice of a selecting step first. The order of the others is nobody's concern.
    #[inline]
    pub(crate) fn select(&self, scratch: &mut Scratch, position: usize) {
        debug_assert!(self.one_answer());
        let chosen = scratch.set.get(position).copied();
        if let (Some(first), Some(chosen)) = (scratch.set.first_mut(), chosen) {
            *first = chosen;
        }
    }

    /// Chooses the members of an answer that may hold several, one after another. `choose` gets the candidates that are
    /// left and random bits of their own, the query's for the first, and says which of them is next; `None`: nobody is.
    pub(crate) fn select_each(
        &mut self,
        scratch: &mut Scratch,
        mut choose: impl FnMut(&mut Scratch, usize, u64) -> Option<usize>,
    ) {
        let wanted = usize::from(self.service.max_answers).min(scratch.set.len());
        for taken in 0..wanted {
            let Some(position) = choose(scratch, taken, bits(self.ctx.entropy, taken)) else {
                self.answers = u8::try_from(taken).unwrap_or(self.answers);
                return;
            };
            if taken <= position && position < scratch.set.len() {
                scratch.set.swap(taken, position);
            }
        }
    }
}

/// Random bits for one of several draws of a query: its own for the first.
fn bits(entropy: u64, draw: usize) -> u64 {
    if draw == 0 {
        return entropy;
    }
    mix(entropy.wrapping_add((draw as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// How one step ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Report {
    pub(crate) action: StepAction,
    pub(crate) reason: Reason,
}

impl Report {
    pub(crate) const fn new(action: StepAction, reason: Reason) -> Self {
        Self { action, reason }
    }

    pub(crate) const fn skipped(reason: Reason) -> Self {
        Self::new(StepAction::Skipped, reason)
    }
}

/// Decides one query to a service. The addresses of the answer are in `scratch` afterwards.
pub fn evaluate<S: Sink>(
    snapshot: &Snapshot,
    service: RoutedService<'_>,
    ctx: &QueryContext<'_>,
    scratch: &mut Scratch,
    sink: &mut S,
) -> Decision {
    evaluate_steps(snapshot, service, &service.steps, ctx, scratch, sink)
}

/// As [`evaluate`], with other steps than the stored ones.
pub(crate) fn evaluate_steps<S: Sink>(
    snapshot: &Snapshot,
    service: RoutedService<'_>,
    steps: &[CompiledStep],
    ctx: &QueryContext<'_>,
    scratch: &mut Scratch,
    sink: &mut S,
) -> Decision {
    let pool = service.pool;
    scratch.clear();
    let mut run = Run {
        settings: &snapshot.settings,
        service: service.service(),
        pool,
        ctx,
        client: Client::new(ctx, &*snapshot.settings.geo),
        steered: false,
        script_errors: 0,
        answers: service.max_answers,
        ttl: service.ttl,
    };
    let outcome = decide(&mut run, steps, scratch, sink);
    Decision {
        outcome,
        ttl: run.ttl,
        ecs_scope: run.client.scope(),
        steered: run.steered,
        blind: run.client.is_blind(),
        script_errors: run.script_errors,
    }
}

fn decide<S: Sink>(
    run: &mut Run<'_>,
    steps: &[CompiledStep],
    scratch: &mut Scratch,
    sink: &mut S,
) -> Outcome {
    let pool = run.pool;
    let family = run.ctx.family;
    if pool.min_healthy > 0 || !S::LIVE {
        let healthy = pool.healthy();
        let open = healthy >= pool.min_healthy;
        sink.gate(pool.min_healthy, healthy, open);
        if !open {
            return Outcome::BelowMinHealthy;
        }
    }
    candidates::collect(pool.lane(), &pool.family(family).eligible, &mut scratch.set);
    if pool.by_name {
        hosts::retain(run, scratch);
    }
    sink.candidates(pool, family, &scratch.set);
    let mut outcome = Outcome::Answered;
    if scratch.set.is_empty() {
        let nobody = if pool.by_name {
            hosts::nobody(run)
        } else if pool.has_family(family) {
            Outcome::NoCandidate
        } else {
            Outcome::NoSuchFamily
        };
        match &run.service.fallback {
            Fallback::None => return nobody,
            Fallback::Addresses(list) => {
                scratch.answer_with(list.iter().copied().filter(|ip| family.matches(*ip)));
                return if scratch.answers().is_empty() {
                    nobody
                } else {
                    Outcome::Fallback
                };
            }
            Fallback::All => {
                candidates::collect_all(pool, &pool.family(family).enabled, &mut scratch.set);
                if pool.by_name {
                    hosts::retain(run, scratch);
                }
                if scratch.set.is_empty() {
                    return nobody;
                }
                sink.candidates(pool, family, &scratch.set);
                outcome = Outcome::Fallback;
            }
        }
    }
    for step in steps {
        sink.before(step, pool, &scratch.set);
        let report = step.run(run, scratch, sink);
        sink.after(report.action, &report.reason, pool, &scratch.set);
        if report.action == StepAction::Selected {
            break;
        }
    }
    if pool.by_name {
        hosts::answer(run, scratch);
    } else {
        scratch.answer_with_members(pool, usize::from(run.answers));
    }
    outcome
}

impl<'a> RoutedService<'a> {
    /// Whether a query may run a script that is not quick: it then blocks for milliseconds, and belongs on a thread that
    /// no other service waits for. Asked anew for each query, since a script may stop being quick.
    #[must_use]
    #[inline]
    pub fn has_slow_script(&self) -> bool {
        self.has_script && CompiledStep::any_slow(&self.steps, self.pool.most_candidates())
    }

    /// Counts a decision of the wire path: outcome, members answered with, steering by signals, failed scripts. Traces
    /// are not counted.
    pub fn count(&self, decision: &Decision, scratch: &Scratch) {
        self.count_decision(decision);
        self.chosen(scratch).for_each(MemberSlot::count_answer);
    }

    /// As [`count`](Self::count), but for the members.
    #[inline]
    pub fn count_decision(&self, decision: &Decision) {
        self.slot.count(decision.outcome);
        if decision.steered {
            self.slot.signal_steered.fetch_add(1, Ordering::Relaxed);
        }
        if decision.script_errors > 0 {
            self.slot
                .script_errors
                .fetch_add(decision.script_errors.into(), Ordering::Relaxed);
        }
    }

    /// The members of the last decision in `scratch`, which was one about this service.
    #[inline]
    pub fn chosen(&self, scratch: &Scratch) -> impl Iterator<Item = &'a MemberSlot> {
        let (chosen, pool) = (scratch.chosen(), self.pool);
        chosen.filter_map(|index| Some(&*pool.reach(index)?.slot))
    }
}
