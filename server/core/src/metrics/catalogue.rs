//! Every metric there is.

use std::fmt::Write as _;

/// Type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, and begins anew with the process.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Distribution over buckets.
    Histogram,
}

impl Kind {
    /// Name in the exposition format.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Full name, with the `_total` of counters.
    pub name: &'static str,
    /// Type.
    pub kind: Kind,
    /// Labels.
    pub labels: &'static [&'static str],
    /// What it says.
    pub help: &'static str,
}

const fn metric(
    kind: Kind,
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric {
        name,
        kind,
        labels,
        help,
    }
}

use Kind::{Counter, Gauge, Histogram};

/// The catalogue, in the order of the exposition.
pub const CATALOGUE: &[Metric] = &[
    metric(
        Gauge,
        "gslbd_build_info",
        &["version"],
        "Always 1; the label tells the version",
    ),
    metric(
        Gauge,
        "gslbd_start_time_seconds",
        &[],
        "When the process started, Unix time",
    ),
    metric(
        Counter,
        "gslbd_dns_responses_total",
        &["transport", "rcode"],
        "Responses sent",
    ),
    metric(
        Counter,
        "gslbd_dns_questions_total",
        &["qtype"],
        "Questions read, by type",
    ),
    metric(
        Histogram,
        "gslbd_dns_latency_seconds",
        &[],
        "Time from a query's arrival to its response",
    ),
    metric(
        Counter,
        "gslbd_dns_no_data_total",
        &[],
        "Responses NOERROR without data",
    ),
    metric(
        Counter,
        "gslbd_dns_dropped_total",
        &["reason"],
        "Messages that got no response: no-query is no DNS, or itself a response; proxy has a bad PROXY header; rate-limit \
         is over the response rate limit; and of an overloaded thread, share is over the share of its network, and scarce \
         asks for nothing that exists",
    ),
    metric(
        Counter,
        "gslbd_dns_truncated_total",
        &[],
        "Responses cut to fit, with TC set",
    ),
    metric(
        Counter,
        "gslbd_dns_panics_total",
        &[],
        "Faults caught while answering",
    ),
    metric(
        Counter,
        "gslbd_dns_send_errors_total",
        &[],
        "Responses that the operating system refused to send",
    ),
    metric(
        Counter,
        "gslbd_dns_rate_limited_total",
        &["action"],
        "Responses held back by response rate limiting: left out, or sent short",
    ),
    metric(
        Counter,
        "gslbd_dns_over_limit_total",
        &[],
        "Queries refused because the licence allows no more a second",
    ),
    metric(
        Counter,
        "gslbd_dns_tcp_accepted_total",
        &[],
        "TCP connections accepted",
    ),
    metric(
        Counter,
        "gslbd_dns_tcp_refused_total",
        &[],
        "TCP and QUIC connections closed at once because their client has enough",
    ),
    metric(
        Counter,
        "gslbd_dns_tcp_replaced_total",
        &[],
        "TCP and QUIC connections that lost their place to new ones, because there were too many",
    ),
    metric(Gauge, "gslbd_dns_tcp_open", &[], "TCP connections open now"),
    metric(
        Counter,
        "gslbd_dns_private_client_ip_total",
        &[],
        "Queries whose effective client is a private address that no database places",
    ),
    metric(
        Counter,
        "gslbd_dns_proxy_refused_total",
        &[],
        "Datagrams and connections of trusted proxies without a PROXY header, or with a broken one",
    ),
    metric(
        Counter,
        "gslbd_dns_transfers_total",
        &["kind"],
        "Transfers of zones begun: whole zones (axfr) and differences (ixfr)",
    ),
    metric(
        Counter,
        "gslbd_dns_transfers_refused_total",
        &[],
        "Transfers of zones refused: not a peer, or signed online",
    ),
    metric(
        Counter,
        "gslbd_dns_transfers_broken_total",
        &[],
        "Transfers of zones that were begun and not finished: the connection ended, or took no more",
    ),
    metric(
        Counter,
        "gslbd_dns_tsig_errors_total",
        &[],
        "Messages with a TSIG signature that was not good",
    ),
    metric(
        Counter,
        "gslbd_dns_script_step_error_total",
        &["service"],
        "Script steps that failed open",
    ),
    metric(
        Counter,
        "gslbd_dns_script_overruns_total",
        &[],
        "Runs of scripts proven quick that used more than that; each is a defect, and its script takes a worker since",
    ),
    metric(
        Counter,
        "gslbd_service_queries_total",
        &["service", "outcome"],
        "Queries to a service, by outcome",
    ),
    metric(
        Gauge,
        "gslbd_service_license_fallback",
        &[],
        "Services that answer by round-robin because the licence does not allow their chain",
    ),
    metric(
        Gauge,
        "gslbd_health_members",
        &["state"],
        "Enabled members by state: healthy, down, unknown",
    ),
    metric(
        Gauge,
        "gslbd_health_member_up",
        &["pool", "member"],
        "1 when the member counts as healthy, else 0",
    ),
    metric(
        Gauge,
        "gslbd_health_member_score",
        &["pool", "member"],
        "Health score, 0 to 1",
    ),
    metric(
        Gauge,
        "gslbd_health_member_rtt_seconds",
        &["pool", "member"],
        "Mean round-trip time of the last successful probes",
    ),
    metric(
        Counter,
        "gslbd_health_probes_total",
        &["result"],
        "Probes that ended: success, failure, local-error",
    ),
    metric(
        Gauge,
        "gslbd_health_probes_in_flight",
        &[],
        "Probes that are running",
    ),
    metric(
        Gauge,
        "gslbd_health_probe_targets",
        &[],
        "Members that are probed",
    ),
    metric(
        Gauge,
        "gslbd_health_probe_lag_seconds",
        &[],
        "How late the last probe began",
    ),
    metric(
        Counter,
        "gslbd_host_lookups_total",
        &["result"],
        "Look-ups of members that are host names: success, failure",
    ),
    metric(
        Gauge,
        "gslbd_host_names",
        &[],
        "Host names of members whose addresses are kept fresh",
    ),
    metric(
        Gauge,
        "gslbd_host_names_stale",
        &[],
        "Host names whose last look-up failed: their addresses are the last good ones, or none",
    ),
    metric(
        Histogram,
        "gslbd_health_failover_detection_seconds",
        &["direction"],
        "Time from a member's first different probe to its transition: up or down",
    ),
    metric(
        Gauge,
        "gslbd_signal_zone_value",
        &["zone"],
        "Value of a signal zone in the table",
    ),
    metric(
        Counter,
        "gslbd_signal_queries_steered_total",
        &["service"],
        "Queries whose first candidate signal-weight changed",
    ),
    metric(
        Gauge,
        "gslbd_snapshot_revision",
        &[],
        "Revision of the configuration in force",
    ),
    metric(
        Counter,
        "gslbd_snapshot_swaps_total",
        &[],
        "Snapshots put in force",
    ),
    metric(
        Counter,
        "gslbd_snapshot_compile_errors_total",
        &[],
        "Configurations that did not compile",
    ),
    metric(
        Gauge,
        "gslbd_snapshot_compile_failed",
        &[],
        "1 while the stored configuration is not the one in force, because it does not compile",
    ),
    metric(
        Gauge,
        "gslbd_file_errors",
        &[],
        "Geo databases, map and licence files that cannot be used",
    ),
    metric(Gauge, "gslbd_license_tier", &["tier"], "1 for the tier in force"),
    metric(
        Gauge,
        "gslbd_license_expiry_timestamp_seconds",
        &[],
        "When the licence ends, Unix time",
    ),
];

/// The reference page of all metrics, as a Markdown table.
#[must_use]
pub fn reference() -> String {
    let mut text = String::from("| metric | type | labels | what it says |\n|---|---|---|---|\n");
    for row in CATALOGUE {
        let labels: Vec<_> = row.labels.iter().map(|l| format!("`{l}`")).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            row.name,
            row.kind.as_str(),
            labels.join(", "),
            row.help
        );
    }
    text
}
