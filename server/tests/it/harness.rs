//! Starts a daemon in this process on free ports with a database of its own, and talks to it.

use axum::body::Bytes;
use gslb_script::WorkerProgram;
use gslbd::cli::RunArgs;
use gslbd::daemon::{Daemon, with_ports};
use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::opt::{ClientSubnet, EdnsOption};
use hickory_proto::rr::{Name, RData, RecordType};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UdpSocket};

/// The bootstrap token of test daemons.
pub const TOKEN: &str = "gslb_test-bootstrap-token";
/// The administrator's password.
pub const PASSWORD: &str = "correct horse battery";

/// A running daemon with its files.
pub struct TestDaemon {
    daemon: Option<Daemon>,
    pub api: SocketAddr,
    pub dns: SocketAddr,
    pub metrics: SocketAddr,
    pub folder: TempDir,
}

/// Scripts run in the real program, not in the one of the tests.
fn workers() -> WorkerProgram {
    WorkerProgram {
        path: env!("CARGO_BIN_EXE_gslbd").into(),
        arguments: vec![gslb_script::WORKER_COMMAND.into()],
    }
}

/// An answer over HTTP.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Bytes,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Fields of the error's details.
    pub fn fields(&self) -> Vec<String> {
        let body = self.json();
        let details = body["error"]["details"].as_array().cloned().unwrap_or_default();
        details
            .iter()
            .filter_map(|d| d["field"].as_str().map(str::to_owned))
            .collect()
    }
}

/// One request on a connection of its own.
pub async fn send(
    to: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let stream = TcpStream::connect(to).await.unwrap();
    exchange(stream, to, method, path, headers, Bytes::from(body.to_owned())).await
}

/// One request on a connection.
pub async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    to: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Bytes,
) -> Answer {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", to.to_string());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body)).unwrap();
    let (head, body) = sender.send_request(request).await.unwrap().into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    Answer {
        status: head.status,
        headers: head.headers,
        bytes,
    }
}

