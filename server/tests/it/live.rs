//! Members that die and come back: DNS, status, events and metrics follow.

use crate::harness::{TestDaemon, eventually, send};
use axum::Router;
use axum::routing::get;
use hickory_proto::op::ResponseCode;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A small HTTP server that can be killed.
struct Backend {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Backend {
    async fn start(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = Router::new().route("/health", get(|| async { "ok" }));
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, task }
    }

    async fn kill(self) -> SocketAddr {
        self.task.abort();
        let _ = self.task.await;
        self.address
    }

    fn member(&self, region: &str) -> Value {
        json!({"ipAddress": self.address.ip().to_string(), "port": self.address.port(), "region": region})
    }
}

fn check() -> Value {
    json!({"type": "http", "path": "/health", "intervalMs": 100, "timeoutMs": 100})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_dies_leaves_the_answers_and_returns_when_it_lives() {
    let d = TestDaemon::plain().await;
    let (one, two) = (
        Backend::start("127.0.0.2:0").await,
        Backend::start("127.0.0.3:0").await,
    );
    let pool = d
        .pool("web", json!([one.member("US"), two.member("DE")]), check())
        .await;
    d.service(json!({"name": "www", "domain": "www.example.com", "poolId": pool, "ttl": 0}))
        .await;
    let status = format!("/pools/{pool}/status");
    eventually("both are probed", || async {
        let s = d.get(&status).await.json();
        s["127.0.0.2"]["state"] == "up" && s["127.0.0.3"]["state"] == "up"
    })
    .await;
    let victim: IpAddr = two.address.ip();
    let address = two.kill().await;
    eventually("the dead member is down", || async {
        let s = d.get(&status).await.json();
        s["127.0.0.3"]["healthy"] == false && s["127.0.0.3"]["lastError"].is_string()
    })
    .await;
    for _ in 0..20 {
        let (_, addresses) = d.dig("www.example.com.", None).await;
        assert!(!addresses.contains(&victim), "a dead member is answered");
    }
    let events = d.get(&format!("/pools/{pool}/events")).await.json();
    assert!(
        events["items"]
            .as_array()
            .unwrap()
            .iter()
            .any(|e| e["type"] == "health" && e["to"] == "down")
    );
    let metrics = send(d.metrics, Method::GET, "/metrics", &[], "").await.text();
    assert!(metrics.contains("gslbd_health"), "{metrics}");
    let back = Backend::start(&address.to_string()).await;
    eventually("it is answered again", || async {
        d.dig("www.example.com.", None).await.1.contains(&victim)
    })
    .await;
    back.kill().await;
    one.kill().await;
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_down_is_no_answer_and_below_min_healthy_too() {
    let d = TestDaemon::plain().await;
    let one = Backend::start("127.0.0.2:0").await;
    let dead = json!({"ipAddress": "127.0.0.9", "port": one.address.port()});
    let pool = d.pool("web", json!([one.member("US"), dead]), check()).await;
    d.service(json!({"name": "www", "domain": "www.example.com", "poolId": pool, "ttl": 0}))
        .await;
    eventually("the dead one is down", || async {
        d.get(&format!("/pools/{pool}/status")).await.json()["127.0.0.9"]["healthy"] == false
    })
    .await;
    assert_eq!(d.dig("www.example.com.", None).await.1.len(), 1);
    d.call(Method::PATCH, &format!("/pools/{pool}"), json!({"minHealthy": 2}))
        .await;
    assert_eq!(
        d.dig("www.example.com.", None).await,
        (ResponseCode::NoError, vec![])
    );
    d.call(Method::PATCH, &format!("/pools/{pool}"), json!({"minHealthy": 0}))
        .await;
    one.kill().await;
    eventually("nobody is left", || async {
        d.dig("www.example.com.", None).await.1.is_empty()
    })
    .await;
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_operator_decides_holds_at_once() {
    let d = TestDaemon::plain().await;
    let members = json!([{"ipAddress": "192.0.2.1", "port": 80}, {"ipAddress": "192.0.2.2", "port": 80}]);
    let pool = d.pool("web", members, Value::Null).await;
    d.service(json!({"name": "www", "domain": "www.example.com", "poolId": pool}))
        .await;
    let list = d.get(&format!("/pools/{pool}/members")).await.json();
    let id = list["items"][0]["id"].as_str().unwrap();
    for state in ["drain", "down"] {
        let patched = d
            .call(
                Method::PATCH,
                &format!("/members/{id}"),
                json!({"adminState": state}),
            )
            .await;
        assert_eq!(patched.status, StatusCode::OK);
        for _ in 0..4 {
            assert_eq!(
                d.dig("www.example.com.", None).await.1,
                ["192.0.2.2".parse::<IpAddr>().unwrap()]
            );
        }
    }
    d.call(
        Method::PATCH,
        &format!("/members/{id}"),
        json!({"adminState": "auto"}),
    )
    .await;
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..4 {
        seen.extend(d.dig("www.example.com.", None).await.1);
    }
    assert_eq!(seen.len(), 2, "round-robin takes both again");
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_tells_and_catches_up() {
    let d = TestDaemon::plain().await;
    d.pool("first", json!([]), Value::Null).await;
    let read_until = |last: Option<u64>, wanted: &'static str| {
        let api = d.api;
        async move {
            let mut stream = TcpStream::connect(api).await.unwrap();
            let last = last
                .map(|id| format!("last-event-id: {id}\r\n"))
                .unwrap_or_default();
            let token = crate::harness::TOKEN;
            let head = format!(
                "GET /api/v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n{last}\r\n"
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut text = String::new();
            let mut buffer = [0_u8; 4096];
            while !text.contains(wanted) {
                let read =
                    tokio::time::timeout(std::time::Duration::from_secs(10), stream.read(&mut buffer)).await;
                let n = read
                    .unwrap_or_else(|_| panic!("{wanted} did not come: {text}"))
                    .unwrap();
                assert!(n > 0, "the stream ended: {text}");
                text.push_str(&String::from_utf8_lossy(&buffer[..n]));
            }
            text
        }
    };
    let rate = read_until(None, "event: rate").await;
    assert!(rate.starts_with("HTTP/1.1 200"), "{rate}");
    let missed = read_until(Some(0), "\"name\":\"first\"").await;
    assert!(
        missed.contains("event: event") && missed.contains("id: "),
        "{missed}"
    );
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_is_pushed_sheds_the_member_until_it_is_taken_back() {
    let d = TestDaemon::enterprise("").await;
    let marks = json!({"low": 0.5, "high": 0.9});
    let members = json!([
        {"ipAddress": "192.0.2.1", "port": 80, "loadWatermarks": marks},
        {"ipAddress": "192.0.2.2", "port": 80, "loadWatermarks": marks},
    ]);
    let pool = d.pool("web", members, Value::Null).await;
    d.service(json!({"name": "www", "domain": "www.example.com", "poolId": pool,
        "filterChain": ["shed-load", "round-robin"]}))
        .await;
    let list = d.get(&format!("/pools/{pool}/members")).await.json();
    assert_eq!(list["items"][0]["loadWatermarks"], marks);
    let id = list["items"][0]["id"].as_str().unwrap();
    let path = format!("/pools/{pool}/members/{id}/load");
    let seen = || async {
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..4 {
            seen.extend(d.dig("www.example.com.", None).await.1);
        }
        seen.len()
    };
    assert_eq!(seen().await, 2);

    let pushed = d
        .call(Method::PUT, &path, json!({"value": 0.95, "ttl": 3600}))
        .await;
    assert_eq!(pushed.status, StatusCode::NO_CONTENT, "{}", pushed.text());
    assert_eq!(seen().await, 1);
    let status = d.get(&format!("/pools/{pool}/status")).await.json();
    assert_eq!(status["192.0.2.1"]["load"], 0.95);
    assert!(status["192.0.2.2"].get("load").is_none());

    let removed = d.call(Method::DELETE, &path, Value::Null).await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    assert_eq!(seen().await, 2);

    let wrong = d.call(Method::PUT, &path, json!({"value": -1, "ttl": 0})).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(wrong.fields(), ["value", "ttl"]);
    let nobody = format!("/pools/{pool}/members/{pool}/load");
    let missing = d.call(Method::PUT, &nobody, json!({"value": 1})).await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    d.stop().await;
}
