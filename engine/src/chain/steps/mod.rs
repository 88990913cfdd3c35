//! The steps, one file each.
//!
//! A step reads and changes the candidates in the scratch memory and reports what it did. Steps that may leave
//! somebody out never leave nobody; steps that select put their choice first and report `selected`.

mod asn;
mod failover;
mod geo_ip;
mod latency;
mod map_file;
mod random;
mod round_robin;
mod script;
mod signal_weight;
mod sticky;
mod weighted_round_robin;

use super::scratch::Scratch;
use super::sink::Sink;
use super::{Report, Run};
use crate::model::{FilterClass, FilterName, FilterStep, Routing};
use crate::script::Scripts;
use script::CompiledScript;
use std::fmt;
use std::sync::Arc;

/// A step, ready to run.
#[derive(Debug, Clone)]
pub enum CompiledStep {
    /// `geo-ip`
    GeoIp,
    /// `asn`
    Asn,
    /// `map-file`
    MapFile,
    /// `sticky`
    Sticky,
    /// `signal-weight`
    SignalWeight,
    /// `round-robin`
    RoundRobin,
    /// `weighted-round-robin`
    WeightedRoundRobin,
    /// `failover`
    Failover,
    /// `latency`
    Latency,
    /// `random`
    Random,
    /// `script:<body>`
    Script(Arc<CompiledScript>),
}

impl CompiledStep {
    /// The steps of a routing; a single algorithm is a chain of one. A script that does not compile is a step that
    /// fails open: one script must not keep every other change from the wire.
    #[must_use]
    pub fn compile(routing: &Routing, scripts: &dyn Scripts) -> Box<[Self]> {
        let one = |step: &FilterStep| match step {
            FilterStep::Builtin(name) => Self::from(*name),
            FilterStep::Script(body) => Self::Script(Arc::new(CompiledScript::new(body, scripts))),
        };
        match routing {
            Routing::Algorithm(name) => Box::from([Self::from(*name)]),
            Routing::Chain(steps) => steps.iter().map(one).collect(),
        }
    }

    /// The filter's name; none for a script.
    #[must_use]
    pub fn name(&self) -> Option<FilterName> {
        Some(match self {
            Self::GeoIp => FilterName::GeoIp,
            Self::Asn => FilterName::Asn,
            Self::MapFile => FilterName::MapFile,
            Self::Sticky => FilterName::Sticky,
            Self::SignalWeight => FilterName::SignalWeight,
            Self::RoundRobin => FilterName::RoundRobin,
            Self::WeightedRoundRobin => FilterName::WeightedRoundRobin,
            Self::Failover => FilterName::Failover,
            Self::Latency => FilterName::Latency,
            Self::Random => FilterName::Random,
            Self::Script(_) => return None,
        })
    }

    /// Whether it ends the chain.
    fn is_selecting(&self) -> bool {
        self.name()
            .is_some_and(|name| name.info().class == FilterClass::Selecting)
    }

    /// Whether it may block for milliseconds when it gets so many candidates.
    fn is_slow(&self, candidates: usize) -> bool {
        matches!(self, Self::Script(script) if script.is_slow(candidates))
    }

    /// Whether a chain may block for milliseconds when it begins with so many candidates.
    pub(crate) fn any_slow(steps: &[Self], candidates: usize) -> bool {
        let mut runs = steps.iter().take_while(|step| !step.is_selecting());
        runs.any(|step| step.is_slow(candidates))
    }

    #[inline]
    pub(super) fn run<S: Sink>(&self, run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
        match self {
            Self::GeoIp => geo_ip::run(run, scratch),
            Self::Asn => asn::run(run, scratch, sink),
            Self::MapFile => map_file::run(run, scratch, sink),
            Self::Sticky => sticky::run(run, scratch, sink),
            Self::SignalWeight => signal_weight::run(run, scratch, sink),
            Self::RoundRobin => round_robin::run::<S>(run, scratch),
            Self::WeightedRoundRobin => weighted_round_robin::run(run, scratch, sink),
            Self::Failover => failover::run(run, scratch),
            Self::Latency => latency::run(run, scratch, sink),
            Self::Random => random::run(run, scratch),
            Self::Script(script) => script.run(run, scratch, sink),
        }
    }
}

impl fmt::Display for CompiledStep {
    /// As it stands in the chain.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.name()) {
            (Self::Script(script), _) => script.fmt(f),
            (_, Some(name)) => name.fmt(f),
            (_, None) => Ok(()),
        }
    }
}

impl From<FilterName> for CompiledStep {
    fn from(name: FilterName) -> Self {
        match name {
            FilterName::GeoIp => Self::GeoIp,
            FilterName::Asn => Self::Asn,
            FilterName::MapFile => Self::MapFile,
            FilterName::Sticky => Self::Sticky,
            FilterName::SignalWeight => Self::SignalWeight,
            FilterName::RoundRobin => Self::RoundRobin,
            FilterName::WeightedRoundRobin => Self::WeightedRoundRobin,
            FilterName::Failover => Self::Failover,
            FilterName::Latency => Self::Latency,
            FilterName::Random => Self::Random,
        }
    }
}
