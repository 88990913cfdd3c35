//! Static records: stored, checked against what is around them, in force.

use crate::support::{World, admin, conflict, fields, role, service};
use gslb_api_types::{ListQuery, Stored};
use gslb_core::OpError;
use gslb_engine::model::{Actor, ErrorCode, RecordDraft, RecordSet, Role, TenantId, Tier, ZoneDraft, ZoneId};
use gslb_engine::snapshot::Found;
use gslb_engine::testing::wire;
use serde_json::json;
use uuid::Uuid;

fn draft(name: &str, rtype: &str, data: &[&str]) -> RecordDraft {
    RecordDraft {
        name: Some(name.to_owned()),
        rtype: Some(rtype.to_owned()),
        ttl: None,
        data: Some(data.iter().map(|text| (*text).to_owned()).collect()),
    }
}

async fn zone(world: &World, name: &str) -> ZoneId {
    let draft = ZoneDraft {
        name: Some(name.to_owned()),
        ..ZoneDraft::default()
    };
    world.ops.create_zone(&admin(), &draft).await.unwrap().value.id
}

async fn add(
    world: &World,
    zone: ZoneId,
    name: &str,
    rtype: &str,
    data: &[&str],
) -> Result<RecordSet, OpError> {
    let draft = draft(name, rtype, data);
    let written = world.ops.create_record(&admin(), zone, &draft).await?;
    Ok(written.value)
}

