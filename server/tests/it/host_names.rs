//! Members that are host names, from the API to the wire; another daemon is the resolver.

use crate::harness::{TestDaemon, eventually, send};
use axum::Router;
use axum::routing::get;
use hickory_proto::op::{Message, MessageType, OpCode, Query};
use hickory_proto::rr::{Name, RData, RecordType};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::net::IpAddr;
use tokio::net::TcpListener;

/// A daemon whose zone `example.net` has these addresses at `lb`.
async fn resolver(addresses: &[&str]) -> (TestDaemon, String) {
    let d = TestDaemon::plain().await;
    let zone = d
        .post("/zones", json!({"name": "example.net", "minimum": 5}))
        .await
        .json();
    let zone = zone["id"].as_str().unwrap().to_owned();
    let record = json!({"name": "lb", "type": "A", "ttl": 5, "data": addresses});
    let answer = d.post(&format!("/zones/{zone}/records"), record).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    (d, zone)
}

async fn asking(resolver: &TestDaemon) -> TestDaemon {
    let folder = tempfile::tempdir().unwrap();
    let address = resolver.dns.to_string();
    TestDaemon::with_settings(folder, &[("dns.resolvers", &address)]).await
}

async fn pool(d: &TestDaemon, port: u16, check: Value) -> String {
    let members = json!([{"hostname": "lb.example.net", "port": port}]);
    d.pool("names", members, check).await
}

/// Targets of the CNAMEs and addresses of the answer.
async fn ask(d: &TestDaemon, name: &str, rtype: RecordType) -> (Vec<String>, Vec<IpAddr>) {
    let mut message = Message::new(4711, MessageType::Query, OpCode::Query);
    message.add_query(Query::query(Name::from_ascii(name).unwrap(), rtype));
    let message = d.ask(&message.to_vec().unwrap()).await;
    let (mut targets, mut addresses) = (Vec::new(), Vec::new());
    for record in &message.answers {
        match &record.data {
            RData::CNAME(target) => targets.push(target.0.to_ascii()),
            RData::A(a) => addresses.push(IpAddr::V4(a.0)),
            other => panic!("{other:?}"),
        }
    }
    (targets, addresses)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_answers_with_the_name_or_with_its_addresses_and_keeps_the_last_good_ones() {
    let (other, _) = resolver(&["127.0.0.2"]).await;
    let d = asking(&other).await;
    let pool = pool(&d, 80, Value::Null).await;
    d.service(json!({"name": "cname", "domain": "cname.example.com", "poolId": pool}))
        .await;
    d.service(json!({"name": "flat", "domain": "flat.example.com", "poolId": pool, "flatten": true}))
        .await;
    for rtype in [RecordType::A, RecordType::AAAA, RecordType::TXT] {
        let (targets, addresses) = ask(&d, "cname.example.com.", rtype).await;
        assert_eq!((targets, addresses), (vec!["lb.example.net.".to_owned()], vec![]));
    }
    let lb: IpAddr = "127.0.0.2".parse().unwrap();
    eventually("the name is looked up", || async {
        ask(&d, "flat.example.com.", RecordType::A).await == (vec![], vec![lb])
    })
    .await;
    let status = format!("/pools/{pool}/status");
    let host = d.get(&status).await.json()["lb.example.net."]["host"].clone();
    assert_eq!(host["addresses"], json!(["127.0.0.2"]));
    assert_eq!(host["stale"], json!(false));
    let trace = json!({"domain": "cname.example.com", "client": "192.0.2.1"});
    let trace = d.post("/trace", trace).await.json();
    assert_eq!(trace["answers"], json!(["lb.example.net."]));
    // The resolver goes away.
    other.stop().await;
    eventually("the look-up fails", || async {
        d.get(&status).await.json()["lb.example.net."]["host"]["stale"] == json!(true)
    })
    .await;
    assert_eq!(
        ask(&d, "flat.example.com.", RecordType::A).await,
        (vec![], vec![lb])
    );
    let metrics = send(d.metrics, Method::GET, "/metrics", &[], "").await.text();
    assert!(metrics.contains("gslbd_host_names_stale 1.0\n"), "{metrics}");
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_name_is_probed_at_its_address_under_its_name() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let hello = |headers: http::HeaderMap| async move {
        match headers["host"].to_str() {
            Ok(host) if host.starts_with("lb.example.net") => StatusCode::OK,
            _ => StatusCode::NOT_FOUND,
        }
    };
    let app = Router::new().route("/health", get(hello));
    let backend = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let (other, zone) = resolver(&["127.0.0.1"]).await;
    let d = asking(&other).await;
    let check = json!({"type": "http", "path": "/health", "intervalMs": 100, "timeoutMs": 100});
    let pool = pool(&d, port, check).await;
    let status = format!("/pools/{pool}/status");
    eventually("it is up", || async {
        d.get(&status).await.json()["lb.example.net."]["state"] == json!("up")
    })
    .await;
    // A name that leads nowhere is down.
    let records = format!("/zones/{zone}/records");
    let id = other.get(&records).await.json()["items"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let gone = other
        .call(Method::DELETE, &format!("{records}/{id}"), Value::Null)
        .await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT, "{}", gone.text());
    eventually("it is down", || async {
        let member = d.get(&status).await.json()["lb.example.net."].clone();
        member["healthy"] == json!(false) && member["lastError"].is_string()
    })
    .await;
    backend.abort();
    d.stop().await;
    other.stop().await;
}
