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
mod signal_weight;
mod sticky;
mod weighted_round_robin;

use super::scratch::Scratch;
use super::sink::Sink;
use super::{Report, Run};
use crate::model::{FilterName, FilterStep, Routing};

/// A step, ready to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl CompiledStep {
    /// The steps of a routing; a single algorithm is a chain of one.
    #[must_use]
    pub fn compile(routing: &Routing) -> Box<[Self]> {
        match routing {
            Routing::Algorithm(name) => Box::from([Self::from(*name)]),
            Routing::Chain(steps) => steps
                .iter()
                .map(|FilterStep::Builtin(name)| Self::from(*name))
                .collect(),
        }
    }

    /// The filter's name.
    #[must_use]
    pub const fn name(self) -> FilterName {
        match self {
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
        }
    }

    #[inline]
    pub(super) fn run<S: Sink>(self, run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
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
