//! Files and settings that change while the daemon runs.

use crate::support::{World, admin, service};
use gslb_api_types::ListQuery;
use gslb_core::config::Sources;
use gslb_core::mmdb_writer::{Database, Row};
use gslb_core::reconciler::Status;
use gslb_engine::chain::trace;
use gslb_engine::model::{ServiceDraft, ServiceId, Tier};
use gslb_engine::query::{Family, QueryContext};
use std::path::Path;
use std::time::Duration;

fn write_country(path: &Path, code: &str) {
    let row = Row::country("192.0.2.0/24".parse().unwrap(), code);
    // As updaters do: a new file takes the place of the old one.
    let temporary = path.with_extension("new");
    std::fs::write(&temporary, Database::country([row]).to_bytes()).unwrap();
    std::fs::rename(temporary, path).unwrap();
}

fn country(world: &World) -> Option<String> {
    let found = world.snapshot.load().geo().country("192.0.2.1".parse().unwrap());
    found.value.map(|c| c.to_string())
}

async fn until(world: &World, what: &str, done: impl Fn(&Status) -> bool) {
    let mut status = world.reconciler.watch();
    let wait = status.wait_for(|status| done(status));
    tokio::time::timeout(Duration::from_secs(20), wait)
        .await
        .unwrap_or_else(|_| panic!("no {what}"))
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_geo_database_is_taken_over_and_a_broken_one_is_not() {
    let files = tempfile::tempdir().unwrap();
    let path = files.path().join("country.mmdb");
    write_country(&path, "DE");
    let world = World::with(Tier::Free, |s| {
        s.with("loadBalancer.latency.geoipDBPath", path.display(), "test")
    })
    .await;
    assert_eq!(country(&world).as_deref(), Some("DE"));
    let before = world.reconciler.status().generation;
    write_country(&path, "FR");
    until(&world, "reload", |s| s.generation > before).await;
    assert_eq!(country(&world).as_deref(), Some("FR"));
    std::fs::write(&path, "broken").unwrap();
    until(&world, "error", |s| s.file_errors.len() == 1).await;
    assert_eq!(country(&world).as_deref(), Some("FR"));
    write_country(&path, "JP");
    until(&world, "recovery", |s| s.file_errors.is_empty()).await;
    assert_eq!(country(&world).as_deref(), Some("JP"));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_missing_at_the_start_may_come_later() {
    let files = tempfile::tempdir().unwrap();
    let path = files.path().join("country.mmdb");
    let world = World::with(Tier::Free, |s| {
        s.with("loadBalancer.latency.cityDBPath", path.display(), "test")
    })
    .await;
    assert_eq!(world.reconciler.status().file_errors.len(), 1);
    assert_eq!(country(&world), None);
    write_country(&path, "DE");
    until(&world, "database", |s| s.file_errors.is_empty()).await;
    assert_eq!(country(&world).as_deref(), Some("DE"));
    world.stop().await;
}

/// Who answers a client of 198.51.100.0/24, by the rules in force.
fn steered(world: &World, service: ServiceId) -> Vec<String> {
    let snapshot = world.snapshot.load();
    let query = QueryContext {
        qname: b"",
        family: Family::V4,
        source: [198, 51, 100, 7].into(),
        subnet: None,
        now: 0,
        entropy: 0,
    };
    trace(&snapshot, snapshot.service(service).unwrap(), &query, None, || 0).answers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_map_file_comes_into_force_and_a_wrong_one_leaves_the_old_rules() {
    let files = tempfile::tempdir().unwrap();
    let path = files.path().join("map.txt");
    std::fs::write(&path, "198.51.100.0/24 192.0.2.2\n").unwrap();
    let world = World::with(Tier::Free, |s| s.with("routing.mapFile", path.display(), "test")).await;
    assert!(world.reconciler.status().file_errors.is_empty());
    let pool = world.pool("web").await;
    let draft = ServiceDraft {
        algorithm: Some("map-file".to_owned()),
        ..service("www", "www.example.com", &pool)
    };
    let id = world.ops.create_service(&admin(), &draft).await.unwrap().value.id;
    assert_eq!(steered(&world, id), ["192.0.2.2"]);
    std::fs::write(&path, "198.51.100.0/24 192.0.2.1\n198.51.100.0/24 US\n").unwrap();
    until(&world, "error", |s| {
        s.file_errors.iter().any(|e| e.contains("line 2"))
    })
    .await;
    assert_eq!(steered(&world, id), ["192.0.2.2"]);
    std::fs::write(&path, "198.51.100.0/24 192.0.2.1\n").unwrap();
    until(&world, "recovery", |s| s.file_errors.is_empty()).await;
    assert_eq!(steered(&world, id), ["192.0.2.1"]);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_settings_come_into_force_and_wrong_ones_do_not() {
    let world = World::new(Tier::Free).await;
    let sources = |signals: &str| -> Sources {
        World::sources(&world.folder, &world.key, Tier::Free).with("signals.static", signals, "test")
    };
    let before = world.reconciler.status().generation;
    let outcome = world
        .reload(&sources("eu=5").with("api.port", 1, "test"))
        .unwrap();
    assert_eq!(
        (outcome.applied, outcome.ignored),
        (vec!["signals.static"], vec!["api.port"])
    );
    until(&world, "reload", |s| s.generation > before).await;
    assert_eq!(world.settings.load().signals.r#static.0["eu"].to_string(), "5");
    let view = world.ops.signals(&admin()).unwrap();
    assert_eq!(
        (view.zones[0].zone.as_str(), view.zones[0].value),
        ("eu", Some(5.0))
    );
    assert!(world.reload(&sources("eu=NaN")).is_err());
    assert_eq!(world.settings.load().signals.r#static.0["eu"].to_string(), "5");
    world.stop().await;
}

/// Waits until so many signal tables are kept.
async fn kept(world: &World, tables: u64) {
    let admin = admin();
    let wait = async {
        let query = ListQuery::default();
        while world.ops.signal_history(&admin, &query).await.unwrap().total != tables {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let patience = Duration::from_secs(20);
    assert!(
        tokio::time::timeout(patience, wait).await.is_ok(),
        "not {tables} tables"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_signal_tables_there_have_been_are_kept() {
    let world = World::with(Tier::Free, |s| s.with("signals.static", "eu=5", "test")).await;
    let reload = |signals: &str| {
        let sources = World::sources(&world.folder, &world.key, Tier::Free);
        world
            .reload(&sources.with("signals.static", signals, "test"))
            .unwrap();
    };
    kept(&world, 1).await;
    // The same again is none.
    reload("eu=5");
    world.clock.advance(60);
    reload("eu=7");
    kept(&world, 2).await;
    reload("eu=9.5");
    kept(&world, 3).await;
    let admin = admin();
    let page = |cursor: Option<String>| {
        let query = ListQuery {
            limit: Some(2),
            cursor,
            ..ListQuery::default()
        };
        let (ops, admin) = (world.ops.clone(), admin.clone());
        async move { ops.signal_history(&admin, &query).await.unwrap() }
    };
    let newest = page(None).await;
    let oldest = page(newest.next_cursor.clone()).await;
    let all: Vec<_> = newest.items.iter().chain(&oldest.items).collect();
    let values: Vec<f64> = all.iter().map(|table| table.zones["eu"]).collect();
    assert_eq!(values, [9.5, 7.0, 5.0]);
    assert!(all[2].at + 60_000 <= all[1].at, "{all:?}");
    assert_eq!(oldest.next_cursor, None);
    let query = ListQuery {
        cursor: Some("elsewhere".to_owned()),
        ..ListQuery::default()
    };
    assert!(world.ops.signal_history(&admin, &query).await.is_err());
    let nobody = crate::support::actor(&[]);
    assert!(
        world
            .ops
            .signal_history(&nobody, &ListQuery::default())
            .await
            .is_err()
    );
    world.stop().await;
}
