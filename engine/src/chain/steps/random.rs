//! `random`: picks any candidate with equal chance; of several answers each so from those that are left.

use crate::chain::{Reason, Report, Run, Scratch};
use crate::hash::below;
use crate::trace::StepAction;

#[inline]
pub(super) fn run(run: &mut Run<'_>, scratch: &mut Scratch) -> Report {
    evenly(run, scratch);
    Report::new(StepAction::Selected, Reason::Uniform)
}

/// Any candidate with equal chance.
#[inline]
pub(super) fn evenly(run: &mut Run<'_>, scratch: &mut Scratch) {
    if run.one_answer() {
        let position = below(run.ctx.entropy, scratch.set.len() as u64) as usize;
        run.select(scratch, position);
    } else {
        several(run, scratch);
    }
}

#[inline(never)]
fn several(run: &mut Run<'_>, scratch: &mut Scratch) {
    run.select_each(scratch, |scratch, from, bits| {
        Some(from + below(bits, (scratch.set.len() - from) as u64) as usize)
    });
}