/// Waits until `check` says yes, at most 20 s.
pub async fn eventually<F: Future<Output = bool>>(what: &str, mut check: impl FnMut() -> F) {
    let patience = tokio::time::timeout(Duration::from_secs(20), async {
        while !check().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(patience.await.is_ok(), "did not happen: {what}");
}

impl TestDaemon {
    /// A daemon with these lines in its configuration file, beside database and ports.
    pub async fn with_config(extra: &str) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), extra).await
    }

    /// A daemon over a folder that may hold the database of an earlier one.
    pub async fn in_folder(folder: TempDir, extra: &str) -> Self {
        Self::start(folder, extra, &[]).await
    }

    /// A daemon with these settings beside its own.
    pub async fn with_settings(folder: TempDir, settings: &[(&str, &str)]) -> Self {
        Self::start(folder, "", settings).await
    }

    async fn start(folder: TempDir, extra: &str, settings: &[(&str, &str)]) -> Self {
        let path = folder.path().join("config.yaml");
        let database = folder.path().join("gslbd.db");
        let text = format!(
            "database:\n  path: {database:?}\ndns:\n  listenAddr: 127.0.0.1\n  domain: example.com\nnode:\n  id: test\n{extra}"
        );
        std::fs::write(&path, text).unwrap();
        let args = RunArgs {
            config: Some(path.clone()),
            dns_port: Some(0),
            api_port: Some(0),
            metrics_port: Some(0),
            ..RunArgs::default()
        };
        let mut sources = gslb_core::config::Sources::of_process(Some(&path)).unwrap();
        sources.environment.clear();
        let mut sources = with_ports(sources, &args).with("api.key", TOKEN, "test").with(
            "admin.password",
            PASSWORD,
            "test",
        );
        for (setting, value) in settings {
            sources = sources.with(setting, value, "test");
        }
        let daemon = Daemon::start(sources, None, workers()).await.unwrap();
        let (api, dns, metrics) = (daemon.api_addr(), daemon.dns_addr(), daemon.metrics_addr());
        Self {
            daemon: Some(daemon),
            api,
            dns,
            metrics,
            folder,
        }
    }

    /// A daemon with an enterprise licence.
    pub async fn enterprise(extra: &str) -> Self {
        let key = gslb_core::license::keygen().unwrap();
        let now = gslbd::state::unix_seconds();
        let payload = gslb_core::license::Payload {
            tier: gslb_engine::model::Tier::Enterprise,
            iat: now,
            exp: now + 86_400,
            id: "test".to_owned(),
            customer: String::new(),
            max_rps: None,
        };
        let licence = gslb_core::license::issue(&key, &payload);
        let public = key.public().to_text();
        Self::with_config(&format!(
            "license:\n  key: {licence}\n  publicKeys: [{public}]\n{extra}"
        ))
        .await
    }

    pub async fn plain() -> Self {
        Self::with_config("").await
    }

    /// Where DNS over TLS, QUIC and HTTPS listen.
    pub fn encrypted(&self) -> [SocketAddr; 3] {
        let daemon = self.daemon.as_ref().unwrap();
        daemon.encrypted_addrs().map(|addresses| addresses[0])
    }

    /// Reads these sources again, as SIGHUP does.
    pub async fn reload(&self) {
        let path = self.folder.path().join("config.yaml");
        let sources = gslb_core::config::Sources::of_process(Some(&path));
        self.daemon.as_ref().unwrap().reload(sources).await;
    }

    /// Stops the daemon and gives its folder back.
    pub async fn stop(mut self) -> TempDir {
        if let Some(daemon) = self.daemon.take() {
            daemon.stop().await;
        }
        self.folder
    }

    /// A request to the API with the bootstrap token.
    pub async fn call(&self, method: Method, path: &str, body: Value) -> Answer {
        self.call_with(method, path, &[], body).await
    }

    pub async fn call_with(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Answer {
        let bearer = format!("Bearer {TOKEN}");
        let mut all = vec![
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        all.extend_from_slice(headers);
        let text = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        send(self.api, method, &format!("/api/v1{path}"), &all, &text).await
    }

    /// A request with this text for a body.
    pub async fn call_text(&self, method: Method, path: &str, body: &str) -> Answer {
        self.call_raw(method, path, &[("content-type", "application/json")], body)
            .await
    }

    /// A request with these headers, and this text for a body.
    pub async fn call_raw(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let bearer = format!("Bearer {TOKEN}");
        let mut all = vec![("authorization", bearer.as_str())];
        all.extend_from_slice(headers);
        send(self.api, method, &format!("/api/v1{path}"), &all, body).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, Value::Null).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.call(Method::POST, path, body).await
    }

    /// Makes a pool with these members (address, port) and gives its id.
    pub async fn pool(&self, name: &str, members: Value, check: Value) -> String {
        let mut body = json!({ "name": name, "members": members });
        if !check.is_null() {
            body["healthCheck"] = check;
        }
        let made = self.post("/pools", body).await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.text());
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// Makes a service and gives its id.
    pub async fn service(&self, body: Value) -> String {
        let made = self.post("/services", body).await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.text());
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// The reply to a message over UDP.
    pub async fn ask(&self, query: &[u8]) -> Message {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.connect(self.dns).await.unwrap();
        socket.send(query).await.unwrap();
        let mut buffer = [0_u8; 4096];
        let received = tokio::time::timeout(Duration::from_secs(5), socket.recv(&mut buffer)).await;
        let length = received.expect("an answer within 5 s").unwrap();
        Message::from_vec(&buffer[..length]).unwrap()
    }

    /// Asks for A over UDP, with a client subnet if one is given.
    pub async fn dig(&self, name: &str, subnet: Option<(&str, u8)>) -> (ResponseCode, Vec<IpAddr>) {
        let mut message = Message::new(4711, MessageType::Query, OpCode::Query);
        message.add_query(Query::query(Name::from_ascii(name).unwrap(), RecordType::A));
        if let Some((ip, source)) = subnet {
            let mut edns = Edns::new();
            let option = ClientSubnet::new(ip.parse().unwrap(), source, 0);
            edns.options_mut().insert(EdnsOption::Subnet(option));
            message.set_edns(edns);
        }
        let answer = self.ask(&message.to_vec().unwrap()).await;
        let addresses = answer.answers.iter().filter_map(|record| match &record.data {
            RData::A(a) => Some(IpAddr::V4(a.0)),
            RData::AAAA(a) => Some(IpAddr::V6(a.0)),
            _ => None,
        });
        (answer.metadata.response_code, addresses.collect())
    }
}
