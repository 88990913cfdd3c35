//! Counters of DNS and probes, in the words of the catalogue.

use gslb_core::metrics::{Sample, Source, Value};
use gslb_dns::{DnsStats, LATENCY_BOUNDS, QTYPES, RCODES, Transport, Unanswered};
use gslb_probe::{HealthEvent, HealthState, NameStats, ProbeStats};
use gslb_script::Workers;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The DNS server's counters.
#[derive(Debug)]
pub struct DnsSource(pub Arc<DnsStats>);

#[expect(
    clippy::cast_precision_loss,
    reason = "sums of nanoseconds lose nothing that a graph could show"
)]
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Source for DnsSource {
    fn samples(&self, out: &mut Vec<Sample>) {
        let counts = self.0.snapshot();
        for (transport, row) in Transport::ALL.iter().zip(counts.responses) {
            for (rcode, value) in RCODES.iter().zip(row) {
                out.push(Sample::count(
                    "gslbd_dns_responses_total",
                    &[transport.as_str(), rcode],
                    value,
                ));
            }
        }
        for (qtype, value) in QTYPES.iter().zip(counts.qtypes) {
            out.push(Sample::count("gslbd_dns_questions_total", &[qtype], value));
        }
        let bounds = LATENCY_BOUNDS.iter().map(|ns| seconds(*ns)).chain([f64::MAX]);
        out.push(Sample {
            name: "gslbd_dns_latency_seconds",
            labels: Vec::new(),
            value: Value::Histogram {
                sum: seconds(counts.latency_ns),
                buckets: bounds.zip(counts.latency).collect(),
            },
        });
        let unanswered = Unanswered::ALL.map(|reason| (reason.as_str(), counts.unanswered_for(reason)));
        for (reason, value) in unanswered
            .into_iter()
            .chain([("rate-limit", counts.limited_dropped)])
        {
            out.push(Sample::count("gslbd_dns_dropped_total", &[reason], value));
        }
        for (action, value) in [("drop", counts.limited_dropped), ("slip", counts.limited_slipped)] {
            out.push(Sample::count("gslbd_dns_rate_limited_total", &[action], value));
        }
        for (kind, value) in ["axfr", "ixfr"].into_iter().zip(counts.transfers) {
            out.push(Sample::count("gslbd_dns_transfers_total", &[kind], value));
        }
        for (name, value) in [
            ("gslbd_dns_transfers_refused_total", counts.transfers_refused),
            ("gslbd_dns_transfers_broken_total", counts.transfers_broken),
            ("gslbd_dns_tsig_errors_total", counts.tsig_errors),
            ("gslbd_dns_no_data_total", counts.no_data),
            ("gslbd_dns_truncated_total", counts.truncated),
            ("gslbd_dns_panics_total", counts.panics),
            ("gslbd_dns_send_errors_total", counts.send_errors),
            ("gslbd_dns_private_client_ip_total", counts.private_client_ip),
            ("gslbd_dns_proxy_refused_total", counts.proxy_refused),
            ("gslbd_dns_over_limit_total", counts.over_limit),
            ("gslbd_dns_tcp_accepted_total", counts.tcp_accepted),
            ("gslbd_dns_tcp_refused_total", counts.tcp_refused),
            ("gslbd_dns_tcp_replaced_total", counts.tcp_replaced),
        ] {
            out.push(Sample::count(name, &[], value));
        }
        #[expect(clippy::cast_precision_loss, reason = "connections are few")]
        out.push(Sample::number("gslbd_dns_tcp_open", &[], counts.tcp_open as f64));
    }
}

/// Upper bounds of the detection histogram, milliseconds; one more bucket takes the rest.
const DETECTION_BOUNDS: [u64; 10] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000,
];

/// The counters of whoever looks host names up.
#[derive(Debug)]
pub struct NameSource(pub Arc<NameStats>);

