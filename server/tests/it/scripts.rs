//! Script steps, from the API to the wire, with real workers.

use crate::harness::{TestDaemon, eventually};
use hickory_proto::op::ResponseCode;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::net::IpAddr;

/// Runs until it is stopped.
const HOSTILE: &str = "script:n = 0\nfor i in range(1000000000):\n    n += 1\nresult = []";

fn members() -> Value {
    json!([
        {"ipAddress": "192.0.2.1", "port": 80, "region": "US"},
        {"ipAddress": "192.0.2.2", "port": 80, "region": "DE"},
    ])
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

async fn service(d: &TestDaemon, pool: &str, name: &str, chain: Value) -> String {
    let domain = format!("{name}.example.com");
    d.service(json!({"name": name, "domain": domain, "poolId": pool, "filterChain": chain}))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_decides_what_is_answered() {
    let d = TestDaemon::enterprise("").await;
    let pool = d.pool("web", members(), Value::Null).await;
    let quick = r#"script:wanted = "DE" if 1 < len(qname.split(".")[0]) < 9 else "US"
result = [c["ip"] for c in candidates if c["region"] == wanted]"#;
    service(&d, &pool, "quick", json!([quick])).await;
    assert_eq!(
        d.dig("quick.example.com.", None).await,
        (ResponseCode::NoError, vec![ip("192.0.2.2")])
    );
    // By way of a worker, which on a busy machine may miss its deadline now and then.
    let slow = "script:x = \"%s\" % now\nresult = [\"192.0.2.2\"]";
    service(&d, &pool, "slow", json!([slow])).await;
    eventually("the worker's answer", async || {
        let (code, addresses) = d.dig("slow.example.com.", None).await;
        assert_eq!((code, addresses.len()), (ResponseCode::NoError, 1));
        addresses == [ip("192.0.2.2")]
    })
    .await;
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_compile_is_refused_with_its_place() {
    let d = TestDaemon::enterprise("").await;
    let pool = d.pool("web", members(), Value::Null).await;
    let chain = json!(["geo-ip", "script:x = 1\nresult = [nosuch]"]);
    let body = json!({"name": "www", "domain": "www.example.com", "poolId": pool, "filterChain": chain});
    let refused = d.post("/services", body).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(refused.fields(), ["filterChain[1]"]);
    assert!(
        refused.text().contains("line 2, column 11: "),
        "{}",
        refused.text()
    );
    // Text that the compiler itself cannot stand costs a worker, and is refused like any other.
    let bomb = json!(["script:result = list(range(2147483647))"]);
    let body = json!({"name": "www", "domain": "www.example.com", "poolId": pool, "filterChain": bomb});
    assert_eq!(d.post("/services", body).await.fields(), ["filterChain[0]"]);
    service(
        &d,
        &pool,
        "www",
        json!(["script:result = [c[\"ip\"] for c in candidates]"]),
    )
    .await;
    let tried = d
        .post(
            "/trace",
            json!({"domain": "www.example.com", "client": "192.0.2.9", "chain": ["script:y"]}),
        )
        .await;
    assert_eq!(
        (tried.status, tried.fields()),
        (StatusCode::UNPROCESSABLE_ENTITY, vec!["chain[0]".to_owned()])
    );
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_script_fails_open_and_leaves_its_neighbours_alone() {
    let d = TestDaemon::enterprise("").await;
    let pool = d.pool("web", members(), Value::Null).await;
    service(&d, &pool, "hostile", json!([HOSTILE])).await;
    service(&d, &pool, "neighbour", json!(["failover"])).await;
    for _ in 0..20 {
        let (hostile, neighbour) = tokio::join!(
            d.dig("hostile.example.com.", None),
            d.dig("neighbour.example.com.", None)
        );
        assert_eq!(hostile, (ResponseCode::NoError, vec![ip("192.0.2.1")]));
        assert_eq!(neighbour, (ResponseCode::NoError, vec![ip("192.0.2.1")]));
    }
    let metrics = crate::harness::send(d.metrics, Method::GET, "/metrics", &[], "")
        .await
        .text();
    // At least one for each query: a client that has waited for long on a busy machine asks again.
    let name = "gslbd_dns_script_step_error_total{service=\"hostile\"} ";
    let counted = metrics.lines().find_map(|line| line.strip_prefix(name));
    let counted: u64 = counted.expect("it is counted").parse().unwrap();
    assert!(counted >= 20, "{metrics}");
    // Only what had to be stopped counts against it, and not what found no worker free.
    eventually("that it is switched off", async || {
        let query = json!({"domain": "hostile.example.com", "client": "192.0.2.9"});
        d.post("/trace", query).await.text().contains("switched off")
    })
    .await;
    d.stop().await;
}
