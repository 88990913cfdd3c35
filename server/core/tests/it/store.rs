//! The database itself: migrations, the log of changes, tables of this node.

use crate::support::{World, admin, pool};
use gslb_core::store::{
    Action, Audit, Change, Commit, ConfigLog, Document, SessionRecord, Store, StoreError,
};
use gslb_engine::model::{Actor, Pool, PoolId, TenantId, Tier};
use std::sync::Arc;
use time::OffsetDateTime;
use uuid::Uuid;

fn change(expected: Option<u64>, action: Action) -> Change {
    let audit = Audit {
        actor: Actor::system(),
        time: OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap(),
        action: "updated",
        before: None,
        after: None,
    };
    Change {
        tenant_id: TenantId::DEFAULT,
        expected,
        action,
        audit,
    }
}

fn stored(name: &str) -> Pool {
    Pool {
        id: PoolId(Uuid::now_v7()),
        tenant_id: TenantId::DEFAULT,
        name: name.to_owned(),
        min_healthy: 0,
        members: Vec::new(),
        health_check: None,
    }
}

#[tokio::test]
async fn migrations_run_once_and_the_file_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/gslbd.db");
    for _ in 0..2 {
        let store = Store::open(&path).await.unwrap();
        assert_eq!(store.revision().await.unwrap(), 0);
        store.close().await;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    std::fs::write(
        &path,
        "this is a text, and a long one: SQLite wants a header of sixteen bytes",
    )
    .unwrap();
    assert!(Store::open(&path).await.is_err());
}

#[tokio::test]
async fn a_change_is_applied_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("x.db")).await.unwrap();
    let log = ConfigLog::alone(store.clone());
    let pool = stored("web");
    let commit = Commit {
        revision: 7,
        change: Arc::new(change(None, Action::Put(Document::Pool(pool.clone())))),
    };
    assert!(log.apply(&commit).await.unwrap());
    assert!(!log.apply(&commit).await.unwrap());
    assert_eq!(store.revision().await.unwrap(), 7);
    assert_eq!(
        store
            .audit(TenantId::DEFAULT, &Default::default())
            .await
            .unwrap()
            .total,
        1
    );
    let next = log
        .commit(change(Some(7), Action::Delete(Document::Pool(pool))))
        .await
        .unwrap();
    assert_eq!(next.revision, 8);
}

#[tokio::test]
async fn an_unexpected_revision_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("x.db")).await.unwrap();
    let log = ConfigLog::alone(store.clone());
    let pool = stored("web");
    let put = |expected| change(expected, Action::Put(Document::Pool(pool.clone())));
    assert!(matches!(
        log.commit(put(Some(3))).await,
        Err(StoreError::Revision { current: None, .. })
    ));
    log.commit(put(None)).await.unwrap();
    assert!(matches!(
        log.commit(put(None)).await,
        Err(StoreError::Revision { current: Some(1), .. })
    ));
    let twin = change(None, Action::Put(Document::Pool(stored("web"))));
    assert!(matches!(log.commit(twin).await, Err(StoreError::Rule { .. })));
    assert_eq!(store.revision().await.unwrap(), 1);
    assert_eq!(
        store
            .audit(TenantId::DEFAULT, &Default::default())
            .await
            .unwrap()
            .total,
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_keys_hold_whatever_the_use_cases_check() {
    let world = World::new(Tier::Free).await;
    let web = world.pool("web").await;
    world
        .ops
        .create_service(&admin(), &crate::support::service("www", "www.example.com", &web))
        .await
        .unwrap();
    let log = ConfigLog::alone(world.store.clone());
    let row = world
        .store
        .get::<Pool>(TenantId::DEFAULT, web.id.0)
        .await
        .unwrap()
        .unwrap();
    let result = log
        .commit(change(Some(row.revision), Action::Delete(Document::Pool(web))))
        .await;
    assert!(matches!(result, Err(StoreError::Rule { .. })), "{result:?}");
    assert!(world.ops.create_pool(&admin(), &pool("other")).await.is_ok());
    world.stop().await;
}

#[tokio::test]
async fn sessions_are_kept_until_they_are_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("x.db")).await.unwrap();
    let session = |id: &str, expiry| SessionRecord {
        id: id.to_owned(),
        data: vec![1, 2],
        expiry,
        user_id: None,
        address: None,
        agent: None,
        created_at: 0,
        seen_at: 0,
    };
    assert!(store.create_session(&session("a", 100)).await.unwrap());
    assert!(!store.create_session(&session("a", 200)).await.unwrap());
    store.save_session(&session("a", 150)).await.unwrap();
    store.save_session(&session("b", 300)).await.unwrap();
    assert_eq!(
        store.load_session("a", 149).await.unwrap(),
        Some(session("a", 150))
    );
    assert_eq!(store.load_session("a", 150).await.unwrap(), None);
    assert_eq!(store.cleanup_sessions(150).await.unwrap(), 1);
    store.delete_session("b").await.unwrap();
    assert_eq!(store.load_session("b", 0).await.unwrap(), None);
}
