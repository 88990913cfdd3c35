//! `failover`: picks the lowest positive priority; 0 is unset and last. Several answers are in this order.

use crate::chain::scratch::Key;
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
    if run.one_answer() {
        run.select(scratch, (best & 0xffff) as usize);
    } else {
        sort(run, scratch);
    }
    let reason = match u32::try_from(best >> 16) {
        Ok(rank) if rank < u32::MAX => Reason::Priority(rank + 1),
        _ => Reason::NoPriority,
    };
    Report::new(StepAction::Selected, reason)
}

#[inline(never)]
fn sort(run: &Run<'_>, scratch: &mut Scratch) {
    scratch.keys.clear();
    let ranks = scratch
        .set
        .iter()
        .map(|c| run.pool.hot(c.index).priority.wrapping_sub(1));
    scratch
        .keys
        .extend((0_u16..).zip(ranks).map(|(position, rank)| Key {
            value: -f64::from(rank),
            position,
        }));
    scratch.sort_by_keys();
}
