//! `weighted-round-robin`: picks at random in proportion to the weights.

use crate::chain::candidates::to_front;
use crate::chain::sink::Sink;
use crate::chain::{Reason, Report, Run, Scratch};
use crate::hash::below;
use crate::trace::{Detail, StepAction};

pub(super) fn run<S: Sink>(run: &Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    let pool = run.pool;
    let weight_at = |position: usize| {
        let weight = scratch
            .set
            .get(position)
            .and_then(|c| Some(c.member(pool)?.stored.weight));
        weight.unwrap_or(0)
    };
    // At most 512 times 2³¹: no overflow.
    let total: u64 = (0..scratch.set.len())
        .map(|position| u64::from(weight_at(position)))
        .sum();
    if total == 0 {
        let position = below(run.ctx.entropy, scratch.set.len() as u64) as usize;
        to_front(&mut scratch.set, position);
        return Report::new(StepAction::Selected, Reason::WeightsZero);
    }
    let mut draw = below(run.ctx.entropy, total);
    let mut chosen = 0;
    let mut weight = 0;
    for position in 0..scratch.set.len() {
        chosen = position;
        weight = weight_at(position);
        if draw < u64::from(weight) {
            break;
        }
        draw -= u64::from(weight);
    }
    for candidate in &scratch.set {
        if let Some(member) = candidate.member(pool) {
            sink.detail(|| Detail {
                name: format!("weight {}", member.stored.endpoint),
                value: member.stored.weight.to_string(),
            });
        }
    }
    to_front(&mut scratch.set, chosen);
    Report::new(StepAction::Selected, Reason::ByWeight { weight, total })
}
