//! RFC 8484, DNS over HTTPS, and the ports of the other encrypted transports.

use crate::harness::{Answer, TestDaemon, exchange, send};
use axum::body::Bytes;
use base64::Engine as _;
use base64::prelude::{BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD};
use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RecordType};
use http::{Method, StatusCode};
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const MESSAGE: &str = "application/dns-message";

fn write_certificate(folder: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    made.cert.der().clone()
}

fn query(name: &str) -> Vec<u8> {
    let mut message = Message::new(0, MessageType::Query, OpCode::Query);
    message.add_query(Query::query(Name::from_ascii(name).unwrap(), RecordType::A));
    message.to_vec().unwrap()
}

struct Client {
    daemon: TestDaemon,
    https: SocketAddr,
    trusted: CertificateDer<'static>,
}

impl Client {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let trusted = write_certificate(folder.path());
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        let settings = [
            ("dns.tlsCert", cert.to_str().unwrap()),
            ("dns.tlsKey", key.to_str().unwrap()),
            ("dns.tlsPort", "0"),
            ("dns.quicPort", "0"),
            ("dns.httpsPort", "0"),
        ];
        let daemon = TestDaemon::with_settings(folder, &settings).await;
        let pool = daemon
            .pool(
                "web",
                json!([{"ipAddress": "192.0.2.1", "port": 80}]),
                Value::Null,
            )
            .await;
        daemon
            .service(json!({"name": "www", "domain": "www.example.com", "poolId": pool, "ttl": 42}))
            .await;
        let https = daemon.encrypted()[2];
        Self {
            daemon,
            https,
            trusted,
        }
    }

    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.try_send(method, path, headers, body).await.unwrap()
    }

    async fn try_send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<Answer> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.trusted.clone()).unwrap();
        let config =
            rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(roots)
                .with_no_client_auth();
        let stream = TcpStream::connect(self.https).await?;
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
        Ok(exchange(
            stream,
            self.https,
            method,
            path,
            headers,
            Bytes::copy_from_slice(body),
        )
        .await)
    }
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers[name].to_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn s4_1_get_and_post_are_answered_alike() {
    let client = Client::new().await;
    let query = query("www.example.com.");
    for text in [
        BASE64_URL_SAFE_NO_PAD.encode(&query),
        BASE64_URL_SAFE.encode(&query),
    ] {
        let path = format!("/dns-query?dns={text}");
        for accept in [MESSAGE, "*/*", "application/json"] {
            let got = client.send(Method::GET, &path, &[("accept", accept)], b"").await;
            assert_eq!(got.status, StatusCode::OK, "{}", got.text());
            assert_eq!(header(&got, "content-type"), MESSAGE);
            // s5.1
            assert_eq!(header(&got, "cache-control"), "max-age=42");
            let message = Message::from_vec(&got.bytes).unwrap();
            assert_eq!((message.metadata.id, message.answers.len()), (0, 1));
        }
    }
    let posted = client
        .send(Method::POST, "/dns-query", &[("content-type", MESSAGE)], &query)
        .await;
    assert_eq!(posted.status, StatusCode::OK);
    assert_eq!(Message::from_vec(&posted.bytes).unwrap().answers.len(), 1);
    let metrics = send(client.daemon.metrics, Method::GET, "/metrics", &[], "")
        .await
        .text();
    assert!(metrics.contains(r#"transport="https""#), "{metrics}");
    client.daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s4_2_1_errors_of_dns_are_no_errors_of_http() {
    let client = Client::new().await;
    for (name, code) in [
        ("nobody.example.com.", ResponseCode::NXDomain),
        ("www.example.org.", ResponseCode::Refused),
    ] {
        let answer = client
            .send(
                Method::POST,
                "/dns-query",
                &[("content-type", MESSAGE)],
                &query(name),
            )
            .await;
        assert_eq!(answer.status, StatusCode::OK);
        let message = Message::from_vec(&answer.bytes).unwrap();
        assert_eq!(message.metadata.response_code, code);
        let age: u32 = header(&answer, "cache-control")
            .strip_prefix("max-age=")
            .unwrap()
            .parse()
            .unwrap();
        let soa = message.authorities.first().map_or(0, |soa| soa.ttl);
        assert_eq!(age, soa, "{name}");
    }
    client.daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_query_is_told_in_words() {
    let client = Client::new().await;
    let long = vec![0; 65_536];
    let mut reply = query("www.example.com.");
    reply[2] |= 0x80;
    let post = [("content-type", MESSAGE)];
    for (method, path, headers, body, status, words) in [
        (
            Method::GET,
            "/dns-query",
            &[][..],
            &b""[..],
            400,
            "`dns` is missing",
        ),
        (Method::GET, "/dns-query?dns=a+b", &[], b"", 400, "no base64url"),
        (Method::GET, "/dns-query?dns=AAAA", &[], b"", 400, "no DNS query"),
        (
            Method::POST,
            "/dns-query",
            &[("content-type", "text/plain")],
            b"x",
            415,
            MESSAGE,
        ),
        (Method::POST, "/dns-query", &[], b"x", 415, "something unnamed"),
        (Method::POST, "/dns-query", &post, b"", 400, "no DNS query"),
        (Method::POST, "/dns-query", &post, b"x", 400, "no DNS query"),
        (Method::POST, "/dns-query", &post, &reply, 400, "no DNS query"),
        (Method::POST, "/dns-query", &post, &long, 413, "65535"),
        (Method::DELETE, "/dns-query", &[], b"", 405, ""),
        (Method::GET, "/", &[], b"", 404, ""),
        (Method::GET, "/api/v1/pools", &[], b"", 404, ""),
    ] {
        let answer = client.send(method.clone(), path, headers, body).await;
        assert_eq!(
            answer.status.as_u16(),
            status,
            "{method} {path} {}",
            answer.text()
        );
        assert!(answer.text().contains(words), "{method} {path} {}", answer.text());
    }
    client.daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_shows_the_renewed_certificate() {
    let mut client = Client::new().await;
    let path = format!(
        "/dns-query?dns={}",
        BASE64_URL_SAFE_NO_PAD.encode(query("www.example.com."))
    );
    client.send(Method::GET, &path, &[], b"").await;
    client.trusted = write_certificate(client.daemon.folder.path());
    assert!(
        client.try_send(Method::GET, &path, &[], b"").await.is_err(),
        "another certificate"
    );
    client.daemon.reload().await;
    client.send(Method::GET, &path, &[], b"").await;
    client.daemon.stop().await;
}
