//! Members that are host names: what a pool may hold, and what may stand beside the CNAME of a service.

use crate::support::{World, admin, conflict, fields, member, pool, service};
use gslb_engine::model::{MemberDraft, Pool, PoolDraft, RecordDraft, ServiceDraft, Tier, ZoneDraft, ZoneId};
use gslb_engine::snapshot::Found;
use gslb_engine::testing::wire;
use serde_json::json;

fn host(name: &str) -> MemberDraft {
    MemberDraft {
        ip_address: None,
        hostname: Some(name.to_owned()),
        ..member("192.0.2.1")
    }
}

fn named(name: &str, hosts: &[&str]) -> PoolDraft {
    PoolDraft {
        members: Some(hosts.iter().map(|name| host(name)).collect()),
        ..pool(name)
    }
}

async fn made(world: &World, draft: &PoolDraft) -> Pool {
    world.ops.create_pool(&admin(), draft).await.unwrap().value
}

async fn zone(world: &World) -> ZoneId {
    let draft = ZoneDraft {
        name: Some("example.com".to_owned()),
        ..ZoneDraft::default()
    };
    world.ops.create_zone(&admin(), &draft).await.unwrap().value.id
}

fn record(name: &str, rtype: &str, data: &str) -> RecordDraft {
    RecordDraft {
        name: Some(name.to_owned()),
        rtype: Some(rtype.to_owned()),
        ttl: None,
        data: Some(vec![data.to_owned()]),
    }
}