impl Source for NameSource {
    fn samples(&self, out: &mut Vec<Sample>) {
        let (all, failed) = (self.0.lookups(), self.0.failures());
        let lookups = "gslbd_host_lookups_total";
        out.push(Sample::count(lookups, &["success"], all.saturating_sub(failed)));
        out.push(Sample::count(lookups, &["failure"], failed));
        #[expect(clippy::cast_precision_loss, reason = "names are few")]
        for (name, value) in [
            ("gslbd_host_names", self.0.names() as f64),
            ("gslbd_host_names_stale", self.0.stale() as f64),
        ] {
            out.push(Sample::number(name, &[], value));
        }
    }
}

/// How long it took to see that a member's health had changed.
#[derive(Debug, Default)]
struct Detection {
    buckets: [AtomicU64; DETECTION_BOUNDS.len() + 1],
    sum_ms: AtomicU64,
}

impl Detection {
    fn observe(&self, ms: u64) {
        let at = DETECTION_BOUNDS.partition_point(|bound| *bound < ms);
        if let Some(bucket) = self.buckets.get(at) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_ms.fetch_add(ms, Ordering::Relaxed);
    }

    fn sample(&self, direction: &str) -> Sample {
        let bounds = DETECTION_BOUNDS
            .iter()
            .map(|ms| seconds(ms * 1_000_000))
            .chain([f64::MAX]);
        let counts = self.buckets.iter().map(|b| b.load(Ordering::Relaxed));
        Sample {
            name: "gslbd_health_failover_detection_seconds",
            labels: vec![direction.to_owned()],
            value: Value::Histogram {
                sum: seconds(self.sum_ms.load(Ordering::Relaxed).saturating_mul(1_000_000)),
                buckets: bounds.zip(counts).collect(),
            },
        }
    }
}

/// The counters of scripts.
#[derive(Debug)]
pub struct ScriptSource(pub Arc<Workers>);

impl Source for ScriptSource {
    fn samples(&self, out: &mut Vec<Sample>) {
        let name = "gslbd_dns_script_overruns_total";
        out.push(Sample::count(name, &[], self.0.overruns()));
    }
}

/// The probes' counters. Transitions are observed as they come; the rest is read from the prober, once it runs.
#[derive(Debug, Default)]
pub struct ProbeSource {
    stats: Mutex<Option<Arc<ProbeStats>>>,
    up: Detection,
    down: Detection,
}

impl ProbeSource {
    /// Reads these counters from now on.
    pub fn set(&self, stats: Arc<ProbeStats>) {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner) = Some(stats);
    }

    /// Takes a transition into the histogram. The first state of a member was not waited for.
    pub fn observe(&self, event: &HealthEvent) {
        match (event.from, event.to) {
            (HealthState::Down, HealthState::Up) => self.up.observe(event.detection_ms),
            (_, HealthState::Down) => self.down.observe(event.detection_ms),
            _ => {}
        }
    }
}

impl Source for ProbeSource {
    fn samples(&self, out: &mut Vec<Sample>) {
        out.push(self.up.sample("up"));
        out.push(self.down.sample("down"));
        let stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(stats) = stats else { return };
        let (all, failed) = (stats.probes(), stats.failures());
        let probes = "gslbd_health_probes_total";
        out.push(Sample::count(probes, &["success"], all.saturating_sub(failed)));
        out.push(Sample::count(probes, &["failure"], failed));
        out.push(Sample::count(probes, &["local-error"], stats.local_errors()));
        #[expect(clippy::cast_precision_loss, reason = "probes at one time are few")]
        for (name, value) in [
            ("gslbd_health_probes_in_flight", stats.in_flight() as f64),
            ("gslbd_health_probe_targets", stats.targets() as f64),
            ("gslbd_health_probe_lag_seconds", stats.lag().as_secs_f64()),
        ] {
            out.push(Sample::number(name, &[], value));
        }
    }
}
