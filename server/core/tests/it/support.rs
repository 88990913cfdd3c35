//! A core on a database of its own.

use gslb_core::clock::Clock;
use gslb_core::config::{Settings, Sources};
use gslb_core::license::{self, Payload, PrivateKey};
use gslb_core::{Core, OpError};
use gslb_engine::model::{
    Actor, ActorKind, MemberDraft, Permission, Pool, PoolDraft, Role, ServiceDraft, TenantId, Tier, UserId,
};
use gslb_engine::testing::{FakeScript, FakeScripts};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tempfile::TempDir;
use time::OffsetDateTime;
use uuid::Uuid;

/// 2027-01-15, the time at which every test begins.
pub const BEGIN: i64 = 1_800_000_000;

/// A clock that tests set.
#[derive(Debug, Clone)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(BEGIN)))
    }

    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    pub fn clock(&self) -> Clock {
        let this = self.clone();
        Clock::from_fn(move || OffsetDateTime::from_unix_timestamp(this.0.load(Ordering::SeqCst)).unwrap())
    }
}

/// A licence for `days` from the begin of the test.
pub fn licence(key: &PrivateKey, tier: Tier, days: u64) -> String {
    let iat = u64::try_from(BEGIN).unwrap();
    let payload = Payload {
        tier,
        iat,
        exp: iat + days * 86_400,
        id: "test".to_owned(),
        customer: "Example".to_owned(),
        max_rps: None,
    };
    license::issue(key, &payload)
}

/// `good` compiles, to a script that keeps everybody; nothing else does.
fn scripts() -> Arc<FakeScripts> {
    let keeping = FakeScript::new(|input, order| {
        order.extend((0..input.candidates.len()).filter_map(|position| u16::try_from(position).ok()));
        Ok(())
    });
    Arc::new(FakeScripts::new().with("good", keeping))
}

pub struct World {
    pub core: Core,
    pub clock: TestClock,
    pub key: PrivateKey,
    pub folder: TempDir,
}

impl std::ops::Deref for World {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}

impl World {
    pub fn sources(folder: &TempDir, key: &PrivateKey, tier: Tier) -> Sources {
        let sources = Sources {
            host: "test".to_owned(),
            ..Sources::default()
        }
        .with(
            "database.path",
            folder.path().join("db/gslbd.db").display(),
            "test",
        )
        .with("license.publicKeys", key.public().to_text(), "test")
        .with("admin.password", "correct horse", "test");
        match tier {
            Tier::Free => sources,
            tier => sources.with("license.key", licence(key, tier, 30), "test"),
        }
    }

    pub async fn start(folder: TempDir, key: PrivateKey, settings: Settings) -> Self {
        let clock = TestClock::new();
        let core = Core::start(settings, clock.clock(), scripts()).await.unwrap();
        Self {
            core,
            clock,
            key,
            folder,
        }
    }

    pub async fn with(tier: Tier, more: impl FnOnce(Sources) -> Sources) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = license::keygen().unwrap();
        let settings = more(Self::sources(&folder, &key, tier)).load().unwrap();
        Self::start(folder, key, settings).await
    }

    pub async fn new(tier: Tier) -> Self {
        Self::with(tier, |sources| sources).await
    }

    /// Stops and starts again on the same files.
    pub async fn restart(self, tier: Tier) -> Self {
        let Self {
            core, key, folder, ..
        } = self;
        core.stop().await;
        let settings = Self::sources(&folder, &key, tier).load().unwrap();
        Self::start(folder, key, settings).await
    }

    pub async fn pool(&self, name: &str) -> Pool {
        self.core
            .ops
            .create_pool(&Actor::system(), &pool(name))
            .await
            .unwrap()
            .value
    }
}

pub fn admin() -> Actor {
    Actor::system()
}

/// An actor with these rights in the default tenant.
pub fn actor(permissions: &[Permission]) -> Actor {
    Actor {
        kind: ActorKind::User(UserId(Uuid::now_v7())),
        name: "somebody".to_owned(),
        tenant_id: TenantId::DEFAULT,
        permissions: permissions.to_vec(),
        from: Some("192.0.2.9".parse().unwrap()),
    }
}

pub fn role(role: Role) -> Actor {
    actor(&role.permissions())
}

pub fn member(ip: &str) -> MemberDraft {
    MemberDraft {
        ip_address: Some(ip.to_owned()),
        port: Some(80),
        ..MemberDraft::default()
    }
}

pub fn pool(name: &str) -> PoolDraft {
    PoolDraft {
        name: Some(name.to_owned()),
        members: Some(vec![member("192.0.2.1"), member("192.0.2.2")]),
        ..PoolDraft::default()
    }
}

pub fn service(name: &str, domain: &str, pool: &Pool) -> ServiceDraft {
    ServiceDraft {
        name: Some(name.to_owned()),
        domain: Some(domain.to_owned()),
        pool_id: Some(pool.id.to_string()),
        ..ServiceDraft::default()
    }
}

pub fn chain(draft: ServiceDraft, steps: &[&str]) -> ServiceDraft {
    ServiceDraft {
        filter_chain: Some(steps.iter().map(|s| (*s).to_owned()).collect()),
        ..draft
    }
}

/// The fields that a request was refused for.
#[track_caller]
pub fn fields<T: std::fmt::Debug>(result: Result<T, OpError>) -> Vec<String> {
    match result {
        Err(OpError::Invalid(errors)) => errors.into_iter().map(|e| e.field).collect(),
        other => panic!("not refused as invalid: {other:?}"),
    }
}

#[track_caller]
pub fn conflict<T: std::fmt::Debug>(result: Result<T, OpError>) -> (String, String) {
    match result {
        Err(OpError::Conflict(mut list)) => {
            let first = list.remove(0);
            (first.field, first.message)
        }
        other => panic!("no conflict: {other:?}"),
    }
}

#[track_caller]
pub fn forbidden<T: std::fmt::Debug>(result: Result<T, OpError>) -> Permission {
    match result {
        Err(OpError::Forbidden(permission)) => permission,
        other => panic!("not forbidden: {other:?}"),
    }
}
