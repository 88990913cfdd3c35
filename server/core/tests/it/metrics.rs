//! The metrics page.

use crate::support::{World, admin, service};
use gslb_core::metrics::{CATALOGUE, Kind, Sample, Source, Value, reference};
use gslb_engine::decision::Outcome;
use gslb_engine::model::Tier;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[derive(Debug)]
struct Dns;

impl Source for Dns {
    fn samples(&self, out: &mut Vec<Sample>) {
        out.push(Sample::count("gslbd_dns_responses_total", &["udp", "NOERROR"], 7));
        let value = Value::Histogram {
            sum: 1.5,
            buckets: vec![(0.001, 2), (f64::MAX, 1)],
        };
        out.push(Sample {
            name: "gslbd_dns_latency_seconds",
            labels: Vec::new(),
            value,
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn services_beyond_the_limit_count_as_other() {
    let world = World::with(Tier::Free, |s| {
        s.with("metrics.maxServiceLabels", 2, "test").with(
            "signals.static",
            "eu-west=120,us-east=450.5",
            "test",
        )
    })
    .await;
    let pool = world.pool("web").await;
    for n in 1_u64..=4 {
        let draft = service(&format!("s{n}"), &format!("s{n}.example.com"), &pool);
        let id = world.ops.create_service(&admin(), &draft).await.unwrap().value.id;
        let snapshot = world.snapshot.load();
        let slot = &snapshot.service(id).unwrap().slot;
        (0..n).for_each(|_| slot.count(Outcome::Answered));
        slot.signal_steered.fetch_add(n, Ordering::Relaxed);
    }
    world.snapshot.load().pool(pool.id).unwrap().members[0]
        .slot
        .set_score(0.0);
    let text = world.metrics(vec![Arc::new(Dns)]).render().unwrap();
    for line in [
        "gslbd_service_queries_total{service=\"s1\",outcome=\"answered\"} 1",
        "gslbd_service_queries_total{service=\"s2\",outcome=\"answered\"} 2",
        "gslbd_service_queries_total{service=\"other\",outcome=\"answered\"} 7",
        "gslbd_signal_queries_steered_total{service=\"other\"} 7",
        "gslbd_signal_zone_value{zone=\"us-east\"} 450.5",
        "gslbd_health_member_up{pool=\"web\",member=\"192.0.2.1\"} 0.0",
        "gslbd_health_member_up{pool=\"web\",member=\"192.0.2.2\"} 1.0",
        "gslbd_health_members{state=\"down\"} 1.0",
        "gslbd_health_members{state=\"unknown\"} 1.0",
        "gslbd_snapshot_compile_failed 0.0",
        "gslbd_license_tier{tier=\"free\"} 1.0",
        "gslbd_dns_responses_total{transport=\"udp\",rcode=\"NOERROR\"} 7",
        "gslbd_dns_latency_seconds_bucket{le=\"0.001\"} 2",
        "gslbd_dns_latency_seconds_bucket{le=\"+Inf\"} 3",
        "gslbd_dns_latency_seconds_count 3",
        "# TYPE gslbd_signal_zone_value gauge",
        "# EOF",
    ] {
        assert!(text.lines().any(|l| l == line), "no line {line} in\n{text}");
    }
    assert!(!text.contains("service=\"s3\""));
    world.stop().await;
}

#[test]
fn the_catalogue_follows_the_naming_rules_of_prometheus() {
    let names: BTreeSet<_> = CATALOGUE.iter().map(|m| m.name).collect();
    assert_eq!(names.len(), CATALOGUE.len());
    for metric in CATALOGUE {
        assert!(metric.name.starts_with("gslbd_"), "{}", metric.name);
        assert_eq!(
            metric.name.ends_with("_total"),
            metric.kind == Kind::Counter,
            "{}",
            metric.name
        );
        assert!(reference().contains(metric.name));
    }
}
