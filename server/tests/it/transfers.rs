//! TSIG keys and transfers of zones over REST, and on the wire.

use crate::harness::TestDaemon;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The first message of the transfer of `example.com.`: response code and number of records.
async fn transfer(d: &TestDaemon) -> (u8, u16) {
    let mut stream = TcpStream::connect(d.dns).await.unwrap();
    let mut query = vec![0, 29, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    query.extend_from_slice(b"\x07example\x03com\0\0\xfc\0\x01");
    stream.write_all(&query).await.unwrap();
    let length = stream.read_u16().await.unwrap();
    let mut reply = vec![0; length.into()];
    stream.read_exact(&mut reply).await.unwrap();
    (reply[3] & 0xf, u16::from_be_bytes([reply[6], reply[7]]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_goes_to_the_peers_that_it_has() {
    let d = TestDaemon::plain().await;
    let zones = d.get("/zones").await.json();
    let path = format!("/zones/{}", zones["items"][0]["id"].as_str().unwrap());
    assert_eq!(transfer(&d).await, (5, 0));

    let unknown = json!({"transfer": {"peers": [{"key": "xfr.key"}], "notify": [{"address": "nowhere"}]}});
    let refused = d.call(Method::PATCH, &path, unknown).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(refused.fields(), ["transfer.notify[0].address"]);
    let unknown = json!({"transfer": {"peers": [{"key": "xfr.key"}]}});
    let refused = d.call(Method::PATCH, &path, unknown.clone()).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(refused.fields(), ["transfer.peers[0].key"]);

    let bad = d
        .post(
            "/tsig-keys",
            json!({"algorithm": "hmac-md5", "secret": "c2hvcnQ="}),
        )
        .await;
    assert_eq!(bad.fields(), ["name", "algorithm", "secret"]);
    let secret = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=";
    let made = d
        .post("/tsig-keys", json!({"name": "Xfr.Key", "secret": secret}))
        .await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text());
    let key = made.json();
    assert_eq!(
        (&key["name"], &key["algorithm"], &key["secret"]),
        (&json!("xfr.key."), &json!("hmac-sha256"), &json!(secret))
    );
    let again = d.post("/tsig-keys", json!({"name": "xfr.key."})).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    let key_path = format!("/tsig-keys/{}", key["id"].as_str().unwrap());
    for path in ["/tsig-keys", key_path.as_str(), "/audit"] {
        let shown = d.get(path).await;
        assert!(
            shown.text().contains("xfr.key.") && !shown.text().contains(secret),
            "{path}: {}",
            shown.text()
        );
    }

    let patched = d.call(Method::PATCH, &path, unknown).await;
    assert_eq!(patched.status, StatusCode::OK, "{}", patched.text());
    assert_eq!(transfer(&d).await, (5, 0), "without the key");
    let in_use = d.call(Method::DELETE, &key_path, Value::Null).await;
    assert_eq!(in_use.status, StatusCode::CONFLICT);
    let read = d.get(&path).await.json();
    let same = d.call(Method::PUT, &path, read.clone()).await;
    assert_eq!(
        same.json()["revision"],
        read["revision"],
        "what was read changes nothing"
    );

    let open = json!({"transfer": {"peers": [{"network": "127.0.0.1"}]}});
    assert_eq!(d.call(Method::PATCH, &path, open).await.status, StatusCode::OK);
    assert_eq!(transfer(&d).await, (0, 3));
    let gone = d.call(Method::DELETE, &key_path, Value::Null).await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    d.stop().await;
}
