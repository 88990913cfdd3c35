//! Candidates: members as one query sees them.

use crate::snapshot::{CompiledMember, CompiledPool};

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

/// Fills `set` with the members whose score is above 0, sorted by score, highest first, ties in the pool's order.
#[inline]
pub(crate) fn collect(pool: &CompiledPool, indexes: &[u16], set: &mut Vec<Candidate>) {
    fill(pool, indexes, set, 0.0);
}

/// As [`collect`], members with score 0 too: the service fails open.
pub(crate) fn collect_all(pool: &CompiledPool, indexes: &[u16], set: &mut Vec<Candidate>) {
    fill(pool, indexes, set, -1.0);
}

#[inline]
fn fill(pool: &CompiledPool, indexes: &[u16], set: &mut Vec<Candidate>, above: f32) {
    let mut sorted = true;
    let mut last = f32::INFINITY;
    set.extend(indexes.iter().filter_map(|index| {
        let score = pool.members.get(usize::from(*index))?.score();
        if score <= above {
            return None;
        }
        sorted &= score <= last;
        last = score;
        Some(Candidate { index: *index, score })
    }));
    if !sorted {
        // Unstable with the index as second key is stable here, and needs no memory.
        set.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
    }
}

/// Moves the candidate at `position` to the front; the others keep their order.
#[inline]
pub(crate) fn to_front(set: &mut [Candidate], position: usize) {
    if let Some(head) = set.get_mut(..=position) {
        head.rotate_right(1);
    }
}
