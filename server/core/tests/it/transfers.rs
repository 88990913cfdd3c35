//! What secondaries get: the serial moves whenever it changes, and TSIG keys are seen by nobody.

use crate::support::{World, actor, admin, conflict, fields, member, service};
use gslb_api_types::TsigKeyDraft;
use gslb_core::OpError;
use gslb_engine::model::{Permission, TenantId, Tier, ZoneDraft, ZoneId};
use gslb_engine::snapshot::{ZoneRecord, is_newer};
use serde_json::{Value, json};
use std::collections::HashSet;
use uuid::Uuid;

fn draft(name: &str) -> ZoneDraft {
    ZoneDraft {
        name: Some(name.to_owned()),
        ..ZoneDraft::default()
    }
}

/// The contents of a zone, and its serial: the same in the snapshot as in the database.
async fn state(world: &World, zone: ZoneId) -> (HashSet<ZoneRecord>, u32) {
    let stored = world.ops.get_zone(&admin(), zone).await.unwrap().value.serial;
    let snapshot = world.snapshot.load_full();
    assert_eq!(snapshot.zone(zone).unwrap().serial, stored);
    let mut contents = snapshot.contents(zone).unwrap();
    let mut records = Vec::new();
    while contents.next_part(&mut records) {}
    (records.into_iter().collect(), stored)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_serial_moves_with_what_is_transferred() {
    let world = World::new(Tier::Enterprise).await;
    let ops = &world.ops;
    let zone = ops.create_zone(&admin(), &draft("example.com")).await.unwrap();
    let zone = zone.value.id;
    let pool = world.pool("web").await;
    let mut last = state(&world, zone).await;
    // Looks at the zone after a change: whether its contents and its serial are others than before.
    macro_rules! changed {
        () => {{
            let now = state(&world, zone).await;
            let contents = now.0 != last.0;
            let serial = is_newer(now.1, last.1);
            assert!(serial || now.1 == last.1, "back from {} to {}", last.1, now.1);
            last = now;
            (contents, serial)
        }};
    }
    for domain in ["www.example.com", "api.example.com", "www.sub.example.com"] {
        ops.create_service(&admin(), &service(domain, domain, &pool))
            .await
            .unwrap();
        assert_eq!(changed!(), (true, true));
    }
    let patch = |body: Value| async move { ops.patch_pool(&admin(), pool.id, None, &body).await.unwrap() };
    // One member more: once, however many services there are.
    let members = json!([{"ipAddress": "192.0.2.1", "port": 80}, {"ipAddress": "192.0.2.9", "port": 80}]);
    let before = last.1;
    patch(json!({"members": members})).await;
    assert_eq!(changed!(), (true, true));
    assert_eq!(last.1, before + 1);
    // The same addresses on other ports, and other settings of the pool: nothing that a secondary would see.
    let ports = json!([{"ipAddress": "192.0.2.1", "port": 81}, {"ipAddress": "192.0.2.9", "port": 81}]);
    patch(json!({"members": ports, "minHealthy": 1})).await;
    assert_eq!(changed!(), (false, false));
    let off = json!([{"ipAddress": "192.0.2.1", "port": 81, "enabled": false}, {"ipAddress": "192.0.2.9", "port": 81}]);
    patch(json!({"members": off})).await;
    assert_eq!(changed!(), (true, true));
    // A member by itself.
    ops.create_member(&admin(), pool.id, None, &member("2001:db8::1"))
        .await
        .unwrap();
    assert_eq!(changed!(), (true, true));
    // A zone that takes names away, and gives them back.
    let inner = ops
        .create_zone(&admin(), &draft("sub.example.com"))
        .await
        .unwrap();
    assert_eq!(changed!(), (true, true));
    ops.delete_zone(&admin(), inner.value.id, None).await.unwrap();
    assert_eq!(changed!(), (true, true));
    let (contents, serial) = last;
    let world = world.restart(Tier::Enterprise).await;
    assert_eq!(state(&world, zone).await, (contents, serial));
    world.stop().await;
}

fn key(name: &str) -> TsigKeyDraft {
    TsigKeyDraft {
        name: Some(name.to_owned()),
        ..TsigKeyDraft::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_kept_used_and_never_shown() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let made = ops
        .create_tsig_key(&admin(), &key("Xfr.example"))
        .await
        .unwrap()
        .value;
    assert_eq!((&*made.key.name, made.secret.len()), ("xfr.example.", 44));
    assert!(!format!("{made:?}").contains(&made.secret));
    let wire = b"\x03xfr\x07example\0";
    let secret = world.snapshot.load().tsig_key(wire).unwrap().secret().to_vec();
    assert_eq!(secret.len(), 32);
    assert!(!format!("{:?}", world.snapshot.load().tsig_key(wire)).contains("secret:"));
    let audit = ops.list_audit(&admin(), &Default::default()).await.unwrap();
    let audit = format!("{audit:?}");
    assert!(
        audit.contains("xfr.example.") && !audit.contains(&made.secret),
        "{audit}"
    );

    assert_eq!(
        conflict(ops.create_tsig_key(&admin(), &key("xfr.EXAMPLE.")).await).0,
        "name"
    );
    let mut stranger = admin();
    stranger.tenant_id = TenantId(Uuid::now_v7());
    let (_, message) = conflict(ops.create_tsig_key(&stranger, &key("xfr.example")).await);
    assert!(message.contains("not yours"), "{message}");
    let bad = TsigKeyDraft {
        name: Some("a..b".to_owned()),
        algorithm: Some("hmac-sha1".to_owned()),
        secret: Some("c2hvcnQ=".to_owned()),
    };
    assert_eq!(
        fields(ops.create_tsig_key(&admin(), &bad).await),
        ["name", "algorithm", "secret"]
    );
    for id in [made.key.id] {
        let reader = actor(&[Permission::ZonesRead]);
        assert!(matches!(
            ops.delete_tsig_key(&reader, id, None).await,
            Err(OpError::Forbidden(Permission::ZonesWrite))
        ));
    }

    let zone = ops
        .create_zone(&admin(), &draft("example.com"))
        .await
        .unwrap()
        .value;
    let with_key = json!({"transfer": {"notify": [{"address": "192.0.2.53", "key": "xfr.example"}]}});
    ops.patch_zone(&admin(), zone.id, None, &with_key).await.unwrap();
    assert_eq!(
        conflict(ops.delete_tsig_key(&admin(), made.key.id, None).await).0,
        ""
    );
    let unknown = json!({"transfer": {"peers": [{"key": "nobody"}]}});
    assert_eq!(
        fields(ops.patch_zone(&admin(), zone.id, None, &unknown).await),
        ["transfer.peers[0].key"]
    );
    let world = world.restart(Tier::Free).await;
    assert_eq!(world.snapshot.load().tsig_key(wire).unwrap().secret(), secret);
    let none = json!({"transfer": null});
    world
        .ops
        .patch_zone(&admin(), zone.id, None, &none)
        .await
        .unwrap();
    world
        .ops
        .delete_tsig_key(&admin(), made.key.id, None)
        .await
        .unwrap();
    assert!(world.snapshot.load().tsig_key(wire).is_none());
    world.stop().await;
}
