//! The configuration as one document: what one node writes, another takes over, all of it or nothing.

use crate::support::{World, actor, admin, chain, conflict, fields, forbidden, member, role, service};
use gslb_api_types::{ConfigImportQuery, ConfigReport, TenantDraft};
use gslb_core::OpError;
use gslb_core::store::AuditFilter;
use gslb_engine::model::{
    HealthCheckDraft, MemberDraft, Permission, PoolDraft, RecordDraft, Role, TenantId, Tier, ZoneDraft,
};
use serde_json::json;

/// A world with something of everything that a document can hold, and of what a text could mistake.
async fn furnished() -> World {
    let world = World::new(Tier::Enterprise).await;
    let ops = &world.ops;
    let zone = ZoneDraft {
        name: Some("example.org".to_owned()),
        ..ZoneDraft::default()
    };
    let zone = ops.create_zone(&admin(), &zone).await.unwrap().value;
    for (name, kind, data) in [
        ("@", "TXT", "\"v=spf1 -all: no, yes # 1e3\""),
        ("mail", "A", "192.0.2.25"),
        ("@", "MX", "10 mail.example.org."),
    ] {
        let record: RecordDraft =
            serde_json::from_value(json!({"name": name, "type": kind, "ttl": 300, "data": [data]})).unwrap();
        ops.create_record(&admin(), zone.id, &record).await.unwrap();
    }
    let geo = json!({"country": ["NO"], "lat": 59.5, "lon": 10.75});
    let pool = PoolDraft {
        name: Some("yes".to_owned()),
        members: Some(vec![
            member("192.0.2.1"),
            MemberDraft {
                region: Some("NO".to_owned()),
                geo: Some(serde_json::from_value(geo).unwrap()),
                ..member("192.0.2.2")
            },
        ]),
        health_check: Some(HealthCheckDraft {
            kind: Some("http".to_owned()),
            path: Some("/up".to_owned()),
            ..HealthCheckDraft::default()
        }),
        ..PoolDraft::default()
    };
    let pool = ops.create_pool(&admin(), &pool).await.unwrap().value;
    let draft = chain(
        service("www", "www.example.org", &pool),
        &["geo-ip", "weighted-round-robin"],
    );
    ops.create_service(&admin(), &draft).await.unwrap();
    world
}

fn how(apply: bool) -> ConfigImportQuery {
    ConfigImportQuery {
        apply,
        ..ConfigImportQuery::default()
    }
}

