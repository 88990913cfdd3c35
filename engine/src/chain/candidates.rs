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
    let mut sorted = true;
    let mut last = f32::INFINITY;
    set.extend(indexes.iter().map(|index| {
        let score = lane.get(usize::from(*index)).map_or(0.0, Hot::score);
        sorted &= score <= last;
        last = score;
        Candidate { index: *index, score }
    }));
    // Nearly always all have the same.
    if sorted && last > 0.0 {
        return;
    }
    set.retain(|candidate| candidate.score > 0.0);
    if !sorted {
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

/// Moves the candidate at `position` to the front; the others keep their order, unless nobody will look at them.
#[inline]
pub(crate) fn to_front(set: &mut [Candidate], position: usize, only_first: bool) {
    let Some(chosen) = set.get(position).copied() else {
        return;
    };
    // Moving a random number of others costs more than the choice itself.
    if !only_first {
        set.copy_within(..position, 1);
    }
    if let Some(first) = set.first_mut() {
        *first = chosen;
    }
}
