//! Knot and BIND as secondaries: they take a zone, are told of a change, and take that. Each is skipped where it is not
//! installed.

use crate::harness::{TestDaemon, eventually, send};
use hickory_proto::op::Message;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::fs;
use std::net::{SocketAddr, UdpSocket as StdUdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::net::UdpSocket;

const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=";

/// A program, where system administrators have theirs.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let found = folders
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    if found.is_none() {
        eprintln!("skipped: {name} is not installed");
    }
    found
}

/// A program that runs until the test ends.
struct Secondary {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl Drop for Secondary {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Secondary {
    fn start(mut command: Command, port: u16, log: PathBuf) -> Self {
        let output = fs::File::create(&log).unwrap();
        command.stdout(output.try_clone().unwrap()).stderr(output);
        Self {
            child: command.stdin(Stdio::null()).spawn().unwrap(),
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            log,
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The data of its answer to a question, as text.
    async fn ask(&self, name: &str, qtype: u16) -> Vec<String> {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.connect(self.address).await.unwrap();
        let mut query = vec![0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            query.push(u8::try_from(label.len()).unwrap());
            query.extend_from_slice(label.as_bytes());
        }
        query.push(0);
        query.extend_from_slice(&qtype.to_be_bytes());
        query.extend_from_slice(&[0, 1]);
        let mut buffer = [0; 4096];
        let answer = async {
            socket.send(&query).await.ok()?;
            socket.recv(&mut buffer).await.ok()
        };
        // It may not listen yet.
        let length = tokio::time::timeout(Duration::from_secs(1), answer).await;
        let Ok(Some(length)) = length else {
            return Vec::new();
        };
        let message = Message::from_vec(&buffer[..length]).unwrap();
        message
            .answers
            .iter()
            .map(|record| record.data.to_string())
            .collect()
    }
}

/// A port that is free now, over UDP and TCP.
fn free_port() -> u16 {
    loop {
        let udp = StdUdpSocket::bind("127.0.0.1:0").unwrap();
        let port = udp.local_addr().unwrap().port();
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn knot(knotd: &Path, folder: &Path, primary: SocketAddr, port: u16) -> Command {
    let config = format!(
        "server:\n    listen: 127.0.0.1@{port}\n    rundir: {folder}\n\
         log:\n  - target: stderr\n    any: info\n\
         database:\n    storage: {folder}\n\
         key:\n  - id: xfr.key.\n    algorithm: hmac-sha256\n    secret: {SECRET}\n\
         remote:\n  - id: primary\n    address: {}@{}\n    key: xfr.key.\n\
         acl:\n  - id: notify\n    address: 127.0.0.1\n    key: xfr.key.\n    action: notify\n\
         zone:\n  - domain: example.com.\n    storage: {folder}\n    master: primary\n    acl: notify\n",
        primary.ip(),
        primary.port(),
        folder = folder.display(),
    );
    let file = folder.join("knot.conf");
    fs::write(&file, config).unwrap();
    let mut command = Command::new(knotd);
    command.arg("-c").arg(file);
    command
}

fn bind(named: &Path, folder: &Path, primary: SocketAddr, port: u16) -> Command {
    let config = format!(
        "options {{ directory \"{folder}\"; pid-file none; session-keyfile \"{folder}/session.key\"; \
         listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; recursion no; dnssec-validation no; }};\n\
         controls {{ }};\n\
         key \"xfr.key\" {{ algorithm hmac-sha256; secret \"{SECRET}\"; }};\n\
         zone \"example.com\" {{ type secondary; file \"example.com.db\"; \
         primaries {{ {} port {} key \"xfr.key\"; }}; allow-notify {{ key \"xfr.key\"; }}; }};\n",
        primary.ip(),
        primary.port(),
        folder = folder.display(),
    );
    let file = folder.join("named.conf");
    fs::write(&file, config).unwrap();
    let mut command = Command::new(named);
    command.arg("-g").arg("-c").arg(file);
    command
}

async fn follows(make: impl FnOnce(&Path, SocketAddr, u16) -> Command) {
    let d = TestDaemon::plain().await;
    let zones = d.get("/zones").await.json();
    let zone = format!("/zones/{}", zones["items"][0]["id"].as_str().unwrap());
    let key = json!({"name": "xfr.key", "secret": SECRET});
    assert_eq!(d.post("/tsig-keys", key).await.status, StatusCode::CREATED);
    let records = format!("{zone}/records");
    let one = json!({"name": "one", "type": "A", "data": ["192.0.2.1"]});
    assert_eq!(d.post(&records, one).await.status, StatusCode::CREATED);
    let port = free_port();
    let transfer = json!({"transfer": {
        "peers": [{"network": "127.0.0.1", "key": "xfr.key"}],
        "notify": [{"address": format!("127.0.0.1:{port}"), "key": "xfr.key"}],
    }});
    let patched = d.call(Method::PATCH, &zone, transfer).await;
    assert_eq!(patched.status, StatusCode::OK, "{}", patched.text());

    let folder = tempfile::tempdir().unwrap();
    let command = make(folder.path(), d.dns, port);
    let secondary = Secondary::start(command, port, folder.path().join("log"));
    eventually("the secondary has the zone", || async {
        secondary.ask("one.example.com", 1).await == ["192.0.2.1"]
    })
    .await;

    // Told of the change, and long before its refresh interval of two hours.
    let two = json!({"name": "two", "type": "A", "data": ["192.0.2.2"]});
    assert_eq!(d.post(&records, two).await.status, StatusCode::CREATED);
    eventually("the secondary has the change", || async {
        secondary.ask("two.example.com", 1).await == ["192.0.2.2"]
    })
    .await;
    let serial = d.get(&zone).await.json()["serial"].to_string();
    let soa = secondary.ask("example.com", 6).await.join(" ");
    assert!(soa.contains(&format!(" {serial} ")), "{soa}: {serial}");
    let metrics = send(d.metrics, Method::GET, "/metrics", &[], "").await.text();
    let ixfr = metrics
        .lines()
        .any(|line| line.starts_with("gslbd_dns_transfers_total{kind=\"ixfr\"} 1"));
    assert!(ixfr, "{}\n{metrics}", secondary.log());
    let gone: Value = d.get(&records).await.json();
    let two = gone["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|set| set["name"].as_str().unwrap().starts_with("two"))
        .unwrap();
    let path = format!("{records}/{}", two["id"].as_str().unwrap());
    assert_eq!(
        d.call(Method::DELETE, &path, Value::Null).await.status,
        StatusCode::NO_CONTENT
    );
    eventually("the record is gone", || async {
        secondary.ask("two.example.com", 1).await.is_empty()
            && secondary.ask("one.example.com", 1).await == ["192.0.2.1"]
    })
    .await;
    drop(secondary);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn knot_follows() {
    let Some(knotd) = program("knotd") else { return };
    follows(|folder, primary, port| knot(&knotd, folder, primary, port)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bind_follows() {
    let Some(named) = program("named") else { return };
    follows(|folder, primary, port| bind(&named, folder, primary, port)).await;
}