async fn import(world: &World, text: &str, apply: bool) -> Result<ConfigReport, OpError> {
    let written = world.ops.import_config(&admin(), text, how(apply), None).await?;
    Ok(written.value)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_node_becomes_the_same_as_the_one_that_wrote() {
    let from = furnished().await;
    let text = from.ops.export_config_text(&admin()).await.unwrap();
    let written = from.ops.export_config(&admin()).await.unwrap();
    let to = World::new(Tier::Enterprise).await;
    assert_ne!(to.ops.export_config(&admin()).await.unwrap().hash, written.hash);

    let told = import(&to, &text, false).await.unwrap();
    assert!(!told.applied && told.hash == written.hash, "{told:?}");
    assert_eq!(told.warnings, []);
    // Half of it is a document too, and deletes the other half: that is told.
    let cut = text.find("\nservices:").unwrap();
    let half = import(&to, &text[..cut], false).await.unwrap();
    assert_eq!(half.warnings[0].field, "hash");
    assert_eq!(to.ops.export_config(&admin()).await.unwrap().services, []);
    let done = import(&to, &text, true).await.unwrap();
    assert_eq!(done.changes, told.changes, "what was told is what is done");
    let read = to.ops.export_config(&admin()).await.unwrap();
    assert_eq!(read.hash, written.hash);
    assert_eq!(
        (read.pools, read.services),
        (written.pools.clone(), written.services.clone())
    );
    // It is in force, not only stored.
    let snapshot = to.snapshot.load_full();
    assert!(snapshot.services().any(|service| service.name.as_ref() == "www"));
    // What is there already changes nothing, and leaves no trace.
    let revision = to.store.revision().await.unwrap();
    let again = import(&to, &text, true).await.unwrap();
    assert_eq!(again.changes, []);
    assert_eq!(to.store.revision().await.unwrap(), revision);
    let trail = to
        .ops
        .list_audit(&admin(), &AuditFilter::default())
        .await
        .unwrap();
    assert!(
        trail
            .items
            .iter()
            .filter(|entry| entry.action == "imported")
            .count()
            >= 5
    );
    // A node that starts on that database has the same.
    let to = to.restart(Tier::Enterprise).await;
    assert_eq!(to.ops.export_config(&admin()).await.unwrap().hash, written.hash);
    from.stop().await;
    to.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_every_kind_are_told_and_made_in_a_possible_order() {
    let world = furnished().await;
    let mut document = serde_json::to_value(world.ops.export_config(&admin()).await.unwrap()).unwrap();
    // The pool goes, another comes for the service; a record changes; the zone stays.
    document["pools"] = json!([{"name": "other", "id": "0198c5a0-0000-7000-8000-000000000001",
                                "members": [{"ipAddress": "192.0.2.9", "port": 80}]}]);
    document["services"][0]["poolId"] = json!("0198c5a0-0000-7000-8000-000000000001");
    document["services"][0]["ttl"] = json!(17);
    document["records"][0]["ttl"] = json!(77);
    let text = document.to_string();
    let mut told: Vec<_> = import(&world, &text, false)
        .await
        .unwrap()
        .changes
        .into_iter()
        .map(|change| format!("{} {}", change.action, change.object))
        .collect();
    told.sort();
    assert_eq!(
        told,
        [
            "created pool",
            "deleted pool",
            "updated record",
            "updated service"
        ]
    );
    import(&world, &text, true).await.unwrap();
    let after = world.ops.export_config(&admin()).await.unwrap();
    assert_eq!((after.pools.len(), after.services[0].ttl), (1, 17));
    // Nothing of it: everything goes.
    let done = import(&world, "format: 1\n", true).await.unwrap();
    assert_eq!(
        done.changes
            .iter()
            .filter(|change| change.action == "deleted")
            .count(),
        done.changes.len()
    );
    let after = world.ops.export_config(&admin()).await.unwrap();
    assert_eq!(
        (after.zones, after.records, after.pools),
        (vec![], vec![], vec![])
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_told_at_once_and_nothing_is_done() {
    let world = furnished().await;
    let before = world.ops.export_config(&admin()).await.unwrap();
    let mut document = serde_json::to_value(&before).unwrap();
    document["services"][0]["ttl"] = json!("soon");
    document["services"][0]["poolId"] = json!("0198c5a0-0000-7000-8000-000000000007");
    document["pools"][0]["members"][0]["port"] = json!(0);
    document["records"][0]["zoneId"] = json!("nowhere");
    document["zoness"] = json!([]);
    let mut found = fields(import(&world, &document.to_string(), true).await);
    found.sort();
    assert_eq!(
        found,
        [
            "pools[0].members[0].port",
            "records[0].zoneId",
            "services[0].ttl",
            "zoness"
        ]
    );
    assert_eq!(fields(import(&world, "- a\n- b\n", true).await), [""]);
    assert_eq!(fields(import(&world, "zones: [", true).await), [""]);
    assert_eq!(world.ops.export_config(&admin()).await.unwrap(), before);

    // A service whose domain another record has: rules between objects hold as everywhere.
    let mut document = serde_json::to_value(&before).unwrap();
    document["services"][0]["domain"] = json!("mail.example.org");
    let refused = import(&world, &document.to_string(), true).await;
    assert!(matches!(refused, Err(OpError::Conflict(_))), "{refused:?}");
    let stale = world
        .ops
        .import_config(&admin(), &document.to_string(), how(true), Some(1))
        .await;
    assert!(matches!(stale, Err(OpError::Stale { .. })), "{stale:?}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_imports_what_he_could_not_write() {
    let world = furnished().await;
    let text = world.ops.export_config_text(&admin()).await.unwrap();
    let poor = actor(&[Permission::ZonesWrite, Permission::PoolsWrite]);
    assert_eq!(
        forbidden(world.ops.import_config(&poor, &text, how(false), None).await),
        Permission::ServicesWrite
    );
    // Scripts are for those who may write them.
    let mut document = serde_json::to_value(world.ops.export_config(&admin()).await.unwrap()).unwrap();
    document["services"][0]["filterChain"] = json!(["script:def route(ctx):\n  return ctx.members\n"]);
    let operator = role(Role::Operator);
    let refused = world
        .ops
        .import_config(&operator, &document.to_string(), how(false), None)
        .await;
    assert_eq!(forbidden(refused), Permission::ScriptsWrite);
    // What belongs to another tenant is not touched, and cannot be taken.
    let other = gslb_engine::model::Actor {
        tenant_id: TenantId(uuid::Uuid::from_u128(7)),
        ..role(Role::TenantAdmin)
    };
    let refused = world.ops.import_config(&other, &text, how(true), None).await;
    assert!(matches!(refused, Err(OpError::Conflict(_))), "{refused:?}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_tenant_wrote_is_taken_over_only_when_told() {
    let world = World::new(Tier::Enterprise).await;
    let pool = PoolDraft {
        name: Some("web".to_owned()),
        members: Some(vec![member("192.0.2.1")]),
        ..PoolDraft::default()
    };
    world.ops.create_pool(&admin(), &pool).await.unwrap();
    let name = TenantDraft {
        name: Some("acme".to_owned()),
    };
    let acme = world.ops.create_tenant(&admin(), &name).await.unwrap().value.id;
    let there = world.ops.in_tenant(admin(), &acme.to_string()).await.unwrap();
    let mut document = serde_json::to_value(world.ops.export_config(&admin()).await.unwrap()).unwrap();
    assert_eq!(document["tenant"], "default");
    let import = |text: String, any_tenant: bool| {
        let (world, there) = (&world, &there);
        let query = ConfigImportQuery {
            apply: true,
            any_tenant,
        };
        async move { world.ops.import_config(there, &text, query, None).await }
    };
    let (field, message) = conflict(import(document.to_string(), false).await);
    assert!(
        field == "tenant" && message.contains("`default`") && message.contains("`acme`"),
        "{message}"
    );
    // Told to, it still takes nothing away from who has it: that is seen before anything is done.
    let refused = import(document.to_string(), true).await.unwrap_err();
    let OpError::Conflict(problems) = refused else {
        panic!("{refused:?}");
    };
    let found: Vec<_> = problems.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(found, ["pools[0].id", "pools[0].members[0].id"]);
    let taken = &mut document["pools"][0];
    taken.as_object_mut().unwrap().remove("id");
    taken["members"][0].as_object_mut().unwrap().remove("id");
    let done = import(document.to_string(), true).await.unwrap().value;
    assert_eq!((done.tenant.as_str(), done.changes.len()), ("acme", 1));
    // What names no tenant is of whoever sends it.
    document.as_object_mut().unwrap().remove("tenant");
    assert!(import(document.to_string(), false).await.is_ok());
    document["tenant"] = json!(7);
    assert_eq!(fields(import(document.to_string(), true).await), ["tenant"]);
    let stays = world.ops.export_config(&admin()).await.unwrap();
    assert_eq!(stays.pools.len(), 1, "the first tenant keeps what it has");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn aliases_that_never_end_are_refused() {
    let world = furnished().await;
    let document = serde_json::to_value(world.ops.export_config(&admin()).await.unwrap()).unwrap();
    let alias = |from: &str, to: &str| json!({"name": from, "type": "CNAME", "ttl": 60, "data": [to], "zoneId": document["zones"][0]["id"]});
    let with = |aliases: Vec<serde_json::Value>| {
        let mut changed = document.clone();
        changed["records"].as_array_mut().unwrap().extend(aliases);
        changed.to_string()
    };
    let circle = with(vec![
        alias("a", "b.example.org."),
        alias("b", "c.example.org."),
        alias("c", "a.example.org."),
    ]);
    let refused = import(&world, &circle, false).await.unwrap_err();
    let OpError::Conflict(problems) = refused else {
        panic!("{refused:?}");
    };
    let found: Vec<_> = problems.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(
        found,
        ["records[3].data[0]", "records[4].data[0]", "records[5].data[0]"]
    );
    // A service that leads to its own name, and one that a record leads back to.
    for (host, aliases) in [
        ("www.example.org", vec![]),
        (
            "x.example.org",
            vec![alias("x", "www.example.org."), alias("y", "www.example.org.")],
        ),
    ] {
        let mut changed: serde_json::Value = serde_json::from_str(&with(aliases)).unwrap();
        changed["pools"][0]["members"] = json!([{"hostname": host, "port": 80}]);
        let refused = import(&world, &changed.to_string(), true).await.unwrap_err();
        let OpError::Conflict(problems) = refused else {
            panic!("{refused:?}");
        };
        assert!(
            problems
                .iter()
                .any(|problem| problem.field == "services[0].poolId"),
            "{problems:?}"
        );
    }
    // A chain that ends is fine, also in a zone that the document itself brings.
    let chain = vec![alias("a", "b.example.org."), alias("b", "www.example.org.")];
    import(&world, &with(chain.clone()), true).await.unwrap();
    let empty = World::new(Tier::Enterprise).await;
    import(&empty, &with(chain), true).await.unwrap();
    let refused = import(&World::new(Tier::Enterprise).await, &circle, true).await;
    assert!(matches!(refused, Err(OpError::Conflict(_))), "{refused:?}");
    empty.stop().await;
    world.stop().await;
}
