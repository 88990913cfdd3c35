//! The steps, one file each.
//!
//! A step reads and changes the candidates in the scratch memory and reports what it did. Steps that may leave
//! somebody out never leave nobody; steps that select put their choice first and report `selected`.

mod asn;
mod failover;
mod fence;
mod geo_area;
mod geo_ip;
mod geo_nearest;
mod latency;
mod map_file;
mod random;
mod round_robin;
mod script;
mod select_first;
mod shed_load;
mod signal_weight;
mod sticky;
mod weighted_round_robin;

use super::scratch::Scratch;
use super::sink::Sink;
use super::{Report, Run};
use crate::model::{FilterClass, FilterName, FilterStep, Routing};
use crate::script::{Place, Scripts};
use script::CompiledScript;
use std::fmt;
use std::sync::Arc;

/// A step, ready to run.
#[derive(Debug, Clone)]
pub enum CompiledStep {
    /// A filter without a parameter.
    Builtin(FilterName),
    /// `select-first:N`
    SelectFirst(u8),
    /// `script:<body>`
    Script(Arc<CompiledScript>),
}

impl CompiledStep {
    /// The steps of a routing; a single algorithm is a chain of one. A script that does not compile is a step that
    /// fails open: one script must not keep every other change from the wire. `place` is whose scripts they are.
    #[must_use]
    pub fn compile(routing: &Routing, scripts: &dyn Scripts, place: Place) -> Box<[Self]> {
        let one = |step: &FilterStep| match step {
            FilterStep::Builtin(name) => Self::Builtin(*name),
            FilterStep::SelectFirst(count) => Self::SelectFirst(*count),
            FilterStep::Script(body) => Self::Script(Arc::new(CompiledScript::new(body, scripts, place))),
        };
        match routing {
            Routing::Algorithm(name) => Box::from([Self::Builtin(*name)]),
            Routing::Chain(steps) => steps.iter().map(one).collect(),
        }
    }

    /// Whether it may take turns, which the slot of its service then has to count.
    pub(crate) fn takes_turns(&self) -> bool {
        matches!(self, Self::Builtin(FilterName::RoundRobin | FilterName::Latency))
    }

    /// Whether it has no parameter.
    #[inline]
    pub(crate) fn is_builtin(&self) -> bool {
        matches!(self, Self::Builtin(_))
    }

    /// Whether it ends the chain.
    fn is_selecting(&self) -> bool {
        match self {
            Self::Builtin(name) => name.info().class == FilterClass::Selecting,
            Self::SelectFirst(_) => true,
            Self::Script(_) => false,
        }
    }

    /// Whether it may block for milliseconds when it gets so many candidates.
    fn is_slow(&self, candidates: usize) -> bool {
        matches!(self, Self::Script(script) if script.is_slow(candidates))
    }

    /// Whether a chain runs a script at all.
    pub(crate) fn any_script(steps: &[Self]) -> bool {
        let mut runs = steps.iter().take_while(|step| !step.is_selecting());
        runs.any(|step| matches!(step, Self::Script(_)))
    }

    /// Whether a chain may block for milliseconds when it begins with so many candidates.
    pub(crate) fn any_slow(steps: &[Self], candidates: usize) -> bool {
        let mut runs = steps.iter().take_while(|step| !step.is_selecting());
        runs.any(|step| step.is_slow(candidates))
    }

    #[inline]
    pub(super) fn run<S: Sink>(&self, run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
        let name = match self {
            Self::Builtin(name) => *name,
            Self::SelectFirst(count) => return select_first::run(run, scratch, *count),
            Self::Script(script) => return script.run(run, scratch, sink),
        };
        match name {
            FilterName::GeoIp => geo_ip::run(run, scratch),
            FilterName::GeoContinent => geo_area::continent(run, scratch),
            FilterName::GeoSubdivision => geo_area::subdivision(run, scratch),
            FilterName::GeoNearest => geo_nearest::run(run, scratch, sink),
            FilterName::Asn => asn::run(run, scratch, sink),
            FilterName::AsnFence => fence::asn(run, scratch, sink),
            FilterName::PrefixFence => fence::prefix(run, scratch, sink),
            FilterName::MapFile => map_file::run(run, scratch, sink),
            FilterName::Sticky => sticky::run(run, scratch, sink),
            FilterName::ShedLoad => shed_load::run(run, scratch, sink),
            FilterName::SignalWeight => signal_weight::run(run, scratch, sink),
            FilterName::RoundRobin => round_robin::run::<S>(run, scratch),
            FilterName::WeightedRoundRobin => weighted_round_robin::run(run, scratch, sink),
            FilterName::Failover => failover::run(run, scratch),
            FilterName::Latency => latency::run(run, scratch, sink),
            FilterName::Random => random::run(run, scratch),
            // Chains hold it with its number, and it is no algorithm.
            FilterName::SelectFirst => select_first::run(run, scratch, run.service.max_answers),
        }
    }
}

impl fmt::Display for CompiledStep {
    /// As it stands in the chain.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(name) => name.fmt(f),
            Self::SelectFirst(count) => write!(f, "{}:{count}", FilterName::SelectFirst),
            Self::Script(script) => script.fmt(f),
        }
    }
}
