//! `select-first:N`: answers with the first N candidates in their order, whatever the service's `maxAnswers`.

use crate::chain::{Reason, Report, Run, Scratch};
use crate::trace::StepAction;

#[inline]
pub(super) fn run(run: &mut Run<'_>, scratch: &mut Scratch, count: u8) -> Report {
    let of = scratch.set.len();
    scratch.set.truncate(usize::from(count));
    run.answers = count;
    let count = scratch.set.len();
    Report::new(StepAction::Selected, Reason::First { count, of })
}