/// Data of the set that the snapshot has.
fn in_force(world: &World, name: &str, rtype: u16) -> Vec<Vec<u8>> {
    let snapshot = world.snapshot.load();
    let records = match snapshot.find(&wire(name)) {
        Found::Records { records, .. } | Found::Delegated { records, .. } => Some(records),
        Found::Service { records, .. } | Found::Apex { records, .. } => records,
        _ => None,
    };
    let set = records.and_then(|records| records.get(rtype));
    set.map(|set| set.data.iter().map(|rdata| rdata.as_wire().to_vec()).collect())
        .unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_is_made_changed_and_deleted_and_each_is_in_force_at_once() {
    let world = World::new(Tier::Free).await;
    let zone = zone(&world, "example.com").await;
    let serial = || async { world.ops.get_zone(&admin(), zone).await.unwrap().value.serial };
    let made = world
        .ops
        .create_record(&admin(), zone, &draft("www", "A", &["192.0.2.1"]))
        .await
        .unwrap();
    assert_eq!(
        (in_force(&world, "www.example.com.", 1), serial().await),
        (vec![vec![192, 0, 2, 1]], 2)
    );
    let id = made.value.id;
    let patched = world
        .ops
        .patch_record(
            &admin(),
            zone,
            id,
            Some(made.revision),
            &json!({"data": ["192.0.2.2", "192.0.2.3"], "ttl": 5}),
        )
        .await
        .unwrap();
    assert_eq!(
        (patched.value.ttl, in_force(&world, "www.example.com.", 1).len()),
        (5, 2)
    );
    let stale = world
        .ops
        .replace_record(
            &admin(),
            zone,
            id,
            Some(made.revision),
            &draft("www", "A", &["192.0.2.4"]),
        )
        .await;
    assert!(matches!(stale, Err(OpError::Stale { .. })));
    // Another name and type; the old name is free.
    world
        .ops
        .replace_record(&admin(), zone, id, None, &draft("ftp", "TXT", &["x"]))
        .await
        .unwrap();
    assert_eq!(in_force(&world, "www.example.com.", 1), Vec::<Vec<u8>>::new());
    assert!(matches!(
        world.snapshot.load().find(&wire("www.example.com.")),
        Found::Missing(_)
    ));
    assert_eq!(in_force(&world, "ftp.example.com.", 16), [b"\x01x"]);
    assert_eq!(serial().await, 4);
    // What changes nothing leaves no trace.
    let same = world
        .ops
        .replace_record(
            &admin(),
            zone,
            id,
            None,
            &draft("ftp.example.com", "txt", &["\"x\""]),
        )
        .await
        .unwrap();
    assert_eq!((serial().await, same.value.ttl), (4, 3600));
    let world = world.restart(Tier::Free).await;
    assert_eq!(in_force(&world, "ftp.example.com.", 16), [b"\x01x"]);
    world.ops.delete_record(&admin(), zone, id, None).await.unwrap();
    assert!(matches!(
        world.snapshot.load().find(&wire("ftp.example.com.")),
        Found::Missing(_)
    ));
    assert_eq!(world.snapshot.load().zone(zone).unwrap().serial, 5);
    let filter = gslb_core::store::AuditFilter {
        object_id: Some(id.0),
        ..gslb_core::store::AuditFilter::default()
    };
    let trail = world.ops.list_audit(&admin(), &filter).await.unwrap().items;
    let rows: Vec<_> = trail
        .iter()
        .map(|row| (row.action.as_str(), row.object.as_str(), row.name.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            ("deleted", "record", "ftp.example.com. TXT"),
            ("updated", "record", "ftp.example.com. TXT"),
            ("updated", "record", "www.example.com. A"),
            ("created", "record", "www.example.com. A"),
        ]
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_go_down_from_the_apex_and_find_names_types_and_data() {
    let world = World::new(Tier::Free).await;
    let (zone_id, other) = (
        zone(&world, "example.com").await,
        zone(&world, "example.net").await,
    );
    for (name, rtype, data) in [
        ("b", "A", "192.0.2.1"),
        ("a.b", "TXT", "needle"),
        ("@", "MX", "10 b"),
        ("a", "A", "192.0.2.2"),
        ("_sip", "SRV", "1 1 1 b"),
    ] {
        add(&world, zone_id, name, rtype, &[data]).await.unwrap();
    }
    add(&world, other, "b", "A", &["192.0.2.1"]).await.unwrap();
    let list = |query: ListQuery| {
        let world = &world;
        async move {
            let page = world.ops.list_records(&admin(), zone_id, &query).await.unwrap();
            let shown = |stored: Stored<RecordSet>| format!("{} {}", stored.value.name, stored.value.rtype);
            (
                page.total,
                page.next_cursor,
                page.items.into_iter().map(shown).collect::<Vec<_>>(),
            )
        }
    };
    let all = [
        "example.com. MX",
        "_sip.example.com. SRV",
        "a.example.com. A",
        "b.example.com. A",
        "a.b.example.com. TXT",
    ];
    assert_eq!(
        list(ListQuery::default()).await,
        (5, None, all.map(str::to_owned).to_vec())
    );
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let query = ListQuery {
            limit: Some(2),
            cursor: cursor.take(),
            ..ListQuery::default()
        };
        let (total, next, items) = list(query).await;
        assert_eq!(total, 5);
        seen.extend(items);
        match next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, all);
    for (search, found) in [
        ("needle", 1),
        ("SRV", 1),
        ("b.example", 4),
        ("192.0.2", 2),
        ("_sip", 1),
        ("nothing", 0),
    ] {
        let query = ListQuery {
            search: Some(search.to_owned()),
            ..ListQuery::default()
        };
        assert_eq!(list(query).await.0, found, "{search}");
    }
    let query = ListQuery {
        sort: Some("-type".to_owned()),
        ..ListQuery::default()
    };
    assert_eq!(list(query).await.2[0], "a.b.example.com. TXT");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_and_a_static_address_cannot_share_a_name() {
    let world = World::new(Tier::Free).await;
    let (zone, pool) = (zone(&world, "example.com").await, world.pool("web").await);
    let www = service("www", "www.example.com", &pool);
    world.ops.create_service(&admin(), &www).await.unwrap();
    for (rtype, data) in [("A", "192.0.2.1"), ("AAAA", "2001:db8::1"), ("CNAME", "x")] {
        let (field, message) = conflict(add(&world, zone, "www", rtype, &[data]).await);
        assert!(field == "name" && message.contains("service"), "{message}");
    }
    add(&world, zone, "www", "TXT", &["beside"]).await.unwrap();
    for (name, rtype, data) in [
        ("a", "A", "192.0.2.1"),
        ("b", "AAAA", "2001:db8::1"),
        ("c", "CNAME", "a"),
    ] {
        add(&world, zone, name, rtype, &[data]).await.unwrap();
        let taken = service(name, &format!("{name}.example.com"), &pool);
        let (field, message) = conflict(world.ops.create_service(&admin(), &taken).await);
        assert!(field == "domain" && message.contains(rtype), "{message}");
    }
    let beside = service("d", "d.example.com", &pool);
    add(&world, zone, "d", "MX", &["10 a"]).await.unwrap();
    world.ops.create_service(&admin(), &beside).await.unwrap();
    // A service that moves onto a static name is refused as well.
    let id = world
        .ops
        .list_services(&admin(), &ListQuery::default())
        .await
        .unwrap()
        .items[0]
        .value
        .id;
    let moved = world
        .ops
        .patch_service(&admin(), id, None, &json!({"domain": "a.example.com"}))
        .await;
    assert_eq!(conflict(moved).0, "domain");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_glue_lives_below_a_delegation() {
    let world = World::new(Tier::Free).await;
    let (zone, pool) = (zone(&world, "example.com").await, world.pool("web").await);
    let inside = service("in", "www.in.example.com", &pool);
    world.ops.create_service(&admin(), &inside).await.unwrap();
    let (_, message) = conflict(add(&world, zone, "in", "NS", &["ns1.example.net."]).await);
    assert!(message.contains("www.in.example.com."), "{message}");
    add(&world, zone, "x.txt", "TXT", &["x"]).await.unwrap();
    let (_, message) = conflict(add(&world, zone, "txt", "NS", &["ns1.example.net."]).await);
    assert!(message.contains("x.txt.example.com. TXT"), "{message}");

    assert!(
        conflict(add(&world, zone, "sub", "DS", &["1 13 2 aa"]).await)
            .1
            .contains("no delegation")
    );
    let ns = add(&world, zone, "sub", "NS", &["ns1.sub.example.com."])
        .await
        .unwrap();
    add(&world, zone, "ns1.sub", "A", &["192.0.2.53"]).await.unwrap();
    add(&world, zone, "sub", "DS", &["1 13 2 aa"]).await.unwrap();
    assert!(
        conflict(add(&world, zone, "sub", "TXT", &["x"]).await)
            .1
            .contains("delegated")
    );
    assert!(
        conflict(add(&world, zone, "a.b.sub", "MX", &["0 ."]).await)
            .1
            .contains("delegated")
    );
    for domain in ["sub.example.com", "x.y.sub.example.com"] {
        let below = service("below", domain, &pool);
        assert_eq!(
            conflict(world.ops.create_service(&admin(), &below).await).0,
            "domain"
        );
    }
    // The DS needs its delegation.
    let (_, message) = conflict(world.ops.delete_record(&admin(), zone, ns.id, None).await);
    assert!(message.contains("DS"), "{message}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alias_stands_alone_and_leads_somewhere() {
    let world = World::new(Tier::Free).await;
    let zone = zone(&world, "example.com").await;
    add(&world, zone, "host", "A", &["192.0.2.1"]).await.unwrap();
    add(&world, zone, "a", "CNAME", &["b"]).await.unwrap();
    assert_eq!(conflict(add(&world, zone, "a", "TXT", &["x"]).await).0, "name");
    assert_eq!(
        conflict(add(&world, zone, "host", "CNAME", &["a"]).await).0,
        "name"
    );
    assert_eq!(conflict(add(&world, zone, "A", "cname", &["c"]).await).0, "name");
    let twice = add(&world, zone, "host", "A", &["192.0.2.2"]).await;
    let Err(OpError::Conflict(problems)) = twice else {
        panic!("{twice:?}");
    };
    assert_eq!(problems.len(), 1, "{problems:?}");
    let b = add(&world, zone, "b", "CNAME", &["host"]).await.unwrap();
    let back = world
        .ops
        .patch_record(&admin(), zone, b.id, None, &json!({"data": ["a"]}))
        .await;
    assert!(conflict(back).1.contains("lead back"));
    // Through a wildcard, and straight into it.
    add(&world, zone, "*.w", "CNAME", &["a"]).await.unwrap();
    let around = world
        .ops
        .patch_record(
            &admin(),
            zone,
            b.id,
            None,
            &json!({"data": ["x.y.w.example.com."]}),
        )
        .await;
    assert!(conflict(around).1.contains("lead back"));
    assert!(
        conflict(add(&world, zone, "*.v", "CNAME", &["q.v.example.com."]).await)
            .1
            .contains("lead back")
    );
    for n in 0..20 {
        let result = add(&world, zone, &format!("c{}", n + 1), "CNAME", &[&format!("c{n}")]).await;
        if n < 16 {
            result.unwrap();
        } else {
            assert!(conflict(result).1.contains("more than 16"));
            break;
        }
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn records_belong_to_the_closest_zone() {
    let world = World::new(Tier::Free).await;
    let outer = zone(&world, "example.com").await;
    add(&world, outer, "www.old", "A", &["192.0.2.1"]).await.unwrap();
    let draft = |name: &str| ZoneDraft {
        name: Some(name.to_owned()),
        ..ZoneDraft::default()
    };
    assert_eq!(
        conflict(world.ops.create_zone(&admin(), &draft("old.example.com")).await).0,
        "name"
    );
    add(&world, outer, "new", "NS", &["ns1.new.example.com."])
        .await
        .unwrap();
    add(&world, outer, "ns1.new", "A", &["192.0.2.53"]).await.unwrap();
    let inner = zone(&world, "new.example.com").await;
    assert!(
        conflict(add(&world, outer, "www.new", "TXT", &["x"]).await)
            .1
            .contains("new.example.com.")
    );
    add(&world, inner, "www", "TXT", &["x"]).await.unwrap();
    add(&world, outer, "new", "DS", &["1 13 2 aa"]).await.unwrap();
    assert_eq!(in_force(&world, "www.new.example.com.", 16).len(), 1);
    assert!(
        world
            .snapshot
            .load()
            .above(&wire("new.example.com."))
            .unwrap()
            .get(43)
            .is_some()
    );
    assert_eq!(
        fields(add(&world, inner, "www.example.com.", "TXT", &["x"]).await),
        ["name"]
    );
    let renamed = world
        .ops
        .patch_zone(&admin(), inner, None, &json!({"name": "other.example.com"}))
        .await;
    assert_eq!(conflict(renamed).0, "name");
    // A zone goes with its records; what was below it is the outer zone's business again.
    world.ops.delete_zone(&admin(), inner, None).await.unwrap();
    assert!(matches!(
        world.snapshot.load().find(&wire("www.new.example.com.")),
        Found::Delegated { .. }
    ));
    let world = world.restart(Tier::Free).await;
    assert!(matches!(
        world.snapshot.load().find(&wire("www.new.example.com.")),
        Found::Delegated { .. }
    ));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_tenants_and_every_problem_at_once() {
    let world = World::new(Tier::Free).await;
    let zone = zone(&world, "example.com").await;
    let set = add(&world, zone, "www", "A", &["192.0.2.1"]).await.unwrap();
    let viewer = role(Role::Viewer);
    world.ops.get_record(&viewer, zone, set.id).await.unwrap();
    let denied = world
        .ops
        .create_record(&viewer, zone, &draft("a", "A", &["192.0.2.1"]))
        .await;
    assert!(matches!(denied, Err(OpError::Forbidden(_))));
    let stranger = Actor {
        tenant_id: TenantId(Uuid::now_v7()),
        ..admin()
    };
    for result in [
        world.ops.get_record(&stranger, zone, set.id).await.map(|_| ()),
        world.ops.delete_record(&stranger, zone, set.id, None).await,
        world
            .ops
            .create_record(&stranger, zone, &draft("a", "A", &["192.0.2.1"]))
            .await
            .map(|_| ()),
        world
            .ops
            .list_records(&stranger, zone, &ListQuery::default())
            .await
            .map(|_| ()),
    ] {
        assert!(matches!(result, Err(OpError::NotFound { .. })));
    }
    let wrong = RecordDraft {
        ttl: Some(-1),
        ..draft("www.example.net.", "A", &["x", "192.0.2.1", "192.0.2.1"])
    };
    let Err(OpError::Invalid(errors)) = world.ops.create_record(&admin(), zone, &wrong).await else {
        panic!()
    };
    let found: Vec<_> = errors
        .iter()
        .map(|error| (error.field.as_str(), error.code))
        .collect();
    assert_eq!(
        found,
        [
            ("name", ErrorCode::Invalid),
            ("ttl", ErrorCode::OutOfRange),
            ("data[0]", ErrorCode::Invalid),
            ("data[2]", ErrorCode::Duplicate)
        ]
    );
    world.stop().await;
}
