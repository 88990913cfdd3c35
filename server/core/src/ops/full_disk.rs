//! A disk that is full: a write is refused as such and leaves nothing behind, reading goes on, and with room again
//! everything does.

use crate::Core;
use crate::clock::Clock;
use crate::config::Sources;
use crate::error::{Chain, OpError};
use crate::store::AuditFilter;
use gslb_api_types::{ListQuery, TokenDraft};
use gslb_engine::model::{Actor, MemberDraft, PoolDraft};
use gslb_engine::script::NoScripts;
use std::sync::Arc;

fn pool(number: u32) -> PoolDraft {
    let member = |n: u32| MemberDraft {
        ip_address: Some(format!("192.0.2.{n}")),
        port: Some(80),
        ..MemberDraft::default()
    };
    PoolDraft {
        name: Some(format!("pool-{number}")),
        members: Some((1..100).map(member).collect()),
        ..PoolDraft::default()
    }
}

async fn counts(core: &Core) -> (u64, u64, usize) {
    let actor = Actor::system();
    let query = ListQuery::default();
    let pools = core.ops.list_pools(&actor, &query).await.unwrap().total;
    let audit = core
        .ops
        .list_audit(&actor, &AuditFilter::default())
        .await
        .unwrap()
        .total;
    (pools, audit, core.snapshot.load().pools().count())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_half_done() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Sources {
        host: "test".to_owned(),
        ..Sources::default()
    }
    .with("database.path", folder.path().join("gslbd.db").display(), "test")
    .with("admin.password", "correct horse", "test")
    .load()
    .unwrap();
    let core = Core::start(settings, Clock::system(), Arc::new(NoScripts))
        .await
        .unwrap();
    let actor = Actor::system();
    let draft = TokenDraft {
        name: Some("reader".to_owned()),
        permissions: Some(vec!["pools:read".to_owned()]),
        ..TokenDraft::default()
    };
    let token = core.ops.create_token(&actor, &draft).await.unwrap().value.secret;

    core.store.leave_pages(Some(20)).await;
    let mut made = 0;
    let refused = loop {
        match core.ops.create_pool(&actor, &pool(made)).await {
            Ok(_) => made += 1,
            Err(error) => break error,
        }
        assert!(made < 1000, "the limit of pages has no effect");
    };
    let OpError::DiskFull(cause) = &refused else {
        panic!("{refused:?}")
    };
    let text = Chain(cause.as_ref()).to_string();
    assert!(text.starts_with("database: ") && text.contains("full"), "{text}");
    let kept = counts(&core).await;
    assert_eq!((kept.0, kept.2), (u64::from(made), made as usize));
    for _ in 0..3 {
        let again = core.ops.create_pool(&actor, &pool(made)).await;
        assert!(matches!(again, Err(OpError::DiskFull(_))), "{again:?}");
    }
    assert_eq!(counts(&core).await, kept);
    // Reading goes on, also with a token whose use could not be noted, and an account can be looked up.
    assert!(core.auth.actor_of_token(&token, None).await.unwrap().is_some());

    core.store.leave_pages(None).await;
    core.ops.create_pool(&actor, &pool(made)).await.unwrap();
    let after = counts(&core).await;
    assert_eq!(after, (kept.0 + 1, kept.1 + 1, kept.2 + 1));
    core.stop().await;
}
