//! `weighted-round-robin`: picks at random in proportion to the weights; of several answers each so from those that are left.

use super::random;
use crate::chain::sink::Sink;
use crate::chain::{Candidate, Reason, Report, Run, Scratch};
use crate::hash::below;
use crate::snapshot::CompiledPool;
use crate::trace::{Detail, StepAction};

pub(super) fn run<S: Sink>(run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    let pool = run.pool;
    let total = sum(pool, &scratch.set);
    if total == 0 {
        random::evenly(run, scratch);
        return Report::new(StepAction::Selected, Reason::WeightsZero);
    }
    let position = at(pool, &scratch.set, below(run.ctx.entropy, total));
    let weight = scratch.set.get(position).map_or(0, |c| pool.hot(c.index).weight);
    for candidate in scratch.set.iter().filter(|_| S::WATCHES) {
        if let Some(member) = candidate.member(pool) {
            sink.detail(|| Detail {
                name: format!("weight {}", member.stored.endpoint),
                value: member.stored.weight.to_string(),
            });
        }
    }
    if run.one_answer() {
        run.select(scratch, position);
    } else {
        several(run, scratch, total);
    }
    Report::new(StepAction::Selected, Reason::ByWeight { weight, total })
}

/// Sum of the weights: at most 512 times 2³¹, which does not overflow.
#[inline]
fn sum(pool: &CompiledPool, set: &[Candidate]) -> u64 {
    set.iter().map(|c| u64::from(pool.hot(c.index).weight)).sum()
}

/// Position of the candidate that a draw below the sum of the weights falls on.
#[inline]
fn at(pool: &CompiledPool, set: &[Candidate], draw: u64) -> usize {
    // Counts the candidates that the draw lies behind, without a branch that nothing could predict.
    let mut position = 0;
    let mut sum = 0;
    for candidate in set {
        sum += u64::from(pool.hot(candidate.index).weight);
        position += usize::from(sum <= draw);
    }
    position
}

/// Whoever weighs nothing is in no answer, while another weighs something.
#[inline(never)]
fn several(run: &mut Run<'_>, scratch: &mut Scratch, total: u64) {
    let pool = run.pool;
    let mut left = total;
    run.select_each(scratch, |scratch, from, bits| {
        let rest = scratch.set.get(from..)?;
        let position = from + at(pool, rest, below(bits, left));
        let weight = pool.hot(scratch.set.get(position)?.index).weight;
        left -= u64::from(weight);
        (weight > 0).then_some(position)
    });
}
