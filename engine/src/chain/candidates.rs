//! Candidates: members as one query sees them.

use crate::snapshot::{CompiledMember, CompiledPool, Hot};

/// A member in the running for one query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Index in the pool.
    pub(crate) index: u16,
    /// Health score when the candidates were taken, 0.0 to 1.0.
    pub(crate) score: f32,
}

impl Candidate {
    /// The member.
    #[inline]
    pub(crate) fn member(self, pool: &CompiledPool) -> Option<&CompiledMember> {
        pool.members.get(usize::from(self.index))
    }
}

/// Fills `set` with the members of `indexes` whose score is above 0, sorted by score, highest first, ties in the pool's
/// order.
#[inline]
pub(crate) fn collect(lane: &[Hot], indexes: &[u16], set: &mut Vec<Candidate>) {
    let hot = |index: &u16| lane.get(usize::from(*index));
    let mut short = 0;
    set.extend(indexes.iter().map(|&index| {
        short |= hot(&index).map_or(u32::MAX, Hot::short_of_best);
        Candidate { index, score: 1.0 }
    }));
    // Nearly always all have the best.
    if short == 0 {
        return;
    }
    set.clear();
    set.extend(indexes.iter().map(|&index| Candidate {
        index,
        score: hot(&index).map_or(0.0, Hot::score),
    }));
    set.retain(|candidate| candidate.score > 0.0);
    if !set.is_sorted_by(|a, b| a.score >= b.score) {
        sort(set);
    }
}

/// All members of `indexes`, sorted as by [`collect`], with score 0 too: the service fails open.
pub(crate) fn collect_all(pool: &CompiledPool, indexes: &[u16], set: &mut Vec<Candidate>) {
    set.extend(indexes.iter().filter_map(|index| {
        let score = pool.lane().get(usize::from(*index))?.score();
        Some(Candidate { index: *index, score })
    }));
    sort(set);
}

/// Unstable with the index as second key is stable here, and needs no memory.
fn sort(set: &mut [Candidate]) {
    set.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
}
