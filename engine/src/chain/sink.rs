//! Who watches a decision.

use super::reason::Reason;
use super::{Candidate, CompiledStep};
use crate::query::Family;
use crate::snapshot::CompiledPool;
use crate::trace::{Detail, StepAction};
use std::fmt::Display;

/// Watches one decision. Every method does nothing unless overridden, so that the wire path pays nothing.
pub trait Sink {
    /// Whether the decision is for a real query: only then is a round-robin ticket used up.
    const LIVE: bool;

    /// Whether anything is made of what it is told: what leads only there need not be computed.
    const WATCHES: bool = true;

    /// The gate before the chain.
    fn gate(&mut self, _min_healthy: u32, _healthy: u32, _open: bool) {}

    /// The candidates at the start of the chain.
    fn candidates(&mut self, _pool: &CompiledPool, _family: Family, _set: &[Candidate]) {}

    /// A step begins.
    fn before(&mut self, _step: &CompiledStep, _pool: &CompiledPool, _set: &[Candidate]) {}

    /// A value that explains the step; the closure runs only if somebody wants it.
    fn detail(&mut self, _detail: impl FnOnce() -> Detail) {}

    /// A part of the step begins that is worth a time of its own.
    fn begin(&mut self) {}

    /// The part that began last has ended.
    fn end(&mut self, _what: &str) {}

    /// The step failed, and why.
    fn failed(&mut self, _why: &dyn Display) {}

    /// The step has ended.
    fn after(&mut self, _action: StepAction, _reason: &Reason, _pool: &CompiledPool, _set: &[Candidate]) {}
}

/// Nobody watches: the wire path.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTrace;

impl Sink for NoTrace {
    const LIVE: bool = true;
    const WATCHES: bool = false;
}
