//! Tenants, own roles, disabled accounts, sessions: who may do what to whom, and what ends when.

use crate::support::{World, actor, admin, conflict, fields, forbidden, member, role};
use gslb_api_types::{ListQuery, RoleDraft, TenantDraft, TokenDraft, UserDraft};
use gslb_core::OpError;
use gslb_core::auth::LoginError;
use gslb_core::store::{RoleRef, SessionRecord, shown_id};
use gslb_engine::model::{Actor, Permission, PoolDraft, Role, TenantId, Tier, UserId, ZoneDraft};
use serde_json::json;
use std::net::IpAddr;

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
const SECRET: &str = "is long enough";

fn user(name: &str, role: &str) -> UserDraft {
    UserDraft {
        name: Some(name.to_owned()),
        password: Some(SECRET.to_owned()),
        role: Some(role.to_owned()),
        enabled: None,
    }
}

fn own_role(name: &str, permissions: &[&str]) -> RoleDraft {
    RoleDraft {
        name: Some(name.to_owned()),
        permissions: Some(permissions.iter().map(|text| (*text).to_owned()).collect()),
    }
}

fn token(name: &str, permissions: &[&str]) -> TokenDraft {
    TokenDraft {
        name: Some(name.to_owned()),
        permissions: own_role(name, permissions).permissions,
        expires_in_days: None,
    }
}

async fn tenant(world: &World, name: &str) -> TenantId {
    let draft = TenantDraft {
        name: Some(name.to_owned()),
    };
    world.ops.create_tenant(&admin(), &draft).await.unwrap().value.id
}

/// The system administrator, acting in this tenant.
async fn admin_in(world: &World, tenant: TenantId) -> Actor {
    world.ops.in_tenant(admin(), &tenant.to_string()).await.unwrap()
}

