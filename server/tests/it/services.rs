//! Pools, members and services over REST, and what DNS makes of them.

use crate::harness::TestDaemon;
use hickory_proto::op::ResponseCode;
use http::{Method, StatusCode};
use serde_json::{Value, json};

fn members() -> Value {
    json!([
        {"ipAddress": "192.0.2.1", "port": 80, "region": "US"},
        {"ipAddress": "192.0.2.2", "port": 80, "region": "DE"},
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_on_the_wire_when_the_call_that_makes_it_returns() {
    let d = TestDaemon::plain().await;
    let pool = d.pool("web", members(), Value::Null).await;
    assert_eq!(d.dig("www.example.com.", None).await.0, ResponseCode::NXDomain);
    let id = d
        .service(json!({"name": "www", "domain": "WWW.example.com", "poolId": pool, "algorithm": "wrr"}))
        .await;
    let (code, addresses) = d.dig("www.example.com.", None).await;
    assert_eq!((code, addresses.len()), (ResponseCode::NoError, 1));
    let read = d.get(&format!("/services/{id}")).await.json();
    assert_eq!(read["domain"], "www.example.com.");
    assert_eq!(read["algorithm"], "weighted-round-robin");
    assert!(read.get("filterChain").is_none());
    let gone = d
        .call(Method::DELETE, &format!("/services/{id}"), Value::Null)
        .await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    assert_eq!(d.dig("www.example.com.", None).await.0, ResponseCode::NXDomain);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_problem_is_told_at_once_by_field() {
    let d = TestDaemon::enterprise("").await;
    let bad = d
        .post(
            "/services",
            json!({"name": "", "domain": "a..b", "poolId": "nonsense", "filterChain": ["geo-ip", "Sticky", "script:x"], "ttl": -1}),
        )
        .await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    let fields = bad.fields();
    for field in [
        "name",
        "domain",
        "poolId",
        "filterChain[1]",
        "filterChain[2]",
        "ttl",
    ] {
        assert!(
            fields.iter().any(|f| f == field),
            "{field} is missing in {fields:?}"
        );
    }
    let bad = d
        .post(
            "/pools",
            json!({"name": "p", "members": [
                {"ipAddress": "300.1.1.1", "port": 80},
                {"ipAddress": "192.0.2.1", "port": 0, "region": "x".repeat(65), "weight": -1},
                {"ipAddress": "192.0.2.9", "port": 80, "region": ""},
            ]}),
        )
        .await;
    let fields = bad.fields();
    for field in [
        "members[0].ipAddress",
        "members[1].port",
        "members[1].region",
        "members[1].weight",
        "members[2].region",
    ] {
        assert!(
            fields.iter().any(|f| f == field),
            "{field} is missing in {fields:?}"
        );
    }
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_and_names_at_their_limits() {
    let d = TestDaemon::plain().await;
    for weight in ["-1", "2147483648", "0.5", "1e300", "\"NaN\""] {
        let body = format!(
            r#"{{"name": "p", "members": [{{"ipAddress": "192.0.2.1", "port": 80, "weight": {weight}}}]}}"#
        );
        let bad = d.call_text(Method::POST, "/pools", &body).await;
        assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY, "{weight}");
        assert_eq!(bad.fields(), ["members[0].weight"], "{weight}");
    }
    let no_json = r#"{"name": "p", "members": [{"ipAddress": "192.0.2.1", "port": 80, "weight": NaN}]}"#;
    let bad = d.call_text(Method::POST, "/pools", no_json).await;
    assert_eq!(bad.status, StatusCode::BAD_REQUEST);
    let members = json!([
        {"ipAddress": "192.0.2.1", "port": 80, "weight": 0},
        {"ipAddress": "192.0.2.2", "port": 80, "weight": 2_147_483_647},
    ]);
    let pool = d.pool("web", members, Value::Null).await;

    let long_label = format!("{}.example.com", "a".repeat(64));
    let label = |c: &str, n| c.repeat(n);
    let long_name = [label("a", 63), label("b", 63), label("c", 63), label("d", 62)].join(".");
    assert_eq!(long_name.len(), 254);
    for domain in [long_label, long_name] {
        let body = json!({"name": "www", "domain": domain, "poolId": pool});
        let bad = d.post("/services", body).await;
        assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY, "{domain}");
        assert_eq!(bad.fields(), ["domain"], "{domain}");
    }
    for ttl in [-1, 2_147_483_648_i64] {
        let body = json!({"name": "www", "domain": "www.example.com", "poolId": pool, "ttl": ttl});
        let bad = d.post("/services", body).await;
        assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY, "{ttl}");
        assert_eq!(bad.fields(), ["ttl"], "{ttl}");
    }
    for (name, ttl) in [("none", 0), ("longest", 2_147_483_647)] {
        let domain = format!("{name}.example.com");
        let body = json!({"name": name, "domain": domain, "poolId": pool, "ttl": ttl, "algorithm": "wrr"});
        let id = d.service(body).await;
        assert_eq!(d.get(&format!("/services/{id}")).await.json()["ttl"], ttl);
        let (code, addresses) = d.dig(&format!("{domain}."), None).await;
        assert_eq!(
            (code, addresses),
            (ResponseCode::NoError, vec!["192.0.2.2".parse().unwrap()])
        );
    }
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_needs_pro_and_nothing_is_stored_without() {
    let d = TestDaemon::plain().await;
    let pool = d.pool("web", members(), Value::Null).await;
    let body = json!({"name": "www", "domain": "www.example.com", "poolId": pool, "filterChain": ["geo-ip"]});
    let refused = d.post("/services", body).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "license_required");
    assert_eq!(error["tier"], "pro");
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|m| m.contains("licensing@gslb.nexus"))
    );
    assert_eq!(d.get("/services").await.json()["total"], 0);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chain_and_algorithm_exclude_each_other() {
    let d = TestDaemon::enterprise("").await;
    let pool = d.pool("web", members(), Value::Null).await;
    let chain = json!(["geo-ip", "weighted-round-robin"]);
    let body = json!({"name": "www", "domain": "www.example.com", "poolId": pool, "algorithm": "failover", "filterChain": chain});
    let id = d.service(body).await;
    let path = format!("/services/{id}");
    let read = d.get(&path).await.json();
    assert_eq!((&read["algorithm"], &read["filterChain"]), (&json!(""), &chain));
    let refused = d.call(Method::PATCH, &path, json!({"algorithm": "random"})).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text().contains("filterChain: []"), "{}", refused.text());
    let patched = d
        .call(
            Method::PATCH,
            &path,
            json!({"algorithm": "random", "filterChain": []}),
        )
        .await;
    assert_eq!(patched.json()["algorithm"], "random");
    let patched = d.call(Method::PATCH, &path, json!({"ttl": 7})).await.json();
    assert_eq!(
        (&patched["algorithm"], &patched["ttl"]),
        (&json!("random"), &json!(7))
    );
    let read = d
        .call(
            Method::PUT,
            &path,
            json!({"name": "www", "domain": "www.example.com", "poolId": pool}),
        )
        .await;
    assert_eq!(read.json()["algorithm"], "round-robin");
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_revision_is_refused_and_changes_nothing() {
    let d = TestDaemon::plain().await;
    let pool = d.pool("web", members(), Value::Null).await;
    let read = d.get(&format!("/pools/{pool}")).await;
    let tag = read.headers["etag"].to_str().unwrap().to_owned();
    let path = format!("/pools/{pool}");
    let first = d
        .call_with(
            Method::PATCH,
            &path,
            &[("if-match", &tag)],
            json!({"minHealthy": 1}),
        )
        .await;
    assert_eq!(first.status, StatusCode::OK);
    let second = d
        .call_with(
            Method::PATCH,
            &path,
            &[("if-match", &tag)],
            json!({"minHealthy": 2}),
        )
        .await;
    assert_eq!(second.status, StatusCode::PRECONDITION_FAILED);
    assert_eq!(second.headers["etag"], first.headers["etag"]);
    assert_eq!(d.get(&path).await.json()["minHealthy"], 1);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_in_use_is_kept() {
    let d = TestDaemon::plain().await;
    let pool = d.pool("web", members(), Value::Null).await;
    d.service(json!({"name": "www", "domain": "www.example.com", "poolId": pool}))
        .await;
    let refused = d
        .call(
            Method::DELETE,
            &format!("/pools/{pool}?cascade=true"),
            Value::Null,
        )
        .await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    let taken = d
        .post(
            "/services",
            json!({"name": "again", "domain": "www.example.com.", "poolId": pool}),
        )
        .await;
    assert_eq!(taken.status, StatusCode::CONFLICT);
    assert_eq!(taken.fields(), ["domain"]);
    let unknown = "01890000-0000-7000-8000-000000000000";
    let missing = d
        .post(
            "/services",
            json!({"name": "x", "domain": "x.example.com", "poolId": unknown}),
        )
        .await;
    assert_eq!(missing.fields(), ["poolId"]);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_paged_searched_and_never_null() {
    let d = TestDaemon::plain().await;
    assert_eq!(d.get("/services").await.json()["items"], json!([]));
    let pool = d.pool("web", members(), Value::Null).await;
    for n in 0..5 {
        d.service(json!({"name": format!("s{n}"), "domain": format!("s{n}.example.com"), "poolId": pool}))
            .await;
    }
    let mut names = Vec::new();
    let mut path = "/services?limit=2".to_owned();
    loop {
        let page = d.get(&path).await.json();
        assert_eq!(page["total"], 5);
        names.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|s| s["name"].as_str().unwrap().to_owned()),
        );
        match page["nextCursor"].as_str() {
            Some(cursor) => path = format!("/services?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(names, ["s0", "s1", "s2", "s3", "s4"]);
    let found = d.get("/services?search=S3.EX").await.json();
    assert_eq!(found["total"], 1);
    assert_eq!(
        d.get("/services?sort=nonsense").await.status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_answers_from_what_was_stored() {
    let d = TestDaemon::plain().await;
    let pool = d
        .pool(
            "web",
            json!([{"ipAddress": "192.0.2.7", "port": 80}]),
            Value::Null,
        )
        .await;
    d.service(json!({"name": "www", "domain": "*.apps.example.com", "poolId": pool}))
        .await;
    let folder = d.stop().await;
    let d = TestDaemon::in_folder(folder, "").await;
    let (_, addresses) = d.dig("any.apps.example.com.", None).await;
    assert_eq!(addresses, ["192.0.2.7".parse::<std::net::IpAddr>().unwrap()]);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_sent_again_with_its_key_makes_nothing_twice() {
    let d = TestDaemon::plain().await;
    let key = [("idempotency-key", "first-try")];
    let body = json!({"name": "p"});
    let first = d.call_with(Method::POST, "/pools", &key, body.clone()).await;
    assert_eq!(first.status, StatusCode::CREATED);
    let again = d.call_with(Method::POST, "/pools", &key, body).await;
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
    assert_eq!(again.headers["location"], first.headers["location"]);
    let other = d
        .call_with(Method::POST, "/pools", &key, json!({"name": "q"}))
        .await;
    assert_eq!(other.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(other.fields(), ["Idempotency-Key"]);
    assert_eq!(d.get("/pools").await.json()["total"], 1);
    d.stop().await;
}
