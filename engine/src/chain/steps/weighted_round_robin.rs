//! `weighted-round-robin`: picks at random in proportion to the weights.

use crate::chain::sink::Sink;
use crate::chain::{Reason, Report, Run, Scratch};
use crate::hash::below;
use crate::trace::{Detail, StepAction};

pub(super) fn run<S: Sink>(run: &Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    let pool = run.pool;
    // At most 512 times 2³¹: no overflow.
    let total: u64 = scratch
        .set
        .iter()
        .map(|c| u64::from(pool.hot(c.index).weight))
        .sum();
    if total == 0 {
        let position = below(run.ctx.entropy, scratch.set.len() as u64) as usize;
        run.select(scratch, position);
        return Report::new(StepAction::Selected, Reason::WeightsZero);
    }
    let draw = below(run.ctx.entropy, total);
    // Counts the candidates that the draw lies behind, without a branch that nothing could predict.
    let mut position = 0;
    let mut sum = 0;
    for candidate in &scratch.set {
        sum += u64::from(pool.hot(candidate.index).weight);
        position += usize::from(sum <= draw);
    }
    let weight = scratch.set.get(position).map_or(0, |c| pool.hot(c.index).weight);
    for candidate in &scratch.set {
        if let Some(member) = candidate.member(pool) {
            sink.detail(|| Detail {
                name: format!("weight {}", member.stored.endpoint),
                value: member.stored.weight.to_string(),
            });
        }
    }
    run.select(scratch, position);
    Report::new(StepAction::Selected, Reason::ByWeight { weight, total })
}
