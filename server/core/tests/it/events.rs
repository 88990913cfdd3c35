//! The stream of events and the history that outlives a restart.

use crate::support::{World, admin, pool};
use gslb_api_types::{Event, EventKind, HealthState};
use gslb_engine::model::{Pool, TenantId, Tier};
use std::time::Duration;
use uuid::Uuid;

fn transition(pool: &Pool, to: HealthState) -> EventKind {
    EventKind::Health {
        pool_id: pool.id,
        pool: pool.name.clone(),
        member_id: pool.members[0].id,
        address: "192.0.2.1".to_owned(),
        from: HealthState::Unknown,
        to,
        reason: "connection refused".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_comes_back_gets_what_it_missed() {
    let world = World::new(Tier::Free).await;
    let web = world.pool("web").await;
    let mut live = world.events.subscribe();
    let ids: Vec<u64> = [HealthState::Down, HealthState::Up, HealthState::Down]
        .map(|state| {
            world
                .events
                .publish(TenantId::DEFAULT, transition(&web, state))
                .id
        })
        .to_vec();
    world
        .events
        .publish(TenantId(Uuid::now_v7()), transition(&web, HealthState::Up));
    assert!(ids.is_sorted() && ids[0] < 1 << 53);
    let missed: Vec<u64> = world
        .events
        .since(ids[0], TenantId::DEFAULT)
        .iter()
        .map(|e| e.id)
        .collect();
    assert_eq!(missed, ids[1..]);
    assert_eq!(live.recv().await.unwrap().id, ids[0]);
    let latest = world.events.latest(TenantId::DEFAULT, 2);
    assert_eq!(latest.iter().map(|e| e.id).collect::<Vec<_>>(), [ids[2], ids[1]]);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn transitions_outlive_a_restart_and_ids_never_go_back() {
    let world = World::new(Tier::Free).await;
    let web = world.pool("web").await;
    let other = world
        .ops
        .create_pool(&admin(), &pool("other"))
        .await
        .unwrap()
        .value;
    let mut last = 0;
    for _ in 0..3 {
        world
            .events
            .publish(TenantId::DEFAULT, transition(&other, HealthState::Up));
        last = world
            .events
            .publish(TenantId::DEFAULT, transition(&web, HealthState::Down))
            .id;
    }
    // Right into the stop: what was published is written all the same.
    let world = world.restart(Tier::Free).await;
    let history: Vec<Event> = world.ops.history(&admin(), Some(web.id), 10).await.unwrap();
    assert_eq!(history.len(), 3);
    assert_eq!(history[0].id, last);
    assert_eq!(world.ops.history(&admin(), None, 100).await.unwrap().len(), 6);
    assert!(
        world
            .events
            .publish(TenantId::DEFAULT, transition(&web, HealthState::Up))
            .id
            > last
    );
    assert_eq!(world.events.since(last, TenantId::DEFAULT).len(), 1);
    let wait = async {
        while world.ops.history(&admin(), Some(web.id), 10).await.unwrap().len() < 4 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap();
    world.stop().await;
}
