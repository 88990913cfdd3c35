//! Signed zones: keys that are made once, stay, and are seen by nobody.

use crate::support::{World, actor, admin, conflict, fields};
use gslb_api_types::DnssecDraft;
use gslb_core::OpError;
use gslb_engine::model::{Permission, Tier, ZoneDraft, ZoneId};

async fn zone(world: &World, name: &str) -> ZoneId {
    let draft = ZoneDraft {
        name: Some(name.to_owned()),
        ..ZoneDraft::default()
    };
    world.ops.create_zone(&admin(), &draft).await.unwrap().value.id
}

fn draft(mode: &str, algorithm: i64) -> DnssecDraft {
    DnssecDraft {
        mode: Some(mode.to_owned()),
        algorithm: Some(algorithm),
        ..DnssecDraft::default()
    }
}

fn is_signed(world: &World, zone: ZoneId) -> bool {
    let snapshot = world.snapshot.load_full();
    snapshot.zone(zone).unwrap().signed.is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_made_once_and_stay() {
    let world = World::new(Tier::Free).await;
    let id = zone(&world, "example.com").await;
    let before = world.snapshot.load_full().zone(id).unwrap().serial;
    let made = world
        .ops
        .put_dnssec(&admin(), id, None, &draft("ksk-zsk", 13))
        .await
        .unwrap();
    assert_eq!(made.value.keys.len(), 2);
    assert!(
        made.value.keys[0].dnskey.starts_with("257 3 13 "),
        "{:?}",
        made.value
    );
    assert!(
        made.value.keys[1].dnskey.starts_with("256 3 13 "),
        "{:?}",
        made.value
    );
    let ds = format!("example.com. IN DS {} 13 2 ", made.value.keys[0].tag);
    assert!(made.value.ds.starts_with(&ds), "{}", made.value.ds);
    assert!(is_signed(&world, id));
    assert_eq!(world.snapshot.load_full().zone(id).unwrap().serial, before + 1);

    let again = world
        .ops
        .put_dnssec(&admin(), id, None, &draft("ksk-zsk", 13))
        .await
        .unwrap();
    assert_eq!((&again.value, again.revision), (&made.value, made.revision));
    for other in [draft("csk", 13), draft("ksk-zsk", 15)] {
        conflict(world.ops.put_dnssec(&admin(), id, None, &other).await);
    }
    // A zone below, whose records and serial change without the keys.
    let inner = zone(&world, "inner.example.com").await;
    world
        .ops
        .put_dnssec(&admin(), inner, None, &draft("csk", 15))
        .await
        .unwrap();
    let world = world.restart(Tier::Free).await;
    let read = world.ops.get_dnssec(&admin(), id).await.unwrap();
    assert_eq!((&read.value, read.revision), (&made.value, made.revision));
    assert_eq!(
        world
            .ops
            .get_dnssec(&admin(), inner)
            .await
            .unwrap()
            .value
            .keys
            .len(),
        1
    );
    let patch = serde_json::json!({"minimum": 30});
    world.ops.patch_zone(&admin(), id, None, &patch).await.unwrap();
    assert!(is_signed(&world, id) && is_signed(&world, inner));

    let stale = world
        .ops
        .delete_dnssec(&admin(), id, Some(made.revision + 1))
        .await;
    assert!(matches!(stale, Err(OpError::Stale { .. })));
    world
        .ops
        .delete_dnssec(&admin(), id, Some(made.revision))
        .await
        .unwrap();
    assert!(!is_signed(&world, id) && is_signed(&world, inner));
    let gone = world.ops.get_dnssec(&admin(), id).await;
    assert!(matches!(gone, Err(OpError::NotFound { .. })));
    // New keys are other keys.
    let new = world
        .ops
        .put_dnssec(&admin(), id, None, &draft("ksk-zsk", 13))
        .await
        .unwrap();
    assert_ne!(new.value.ds, made.value.ds);
    // The keys go with the zone.
    world.ops.delete_zone(&admin(), id, None).await.unwrap();
    let world = world.restart(Tier::Free).await;
    assert!(world.snapshot.load_full().zone(id).is_none() && is_signed(&world, inner));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn private_keys_are_in_the_database_and_nowhere_else() {
    let world = World::new(Tier::Free).await;
    let id = zone(&world, "example.com").await;
    let made = world
        .ops
        .put_dnssec(&admin(), id, None, &DnssecDraft::default())
        .await
        .unwrap();
    world.ops.delete_dnssec(&admin(), id, None).await.unwrap();
    let page = world.ops.list_audit(&admin(), &Default::default()).await.unwrap();
    let audit = serde_json::to_string(&page).unwrap();
    assert!(audit.contains("\"dnssec\"") && audit.contains("csk"), "{audit}");
    let shown = format!(
        "{audit}{:?}{}",
        made.value,
        serde_json::to_string(&made.value).unwrap()
    );
    // Every key in PKCS#8 form begins with a version and an algorithm; in base64: these.
    for secret in ["\"ksk\"", "\"zsk\"", "MIGH", "MFMC", "MFEC", "MC4C"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_is_refused() {
    let world = World::new(Tier::Free).await;
    let id = zone(&world, "example.com").await;
    let wrong = world.ops.put_dnssec(&admin(), id, None, &draft("two", 8)).await;
    assert_eq!(fields(wrong), ["mode", "algorithm"]);
    let nowhere = ZoneId(uuid::Uuid::now_v7());
    let missing = world
        .ops
        .put_dnssec(&admin(), nowhere, None, &draft("csk", 13))
        .await;
    assert!(matches!(missing, Err(OpError::NotFound { .. })));
    let reader = actor(&[Permission::ZonesRead]);
    let refused = world.ops.put_dnssec(&reader, id, None, &draft("csk", 13)).await;
    assert!(matches!(refused, Err(OpError::Forbidden(Permission::ZonesWrite))));
    assert!(!is_signed(&world, id));
    world.stop().await;
}
