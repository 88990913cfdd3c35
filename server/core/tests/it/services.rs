//! Services: the rules of their use cases.

use crate::support::{World, actor, admin, chain, conflict, fields, forbidden, role, service};
use gslb_api_types::ListQuery;
use gslb_core::OpError;
use gslb_engine::model::{FilterName, Permission, Role, Routing, ServiceDraft, ServiceId, TenantId, Tier};
use gslb_engine::snapshot::Found;
use serde_json::json;
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_in_the_snapshot_when_the_call_returns() {
    let world = World::new(Tier::Free).await;
    let pool = world.pool("web").await;
    let written = world
        .ops
        .create_service(&admin(), &service("www", "WWW.Example.com", &pool))
        .await
        .unwrap();
    assert_eq!(written.value.domain.as_str(), "www.example.com.");
    assert_eq!(written.value.routing, Routing::Algorithm(FilterName::RoundRobin));
    let qname = written.value.domain.to_wire();
    assert!(matches!(
        world.snapshot.load().find(&qname),
        Found::Service { .. }
    ));
    assert_eq!(world.reconciler.status().in_force, written.revision);

    let patched = world
        .ops
        .patch_service(&admin(), written.value.id, None, &json!({"ttl": 5}))
        .await
        .unwrap();
    assert!(patched.revision > written.revision);
    assert_eq!(world.snapshot.load().service(written.value.id).unwrap().ttl, 5);

    world
        .ops
        .delete_service(&admin(), written.value.id, None)
        .await
        .unwrap();
    assert!(!matches!(
        world.snapshot.load().find(&qname),
        Found::Service { .. }
    ));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_problem_is_told_at_once() {
    let world = World::new(Tier::Enterprise).await;
    let draft = ServiceDraft {
        name: Some(" ".to_owned()),
        domain: Some("a..b".to_owned()),
        pool_id: Some(Uuid::now_v7().to_string()),
        filter_chain: Some(vec![
            "geo-ip".to_owned(),
            "wrr".to_owned(),
            "script:result = []".to_owned(),
        ]),
        ttl: Some(-1),
        max_answers: Some(0),
        ..ServiceDraft::default()
    };
    let mut found = fields(world.ops.create_service(&admin(), &draft).await);
    found.sort();
    assert_eq!(
        found,
        [
            "domain",
            "filterChain[1]",
            "filterChain[2]",
            "maxAnswers",
            "name",
            "poolId",
            "ttl"
        ]
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_taken_in_a_tenant_and_domains_everywhere() {
    let world = World::new(Tier::Free).await;
    let pool = world.pool("web").await;
    world
        .ops
        .create_service(&admin(), &service("www", "www.example.com", &pool))
        .await
        .unwrap();
    let (field, _) = conflict(
        world
            .ops
            .create_service(&admin(), &service("www", "two.example.com", &pool))
            .await,
    );
    assert_eq!(field, "name");
    let (field, message) = conflict(
        world
            .ops
            .create_service(&admin(), &service("two", "www.EXAMPLE.com.", &pool))
            .await,
    );
    assert_eq!((field.as_str(), message.contains("taken")), ("domain", true));
    // One's own name and domain are not taken.
    let list = world
        .ops
        .list_services(&admin(), &ListQuery::default())
        .await
        .unwrap();
    let id = list.items[0].value.id;
    world
        .ops
        .replace_service(&admin(), id, None, &service("www", "www.example.com", &pool))
        .await
        .unwrap();
    // A freed domain can be had again.
    world
        .ops
        .patch_service(&admin(), id, None, &json!({"domain": "other.example.com"}))
        .await
        .unwrap();
    world
        .ops
        .create_service(&admin(), &service("two", "www.example.com", &pool))
        .await
        .unwrap();
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_are_asked_for() {
    let world = World::new(Tier::Enterprise).await;
    let pool = world.pool("web").await;
    let draft = service("www", "www.example.com", &pool);
    let viewer = role(Role::Viewer);
    assert_eq!(
        forbidden(world.ops.create_service(&viewer, &draft).await),
        Permission::ServicesWrite
    );
    let id = world
        .ops
        .create_service(&role(Role::Operator), &draft)
        .await
        .unwrap()
        .value
        .id;
    assert_eq!(
        forbidden(world.ops.patch_service(&viewer, id, None, &json!({})).await),
        Permission::ServicesWrite
    );
    assert_eq!(
        forbidden(world.ops.delete_service(&viewer, id, None).await),
        Permission::ServicesWrite
    );
    assert_eq!(
        forbidden(world.ops.get_service(&actor(&[]), id).await),
        Permission::ServicesRead
    );
    let scripted = chain(draft.clone(), &["script:result = []"]);
    assert_eq!(
        forbidden(
            world
                .ops
                .replace_service(&role(Role::Operator), id, None, &scripted)
                .await
        ),
        Permission::ScriptsWrite
    );
    // With the right, it is compiled.
    assert_eq!(
        fields(world.ops.replace_service(&admin(), id, None, &scripted).await),
        ["filterChain[0]"]
    );
    let entries = world.ops.list_audit(&admin(), &Default::default()).await.unwrap();
    assert_eq!(
        entries.items.iter().filter(|e| e.object == "service").count(),
        1,
        "refused writes leave no row"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn warnings_come_with_the_write() {
    let world = World::new(Tier::Pro).await;
    let pool = world.pool("web").await;
    let draft = chain(service("www", "www.example.com", &pool), &["random", "geo-ip"]);
    let written = world.ops.create_service(&admin(), &draft).await.unwrap();
    let found: Vec<_> = written.warnings.iter().map(|w| w.field.as_str()).collect();
    assert_eq!(found, ["filterChain[1]", "domain"]);

    // A step whose fact no member of the pool has.
    let draft = chain(
        service("near", "near.example.com", &pool),
        &["geo-nearest", "failover"],
    );
    let written = world.ops.create_service(&admin(), &draft).await.unwrap();
    let found: Vec<_> = written.warnings.iter().map(|w| w.field.as_str()).collect();
    assert_eq!(found, ["filterChain[0]", "domain"]);
    let message = &written.warnings[0].message;
    assert!(
        message.ends_with("no member of the pool `web` has geo.lat and geo.lon"),
        "{message}"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_writer_is_told_the_current_revision() {
    let world = World::new(Tier::Free).await;
    let pool = world.pool("web").await;
    let first = world
        .ops
        .create_service(&admin(), &service("www", "www.example.com", &pool))
        .await
        .unwrap();
    let id = first.value.id;
    let second = world
        .ops
        .patch_service(&admin(), id, Some(first.revision), &json!({"ttl": 1}))
        .await
        .unwrap();
    for result in [
        world
            .ops
            .patch_service(&admin(), id, Some(first.revision), &json!({"ttl": 2}))
            .await
            .map(|_| ()),
        world.ops.delete_service(&admin(), id, Some(first.revision)).await,
    ] {
        assert!(
            matches!(result, Err(OpError::Stale { current }) if current == second.revision),
            "{result:?}"
        );
    }
    assert_eq!(world.ops.get_service(&admin(), id).await.unwrap().value.ttl, 1);
    world
        .ops
        .delete_service(&admin(), id, Some(second.revision))
        .await
        .unwrap();
    let gone = world.ops.get_service(&admin(), id).await;
    assert!(
        matches!(gone, Err(OpError::NotFound { kind: "service", .. })),
        "{gone:?}"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_tenant_sees_nothing() {
    let world = World::new(Tier::Free).await;
    let pool = world.pool("web").await;
    let id = world
        .ops
        .create_service(&admin(), &service("www", "www.example.com", &pool))
        .await
        .unwrap()
        .value
        .id;
    let mut stranger = admin();
    stranger.tenant_id = TenantId(Uuid::now_v7());
    assert!(matches!(
        world.ops.get_service(&stranger, id).await,
        Err(OpError::NotFound { .. })
    ));
    assert!(matches!(
        world.ops.delete_service(&stranger, id, None).await,
        Err(OpError::NotFound { .. })
    ));
    assert_eq!(
        world
            .ops
            .list_services(&stranger, &ListQuery::default())
            .await
            .unwrap()
            .total,
        0
    );
    assert!(
        world
            .ops
            .list_audit(&stranger, &Default::default())
            .await
            .unwrap()
            .items
            .is_empty()
    );
    let theirs = service("www", "www.example.com", &pool);
    assert_eq!(
        fields(world.ops.create_service(&stranger, &theirs).await),
        ["poolId", "domain"]
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_searched_sorted_and_paged() {
    let world = World::new(Tier::Free).await;
    let pool = world.pool("web").await;
    for n in 0..25 {
        let draft = service(
            &format!("svc-{n:02}"),
            &format!("h{:02}.example.com", 24 - n),
            &pool,
        );
        world.ops.create_service(&admin(), &draft).await.unwrap();
    }
    let list = |query: ListQuery| {
        let ops = &world.ops;
        async move {
            let (mut names, mut query) = (Vec::new(), query);
            loop {
                let page = ops.service_rows(&admin(), &query).await.unwrap();
                assert!(page.items.len() <= 10);
                names.extend(page.items.into_iter().map(|row| row.service.name));
                query.cursor = page.next_cursor;
                if query.cursor.is_none() {
                    return (names, page.total);
                }
            }
        }
    };
    let query = ListQuery {
        limit: Some(10),
        ..ListQuery::default()
    };
    let up: Vec<_> = (0..25).map(|n| format!("svc-{n:02}")).collect();
    let down: Vec<_> = up.iter().rev().cloned().collect();
    assert_eq!(list(query.clone()).await, (up, 25));
    assert_eq!(
        list(ListQuery {
            sort: Some("-name".to_owned()),
            ..query.clone()
        })
        .await,
        (down.clone(), 25)
    );
    assert_eq!(
        list(ListQuery {
            sort: Some("domain".to_owned()),
            ..query.clone()
        })
        .await,
        (down, 25)
    );
    let found = list(ListQuery {
        search: Some("H1".to_owned()),
        ..query.clone()
    })
    .await;
    assert_eq!(found.1, 10);
    // What SQL's LIKE treats as a wildcard is an ordinary character here.
    assert_eq!(
        list(ListQuery {
            search: Some("%_".to_owned()),
            ..query
        })
        .await
        .1,
        0
    );
    let wrong = ListQuery {
        sort: Some("ttl".to_owned()),
        ..ListQuery::default()
    };
    assert_eq!(fields(world.ops.list_services(&admin(), &wrong).await), ["sort"]);
    let wrong = ListQuery {
        cursor: Some("!".to_owned()),
        ..ListQuery::default()
    };
    assert_eq!(
        fields(world.ops.list_services(&admin(), &wrong).await),
        ["cursor"]
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writers_of_one_domain_leave_one_service() {
    let world = World::new(Tier::Free).await;
    let web = world.pool("web").await;
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..20 {
        let (ops, draft) = (
            std::sync::Arc::clone(&world.ops),
            service(&format!("s{n}"), "www.example.com", &web),
        );
        tasks.spawn(async move { ops.create_service(&admin(), &draft).await });
    }
    let results = tasks.join_all().await;
    assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 1);
    assert!(
        results
            .iter()
            .filter(|r| r.is_err())
            .all(|r| matches!(r, Err(OpError::Conflict(_))))
    );
    assert_eq!(world.snapshot.load().service_count(), 1);
    assert!(matches!(
        world.ops.get_service(&admin(), ServiceId(Uuid::nil())).await,
        Err(OpError::NotFound { .. })
    ));
    world.stop().await;
}
