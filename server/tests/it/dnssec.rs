//! Signed zones over REST, and on the wire.

use crate::harness::TestDaemon;
use http::{Method, StatusCode};
use serde_json::{Value, json};

/// The answer's records to a query with DO, by their types.
async fn types(d: &TestDaemon, name: &str, qtype: u16) -> Vec<u16> {
    let mut query = vec![0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1];
    for label in name.trim_end_matches('.').split('.') {
        query.push(u8::try_from(label.len()).unwrap());
        query.extend_from_slice(label.as_bytes());
    }
    query.push(0);
    query.extend_from_slice(&qtype.to_be_bytes());
    query.extend_from_slice(&[0, 1, 0, 0, 41, 4, 208, 0, 0, 0x80, 0, 0, 0]);
    let reply = d.ask(&query).await;
    reply
        .answers
        .iter()
        .map(|record| u16::from(record.record_type()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_is_signed_when_the_call_that_signs_it_returns() {
    let d = TestDaemon::plain().await;
    let zones = d.get("/zones").await.json();
    let zone = zones["items"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/zones/{zone}/dnssec");
    assert_eq!(d.get(&path).await.status, StatusCode::NOT_FOUND);
    assert_eq!(types(&d, "example.com.", 6).await, [6]);

    let wrong = d
        .call(Method::PUT, &path, json!({"algorithm": 5, "modes": 1}))
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", wrong.text());
    let made = d.call(Method::PUT, &path, json!({"mode": "ksk-zsk"})).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.text());
    let view = made.json();
    assert_eq!((&view["algorithm"], &view["zoneId"]), (&json!(13), &json!(zone)));
    assert!(
        view["ds"].as_str().unwrap().starts_with("example.com. IN DS "),
        "{view}"
    );
    assert!(
        !made.text().contains("ksk\":") && !made.text().contains("zsk\":"),
        "{view}"
    );
    assert_eq!(types(&d, "example.com.", 6).await, [6, 46]);
    assert_eq!(types(&d, "example.com.", 48).await, [48, 48, 46]);

    // What was read can be sent back and changes nothing.
    let read = d.get(&path).await;
    let tag = read.headers["etag"].to_str().unwrap().to_owned();
    let same = d
        .call_with(Method::PUT, &path, &[("if-match", &tag)], read.json())
        .await;
    assert_eq!((same.status, same.json()), (StatusCode::OK, read.json()));
    let other = d.call(Method::PUT, &path, json!({"mode": "csk"})).await;
    assert_eq!(other.status, StatusCode::CONFLICT);

    assert_eq!(
        d.call(Method::DELETE, &path, Value::Null).await.status,
        StatusCode::NO_CONTENT
    );
    assert_eq!(types(&d, "example.com.", 6).await, [6]);
    assert_eq!(d.get(&path).await.status, StatusCode::NOT_FOUND);
    d.stop().await;
}
