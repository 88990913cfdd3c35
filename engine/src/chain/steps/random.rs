//! `random`: picks any candidate with equal chance.

use crate::chain::{Reason, Report, Run, Scratch};
use crate::hash::below;
use crate::trace::StepAction;

#[inline]
pub(super) fn run(run: &Run<'_>, scratch: &mut Scratch) -> Report {
    let position = below(run.ctx.entropy, scratch.set.len() as u64) as usize;
    run.select(scratch, position);
    Report::new(StepAction::Selected, Reason::Uniform)
}
