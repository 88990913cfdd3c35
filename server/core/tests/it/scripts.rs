//! Scripts in chains: who may write them, and that they compile before they are stored.

use crate::support::{World, admin, chain, fields, forbidden, role, service};
use gslb_core::OpError;
use gslb_engine::model::{Permission, Role, Tier};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_script_is_compiled_before_it_is_stored() {
    let world = World::new(Tier::Enterprise).await;
    let pool = world.pool("web").await;
    let plain = service("www", "www.example.com", &pool);
    let bad = chain(plain.clone(), &["geo-ip", "script:bad"]);
    let Err(OpError::Invalid(errors)) = world.ops.create_service(&admin(), &bad).await else {
        panic!("stored");
    };
    assert_eq!(errors[0].field, "filterChain[1]");
    assert_eq!(errors[0].message, "line 2, column 3: nobody knows this");
    let good = chain(plain, &["script:good"]);
    let id = world.ops.create_service(&admin(), &good).await.unwrap().value.id;
    let patch = json!({"filterChain": ["script:good", "script:worse"]});
    assert_eq!(
        fields(world.ops.patch_service(&admin(), id, None, &patch).await),
        ["filterChain[1]"]
    );
    assert!(
        !world.snapshot.load().service(id).unwrap().has_slow_script(),
        "it compiled in the snapshot"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_a_stored_script_may_stay_but_no_other_come() {
    let world = World::new(Tier::Enterprise).await;
    let pool = world.pool("web").await;
    let draft = chain(service("www", "www.example.com", &pool), &["script:good"]);
    let id = world.ops.create_service(&admin(), &draft).await.unwrap().value.id;
    let operator = role(Role::Operator);
    world
        .ops
        .patch_service(&operator, id, None, &json!({"ttl": 7}))
        .await
        .unwrap();
    let around = json!({"filterChain": ["geo-ip", "script:good"]});
    world
        .ops
        .patch_service(&operator, id, None, &around)
        .await
        .unwrap();
    // What is tried and not stored follows the same rule.
    let tried = async |service, steps: &[&str]| {
        let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
        world.ops.gate_texts(&operator, &steps, None, service).await
    };
    tried(Some(id), &["geo-ip", "script:good", "random"])
        .await
        .unwrap();
    for (service, steps) in [
        (Some(id), ["script:good", "script:other"]),
        (None, ["script:good", "random"]),
    ] {
        assert_eq!(forbidden(tried(service, &steps).await), Permission::ScriptsWrite);
    }
    for chain in [json!(["script:bad"]), json!(["script:good", "script:other"])] {
        let patch = json!({ "filterChain": chain });
        assert_eq!(
            forbidden(world.ops.patch_service(&operator, id, None, &patch).await),
            Permission::ScriptsWrite
        );
    }
    world
        .ops
        .patch_service(&operator, id, None, &json!({"filterChain": []}))
        .await
        .unwrap();
    let back = json!({"filterChain": ["script:good"]});
    assert_eq!(
        forbidden(world.ops.patch_service(&operator, id, None, &back).await),
        Permission::ScriptsWrite,
        "what was removed is no longer stored"
    );
    world.stop().await;
}
