//! Static records of zones over REST, and what DNS makes of them.

use crate::harness::TestDaemon;
use hickory_proto::op::ResponseCode;
use http::{Method, StatusCode};
use serde_json::{Value, json};

async fn zone(d: &TestDaemon) -> String {
    let zones = d.get("/zones").await.json();
    zones["items"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_is_on_the_wire_when_the_call_that_makes_it_returns() {
    let d = TestDaemon::plain().await;
    let records = format!("/zones/{}/records", zone(&d).await);
    let body = json!({"name": "Host", "type": "a", "ttl": 60, "data": ["192.0.2.7", "192.0.2.8"]});
    let made = d.post(&records, body).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text());
    let set = made.json();
    assert_eq!(
        (&set["name"], &set["type"], &set["ttl"]),
        (&json!("host.example.com."), &json!("A"), &json!(60))
    );
    let path = format!("{records}/{}", set["id"].as_str().unwrap());
    assert_eq!(made.headers["location"], format!("/api/v1{path}").as_str());
    let (code, addresses) = d.dig("host.example.com.", None).await;
    assert_eq!((code, addresses.len()), (ResponseCode::NoError, 2));

    // What was read can be sent back and changes nothing.
    let read = d.get(&path).await;
    let tag = read.headers["etag"].to_str().unwrap().to_owned();
    let same = d
        .call_with(Method::PUT, &path, &[("if-match", &tag)], read.json())
        .await;
    assert_eq!(
        (same.status, &same.headers["etag"]),
        (StatusCode::OK, &read.headers["etag"])
    );
    let patched = d.call(Method::PATCH, &path, json!({"data": ["192.0.2.9"]})).await;
    assert_eq!(patched.status, StatusCode::OK, "{}", patched.text());
    assert_eq!(
        d.dig("host.example.com.", None).await.1,
        ["192.0.2.9".parse::<std::net::IpAddr>().unwrap()]
    );
    let stale = d
        .call_with(Method::PUT, &path, &[("if-match", &tag)], read.json())
        .await;
    assert_eq!(stale.status, StatusCode::PRECONDITION_FAILED);
    let listed = d.get(&format!("{records}?search=192.0.2.9")).await.json();
    assert_eq!(
        (&listed["total"], &listed["items"][0]["id"]),
        (&json!(1), &set["id"])
    );
    let gone = d.call(Method::DELETE, &path, Value::Null).await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    assert_eq!(d.dig("host.example.com.", None).await.0, ResponseCode::NXDomain);
    assert_eq!(d.get(&path).await.status, StatusCode::NOT_FOUND);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alias_of_a_service_is_steered_on_the_wire() {
    let d = TestDaemon::plain().await;
    let records = format!("/zones/{}/records", zone(&d).await);
    let pool = d
        .pool(
            "web",
            json!([{"ipAddress": "192.0.2.1", "port": 80}]),
            Value::Null,
        )
        .await;
    d.service(json!({"name": "www", "domain": "www.example.com", "poolId": pool}))
        .await;
    let made = d
        .post(
            &records,
            json!({"name": "shop", "type": "CNAME", "data": ["www"]}),
        )
        .await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text());
    assert_eq!(
        d.dig("shop.example.com.", None).await.1,
        ["192.0.2.1".parse::<std::net::IpAddr>().unwrap()]
    );
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn problems_by_field_and_collisions() {
    let d = TestDaemon::plain().await;
    let records = format!("/zones/{}/records", zone(&d).await);
    let bad = d
        .post(
            &records,
            json!({"name": "a..b", "type": "MX", "ttl": "x", "data": ["10 a", "mail"], "dta": 1}),
        )
        .await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    let mut fields = bad.fields();
    fields.sort();
    assert_eq!(fields, ["data[1]", "dta", "name", "ttl"]);
    let pool = d.pool("web", json!([]), Value::Null).await;
    d.service(json!({"name": "www", "domain": "www.example.com", "poolId": pool}))
        .await;
    let taken = d
        .post(
            &records,
            json!({"name": "www", "type": "A", "data": ["192.0.2.1"]}),
        )
        .await;
    assert_eq!(
        (taken.status, taken.fields()),
        (StatusCode::CONFLICT, vec!["name".to_owned()])
    );
    let made = d
        .post(
            &records,
            json!({"name": "api", "type": "AAAA", "data": ["2001:db8::1"]}),
        )
        .await;
    assert_eq!(made.status, StatusCode::CREATED);
    let taken = d
        .post(
            "/services",
            json!({"name": "api", "domain": "api.example.com", "poolId": pool}),
        )
        .await;
    assert_eq!(
        (taken.status, taken.fields()),
        (StatusCode::CONFLICT, vec!["domain".to_owned()])
    );
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_file_goes_in_and_comes_out() {
    let d = TestDaemon::plain().await;
    let zone = zone(&d).await;
    let import = |mode: &str| format!("/zones/{zone}/import?{mode}");
    let text = "host 60 A 192.0.2.7\nalias CNAME host\n";
    let plain = [("content-type", "text/dns")];
    let told = d
        .call_raw(Method::POST, &import("dryRun=true"), &plain, text)
        .await;
    assert_eq!(told.status, StatusCode::OK, "{}", told.text());
    assert_eq!(
        (
            &told.json()["dryRun"],
            told.json()["added"].as_array().unwrap().len()
        ),
        (&json!(true), 2)
    );
    assert_eq!(d.dig("alias.example.com.", None).await.0, ResponseCode::NXDomain);
    let done = d
        .call_raw(Method::POST, &import("mode=replace"), &plain, text)
        .await;
    assert_eq!(done.status, StatusCode::OK, "{}", done.text());
    assert_eq!(
        done.headers["etag"],
        d.get(&format!("/zones/{zone}")).await.headers["etag"]
    );
    assert_eq!(
        d.dig("alias.example.com.", None).await.1,
        ["192.0.2.7".parse::<std::net::IpAddr>().unwrap()]
    );
    let out = d.get(&format!("/zones/{zone}/export")).await;
    assert_eq!(out.headers["content-type"], "text/dns; charset=utf-8");
    assert!(
        out.text().contains("alias\t60\tIN\tCNAME\thost.example.com.\n"),
        "{}",
        out.text()
    );
    let same = d
        .call_raw(Method::POST, &import("mode=replace"), &plain, &out.text())
        .await;
    assert_eq!(
        (&same.headers["etag"], &same.json()["unchanged"]),
        (&done.headers["etag"], &json!(2))
    );
    let bad = d.call_raw(Method::POST, &import(""), &plain, "a A x\n").await;
    assert_eq!(
        (bad.status, bad.fields()),
        (StatusCode::UNPROCESSABLE_ENTITY, vec!["line 1".to_owned()])
    );
    let json = d
        .call_raw(
            Method::POST,
            &import(""),
            &[("content-type", "application/json")],
            "{}",
        )
        .await;
    assert_eq!(json.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    d.stop().await;
}
