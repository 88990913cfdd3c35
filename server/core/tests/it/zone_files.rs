//! Zone files: what an import changes, and that an export imports back to the same.

use crate::support::{World, admin, role, service};
use gslb_api_types::{ImportMode, ImportQuery, ImportReport, ListQuery};
use gslb_core::{OpError, Written};
use gslb_engine::model::{Role, Tier, ZoneDraft, ZoneId};
use gslb_engine::snapshot::Found;
use gslb_engine::testing::wire;

const FILE: &str = "\
$TTL 300
@ 3600 IN SOA ns1 hostmaster 2024010101 7200 900 1209600 60
@ NS ns1
@ NS ns.example.net.
@ MX 10 mail
ns1 A 192.0.2.53
mail A 192.0.2.25
txt TXT \"a b\" c
*.shop CNAME mail
sub NS ns.sub
ns.sub A 192.0.2.54
old RRSIG A 13 2 300 20240101000000 20230101000000 1 example.com. AAAA
";

const DRY: ImportQuery = ImportQuery {
    mode: ImportMode::Merge,
    dry_run: true,
};
const MERGE: ImportQuery = ImportQuery {
    mode: ImportMode::Merge,
    dry_run: false,
};
const REPLACE: ImportQuery = ImportQuery {
    mode: ImportMode::Replace,
    dry_run: false,
};

async fn zone(world: &World) -> ZoneId {
    let draft = ZoneDraft {
        name: Some("example.com".to_owned()),
        ..ZoneDraft::default()
    };
    world.ops.create_zone(&admin(), &draft).await.unwrap().value.id
}

async fn import(world: &World, zone: ZoneId, text: &str, query: ImportQuery) -> Written<ImportReport> {
    world
        .ops
        .import_zone(&admin(), zone, None, text, query)
        .await
        .unwrap()
}

async fn count(world: &World, zone: ZoneId) -> u64 {
    world
        .ops
        .list_records(&admin(), zone, &ListQuery::default())
        .await
        .unwrap()
        .total
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_tells_first_then_does_it_and_an_export_changes_nothing() {
    let world = World::new(Tier::Free).await;
    let zone = zone(&world).await;
    let told = import(&world, zone, FILE, DRY).await.value;
    assert!(told.dry_run && told.added.len() == 7, "{told:?}");
    assert_eq!(
        told.left_out,
        ["line 12: RRSIG is made by whoever signs the zone"]
    );
    assert_eq!(told.zone_after.unwrap().serial, 2_024_010_101);
    assert_eq!(count(&world, zone).await, 0);

    let done = import(&world, zone, FILE, MERGE).await;
    assert!(!done.value.dry_run && done.value.added.len() == 7);
    let stored = world.ops.get_zone(&admin(), zone).await.unwrap();
    assert_eq!(
        (stored.revision, stored.value.serial),
        (done.revision, 2_024_010_101)
    );
    assert_eq!(stored.value.name_servers.len(), 2);
    let snapshot = world.snapshot.load_full();
    assert_eq!(snapshot.zone(zone).unwrap().serial, 2_024_010_101);
    assert!(matches!(
        snapshot.find(&wire("x.shop.example.com.")),
        Found::Records { .. }
    ));
    assert!(matches!(
        snapshot.find(&wire("x.sub.example.com.")),
        Found::Delegated { .. }
    ));

    let (_, text) = world.ops.export_zone(&admin(), zone).await.unwrap();
    for query in [MERGE, REPLACE] {
        let again = import(&world, zone, &text, query).await;
        assert_eq!(
            (again.revision, again.value.unchanged),
            (done.revision, 7),
            "{text}"
        );
        assert!(again.value.zone_before.is_none() && again.value.removed.is_empty());
    }
    let world = world.restart(Tier::Free).await;
    assert_eq!(world.ops.export_zone(&admin(), zone).await.unwrap().1, text);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn merging_keeps_what_replacing_removes() {
    let world = World::new(Tier::Free).await;
    let zone = zone(&world).await;
    import(&world, zone, FILE, MERGE).await;
    let part = "mail 60 A 192.0.2.26\nnew A 192.0.2.27\n";
    let merged = import(&world, zone, part, MERGE).await.value;
    assert_eq!(
        (merged.added.len(), merged.changed.len(), merged.removed.len()),
        (1, 1, 0)
    );
    let change = &merged.changed[0];
    assert_eq!((change.before.ttl, change.after.ttl), (Some(300), Some(60)));
    assert_eq!(count(&world, zone).await, 8);
    let serial = world.ops.get_zone(&admin(), zone).await.unwrap().value.serial;
    assert_eq!(serial, 2_024_010_102);
    let replaced = import(&world, zone, part, REPLACE).await.value;
    assert_eq!((replaced.unchanged, replaced.removed.len()), (2, 6));
    assert_eq!(count(&world, zone).await, 2);
    assert!(matches!(
        world.snapshot.load().find(&wire("x.sub.example.com.")),
        Found::Missing(_)
    ));
    let filter = gslb_core::store::AuditFilter {
        object_id: Some(zone.0),
        ..gslb_core::store::AuditFilter::default()
    };
    let trail = world.ops.list_audit(&admin(), &filter).await.unwrap().items;
    assert_eq!(
        (trail[0].action.as_str(), trail[0].object.as_str()),
        ("imported", "zone")
    );
    assert_eq!(
        trail[0].before.as_ref().unwrap()["removed"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_a_problem_changes_nothing() {
    let world = World::new(Tier::Free).await;
    let (zone, pool) = (zone(&world).await, world.pool("web").await);
    let www = service("www", "www.example.com", &pool);
    world.ops.create_service(&admin(), &www).await.unwrap();
    let refused = world
        .ops
        .import_zone(
            &admin(),
            zone,
            None,
            "a A 192.0.2.1\nb A nonsense\nc MX x\n",
            MERGE,
        )
        .await;
    let Err(OpError::Invalid(errors)) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(
        errors.iter().map(|e| e.field.as_str()).collect::<Vec<_>>(),
        ["line 2", "line 3"]
    );
    for (text, line, part) in [
        ("a A 192.0.2.1\nwww A 192.0.2.2\n", "line 2", "service"),
        ("a CNAME b\na TXT x\n", "line 1", "stands alone"),
        ("d DS 1 13 2 aa\n", "line 1", "no delegation"),
        ("a CNAME b\nb CNAME c\nc CNAME a\n", "data[0]", "lead back"),
        ("www NS ns.example.net.\n", "", "www.example.com."),
    ] {
        let refused = world.ops.import_zone(&admin(), zone, None, text, MERGE).await;
        let Err(OpError::Conflict(errors)) = refused else {
            panic!("{text}: {refused:?}")
        };
        let known = errors.iter().any(|e| e.field == line && e.message.contains(part));
        assert!(known, "{text}: {errors:?}");
    }
    assert_eq!(count(&world, zone).await, 0);
    let viewer = role(Role::Viewer);
    let denied = world.ops.import_zone(&viewer, zone, None, FILE, DRY).await;
    assert!(matches!(denied, Err(OpError::Forbidden(_))));
    let (_, text) = world.ops.export_zone(&viewer, zone).await.unwrap();
    assert!(text.ends_with("; www is the domain of a service\n"), "{text}");
    let stale = world
        .ops
        .import_zone(&admin(), zone, Some(99_999), FILE, MERGE)
        .await;
    assert!(matches!(stale, Err(OpError::Stale { .. })));
    world.stop().await;
}
