//! `failover`: picks the lowest positive priority; 0 is unset and last.

use crate::chain::{Reason, Report, Run, Scratch};
use crate::trace::StepAction;

pub(super) fn run(run: &Run<'_>, scratch: &mut Scratch) -> Report {
    let pool = run.pool;
    // 0 wraps to the end; the first of equals is the smallest.
    let ranks = scratch.set.iter().map(|c| {
        c.member(pool)
            .map_or(u32::MAX, |m| m.stored.priority.wrapping_sub(1))
    });
    let (position, rank) = ranks
        .enumerate()
        .min_by_key(|(_, rank)| *rank)
        .unwrap_or((0, u32::MAX));
    run.select(scratch, position);
    let reason = if rank == u32::MAX {
        Reason::NoPriority
    } else {
        Reason::Priority(rank + 1)
    };
    Report::new(StepAction::Selected, reason)
}
