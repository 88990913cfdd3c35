//! From samples to text.

use super::catalogue::{CATALOGUE, Kind, Metric};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The value of a sample.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Of a counter.
    Count(u64),
    /// Of a gauge.
    Number(f64),
    /// Of a histogram.
    Histogram {
        /// Sum of all observations.
        sum: f64,
        /// `(upper bound, observations in this bucket alone)`; the last bound is `f64::MAX`, which stands for +Inf.
        buckets: Vec<(f64, u64)>,
    },
}

/// One value of one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Name in the [`CATALOGUE`].
    pub name: &'static str,
    /// Values of the metric's labels, in the catalogue's order.
    pub labels: Vec<String>,
    /// The value.
    pub value: Value,
}

impl Sample {
    /// Of a counter.
    #[must_use]
    pub fn count(name: &'static str, labels: &[&str], value: u64) -> Self {
        Self {
            name,
            labels: labels.iter().map(|l| (*l).to_owned()).collect(),
            value: Value::Count(value),
        }
    }

    /// Of a gauge.
    #[must_use]
    pub fn number(name: &'static str, labels: &[&str], value: f64) -> Self {
        Self {
            name,
            labels: labels.iter().map(|l| (*l).to_owned()).collect(),
            value: Value::Number(value),
        }
    }
}

/// Something that counts. Asked on each scrape.
pub trait Source: fmt::Debug + Send + Sync + 'static {
    /// Adds what it has counted.
    fn samples(&self, out: &mut Vec<Sample>);
}

/// The metrics of the process.
#[derive(Debug)]
pub struct Metrics(Registry);

impl Metrics {
    /// Metrics of these sources.
    #[must_use]
    pub fn new(sources: Vec<Arc<dyn Source>>) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Sources(sources)));
        Self(registry)
    }

    /// All metrics, in the OpenMetrics text format.
    ///
    /// # Errors
    /// Does not happen: writing to memory cannot fail.
    pub fn render(&self) -> Result<String, fmt::Error> {
        let mut out = String::new();
        text::encode(&mut out, &self.0)?;
        Ok(out)
    }
}

#[derive(Debug)]
struct Sources(Vec<Arc<dyn Source>>);

impl Collector for Sources {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut samples = Vec::new();
        for source in &self.0 {
            source.samples(&mut samples);
        }
        let mut by_name: HashMap<&str, Vec<Sample>> = HashMap::new();
        for sample in samples {
            by_name.entry(sample.name).or_default().push(sample);
        }
        for metric in CATALOGUE {
            let Some(samples) = by_name.remove(metric.name) else {
                continue;
            };
            // The text format adds `_total` to counters.
            let name = metric.name.strip_suffix("_total").unwrap_or(metric.name);
            let kind = match metric.kind {
                Kind::Counter => MetricType::Counter,
                Kind::Gauge => MetricType::Gauge,
                Kind::Histogram => MetricType::Histogram,
            };
            let mut family = encoder.encode_descriptor(name, metric.help, None, kind)?;
            for sample in samples {
                encode_sample(&mut family, metric, &sample)?;
            }
        }
        for name in by_name.keys() {
            tracing::error!(metric = name, "not in the catalogue of metrics");
        }
        Ok(())
    }
}

fn encode_sample(family: &mut MetricEncoder<'_>, metric: &Metric, sample: &Sample) -> Result<(), fmt::Error> {
    let labels: Vec<(&str, &str)> = metric
        .labels
        .iter()
        .copied()
        .zip(sample.labels.iter().map(String::as_str))
        .collect();
    if labels.is_empty() {
        return encode_value(family, &sample.value);
    }
    encode_value(&mut family.encode_family(&labels)?, &sample.value)
}

fn encode_value(encoder: &mut MetricEncoder<'_>, value: &Value) -> Result<(), fmt::Error> {
    type NoLabels = [(&'static str, &'static str); 0];
    match value {
        Value::Count(count) => encoder.encode_counter::<NoLabels, _, u64>(count, None),
        Value::Number(number) => encoder.encode_gauge(number),
        Value::Histogram { sum, buckets } => {
            let count = buckets.iter().map(|(_, n)| n).sum();
            // The text format knows the last bound as infinity.
            let buckets: Vec<(f64, u64)> = buckets
                .iter()
                .map(|(bound, n)| (if *bound == f64::MAX { f64::INFINITY } else { *bound }, *n))
                .collect();
            encoder.encode_histogram::<NoLabels>(*sum, count, &buckets, None)
        }
    }
}
