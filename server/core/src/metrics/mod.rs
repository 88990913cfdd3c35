//! Metrics for Prometheus: one catalogue, rendered on each scrape from the slots that already count.

mod catalogue;
mod core;
mod render;

pub use catalogue::{CATALOGUE, Kind, Metric, reference};
pub use render::{Metrics, Sample, Source, Value};

pub(crate) use core::CoreSource;
