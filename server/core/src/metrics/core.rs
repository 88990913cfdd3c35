//! What this crate counts: services, members, signals, the snapshot, the licence.

use super::render::{Sample, Source};
use crate::clock::Clock;
use crate::config::Settings;
use crate::license::LicenseStatus;
use crate::reconciler::Reconciler;
use arc_swap::ArcSwap;
use gslb_engine::decision::Outcome;
use gslb_engine::model::Tier;
use gslb_engine::snapshot::{RoutedService, Snapshot, SnapshotCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use time::OffsetDateTime;

/// Members with labels of their own, for each service that may have one.
const MEMBERS_PER_LABEL: usize = 10;
/// Label of the services beyond the limit.
const OTHER: &str = "other";

/// Samples of this crate's parts.
#[derive(Debug)]
pub(crate) struct CoreSource {
    snapshot: Arc<SnapshotCell>,
    settings: Arc<ArcSwap<Settings>>,
    license: Arc<ArcSwap<LicenseStatus>>,
    reconciler: Reconciler,
    started: OffsetDateTime,
}

#[expect(
    clippy::cast_precision_loss,
    reason = "gauges are doubles; counts and times are far below 2^53"
)]
fn number(value: u64) -> f64 {
    value as f64
}

impl CoreSource {
    pub(crate) fn new(
        snapshot: Arc<SnapshotCell>,
        settings: Arc<ArcSwap<Settings>>,
        license: Arc<ArcSwap<LicenseStatus>>,
        reconciler: Reconciler,
        clock: &Clock,
    ) -> Self {
        Self {
            snapshot,
            settings,
            license,
            reconciler,
            started: clock.now(),
        }
    }

    fn services(&self, snapshot: &Snapshot, limit: usize, out: &mut Vec<Sample>) {
        let mut services: Vec<RoutedService<'_>> = snapshot.services().collect();
        // By id, which is by age: a new service never takes the label of an old one.
        services.sort_by_key(|s| s.id);
        let (named, rest) = services.split_at(limit.min(services.len()));
        // Two tenants may use one name: they share its label.
        let mut totals: BTreeMap<&str, ([u64; Outcome::COUNT], u64, u64)> = BTreeMap::new();
        let labelled = named
            .iter()
            .map(|s| (&*s.name, s))
            .chain(rest.iter().map(|s| (OTHER, s)));
        for (label, service) in labelled {
            let (outcomes, steered, errors) = totals.entry(label).or_default();
            for (total, outcome) in outcomes.iter_mut().zip(Outcome::ALL) {
                *total += service.slot.queries(outcome);
            }
            *steered += service.slot.signal_steered.load(Ordering::Relaxed);
            *errors += service.slot.script_errors.load(Ordering::Relaxed);
        }
        for (label, (outcomes, steered, errors)) in totals {
            for (count, outcome) in outcomes.into_iter().zip(Outcome::ALL) {
                let labels = [label, outcome.as_str()];
                out.push(Sample::count("gslbd_service_queries_total", &labels, count));
            }
            out.push(Sample::count(
                "gslbd_signal_queries_steered_total",
                &[label],
                steered,
            ));
            out.push(Sample::count(
                "gslbd_dns_script_step_error_total",
                &[label],
                errors,
            ));
        }
        let fallback = services.iter().filter(|s| s.licence_fallback).count();
        out.push(Sample::number(
            "gslbd_service_license_fallback",
            &[],
            number(fallback as u64),
        ));
    }

    fn members(snapshot: &Snapshot, limit: usize, out: &mut Vec<Sample>) {
        let mut pools: Vec<_> = snapshot.pools().collect();
        pools.sort_by_key(|p| p.id);
        let (mut healthy, mut down, mut unknown, mut shown) = (0, 0, 0, 0);
        for pool in pools {
            for member in pool.members.iter().filter(|m| m.stored.enabled) {
                let up = member.is_healthy();
                match (up, member.slot.is_known()) {
                    (false, _) => down += 1,
                    (true, true) => healthy += 1,
                    (true, false) => unknown += 1,
                }
                if shown == limit {
                    continue;
                }
                shown += 1;
                let address = member.stored.endpoint.to_string();
                let labels = [pool.name.as_str(), address.as_str()];
                out.push(Sample::number(
                    "gslbd_health_member_up",
                    &labels,
                    f64::from(u8::from(up)),
                ));
                out.push(Sample::number(
                    "gslbd_health_member_score",
                    &labels,
                    member.score().into(),
                ));
                if let Some(ns) = member.slot.rtt_ns() {
                    let seconds = number(ns) / 1e9;
                    out.push(Sample::number(
                        "gslbd_health_member_rtt_seconds",
                        &labels,
                        seconds,
                    ));
                }
            }
        }
        for (state, count) in [("healthy", healthy), ("down", down), ("unknown", unknown)] {
            out.push(Sample::number("gslbd_health_members", &[state], number(count)));
        }
    }
}

impl Source for CoreSource {
    fn samples(&self, out: &mut Vec<Sample>) {
        let settings = self.settings.load_full();
        let snapshot = self.snapshot.load_full();
        let limit = settings.metrics.max_service_labels as usize;
        out.push(Sample::number(
            "gslbd_build_info",
            &[env!("CARGO_PKG_VERSION")],
            1.0,
        ));
        let started = u64::try_from(self.started.unix_timestamp()).unwrap_or_default();
        out.push(Sample::number("gslbd_start_time_seconds", &[], number(started)));
        self.services(&snapshot, limit, out);
        Self::members(&snapshot, limit.saturating_mul(MEMBERS_PER_LABEL), out);
        for (zone, value) in &settings.signals.r#static.0 {
            out.push(Sample::number("gslbd_signal_zone_value", &[zone], *value));
        }
        let status = self.reconciler.status();
        let failed = f64::from(u8::from(status.compile_error.is_some()));
        out.push(Sample::number(
            "gslbd_snapshot_revision",
            &[],
            number(status.in_force),
        ));
        out.push(Sample::count(
            "gslbd_snapshot_swaps_total",
            &[],
            status.generation,
        ));
        out.push(Sample::count(
            "gslbd_snapshot_compile_errors_total",
            &[],
            status.compile_errors,
        ));
        out.push(Sample::number("gslbd_snapshot_compile_failed", &[], failed));
        out.push(Sample::number(
            "gslbd_file_errors",
            &[],
            number(status.file_errors.len() as u64),
        ));
        let license = self.license.load();
        for tier in [Tier::Free, Tier::Pro, Tier::Enterprise] {
            let is_it = f64::from(u8::from(tier == license.tier));
            out.push(Sample::number("gslbd_license_tier", &[&tier.to_string()], is_it));
        }
        if let Some(payload) = &license.payload {
            out.push(Sample::number(
                "gslbd_license_expiry_timestamp_seconds",
                &[],
                number(payload.exp),
            ));
        }
    }
}
