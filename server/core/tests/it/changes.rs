//! Every write is a change: audit row, revision, event.

use crate::support::{World, actor, admin, forbidden, pool, role, service};
use gslb_api_types::EventKind;
use gslb_core::store::AuditFilter;
use gslb_engine::model::{Permission, Role, Tier};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn the_trail_says_who_what_from_where_before_and_after() {
    let world = World::new(Tier::Free).await;
    let mut somebody = role(Role::TenantAdmin);
    somebody.name = "alice".to_owned();
    let web = world.ops.create_pool(&somebody, &pool("web")).await.unwrap();
    world
        .ops
        .patch_pool(&somebody, web.value.id, None, &json!({"minHealthy": 1}))
        .await
        .unwrap();
    world
        .ops
        .delete_pool(&somebody, web.value.id, None, true)
        .await
        .unwrap();
    let filter = AuditFilter {
        object_id: Some(web.value.id.0),
        ..AuditFilter::default()
    };
    let page = world.ops.list_audit(&somebody, &filter).await.unwrap();
    assert_eq!(page.total, 3);
    let [deleted, updated, created] = &page.items[..] else {
        panic!("{page:?}")
    };
    assert_eq!(
        (
            created.action.as_str(),
            updated.action.as_str(),
            deleted.action.as_str()
        ),
        ("created", "updated", "deleted")
    );
    assert_eq!(created.revision, web.revision);
    assert!(created.revision < updated.revision && updated.revision < deleted.revision);
    for row in &page.items {
        assert_eq!(
            (row.actor.as_str(), row.from.as_deref(), row.name.as_str()),
            ("alice", Some("192.0.2.9"), "web")
        );
    }
    assert!(created.before.is_none() && deleted.after.is_none());
    assert_eq!(updated.before.as_ref().unwrap()["minHealthy"], 0);
    assert_eq!(updated.after.as_ref().unwrap()["minHealthy"], 1);

    let page = world
        .ops
        .list_audit(
            &somebody,
            &AuditFilter {
                limit: Some(2),
                search: Some("ALICE".to_owned()),
                ..AuditFilter::default()
            },
        )
        .await
        .unwrap();
    assert_eq!((page.items.len(), page.total), (2, 3));
    let rest = AuditFilter {
        cursor: page.next_cursor,
        search: Some("alice".to_owned()),
        ..AuditFilter::default()
    };
    assert_eq!(
        world.ops.list_audit(&somebody, &rest).await.unwrap().items.len(),
        1
    );
    assert_eq!(
        forbidden(world.ops.list_audit(&actor(&[]), &filter).await),
        Permission::AuditRead
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_an_event() {
    let world = World::new(Tier::Free).await;
    let mut events = world.events.subscribe();
    let web = world.pool("web").await;
    world
        .ops
        .create_service(&admin(), &service("www", "www.example.com", &web))
        .await
        .unwrap();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let EventKind::Change {
            object, name, action, ..
        } = events.recv().await.unwrap().kind
        else {
            panic!()
        };
        seen.push(format!("{object} {name} {action}"));
    }
    assert_eq!(seen, ["pool web created", "service www created"]);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_finds_everything_again() {
    let world = World::new(Tier::Free).await;
    let web = world.pool("web").await;
    let id = world
        .ops
        .create_service(&admin(), &service("www", "www.example.com", &web))
        .await
        .unwrap()
        .value
        .id;
    let revision = world.store.revision().await.unwrap();
    assert!(world.first_admin.is_some());
    let world = world.restart(Tier::Free).await;
    assert_eq!(world.store.revision().await.unwrap(), revision);
    assert_eq!(world.first_admin, None);
    assert_eq!(world.ops.get_pool(&admin(), web.id).await.unwrap().value, web);
    assert_eq!(&*world.snapshot.load().service(id).unwrap().name, "www");
    assert_eq!(world.reconciler.status().in_force, revision);
    world.stop().await;
}
