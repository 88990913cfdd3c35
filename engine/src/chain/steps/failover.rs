//! `failover`: picks the lowest positive priority; 0 is unset and last.

use crate::chain::{Reason, Report, Run, Scratch};
use crate::trace::StepAction;

#[inline]
pub(super) fn run(run: &Run<'_>, scratch: &mut Scratch) -> Report {
    // Rank and position in one number: its minimum is the first of the lowest, without a branch. An unset priority
    // wraps to the end.
    let mut best = u64::MAX;
    for (position, candidate) in (0_u64..).zip(&scratch.set) {
        let rank = run.pool.hot(candidate.index).priority.wrapping_sub(1);
        best = best.min((u64::from(rank) << 16) | position);
    }
    run.select(scratch, (best & 0xffff) as usize);
    let reason = match u32::try_from(best >> 16) {
        Ok(rank) if rank < u32::MAX => Reason::Priority(rank + 1),
        _ => Reason::NoPriority,
    };
    Report::new(StepAction::Selected, reason)
}
