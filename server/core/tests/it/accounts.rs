//! Accounts, log-in, tokens.

use crate::support::{World, actor, admin, conflict, fields, forbidden, role};
use gslb_api_types::{ListQuery, PasswordChange, TokenDraft, UserDraft};
use gslb_core::OpError;
use gslb_core::auth::LoginError;
use gslb_engine::model::{Actor, ActorKind, Permission, Role, Tier, UserId};
use serde_json::json;
use std::net::IpAddr;

const HERE: &str = "192.0.2.1";

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn user(name: &str, role: Role) -> UserDraft {
    UserDraft {
        name: Some(name.to_owned()),
        password: Some("is long enough".to_owned()),
        role: Some(role.as_str().to_owned()),
        enabled: None,
    }
}

fn token(permissions: &[&str]) -> TokenDraft {
    TokenDraft {
        name: Some("ci".to_owned()),
        permissions: Some(permissions.iter().map(|p| (*p).to_owned()).collect()),
        expires_in_days: None,
    }
}

fn id_of(actor: &Actor) -> UserId {
    match actor.kind {
        ActorKind::User(id) => id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_start_makes_an_administrator() {
    let world = World::new(Tier::Free).await;
    let first = world.first_admin.clone().unwrap();
    assert_eq!((first.name.as_str(), first.password), ("admin", None));
    let admin = world
        .auth
        .login("admin", "correct horse", ip(HERE))
        .await
        .unwrap();
    assert_eq!(admin.permissions.len(), Permission::ALL.len());
    assert_eq!(admin.from, Some(ip(HERE)));
    let list = world.ops.list_users(&admin, &ListQuery::default()).await.unwrap();
    let view = &list.items[0].value;
    assert_eq!(
        (view.role.as_str(), view.last_login),
        ("system-admin", Some(1_800_000_000))
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_configured_password_one_is_made_up() {
    let world = World::with(Tier::Free, |mut sources| {
        sources.overrides.retain(|(name, ..)| name != "admin.password");
        sources
    })
    .await;
    let password = world.first_admin.clone().unwrap().password.unwrap();
    assert!(world.auth.login("admin", &password, ip(HERE)).await.is_ok());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_log_in_does_not_say_what_was_wrong() {
    let world = World::new(Tier::Free).await;
    for (name, password) in [
        ("admin", "wrong"),
        ("nobody", "correct horse"),
        ("admin", ""),
        ("admin", &"x".repeat(5000)),
    ] {
        let refused = world.auth.login(name, password, ip("198.51.100.1")).await;
        assert!(matches!(refused, Err(LoginError::Refused)), "{name} {refused:?}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_is_slowed_down_and_the_owner_is_not_locked_out() {
    let world = World::new(Tier::Free).await;
    for _ in 0..5 {
        assert!(matches!(
            world.auth.login("admin", "wrong", ip(HERE)).await,
            Err(LoginError::Refused)
        ));
    }
    let limited = world.auth.login("admin", "correct horse", ip(HERE)).await;
    assert!(matches!(limited, Err(LoginError::TooMany { .. })), "{limited:?}");
    assert!(
        world
            .auth
            .login("admin", "correct horse", ip("198.51.100.1"))
            .await
            .is_ok()
    );
    world.clock.advance(60);
    assert!(world.auth.login("admin", "correct horse", ip(HERE)).await.is_ok());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_are_made_changed_and_deleted() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let draft = UserDraft {
        name: Some(String::new()),
        password: Some("short".to_owned()),
        ..UserDraft::default()
    };
    let mut found = fields(ops.create_user(&admin(), &draft).await);
    found.sort();
    assert_eq!(found, ["name", "password"]);
    let bob = ops
        .create_user(&admin(), &user("bob", Role::Operator))
        .await
        .unwrap()
        .value;
    assert_eq!(
        conflict(ops.create_user(&admin(), &user("bob", Role::Viewer)).await).0,
        "name"
    );

    let session = world.auth.login("bob", "is long enough", ip(HERE)).await.unwrap();
    assert!(session.may(Permission::PoolsWrite));
    let stamp = world.auth.password_stamp(bob.id).await.unwrap();
    let wrong = PasswordChange {
        current: "wrong".to_owned(),
        new: "x".to_owned(),
    };
    let mut found = fields(ops.change_password(&session, &wrong).await);
    found.sort();
    assert_eq!(found, ["current", "new"]);
    let change = PasswordChange {
        current: "is long enough".to_owned(),
        new: "is even longer".to_owned(),
    };
    ops.change_password(&session, &change).await.unwrap();
    assert_ne!(world.auth.password_stamp(bob.id).await.unwrap(), stamp);
    assert!(world.auth.login("bob", "is long enough", ip(HERE)).await.is_err());

    let demoted = json!({"role": "viewer"});
    ops.patch_user(&admin(), bob.id, None, &demoted).await.unwrap();
    let session = world.auth.actor_of_user(bob.id, None).await.unwrap().unwrap();
    assert!(!session.may(Permission::PoolsWrite));
    ops.delete_user(&admin(), bob.id, None).await.unwrap();
    assert!(world.auth.actor_of_user(bob.id, None).await.unwrap().is_none());

    let trail = ops.list_audit(&admin(), &Default::default()).await.unwrap().items;
    assert_eq!(trail.iter().filter(|e| e.name == "bob").count(), 4);
    assert!(
        trail.iter().all(|e| !format!("{e:?}").contains("argon2")),
        "no hash in the trail"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gives_or_takes_more_than_he_has() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let tenant_admin = role(Role::TenantAdmin);
    assert_eq!(
        fields(
            ops.create_user(&tenant_admin, &user("eve", Role::SystemAdmin))
                .await
        ),
        ["role"]
    );
    let admin_id = id_of(
        &world
            .auth
            .login("admin", "correct horse", ip(HERE))
            .await
            .unwrap(),
    );
    let takeover = json!({"password": "is long enough"});
    assert!(matches!(
        ops.patch_user(&tenant_admin, admin_id, None, &takeover).await,
        Err(OpError::Forbidden(_))
    ));
    assert!(matches!(
        ops.delete_user(&tenant_admin, admin_id, None).await,
        Err(OpError::Forbidden(_))
    ));
    assert_eq!(
        forbidden(
            ops.create_user(&role(Role::Operator), &user("eve", Role::Viewer))
                .await
        ),
        Permission::UsersWrite
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_system_administrator_stays() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let first = id_of(
        &world
            .auth
            .login("admin", "correct horse", ip(HERE))
            .await
            .unwrap(),
    );
    let demoted = json!({"role": "viewer"});
    assert!(
        conflict(ops.delete_user(&admin(), first, None).await)
            .1
            .contains("last")
    );
    assert!(
        conflict(ops.patch_user(&admin(), first, None, &demoted).await)
            .1
            .contains("last")
    );
    ops.create_user(&admin(), &user("second", Role::SystemAdmin))
        .await
        .unwrap();
    ops.delete_user(&admin(), first, None).await.unwrap();
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_show_their_secret_once_and_end() {
    let world = World::new(Tier::Free).await;
    let ops = &world.ops;
    let draft = TokenDraft {
        expires_in_days: Some(1),
        ..token(&["pools:read", "pools:read"])
    };
    let created = ops.create_token(&admin(), &draft).await.unwrap().value;
    assert!(created.secret.starts_with("gslb_"));
    assert_eq!(conflict(ops.create_token(&admin(), &draft).await).0, "name");
    let bearer = world
        .auth
        .actor_of_token(&created.secret, Some(ip(HERE)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(bearer.permissions, [Permission::PoolsRead]);
    assert!(ops.list_pools(&bearer, &ListQuery::default()).await.is_ok());
    assert_eq!(
        forbidden(ops.list_services(&bearer, &ListQuery::default()).await),
        Permission::ServicesRead
    );

    let listed = ops
        .list_tokens(&admin(), &ListQuery::default())
        .await
        .unwrap()
        .items;
    assert_eq!(listed[0].value.last_used_at, Some(1_800_000_000));
    let shown = serde_json::to_string(&listed).unwrap();
    assert!(!shown.contains(&created.secret));
    let file = std::fs::read(world.folder.path().join("db/gslbd.db")).unwrap();
    let log = std::fs::read(world.folder.path().join("db/gslbd.db-wal")).unwrap_or_default();
    let secret = created.secret.as_bytes();
    assert!(
        ![file, log]
            .iter()
            .any(|bytes| bytes.windows(secret.len()).any(|w| w == secret)),
        "stored in the clear"
    );

    world.clock.advance(86_400);
    assert!(
        world
            .auth
            .actor_of_token(&created.secret, None)
            .await
            .unwrap()
            .is_none()
    );
    ops.delete_token(&admin(), created.token.id, None).await.unwrap();
    assert!(matches!(
        ops.delete_token(&admin(), created.token.id, None).await,
        Err(OpError::NotFound { .. })
    ));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_cannot_do_more_than_its_maker() {
    let world = World::new(Tier::Free).await;
    let maker = actor(&[Permission::TokensWrite, Permission::PoolsRead]);
    let draft = TokenDraft {
        expires_in_days: Some(0),
        ..token(&["pools:read", "pools:write", "pools:sing"])
    };
    let mut found = fields(world.ops.create_token(&maker, &draft).await);
    found.sort();
    assert_eq!(found, ["expiresInDays", "permissions[1]", "permissions[2]"]);
    assert_eq!(
        fields(world.ops.create_token(&maker, &token(&[])).await),
        ["permissions"]
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bootstrap_token_is_the_system_administrator() {
    let world = World::with(Tier::Free, |s| s.with("api.key", "anything at all", "test")).await;
    let actor = world
        .auth
        .actor_of_token("anything at all", None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(actor.kind, ActorKind::Bootstrap);
    for wrong in ["", "anything at al", "gslb_unknown"] {
        assert!(world.auth.actor_of_token(wrong, None).await.unwrap().is_none());
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_differ_in_case_alone_are_one_account() {
    let world = World::new(Tier::Free).await;
    let draft = |name: &str| UserDraft {
        name: Some(name.to_owned()),
        password: Some("is long enough".to_owned()),
        ..UserDraft::default()
    };
    world.ops.create_user(&admin(), &draft("Jürgen")).await.unwrap();
    for name in ["jürgen", "JÜRGEN", "Admin", "ADMIN"] {
        let taken = conflict(world.ops.create_user(&admin(), &draft(name)).await);
        assert_eq!(taken.0, "name", "{name}");
    }
    for (name, password) in [("ADMIN", "correct horse"), ("jÜrgen", "is long enough")] {
        assert!(world.auth.login(name, password, ip(HERE)).await.is_ok(), "{name}");
    }
    for name in ["a\u{200b}dmin", "adm\u{202e}nim"] {
        assert_eq!(
            fields(world.ops.create_user(&admin(), &draft(name)).await),
            ["name"]
        );
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_has_logged_in_is_not_kept_out_by_others() {
    let world = World::new(Tier::Free).await;
    let auth = &world.auth;
    let actor = auth.login("admin", "correct horse", ip(HERE)).await.unwrap();
    let ActorKind::User(id) = actor.kind else { panic!() };
    let mark = auth.device_mark(id).await.unwrap().unwrap();
    // Somebody at the same address has used up its tries.
    while !matches!(
        auth.login("admin", "wrong", ip(HERE)).await,
        Err(LoginError::TooMany { .. })
    ) {}
    let forged = format!("{}0", &mark[..mark.len() - 1]);
    for wrong in ["", "x", &forged, &mark[..40]] {
        let limited = auth
            .login_with_mark("admin", "correct horse", ip(HERE), Some(wrong))
            .await;
        let same = *wrong == mark;
        assert!(
            same || matches!(limited, Err(LoginError::TooMany { .. })),
            "{wrong}"
        );
    }
    let owner = |password| auth.login_with_mark("admin", password, ip(HERE), Some(&mark));
    assert!(owner("correct horse").await.is_ok());
    // The mark opens nothing, and is counted itself.
    for _ in 0..5 {
        assert!(matches!(owner("wrong").await, Err(LoginError::Refused)));
    }
    assert!(matches!(
        owner("correct horse").await,
        Err(LoginError::TooMany { .. })
    ));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_not_used_before_it_is_made() {
    let world = World::new(Tier::Free).await;
    // Into the middle of a minute, to which uses are noted.
    world.clock.advance(45);
    let draft = TokenDraft {
        name: Some("ci".to_owned()),
        permissions: Some(vec!["pools:read".to_owned()]),
        ..TokenDraft::default()
    };
    let made = world.ops.create_token(&admin(), &draft).await.unwrap().value;
    world
        .auth
        .actor_of_token(&made.secret, None)
        .await
        .unwrap()
        .unwrap();
    let list = world
        .ops
        .list_tokens(&admin(), &ListQuery::default())
        .await
        .unwrap();
    let token = &list.items[0].value;
    assert!(token.last_used_at >= Some(token.created_at), "{token:?}");
    world.stop().await;
}