async fn log_in(world: &World, name: &str) -> Actor {
    world.auth.login(name, SECRET, HERE).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_sees_nothing_of_another() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let acme = tenant(&world, "acme").await;
    let in_acme = admin_in(&world, acme).await;
    ops.create_user(&in_acme, &user("bob", "tenant-admin"))
        .await
        .unwrap();
    let bob = log_in(&world, "bob").await;
    assert_eq!(bob.tenant_id, acme);
    let pool = world.pool("theirs").await;
    ops.create_user(&admin(), &user("alice", "viewer")).await.unwrap();
    let all = ListQuery::default();
    assert_eq!(ops.list_pools(&bob, &all).await.unwrap().total, 0);
    assert_eq!(ops.list_zones(&bob, &all).await.unwrap().total, 0);
    let users = ops.list_users(&bob, &all).await.unwrap();
    assert_eq!((users.total, users.items[0].value.name.as_str()), (1, "bob"));
    assert!(matches!(
        ops.get_pool(&bob, pool.id).await,
        Err(OpError::NotFound { .. })
    ));
    // A name of another is not told to be there, but that it cannot be had.
    let (field, message) = conflict(ops.create_user(&bob, &user("alice", "viewer")).await);
    assert!(field == "name" && message.contains("not yours"), "{message}");
    // The same name for a pool is nobody's business.
    let twin = PoolDraft {
        name: Some("theirs".to_owned()),
        members: Some(vec![member("192.0.2.7")]),
        ..PoolDraft::default()
    };
    ops.create_pool(&bob, &twin).await.unwrap();
    let trail = ops.list_audit(&bob, &Default::default()).await.unwrap();
    assert!(
        trail.items.iter().all(|entry| entry.tenant_id == acme),
        "{trail:?}"
    );
    assert!(
        trail.items.iter().any(|entry| entry.object == "tenant"),
        "its own beginning is in its trail"
    );
    assert_eq!(
        forbidden(ops.list_tenants(&bob, &all).await),
        Permission::TenantsRead
    );
    for wanted in ["default", "nothing", &TenantId::DEFAULT.to_string()] {
        assert_eq!(
            forbidden(ops.in_tenant(bob.clone(), wanted).await),
            Permission::TenantsRead,
            "{wanted}"
        );
    }
    assert_eq!(ops.in_tenant(bob.clone(), "acme").await.unwrap(), bob);
    assert!(matches!(
        ops.in_tenant(admin(), "nothing").await,
        Err(OpError::NotFound { .. })
    ));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_are_made_renamed_and_deleted_when_empty() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let named = |name: &str| TenantDraft {
        name: Some(name.to_owned()),
    };
    let acme = tenant(&world, "acme").await;
    assert_eq!(
        conflict(ops.create_tenant(&admin(), &named("ACME")).await).0,
        "name"
    );
    assert_eq!(fields(ops.create_tenant(&admin(), &named("")).await), ["name"]);
    let id_as_name = named(&TenantId::DEFAULT.to_string());
    assert_eq!(fields(ops.create_tenant(&admin(), &id_as_name).await), ["name"]);
    ops.patch_tenant(&admin(), acme, None, &json!({"name": "Acme Ltd"}))
        .await
        .unwrap();
    let list = ops.list_tenants(&admin(), &ListQuery::default()).await.unwrap();
    let names: Vec<_> = list.items.iter().map(|t| t.value.name.as_str()).collect();
    assert_eq!(names, ["Acme Ltd", "default"]);
    let zone = ZoneDraft {
        name: Some("acme.example".to_owned()),
        ..ZoneDraft::default()
    };
    let inside = admin_in(&world, acme).await;
    let zone = ops.create_zone(&inside, &zone).await.unwrap().value;
    assert!(
        conflict(ops.delete_tenant(&admin(), acme, None).await)
            .1
            .contains("1 zones")
    );
    ops.delete_zone(&inside, zone.id, None).await.unwrap();
    ops.delete_tenant(&admin(), acme, None).await.unwrap();
    assert!(
        conflict(ops.delete_tenant(&admin(), TenantId::DEFAULT, None).await)
            .1
            .contains("first")
    );
    assert_eq!(
        forbidden(ops.create_tenant(&role(Role::TenantAdmin), &named("x")).await),
        Permission::TenantsWrite
    );
    // System administrators belong to the first tenant.
    let other = tenant(&world, "other").await;
    let inside = admin_in(&world, other).await;
    assert_eq!(
        fields(ops.create_user(&inside, &user("eve", "system-admin")).await),
        ["role"]
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn own_roles_give_what_they_say_and_no_more_than_their_maker_has() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let made = ops
        .create_role(&admin(), &own_role("pool keeper", &["pools:read", "pools:write"]))
        .await
        .unwrap()
        .value;
    let id: RoleRef = made.id.parse().unwrap();
    let carl = ops
        .create_user(&admin(), &user("carl", "pool keeper"))
        .await
        .unwrap()
        .value;
    assert_eq!(
        (carl.role.as_str(), carl.role_id.is_some()),
        ("pool keeper", true)
    );
    let session = log_in(&world, "carl").await;
    assert_eq!(
        session.permissions,
        [Permission::PoolsRead, Permission::PoolsWrite]
    );
    // What changes in the role holds at once.
    ops.patch_role(&admin(), id, None, &json!({"permissions": ["pools:read"]}))
        .await
        .unwrap();
    assert_eq!(log_in(&world, "carl").await.permissions, [Permission::PoolsRead]);
    assert!(
        conflict(ops.delete_role(&admin(), id, None).await)
            .1
            .contains("1 accounts")
    );

    // Nobody climbs by way of a role.
    let keeper = actor(&[
        Permission::UsersRead,
        Permission::UsersWrite,
        Permission::PoolsRead,
    ]);
    assert_eq!(
        fields(
            ops.create_role(&keeper, &own_role("up", &["zones:write", "pools:read"]))
                .await
        ),
        ["permissions[0]"]
    );
    assert_eq!(
        fields(
            ops.patch_role(&keeper, id, None, &json!({"permissions": ["pools:write"]}))
                .await
        ),
        ["permissions[0]"]
    );
    ops.patch_role(
        &admin(),
        id,
        None,
        &json!({"permissions": ["pools:read", "zones:read"]}),
    )
    .await
    .unwrap();
    assert_eq!(
        forbidden(ops.patch_role(&keeper, id, None, &json!({"name": "x"})).await),
        Permission::ZonesRead
    );
    assert_eq!(
        fields(ops.create_user(&keeper, &user("eve", "pool keeper")).await),
        ["role"]
    );
    assert_eq!(
        forbidden(ops.delete_user(&keeper, carl.id, None).await),
        Permission::ZonesRead
    );

    for (draft, field) in [
        (own_role("viewer", &["pools:read"]), "name"),
        (own_role("x", &[]), "permissions"),
        (own_role("x", &["tenants:read"]), "permissions[0]"),
        (own_role("x", &["pools:sing"]), "permissions[0]"),
    ] {
        assert_eq!(fields(ops.create_role(&admin(), &draft).await), [field]);
    }
    assert_eq!(
        conflict(
            ops.create_role(&admin(), &own_role("Pool Keeper", &["pools:read"]))
                .await
        )
        .0,
        "name"
    );
    let viewer = RoleRef::BuiltIn(Role::Viewer);
    assert!(
        conflict(ops.patch_role(&admin(), viewer, None, &json!({})).await)
            .1
            .contains("built in")
    );
    let names: Vec<_> = ops
        .list_roles(&admin(), &ListQuery::default())
        .await
        .unwrap()
        .items
        .into_iter()
        .map(|role| role.value.name)
        .collect();
    assert_eq!(
        names,
        [
            "operator",
            "pool keeper",
            "system-admin",
            "tenant-admin",
            "viewer"
        ]
    );
    // A role of another tenant is not there.
    let other = admin_in(&world, tenant(&world, "other").await).await;
    assert!(matches!(
        ops.get_role(&other, id).await,
        Err(OpError::NotFound { .. })
    ));
    assert_eq!(
        fields(ops.create_user(&other, &user("dan", "pool keeper")).await),
        ["role"]
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_disabled_is_out_at_once_and_tokens_follow_their_account() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let bob = ops
        .create_user(&admin(), &user("bob", "tenant-admin"))
        .await
        .unwrap()
        .value;
    let session = log_in(&world, "bob").await;
    let made = ops
        .create_token(
            &session,
            &token("ci", &["pools:read", "pools:write", "tokens:write"]),
        )
        .await
        .unwrap()
        .value;
    assert_eq!(made.token.owner.as_deref(), Some("bob"));
    let bearer = world
        .auth
        .actor_of_token(&made.secret, None)
        .await
        .unwrap()
        .unwrap();
    let second = ops
        .create_token(&bearer, &token("ci2", &["pools:read"]))
        .await
        .unwrap()
        .value;
    assert_eq!(
        second.token.owner.as_deref(),
        Some("bob"),
        "the account behind a token is behind its tokens"
    );
    let rights = |secret: &str| {
        let (auth, secret) = (std::sync::Arc::clone(&world.auth), secret.to_owned());
        async move {
            auth.actor_of_token(&secret, None)
                .await
                .unwrap()
                .map(|a| a.permissions)
        }
    };
    // Less for the account is less for its tokens.
    ops.patch_user(&admin(), bob.id, None, &json!({"role": "viewer"}))
        .await
        .unwrap();
    assert_eq!(rights(&made.secret).await, Some(vec![Permission::PoolsRead]));

    let stored = SessionRecord {
        id: "00112233445566778899aabbccddeeff".repeat(2),
        data: b"{}".to_vec(),
        expiry: i64::MAX,
        user_id: Some(bob.id.to_string()),
        address: None,
        agent: None,
        created_at: 0,
        seen_at: 0,
    };
    assert!(world.store.create_session(&stored).await.unwrap());
    ops.patch_user(&admin(), bob.id, None, &json!({"enabled": false}))
        .await
        .unwrap();
    assert!(world.auth.actor_of_user(bob.id, None).await.unwrap().is_none());
    assert!(matches!(
        world.auth.login("bob", SECRET, HERE).await,
        Err(LoginError::Refused)
    ));
    assert_eq!(rights(&made.secret).await, None);
    assert_eq!(rights(&second.secret).await, None);
    ops.patch_user(&admin(), bob.id, None, &json!({"enabled": true}))
        .await
        .unwrap();
    assert!(
        world.store.load_session(&stored.id, 0).await.unwrap().is_none(),
        "a session came back to life"
    );
    assert!(rights(&second.secret).await.is_some());
    ops.delete_user(&admin(), bob.id, None).await.unwrap();
    assert_eq!(rights(&second.secret).await, None);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_administrator_that_can_be_used_stays() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let first = ops
        .list_users(&admin(), &ListQuery::default())
        .await
        .unwrap()
        .items[0]
        .value
        .id;
    let off = json!({"enabled": false});
    assert!(
        conflict(ops.patch_user(&admin(), first, None, &off).await)
            .1
            .contains("last")
    );
    let second = ops
        .create_user(&admin(), &user("second", "system-admin"))
        .await
        .unwrap()
        .value
        .id;
    ops.patch_user(&admin(), second, None, &off).await.unwrap();
    // One that is disabled does not count.
    for result in [
        ops.delete_user(&admin(), first, None).await,
        ops.patch_user(&admin(), first, None, &json!({"role": "viewer"}))
            .await
            .map(|_| ()),
        ops.patch_user(&admin(), first, None, &off).await.map(|_| ()),
    ] {
        assert!(conflict(result).1.contains("last"));
    }
    ops.delete_user(&admin(), second, None).await.unwrap();
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_listed_and_ended_by_their_owner_and_his_administrator() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let (bob, eve) = (
        ops.create_user(&admin(), &user("bob", "viewer"))
            .await
            .unwrap()
            .value,
        ops.create_user(&admin(), &user("eve", "viewer"))
            .await
            .unwrap()
            .value,
    );
    let session = |byte: u8, user: UserId| SessionRecord {
        id: format!("{byte:02x}").repeat(32),
        data: b"{}".to_vec(),
        expiry: i64::MAX,
        user_id: Some(user.to_string()),
        address: Some("192.0.2.1".to_owned()),
        agent: Some("a browser".to_owned()),
        created_at: i64::from(byte),
        seen_at: i64::from(byte),
    };
    for record in [session(1, bob.id), session(2, bob.id), session(3, eve.id)] {
        assert!(world.store.create_session(&record).await.unwrap());
    }
    let (as_bob, as_eve) = (log_in(&world, "bob").await, log_in(&world, "eve").await);
    let listed = ops.list_sessions(&as_bob, None).await.unwrap();
    let since: Vec<_> = listed.iter().map(|s| s.since).collect();
    assert_eq!(since, [2, 1]);
    assert_eq!(listed[0].agent.as_deref(), Some("a browser"));
    assert_eq!(
        forbidden(ops.list_sessions(&as_eve, Some(bob.id)).await),
        Permission::UsersRead
    );
    let of_bob = listed[0].id;
    assert_eq!(of_bob, shown_id(&session(2, bob.id).id));
    assert!(matches!(
        ops.end_session(&as_eve, of_bob).await,
        Err(OpError::NotFound { .. })
    ));
    ops.end_session(&as_bob, of_bob).await.unwrap();
    assert!(matches!(
        ops.end_session(&as_bob, of_bob).await,
        Err(OpError::NotFound { .. })
    ));
    assert!(matches!(
        ops.list_sessions(&admin(), None).await,
        Err(OpError::NoAccount)
    ));
    assert_eq!(ops.list_sessions(&admin(), Some(bob.id)).await.unwrap().len(), 1);
    // Not from another tenant, whatever one may do there.
    let other = admin_in(&world, tenant(&world, "other").await).await;
    let left = ops.list_sessions(&admin(), Some(bob.id)).await.unwrap()[0].id;
    assert!(matches!(
        ops.end_session(&other, left).await,
        Err(OpError::NotFound { .. })
    ));
    ops.end_session(&admin(), left).await.unwrap();
    assert!(ops.list_sessions(&as_bob, None).await.unwrap().is_empty());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_does_not_pass_for_another() {
    let world = World::new(Tier::Free).await;
    for name in ["\u{430}dmin", "\u{ff41}dmin", "adm\u{131}n\u{3bf}", "o\u{fb03}ce"] {
        let refused = world.ops.create_user(&admin(), &user(name, "viewer")).await;
        assert_eq!(fields(refused), ["name"], "{name}");
        let named = TenantDraft {
            name: Some(name.to_owned()),
        };
        let refused = world.ops.create_tenant(&admin(), &named).await;
        assert_eq!(fields(refused), ["name"], "{name}");
    }
    for name in [
        "\u{430}\u{43d}\u{43d}\u{430} 2",
        "\u{3a9}\u{3c0}",
        "J\u{f8}rgen",
        "\u{738b}wei",
    ] {
        let made = world.ops.create_user(&admin(), &user(name, "viewer")).await;
        assert!(made.is_ok(), "{name} {made:?}");
    }
    for name in ["System-Admin", "VIEWER"] {
        let refused = world
            .ops
            .create_role(&admin(), &own_role(name, &["pools:read"]))
            .await;
        assert_eq!(fields(refused), ["name"], "{name}");
    }
    world.stop().await;
}
