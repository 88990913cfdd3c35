//! Pools, members, health checks.

use crate::support::{BEGIN, World, actor, admin, conflict, fields, forbidden, member, pool, service};
use gslb_api_types::{ListQuery, LoadDraft};
use gslb_core::OpError;
use gslb_engine::model::{
    AdminState, CheckKind, HealthCheckDraft, MemberDraft, MemberId, Permission, PoolDraft, TenantId, Tier,
};
use serde_json::json;
use uuid::Uuid;

fn check(kind: &str) -> HealthCheckDraft {
    HealthCheckDraft {
        kind: Some(kind.to_owned()),
        ..HealthCheckDraft::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_problem_of_a_pool_is_told_at_once() {
    let world = World::new(Tier::Free).await;
    let long = "x".repeat(65);
    let draft = PoolDraft {
        name: None,
        members: Some(vec![
            member("192.0.2.1"),
            MemberDraft {
                region: Some(String::new()),
                ..member("192.0.2.999")
            },
            MemberDraft {
                region: Some(long),
                port: Some(0),
                ..member("192.0.2.2")
            },
            MemberDraft {
                id: Some(MemberId(Uuid::now_v7())),
                ..member("192.0.2.1")
            },
        ]),
        min_healthy: Some(-1),
        health_check: Some(check("smoke")),
    };
    let mut found = fields(world.ops.create_pool(&admin(), &draft).await);
    found.sort();
    assert_eq!(
        found,
        [
            "healthCheck.type",
            "members[1].ipAddress",
            "members[1].region",
            "members[2].port",
            "members[2].region",
            "members[3].id",
            "members[3].ipAddress",
            "minHealthy",
            "name",
        ]
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewritten_set_keeps_the_identity_of_its_members() {
    let world = World::new(Tier::Free).await;
    let pool = world.pool("web").await;
    let [first, second] = [pool.members[0].id, pool.members[1].id];
    world.snapshot.load().pool(pool.id).unwrap().members[1]
        .slot
        .set_score(0.0);
    // By address, by id with another address, and a new one.
    let set = vec![
        member("192.0.2.2"),
        MemberDraft {
            id: Some(first),
            ..member("192.0.2.7")
        },
        member("2001:db8::1"),
    ];
    let written = world
        .ops
        .put_members(&admin(), pool.id, None, &set)
        .await
        .unwrap();
    let ids: Vec<_> = written.value.iter().map(|m| m.id).collect();
    assert_eq!(ids[..2], [second, first]);
    assert!(ids[2] != first && ids[2] != second);
    let snapshot = world.snapshot.load_full();
    let compiled = snapshot.pool(pool.id).unwrap();
    assert!(!compiled.members[0].is_healthy(), "health went with the member");
    assert_eq!(compiled.healthy(), 2);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bulk_write_is_all_or_nothing() {
    let world = World::new(Tier::Free).await;
    let pool = world.pool("web").await;
    let set = vec![member("192.0.2.3"), member("nonsense"), member("192.0.2.3")];
    assert_eq!(
        fields(world.ops.put_members(&admin(), pool.id, None, &set).await)[0],
        "members[1].ipAddress"
    );
    let members = world.ops.list_members(&admin(), pool.id).await.unwrap().value;
    assert_eq!(members, pool.members);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn members_are_addressed_on_their_own() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let pool = world.pool("web").await;
    let created = ops
        .create_member(&admin(), pool.id, None, &member("192.0.2.3"))
        .await
        .unwrap();
    let id = created.value.id;
    assert_eq!(ops.get_member(&admin(), id).await.unwrap().0, pool.id);
    assert_eq!(
        fields(
            ops.create_member(&admin(), pool.id, None, &member("192.0.2.3"))
                .await
        ),
        ["ipAddress"]
    );
    let wrong = MemberDraft {
        weight: Some(-1),
        ..member("x")
    };
    assert_eq!(
        fields(ops.create_member(&admin(), pool.id, None, &wrong).await),
        ["ipAddress", "weight"]
    );

    let patch = json!({"adminState": "drain", "region": "DE", "weight": 3});
    let patched = ops
        .patch_member(&admin(), id, Some(created.revision), &patch)
        .await
        .unwrap();
    assert_eq!(
        (patched.value.id, patched.value.admin_state, patched.value.weight),
        (id, AdminState::Drain, 3)
    );
    let stale = ops
        .patch_member(&admin(), id, Some(created.revision), &json!({"weight": 4}))
        .await;
    assert!(matches!(stale, Err(OpError::Stale { .. })), "{stale:?}");
    assert_eq!(
        fields(
            ops.patch_member(&admin(), id, None, &json!({"adminState": "up?", "port": 0}))
                .await
        ),
        ["adminState", "port"]
    );
    assert_eq!(
        fields(ops.patch_member(&admin(), id, None, &json!({"port": 0})).await),
        ["port"]
    );
    assert_eq!(
        fields(
            ops.patch_member(&admin(), id, None, &json!({"ipAddress": "192.0.2.1"}))
                .await
        ),
        ["ipAddress"]
    );

    let replaced = ops
        .replace_member(&admin(), id, None, &member("192.0.2.9"))
        .await
        .unwrap()
        .value;
    assert_eq!((replaced.id, replaced.region.is_unknown()), (id, true));
    ops.delete_member(&admin(), id, None).await.unwrap();
    assert!(matches!(
        ops.get_member(&admin(), id).await,
        Err(OpError::NotFound { kind: "member", .. })
    ));
    assert_eq!(
        ops.list_members(&admin(), pool.id).await.unwrap().value,
        pool.members
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_additions_to_one_pool_all_succeed() {
    let world = World::new(Tier::Free).await;
    let pool = world.pool("web").await;
    let mut tasks = tokio::task::JoinSet::new();
    for n in 10..30 {
        let (ops, draft) = (std::sync::Arc::clone(&world.ops), member(&format!("192.0.2.{n}")));
        tasks.spawn(async move {
            ops.create_member(&admin(), pool.id, None, &draft)
                .await
                .map(|_| ())
        });
    }
    assert!(tasks.join_all().await.iter().all(Result::is_ok));
    assert_eq!(world.snapshot.load().pool(pool.id).unwrap().members.len(), 22);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_in_use_is_kept_and_one_with_members_goes_by_cascade() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let web = world.pool("web").await;
    let id = ops
        .create_service(&admin(), &service("www", "www.example.com", &web))
        .await
        .unwrap()
        .value
        .id;
    for cascade in [false, true] {
        let (_, message) = conflict(ops.delete_pool(&admin(), web.id, None, cascade).await);
        assert!(message.contains("`www`"), "{message}");
    }
    ops.delete_service(&admin(), id, None).await.unwrap();
    let (_, message) = conflict(ops.delete_pool(&admin(), web.id, None, false).await);
    assert!(message.contains("cascade=true"), "{message}");
    assert_eq!(
        forbidden(ops.delete_pool(&actor(&[]), web.id, None, true).await),
        Permission::PoolsWrite
    );
    ops.delete_pool(&admin(), web.id, None, true).await.unwrap();
    assert!(matches!(
        ops.get_pool(&admin(), web.id).await,
        Err(OpError::NotFound { .. })
    ));
    assert!(matches!(
        ops.get_member(&admin(), web.members[0].id).await,
        Err(OpError::NotFound { .. })
    ));
    assert!(world.snapshot.load().pool(web.id).is_none());
    // An empty pool goes without more ado, and names are free again.
    let empty = PoolDraft {
        members: None,
        ..pool("web")
    };
    let id = ops.create_pool(&admin(), &empty).await.unwrap().value.id;
    ops.delete_pool(&admin(), id, None, false).await.unwrap();
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_without_members_leaves_them() {
    let world = World::new(Tier::Free).await;
    let stored = world.pool("web").await;
    let draft = PoolDraft {
        members: None,
        min_healthy: Some(3),
        ..pool("web2")
    };
    let written = world
        .ops
        .replace_pool(&admin(), stored.id, None, &draft)
        .await
        .unwrap();
    assert_eq!(written.value.members, stored.members);
    assert_eq!(written.warnings[0].field, "minHealthy");
    let emptied = world
        .ops
        .patch_pool(&admin(), stored.id, None, &json!({"members": []}))
        .await
        .unwrap();
    assert!(emptied.value.members.is_empty());
    world.pool("web").await;
    assert_eq!(
        conflict(world.ops.create_pool(&admin(), &pool("web2")).await).0,
        "name"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn health_checks_come_and_go() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let pool = world.pool("web").await;
    assert!(
        ops.get_health_check(&admin(), pool.id)
            .await
            .unwrap()
            .value
            .is_none()
    );
    assert!(matches!(
        ops.delete_health_check(&admin(), pool.id, None).await,
        Err(OpError::NotFound { .. })
    ));
    let wrong = HealthCheckDraft {
        interval_ms: Some(1),
        path: Some("x".to_owned()),
        ..check("http")
    };
    let mut found = fields(ops.put_health_check(&admin(), pool.id, None, &wrong).await);
    found.sort();
    assert!(
        found.contains(&"intervalMs".to_owned()) && found.contains(&"path".to_owned()),
        "{found:?}"
    );
    let written = ops
        .put_health_check(&admin(), pool.id, None, &check("http"))
        .await
        .unwrap();
    assert!(matches!(written.value.kind, CheckKind::Http(_)));
    let patched = ops
        .patch_health_check(&admin(), pool.id, Some(written.revision), &json!({"fall": 3}))
        .await
        .unwrap();
    assert_eq!(patched.value.fall, 3);
    assert_eq!(
        ops.get_health_check(&admin(), pool.id).await.unwrap().value,
        Some(patched.value)
    );
    let row = &ops
        .pool_summaries(&admin(), &ListQuery::default())
        .await
        .unwrap()
        .items[0];
    assert_eq!(
        (row.check.as_deref(), row.members, row.healthy, row.down),
        (Some("http"), 2, 2, 0)
    );
    ops.delete_health_check(&admin(), pool.id, None).await.unwrap();
    assert!(
        ops.get_pool(&admin(), pool.id)
            .await
            .unwrap()
            .value
            .health_check
            .is_none()
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn loads_need_the_right_to_write_pools_and_a_member() {
    let world = World::new(Tier::Free).await;
    let pool = world.pool("web").await;
    let member = pool.members[0].id;
    let load = |value: Option<f64>, ttl: Option<i64>| LoadDraft { value, ttl };
    let ops = &world.ops;
    assert_eq!(
        forbidden(ops.set_load(
            &actor(&[Permission::PoolsRead]),
            pool.id,
            member,
            &load(Some(1.0), None)
        )),
        Permission::PoolsWrite
    );
    assert_eq!(
        forbidden(ops.clear_load(&actor(&[Permission::PoolsRead]), pool.id, member)),
        Permission::PoolsWrite
    );
    for (wrong, named) in [
        (load(None, None), vec!["value"]),
        (load(Some(-0.1), Some(0)), vec!["value", "ttl"]),
        (load(Some(f64::NAN), Some(8 * 24 * 3600)), vec!["value", "ttl"]),
    ] {
        assert_eq!(fields(ops.set_load(&admin(), pool.id, member, &wrong)), named);
    }
    let mut stranger = admin();
    stranger.tenant_id = TenantId(Uuid::from_u128(77));
    for (who, pool, member) in [
        (&stranger, pool.id, member),
        (&admin(), pool.id, MemberId(pool.id.0)),
    ] {
        let missing = ops.set_load(who, pool, member, &load(Some(1.0), None));
        assert!(matches!(missing, Err(OpError::NotFound { .. })), "{missing:?}");
    }

    ops.set_load(&admin(), pool.id, member, &load(Some(0.5), Some(60)))
        .unwrap();
    let slot = |at: u64| {
        let snapshot = world.snapshot.load();
        snapshot.pool(pool.id).unwrap().members[0].slot.load(at)
    };
    let begin = u64::try_from(BEGIN).unwrap();
    assert_eq!((slot(begin + 59), slot(begin + 60)), (Some(0.5), None));
    // A change of the member is none of its load.
    let patched = ops
        .patch_member(&admin(), member, None, &json!({"weight": 7}))
        .await;
    patched.unwrap();
    assert_eq!(slot(0), Some(0.5));
    ops.clear_load(&admin(), pool.id, member).unwrap();
    assert_eq!(slot(0), None);
    world.stop().await;
}
