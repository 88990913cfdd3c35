//! What clients of the API may rely on: every problem at once, what was read can be sent back, what changes nothing
//! leaves no trace, lists come in pages.

use crate::harness::{Answer, TestDaemon, eventually};
use http::{Method, StatusCode};
use serde_json::{Value, json};

async fn pool_with_check(d: &TestDaemon) -> String {
    let members = json!([
        {"ipAddress": "192.0.2.1", "port": 80, "region": "US"},
        {"ipAddress": "192.0.2.2", "port": 80, "region": "DE", "asn": 64500, "zone": "eu-west",
         "geo": {"country": ["DE"], "lat": 52.52, "lon": 13.405}, "loadWatermarks": {"low": 0.7, "high": 0.95}},
        {"ipAddress": "2001:db8::3", "port": 80},
    ]);
    let check = json!({"type": "https", "path": "/up", "intervalMs": 60000, "headers": [["Accept", "*/*"]]});
    d.pool("web", members, check).await
}

fn field<'a>(answer: &'a Value, name: &str) -> &'a str {
    let details = answer["error"]["details"].as_array().unwrap();
    let detail = details.iter().find(|d| d["field"] == name);
    detail.unwrap_or_else(|| panic!("{name} in {details:?}"))["message"]
        .as_str()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_types_unknown_fields_and_wrong_values_are_told_together() {
    let d = TestDaemon::enterprise("").await;
    let pool = pool_with_check(&d).await;
    d.service(json!({"name": "www", "domain": "www.example.com", "poolId": pool}))
        .await;
    let body = json!({
        "name": "www", "domain": "www.example.com", "poolId": "0198c5a0-0000-7000-8000-000000000000",
        "ttl": "soon", "enabled": 1, "nmae": "x", "maxAnswers": 1000, "filterChain": ["geo-ip", "nonsense"],
        "algorithm": "nonsense", "fallback": ["0.0.0.0"],
    });
    let bad = d.post("/services", body).await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    let answer = bad.json();
    for name in [
        "name",
        "domain",
        "poolId",
        "ttl",
        "enabled",
        "nmae",
        "maxAnswers",
        "filterChain[1]",
        "algorithm",
        "fallback[0]",
    ] {
        field(&answer, name);
    }
    assert_eq!(
        field(&answer, "ttl"),
        "must be a whole number, not the text `soon`"
    );
    for word in ["i64", "u32", "struct ", "expected ", "invalid type"] {
        assert!(!bad.text().contains(word), "{}", bad.text());
    }
    let body = json!({"members": [{"ipAddress": 7, "prot": 80}], "minHealthy": -1});
    let answer = d.post("/pools", body).await.json();
    for name in [
        "name",
        "members[0].ipAddress",
        "members[0].prot",
        "members[0].port",
        "minHealthy",
    ] {
        field(&answer, name);
    }
    let patched = d
        .call(
            Method::PATCH,
            &format!("/pools/{pool}"),
            json!({"name": "", "minHealthy": "x"}),
        )
        .await;
    assert_eq!(patched.fields().len(), 2, "{}", patched.text());
    for body in [json!([]), json!("x"), json!(null)] {
        let answer = d.call_text(Method::POST, "/services", &body.to_string()).await;
        assert_eq!(
            answer.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{}",
            answer.text()
        );
    }
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_collision_is_told_together() {
    let d = TestDaemon::plain().await;
    let pool = pool_with_check(&d).await;
    let body = json!({"name": "www", "domain": "www.example.com", "poolId": pool});
    d.service(body.clone()).await;
    let refused = d.post("/services", body).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert_eq!(refused.fields(), ["name", "domain"]);
    d.stop().await;
}

/// Reads, sends back what was read, and says that nothing has changed.
async fn put_back(d: &TestDaemon, path: &str) {
    let audit = |answer: Answer| answer.json()["total"].as_u64().unwrap();
    let rows = audit(d.get("/audit").await);
    let read = d.get(path).await;
    assert_eq!(read.status, StatusCode::OK, "{path}");
    let tag = read.headers["etag"].to_str().unwrap().to_owned();
    let written = d
        .call_with(Method::PUT, path, &[("if-match", &tag)], read.json())
        .await;
    assert_eq!(written.status, StatusCode::OK, "{path}: {}", written.text());
    assert_eq!(written.headers["etag"], tag.as_str(), "{path} has a new revision");
    let again = d.get(path).await;
    assert_eq!(again.json(), read.json(), "{path}");
    assert_eq!(again.headers["etag"], tag.as_str());
    assert_eq!(audit(d.get("/audit").await), rows, "{path} left an audit row");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_can_be_sent_back_and_changes_nothing() {
    let d = TestDaemon::enterprise("").await;
    let pool = pool_with_check(&d).await;
    let www = d
        .service(
            json!({"name": "www", "domain": "www.example.com", "poolId": pool, "fallback": ["192.0.2.99"]}),
        )
        .await;
    let chain = json!(["geo-ip", "weighted-round-robin"]);
    let api = d
        .service(json!({"name": "api", "domain": "*.api.example.com", "poolId": pool, "filterChain": chain, "fallback": "all"}))
        .await;
    let zone = d.get("/zones").await.json()["items"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let member = d.get(&format!("/pools/{pool}/members")).await.json()["items"][1]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let serial = d.get(&format!("/zones/{zone}")).await.json()["serial"].clone();
    for path in [
        format!("/services/{www}"),
        format!("/services/{api}"),
        format!("/pools/{pool}"),
        format!("/pools/{pool}/healthcheck"),
        format!("/members/{member}"),
        format!("/zones/{zone}"),
    ] {
        put_back(&d, &path).await;
        let kept = d.call(Method::PATCH, &path, json!({})).await;
        if kept.status != StatusCode::METHOD_NOT_ALLOWED {
            assert_eq!(kept.status, StatusCode::OK, "{path}: {}", kept.text());
            put_back(&d, &path).await;
        }
    }
    // The whole set, as a page and as a list; the answer of a PUT has no pages.
    let path = format!("/pools/{pool}/members");
    let read = d.get(&path).await;
    for body in [read.json(), read.json()["items"].clone()] {
        let written = d.call(Method::PUT, &path, body).await;
        assert_eq!(written.status, StatusCode::OK, "{}", written.text());
        assert_eq!(written.headers["etag"], read.headers["etag"]);
        assert_eq!(written.json(), read.json()["items"]);
    }
    assert_eq!(d.get(&format!("/zones/{zone}")).await.json()["serial"], serial);
    // A change of a zone in the form of GET is one.
    let mut changed = d.get(&format!("/zones/{zone}")).await.json();
    changed["soa"]["minimum"] = json!(77);
    let written = d
        .call(Method::PUT, &format!("/zones/{zone}"), changed)
        .await
        .json();
    assert_eq!(written["soa"]["minimum"], 77);
    assert_eq!(written["serial"].as_u64(), serial.as_u64().map(|s| s + 1));
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_service_says_what_the_list_says() {
    let d = TestDaemon::plain().await;
    let pool = pool_with_check(&d).await;
    let id = d
        .service(json!({"name": "www", "domain": "www.example.com", "poolId": pool}))
        .await;
    let row = d.get("/services").await.json()["items"][0].clone();
    let one = d.get(&format!("/services/{id}")).await.json();
    assert_eq!(one, row);
    assert_eq!(
        (&one["licenseFallback"], &one["poolName"]),
        (&json!(false), &json!("web"))
    );
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_are_given_as_they_were_set_and_have_no_fields_without_effect() {
    let d = TestDaemon::plain().await;
    let pool = d
        .pool(
            "web",
            json!([{"ipAddress": "192.0.2.1", "port": 80}]),
            Value::Null,
        )
        .await;
    let path = format!("/pools/{pool}/healthcheck");
    assert_eq!(d.get(&path).await.status, StatusCode::NOT_FOUND);
    let refused = d
        .call(
            Method::PUT,
            &path,
            json!({"type": "tcp", "path": "/", "tls": true, "headers": []}),
        )
        .await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let mut fields = refused.fields();
    fields.sort();
    assert_eq!(fields, ["headers", "path", "tls"]);
    let set = d
        .call(
            Method::PUT,
            &path,
            json!({"type": "https", "contains": "ok", "intervalMs": 60000}),
        )
        .await;
    assert_eq!(set.status, StatusCode::OK, "{}", set.text());
    let check = d.get(&path).await.json();
    assert_eq!((&check["type"], &check["tls"]), (&json!("https"), &json!(true)));
    assert!(check.get("host").is_none(), "{check}");
    let patched = d
        .call(
            Method::PATCH,
            &format!("/pools/{pool}"),
            json!({"healthCheck": {"type": "tcp"}}),
        )
        .await;
    assert_eq!(patched.status, StatusCode::OK, "{}", patched.text());
    let check = d.get(&path).await.json();
    let mut names: Vec<_> = check.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "fall",
            "intervalMs",
            "revision",
            "rise",
            "scoreWindow",
            "timeoutMs",
            "type"
        ]
    );
    let back = d
        .call(
            Method::PATCH,
            &format!("/pools/{pool}"),
            json!({"healthCheck": {"type": "http"}}),
        )
        .await;
    assert_eq!(back.json()["healthCheck"]["tls"], false, "{}", back.text());
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn members_and_events_come_in_pages() {
    let d = TestDaemon::plain().await;
    let pool = pool_with_check(&d).await;
    let mut seen = Vec::new();
    let mut cursor = String::new();
    for _ in 0..3 {
        let path = format!("/pools/{pool}/members?limit=1&cursor={cursor}");
        let page = d.get(&path).await.json();
        assert_eq!(
            (&page["total"], page["items"].as_array().unwrap().len()),
            (&json!(3), 1)
        );
        seen.push(page["items"][0]["ipAddress"].clone());
        cursor = page["nextCursor"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!(seen, ["192.0.2.1", "192.0.2.2", "2001:db8::3"]);
    assert_eq!(cursor, "");
    let found = d.get(&format!("/pools/{pool}/members?search=de")).await.json();
    assert_eq!(found["total"], 1);
    let partial = d.get(&format!("/pools/{pool}/members?limit=2")).await.json();
    let refused = d
        .call(Method::PUT, &format!("/pools/{pool}/members"), partial)
        .await;
    assert_eq!(
        refused.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        refused.text()
    );
    let dead = json!([{"ipAddress": "127.0.0.2", "port": 1}, {"ipAddress": "127.0.0.3", "port": 1}]);
    let down = d
        .pool(
            "down",
            dead,
            json!({"type": "tcp", "intervalMs": 60000, "timeoutMs": 1000}),
        )
        .await;
    let events = format!("/pools/{down}/events");
    eventually("both are down", || async {
        d.get(&events).await.json()["total"] == 2
    })
    .await;
    let newest = d.get(&format!("{events}?limit=1")).await.json();
    let cursor = newest["nextCursor"].as_str().unwrap();
    let oldest = d.get(&format!("{events}?limit=1&cursor={cursor}")).await.json();
    assert!(oldest.get("nextCursor").is_none(), "{oldest}");
    let id = |page: &Value| page["items"][0]["id"].as_u64().unwrap();
    assert!(id(&newest) > id(&oldest));
    for list in ["members", "events"] {
        for bad in ["cursor=bogus", "sort=name", "limit=0"] {
            let answer = d.get(&format!("/pools/{pool}/{list}?{bad}")).await;
            assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{list} {bad}");
        }
    }
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_taken_out_gets_no_traffic_and_says_so() {
    let d = TestDaemon::plain().await;
    let pool = d
        .pool(
            "web",
            json!([{"ipAddress": "192.0.2.1", "port": 80}]),
            Value::Null,
        )
        .await;
    let member = d.get(&format!("/pools/{pool}/members")).await.json()["items"][0]["id"].clone();
    let status = format!("/pools/{pool}/status");
    let before = d.get(&status).await.json()["192.0.2.1"].clone();
    assert_eq!(
        (&before["traffic"], &before["score"]),
        (&json!(true), &json!(1.0))
    );
    let path = format!("/members/{}", member.as_str().unwrap());
    for state in ["down", "drain"] {
        d.call(Method::PATCH, &path, json!({"adminState": state})).await;
        let now = d.get(&status).await.json()["192.0.2.1"].clone();
        assert_eq!(
            (&now["traffic"], &now["score"]),
            (&json!(false), &json!(0.0)),
            "{state}"
        );
        assert_eq!(now["adminState"], state);
    }
    d.stop().await;
}