/// Whether queries for a name get a CNAME.
fn is_alias(world: &World, name: &str) -> bool {
    match world.snapshot.load().find(&wire(name)) {
        Found::Service { service, .. } => service.is_alias(),
        other => panic!("{name}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_is_all_addresses_or_all_host_names() {
    let world = World::new(Tier::Free).await;
    let mixed = PoolDraft {
        members: Some(vec![
            host("a.example.net"),
            member("192.0.2.1"),
            host("A.example.net."),
        ]),
        ..pool("mixed")
    };
    assert_eq!(
        fields(world.ops.create_pool(&admin(), &mixed).await),
        ["members[1].ipAddress", "members[2].hostname"]
    );
    let pool = made(&world, &named("named", &["a.example.net", "b.example.net"])).await;
    assert!(pool.is_by_name());
    let problem = world
        .ops
        .create_member(&admin(), pool.id, None, &member("192.0.2.1"))
        .await;
    assert_eq!(fields(problem), ["ipAddress"]);
    for wrong in [
        host("*.example.net"),
        host("192.0.2.1"),
        host("xn--a.example.net"),
    ] {
        let problem = world.ops.create_member(&admin(), pool.id, None, &wrong).await;
        assert_eq!(fields(problem), ["hostname"]);
    }
    let added = world
        .ops
        .create_member(&admin(), pool.id, None, &host("c.example.net"))
        .await;
    assert_eq!(added.unwrap().value.endpoint.to_string(), "c.example.net.");
    // The whole set at once may become the other kind; members are known again by their names.
    let kept = world
        .ops
        .put_members(&admin(), pool.id, None, &vec![host("b.example.net")])
        .await
        .unwrap();
    assert_eq!(kept.value[0].id, pool.members[1].id);
    let turned = world
        .ops
        .put_members(&admin(), pool.id, None, &vec![member("192.0.2.1")])
        .await;
    assert!(turned.unwrap().value[0].endpoint.ip().is_some());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_goes_over_to_a_name_by_a_patch() {
    let world = World::new(Tier::Free).await;
    let one = PoolDraft {
        members: Some(vec![member("192.0.2.1")]),
        ..pool("one")
    };
    let id = made(&world, &one).await.members[0].id;
    let both = json!({"hostname": "lb.example.net"});
    assert_eq!(
        fields(world.ops.patch_member(&admin(), id, None, &both).await),
        ["hostname"]
    );
    let instead = json!({"hostname": "lb.example.net", "ipAddress": null});
    let patched = world
        .ops
        .patch_member(&admin(), id, None, &instead)
        .await
        .unwrap();
    assert_eq!(
        (patched.value.id, patched.value.endpoint.field()),
        (id, "hostname")
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_stands_beside_the_cname_of_a_service() {
    let world = World::new(Tier::Free).await;
    let (zone, admin) = (zone(&world).await, admin());
    let (ops, pool) = (
        &world.ops,
        made(&world, &named("named", &["lb.example.net"])).await,
    );
    for name in ["www", "@"] {
        ops.create_record(&admin, zone, &record(name, "TXT", "text"))
            .await
            .unwrap();
    }
    let www = service("www", "www.example.com", &pool);
    let (field, message) = conflict(ops.create_service(&admin, &www).await);
    assert_eq!(field, "domain");
    assert!(
        message.contains("TXT") && message.contains("flatten"),
        "{message}"
    );
    let flat = ServiceDraft {
        flatten: Some(true),
        ..www.clone()
    };
    let flat = ops.create_service(&admin, &flat).await.unwrap().value;
    assert!(!is_alias(&world, "www.example.com"));
    let off = json!({"flatten": false});
    assert_eq!(
        conflict(ops.patch_service(&admin, flat.id, None, &off).await).0,
        "domain"
    );
    // At the zone's own name addresses are all there can be.
    ops.create_service(&admin, &service("apex", "example.com", &pool))
        .await
        .unwrap();
    assert!(!is_alias(&world, "example.com"));
    // The other way round.
    ops.create_service(&admin, &service("alone", "alone.example.com", &pool))
        .await
        .unwrap();
    assert!(is_alias(&world, "alone.example.com"));
    for (rtype, data) in [("TXT", "text"), ("MX", "10 mail"), ("A", "192.0.2.1")] {
        let (_, message) = conflict(
            ops.create_record(&admin, zone, &record("alone", rtype, data))
                .await,
        );
        assert!(message.contains("CNAME"), "{rtype}: {message}");
    }
    ops.create_record(&admin, zone, &record("@", "MX", "10 mail"))
        .await
        .unwrap();
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_that_services_use_becomes_names_only_where_a_cname_can_stand() {
    let world = World::new(Tier::Free).await;
    let (zone, admin) = (zone(&world).await, admin());
    let (ops, pool) = (&world.ops, world.pool("web").await);
    ops.create_record(&admin, zone, &record("www", "MX", "10 mail"))
        .await
        .unwrap();
    let www = service("www", "www.example.com", &pool);
    let www = ops.create_service(&admin, &www).await.unwrap().value;
    let names = vec![host("lb.example.net")];
    let (field, message) = conflict(ops.put_members(&admin, pool.id, None, &names).await);
    assert!(field == "members" && message.contains("MX"), "{field}: {message}");
    let flat = json!({"flatten": true});
    ops.patch_service(&admin, www.id, None, &flat).await.unwrap();
    ops.put_members(&admin, pool.id, None, &names).await.unwrap();
    assert!(!is_alias(&world, "www.example.com"));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_service_leads_back_to_itself() {
    let world = World::new(Tier::Free).await;
    let (zone, admin) = (zone(&world).await, admin());
    let ops = &world.ops;
    let to_self = made(&world, &named("self", &["ok.example.net", "a.example.com"])).await;
    let to_a = made(&world, &named("to a", &["a.example.com"])).await;
    let away = made(&world, &named("away", &["ok.example.net"])).await;
    let (field, message) = conflict(
        ops.create_service(&admin, &service("a", "a.example.com", &to_self))
            .await,
    );
    assert!(
        field == "poolId" && message.contains("itself"),
        "{field}: {message}"
    );
    // Over another service.
    ops.create_service(&admin, &service("a", "a.example.com", &away))
        .await
        .unwrap();
    ops.create_service(&admin, &service("b", "b.example.com", &to_a))
        .await
        .unwrap();
    let back = ops
        .put_members(&admin, away.id, None, &vec![host("b.example.com")])
        .await;
    assert_eq!(conflict(back).0, "members");
    // Over a static alias.
    ops.create_record(&admin, zone, &record("c", "CNAME", "b"))
        .await
        .unwrap();
    let back = ops
        .put_members(&admin, away.id, None, &vec![host("c.example.com")])
        .await;
    assert_eq!(conflict(back).0, "members");
    ops.put_members(&admin, away.id, None, &vec![host("d.example.com")])
        .await
        .unwrap();
    let back = ops.create_record(&admin, zone, &record("d", "CNAME", "a")).await;
    assert!(conflict(back).1.contains("back to itself"));
    world.stop().await;
}
