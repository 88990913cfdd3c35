//! What a service's routing needs: tier, permission, and either algorithm or chain.

use crate::support::{World, admin, chain, service};
use gslb_core::OpError;
use gslb_engine::model::{FilterName, Routing, ServiceDraft, Tier};
use serde_json::json;

#[track_caller]
fn tier_needed<T: std::fmt::Debug>(result: Result<T, OpError>) -> Tier {
    match result {
        Err(OpError::LicenseRequired { tier, message }) => {
            assert!(message.ends_with("sales@example.com"), "{message}");
            tier
        }
        other => panic!("no licence asked for: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn routing_above_the_tier_is_refused_and_nothing_stored() {
    let world = World::with(Tier::Free, |s| {
        s.with("license.contact", "sales@example.com", "test")
    })
    .await;
    let pool = world.pool("web").await;
    let plain = service("www", "www.example.com", &pool);
    let with = |steps: &[&str]| chain(plain.clone(), steps);
    assert_eq!(
        tier_needed(world.ops.create_service(&admin(), &with(&["round-robin"])).await),
        Tier::Pro
    );
    assert_eq!(
        tier_needed(world.ops.create_service(&admin(), &with(&["nonsense"])).await),
        Tier::Pro
    );
    assert_eq!(
        tier_needed(world.ops.create_service(&admin(), &with(&["script:x"])).await),
        Tier::Enterprise
    );
    let signal = ServiceDraft {
        algorithm: Some("signal-weight".to_owned()),
        ..plain.clone()
    };
    assert_eq!(
        tier_needed(world.ops.create_service(&admin(), &signal).await),
        Tier::Pro
    );
    let single = ServiceDraft {
        algorithm: Some("wrr".to_owned()),
        filter_chain: Some(Vec::new()),
        ..plain
    };
    let id = world
        .ops
        .create_service(&admin(), &single)
        .await
        .unwrap()
        .value
        .id;
    let patch = json!({"filterChain": ["geo-ip"]});
    assert_eq!(
        tier_needed(world.ops.patch_service(&admin(), id, None, &patch).await),
        Tier::Pro
    );
    let stored = world.ops.get_service(&admin(), id).await.unwrap().value;
    assert_eq!(stored.routing, Routing::Algorithm(FilterName::WeightedRoundRobin));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_chain_may_stay_or_go_at_any_tier() {
    let world = World::new(Tier::Pro).await;
    let pool = world.pool("web").await;
    let draft = chain(
        service("www", "www.example.com", &pool),
        &["geo-ip", "round-robin"],
    );
    let id = world.ops.create_service(&admin(), &draft).await.unwrap().value.id;
    let world = world.restart(Tier::Free).await;
    assert!(world.snapshot.load().service(id).unwrap().licence_fallback);
    let changed = ServiceDraft {
        ttl: Some(5),
        ..draft.clone()
    };
    assert_eq!(
        world
            .ops
            .replace_service(&admin(), id, None, &changed)
            .await
            .unwrap()
            .value
            .ttl,
        5
    );
    world
        .ops
        .patch_service(&admin(), id, None, &json!({"ttl": 6}))
        .await
        .unwrap();
    let longer = chain(draft, &["geo-ip", "asn", "round-robin"]);
    assert!(matches!(
        world.ops.replace_service(&admin(), id, None, &longer).await,
        Err(OpError::LicenseRequired { .. })
    ));
    let cleared = world
        .ops
        .patch_service(&admin(), id, None, &json!({"filterChain": []}))
        .await
        .unwrap();
    assert_eq!(cleared.value.routing, Routing::Algorithm(FilterName::RoundRobin));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn algorithm_and_chain_exclude_each_other() {
    let world = World::new(Tier::Pro).await;
    let pool = world.pool("web").await;
    let draft = ServiceDraft {
        algorithm: Some("random".to_owned()),
        ..service("www", "www.example.com", &pool)
    };
    let both = chain(draft, &["geo-ip", "failover"]);
    let service = world.ops.create_service(&admin(), &both).await.unwrap().value;
    assert_eq!(serde_json::to_value(&service).unwrap()["algorithm"], "");
    let id = service.id;
    match world
        .ops
        .patch_service(&admin(), id, None, &json!({"algorithm": "random"}))
        .await
    {
        Err(OpError::Invalid(errors)) => {
            assert_eq!(errors[0].field, "algorithm");
            assert!(
                errors[0].message.contains("filterChain: []"),
                "{}",
                errors[0].message
            );
        }
        other => panic!("{other:?}"),
    }
    // An empty algorithm says nothing, and is what such a service is returned with.
    for patch in [json!({"algorithm": "", "ttl": 9}), json!({"algorithm": null})] {
        let kept = world.ops.patch_service(&admin(), id, None, &patch).await.unwrap();
        assert_eq!(kept.value.routing, service.routing);
    }
    let patch = json!({"algorithm": "random", "filterChain": []});
    let single = world
        .ops
        .patch_service(&admin(), id, None, &patch)
        .await
        .unwrap()
        .value;
    assert_eq!(single.routing, Routing::Algorithm(FilterName::Random));
    let kept = world
        .ops
        .patch_service(&admin(), id, None, &json!({"filterChain": null}))
        .await
        .unwrap()
        .value;
    assert_eq!(kept.routing, Routing::Algorithm(FilterName::Random));
    let chained = world
        .ops
        .patch_service(&admin(), id, None, &json!({"filterChain": ["sticky"]}))
        .await
        .unwrap()
        .value;
    assert!(matches!(chained.routing, Routing::Chain(_)));
    let default = world
        .ops
        .patch_service(&admin(), id, None, &json!({"filterChain": null}))
        .await
        .unwrap()
        .value;
    assert_eq!(default.routing, Routing::Algorithm(FilterName::RoundRobin));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configured_algorithm_is_the_default() {
    let world = World::with(Tier::Free, |s| {
        s.with("loadBalancer.algorithm", "latency", "test")
    })
    .await;
    let pool = world.pool("web").await;
    let draft = ServiceDraft {
        algorithm: Some(String::new()),
        ..service("www", "www.example.com", &pool)
    };
    let service = world.ops.create_service(&admin(), &draft).await.unwrap().value;
    assert_eq!(service.routing, Routing::Algorithm(FilterName::Latency));
    world.stop().await;
}
