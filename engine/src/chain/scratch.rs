//! Memory that one thread reuses from query to query.

use super::Candidate;
use crate::model::MAX_MEMBERS;
use crate::script::{ScriptCandidate, ScriptFailure};
use crate::snapshot::CompiledPool;
use std::net::IpAddr;
use std::time::Instant;

/// A sort key and the position it belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) value: f64,
    pub(crate) position: u16,
}

/// Working memory of [`evaluate`](super::evaluate), and the addresses it decided on. Large enough from the start for
/// the largest pool: no query allocates.
#[derive(Debug)]
pub struct Scratch {
    /// The candidates, in their current order.
    pub(crate) set: Vec<Candidate>,
    /// Another set, for reordering.
    pub(crate) spare: Vec<Candidate>,
    /// Values to sort or to draw by.
    pub(crate) keys: Vec<Key>,
    /// Round-trip times, nanoseconds.
    pub(crate) times: Vec<u64>,
    /// What script steps reuse; grows with the first one.
    pub(crate) script: ScriptScratch,
    answers: Vec<IpAddr>,
    /// How many of `set` are answers.
    chosen: usize,
}

/// Memory of script steps.
#[derive(Debug, Default)]
pub(crate) struct ScriptScratch {
    /// The name asked for.
    pub(crate) qname: String,
    /// Empty between queries.
    pub(crate) candidates: Vec<ScriptCandidate<'static>>,
    /// Positions, as a script wants them.
    pub(crate) order: Vec<u16>,
    /// Why the last script of the query failed.
    pub(crate) failure: Option<ScriptFailure>,
    /// Scripts that are not quick fail open without being run.
    pub(crate) skip_slow: bool,
    /// When the query came, if it is one that somebody waits for.
    pub(crate) arrived: Option<Instant>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// Allocates once.
    #[must_use]
    pub fn new() -> Self {
        Self {
            set: Vec::with_capacity(MAX_MEMBERS),
            spare: Vec::with_capacity(MAX_MEMBERS),
            keys: Vec::with_capacity(MAX_MEMBERS),
            times: Vec::with_capacity(MAX_MEMBERS),
            script: ScriptScratch::default(),
            answers: Vec::with_capacity(64),
            chosen: 0,
        }
    }

    /// Addresses of the last decision, in order; empty without an answer.
    #[must_use]
    pub fn answers(&self) -> &[IpAddr] {
        &self.answers
    }

    /// Why the last script step of the last decision failed; nothing when none did.
    #[must_use]
    pub fn script_failure(&self) -> Option<&ScriptFailure> {
        self.script.failure.as_ref()
    }

    /// Whether decisions from now on skip scripts that are not quick: these steps then fail open as if every worker were
    /// busy. For a thread that must not wait, when nobody else can take the query.
    pub fn skip_slow_scripts(&mut self, skip: bool) {
        self.script.skip_slow = skip;
    }

    /// When the query of the next decisions came: scripts that are not quick have to be done a short time after that, all
    /// of a chain together. `None`: each has its own time, as in a trace.
    pub fn arrived(&mut self, when: Option<Instant>) {
        self.script.arrived = when;
    }

    /// Indexes in the pool of the members whose addresses, or whose name, are the answer; empty when the answers are
    /// fallback addresses.
    pub fn chosen(&self) -> impl Iterator<Item = usize> {
        self.set
            .iter()
            .take(self.chosen)
            .map(|candidate| usize::from(candidate.index))
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.set.clear();
        self.answers.clear();
        self.script.failure = None;
        self.chosen = 0;
    }

    /// Answers with addresses that are no members.
    pub(crate) fn answer_with(&mut self, addresses: impl Iterator<Item = IpAddr>) {
        self.answers.extend(addresses);
    }

    /// Answers with the first `count` candidates.
    #[inline]
    pub(crate) fn answer_with_members(&mut self, pool: &CompiledPool, count: usize) {
        for candidate in self.set.iter().take(count) {
            if let Some(ip) = pool.reach(candidate.index.into()).and_then(|member| member.ip) {
                self.answers.push(ip);
            }
        }
        self.chosen = self.answers.len();
    }

    /// The first `count` candidates are the answer.
    pub(super) fn choose(&mut self, count: usize) {
        self.chosen = count.min(self.set.len());
    }

    /// Keeps the candidates for which `keep` holds, unless none does. Returns how many it holds for.
    #[inline]
    pub(crate) fn narrow(&mut self, mut keep: impl FnMut(Candidate) -> bool) -> usize {
        let set = self.set.as_mut_slice();
        let mut kept = 0;
        // Without a branch that depends on a member, which nothing could predict: who does not stay is written to where it
        // is. A set of which none stays is as it was.
        for position in 0..set.len() {
            let Some(candidate) = set.get(position).copied() else {
                break;
            };
            let stays = keep(candidate);
            if let Some(place) = set.get_mut(if stays { kept } else { position }) {
                *place = candidate;
            }
            kept += usize::from(stays);
        }
        if kept > 0 {
            self.set.truncate(kept);
        }
        kept
    }

    /// Sorts the candidates by `keys`, which holds one key per position, highest first, stable.
    #[inline]
    pub(crate) fn sort_by_keys(&mut self) {
        self.keys
            .sort_unstable_by(|a, b| b.value.total_cmp(&a.value).then(a.position.cmp(&b.position)));
        self.spare.clear();
        self.spare.extend(
            self.keys
                .iter()
                .filter_map(|key| self.set.get(usize::from(key.position)).copied()),
        );
        std::mem::swap(&mut self.set, &mut self.spare);
    }
}
