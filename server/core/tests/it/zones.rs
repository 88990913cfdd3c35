//! Zones.

use crate::support::{World, admin, conflict, fields, service};
use gslb_api_types::ListQuery;
use gslb_core::OpError;
use gslb_engine::model::{TenantId, Tier, ZoneDraft};
use serde_json::json;
use uuid::Uuid;

fn zone(name: &str) -> ZoneDraft {
    ZoneDraft {
        name: Some(name.to_owned()),
        ..ZoneDraft::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_start_makes_the_configured_zone_and_a_second_one_does_not() {
    let world = World::with(Tier::Free, |s| s.with("dns.domain", "Example.com", "test")).await;
    let zones = world
        .ops
        .list_zones(&admin(), &ListQuery::default())
        .await
        .unwrap()
        .items;
    assert_eq!(zones.len(), 1);
    assert_eq!(zones[0].value.name.as_str(), "example.com.");
    world
        .ops
        .delete_zone(&admin(), zones[0].value.id, None)
        .await
        .unwrap();
    let world = world.restart(Tier::Free).await;
    assert_eq!(
        world
            .ops
            .list_zones(&admin(), &ListQuery::default())
            .await
            .unwrap()
            .total,
        0
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apex_is_taken_over_all_tenants() {
    let world = World::new(Tier::Free).await;
    world
        .ops
        .create_zone(&admin(), &zone("example.com"))
        .await
        .unwrap();
    assert_eq!(
        conflict(world.ops.create_zone(&admin(), &zone("EXAMPLE.com.")).await).0,
        "name"
    );
    let mut stranger = admin();
    stranger.tenant_id = TenantId(Uuid::now_v7());
    let (field, message) = conflict(world.ops.create_zone(&stranger, &zone("example.com")).await);
    assert!(field == "name" && message.contains("not yours"), "{message}");
    assert_eq!(
        fields(world.ops.create_zone(&admin(), &zone("*.example.org")).await),
        ["name"]
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_serial_grows_with_the_zone_and_its_services_here_and_in_the_snapshot() {
    let world = World::new(Tier::Free).await;
    let pool = world.pool("web").await;
    let outer = world
        .ops
        .create_zone(&admin(), &zone("example.com"))
        .await
        .unwrap()
        .value
        .id;
    let inner = world
        .ops
        .create_zone(&admin(), &zone("sub.example.com"))
        .await
        .unwrap();
    let serials = || async {
        let mut serials = Vec::new();
        for id in [outer, inner.value.id] {
            let stored = world.ops.get_zone(&admin(), id).await.unwrap().value.serial;
            assert_eq!(world.snapshot.load().zone(id).unwrap().serial, stored);
            serials.push(stored);
        }
        serials
    };
    // Making a zone takes names out of the one above.
    assert_eq!(serials().await, [2, 1]);
    let draft = service("www", "www.sub.example.com", &pool);
    let id = world.ops.create_service(&admin(), &draft).await.unwrap().value.id;
    assert_eq!(serials().await, [2, 2]);
    world
        .ops
        .patch_service(&admin(), id, None, &json!({"domain": "www.example.com"}))
        .await
        .unwrap();
    assert_eq!(serials().await, [3, 3]);
    world.ops.delete_service(&admin(), id, None).await.unwrap();
    assert_eq!(serials().await, [4, 3]);
    // None of this was an edit of the zone: its revision holds.
    let patched = world
        .ops
        .patch_zone(
            &admin(),
            inner.value.id,
            Some(inner.revision),
            &json!({"minimum": 30}),
        )
        .await
        .unwrap();
    assert_eq!((patched.value.serial, patched.value.soa.minimum), (4, 30));
    let stale = world
        .ops
        .replace_zone(
            &admin(),
            inner.value.id,
            Some(inner.revision),
            &zone("sub.example.com"),
        )
        .await;
    assert!(matches!(stale, Err(OpError::Stale { .. })));
    let world = world.restart(Tier::Free).await;
    assert_eq!(world.snapshot.load().zone(inner.value.id).unwrap().serial, 4);
    world.stop().await;
}
