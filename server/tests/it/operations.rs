//! The program as its operator runs it: exit codes, `--check-config`, SIGHUP, SIGTERM, taken ports, licences.

use crate::harness::{TestDaemon, eventually, send};
use http::Method;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gslbd"));
    command
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap_or_default());
    command
}

fn check(text: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.yaml");
    std::fs::write(&path, text).unwrap();
    program()
        .arg("-config")
        .arg(&path)
        .arg("--check-config")
        .env("GSLB_DATABASE_PATH", folder.path().join("gslbd.db"))
        .output()
        .unwrap()
}

#[test]
fn check_config_tells_values_and_origins() {
    let good = check("DNS:\n  Port: 5300\nloadbalancer:\n  latency:\n    minrttthresholdms: 7\n");
    let text = String::from_utf8(good.stdout).unwrap();
    assert_eq!(good.status.code(), Some(0), "{text}");
    assert!(
        text.lines()
            .any(|l| l.starts_with("dns.port") && l.contains("5300") && l.contains("line 2")),
        "{text}"
    );
    assert!(
        text.lines()
            .any(|l| l.starts_with("api.port") && l.contains("8080") && l.contains("default")),
        "{text}"
    );
}

#[test]
fn a_wrong_setting_is_exit_64_and_names_the_nearest_right_one() {
    let bad = check("dns:\n  prot: 5300\n");
    let text = String::from_utf8(bad.stderr).unwrap();
    assert_eq!(bad.status.code(), Some(64), "{text}");
    assert!(
        text.contains("config.yaml:2:") && text.contains("dns.port"),
        "{text}"
    );
    let bad = check("signals:\n  static:\n    eu: -3\n");
    assert_eq!(bad.status.code(), Some(64));
}

#[test]
fn check_config_looks_into_the_files_that_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let missing = check(&format!("routing:\n  mapFile: {:?}\n", folder.path().join("map")));
    let text = String::from_utf8(missing.stderr).unwrap();
    assert_eq!(missing.status.code(), Some(64), "{text}");
    assert!(
        text.contains("routing.mapFile") && text.contains("config.yaml:2"),
        "{text}"
    );
    let one_port_twice = check("log:\n  level: warn\napi:\n  port: 9090\n");
    let text = String::from_utf8(one_port_twice.stderr).unwrap();
    assert_eq!(one_port_twice.status.code(), Some(64), "{text}");
    assert!(
        text.contains("config.yaml:4") && text.contains("`metrics.port`"),
        "{text}"
    );
    std::fs::write(&cert, "no certificate").unwrap();
    std::fs::write(&key, "no key").unwrap();
    let bad = check(&format!("api:\n  tlsCert: {cert:?}\n  tlsKey: {key:?}\n"));
    let text = String::from_utf8(bad.stderr).unwrap();
    assert_eq!(bad.status.code(), Some(64), "{text}");
    assert!(text.contains("cert.pem"), "{text}");
}

#[test]
fn the_delivered_configuration_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/config.yaml");
    let output = program()
        .arg("--config")
        .arg(path)
        .arg("--check-config")
        .env("GSLB_DATABASE_PATH", folder.path().join("gslbd.db"))
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A daemon in a process of its own.
struct Process {
    child: Child,
    folder: TempDir,
    lines: std::io::Lines<BufReader<std::process::ChildStderr>>,
}

impl Process {
    fn start(config: &str) -> Self {
        Self::start_with(config, &[])
    }

    fn start_with(config: &str, environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("gslbd.db");
        let path = folder.path().join("config.yaml");
        std::fs::write(&path, format!("database:\n  path: {database:?}\n{config}")).unwrap();
        let mut child = program()
            .args([
                "--dns-port",
                "0",
                "--api-port",
                "0",
                "--metrics-port",
                "0",
                "--config",
            ])
            .arg(&path)
            .envs(environment.iter().copied())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, folder, lines }
    }

    /// Reads the log until a line contains `wanted`, and gives it.
    fn line(&mut self, wanted: &str) -> String {
        let mut seen = String::new();
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            if line.contains(wanted) {
                return line;
            }
            seen.push_str(&line);
            seen.push('\n');
        }
        panic!("the log ended without `{wanted}`:\n{seen}");
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        assert!(sent.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn errors_take_no_backtraces_unless_asked_to() {
    for (given, told) in [
        (&[("RUST_BACKTRACE", "1")][..], Some("0")),
        (&[("RUST_BACKTRACE", "1"), ("RUST_LIB_BACKTRACE", "1")], Some("1")),
        (&[("RUST_BACKTRACE", "0")], None),
    ] {
        let mut process = Process::start_with("dns:\n  listenAddr: 127.0.0.1\n", given);
        process.line("answering");
        let of = |what: &str| std::fs::read(format!("/proc/{}/{what}", process.child.id())).unwrap();
        let environment = String::from_utf8(of("environ")).unwrap();
        let found = environment
            .split('\0')
            .find_map(|entry| entry.strip_prefix("RUST_LIB_BACKTRACE="));
        assert_eq!(found, told, "{given:?}");
        assert_eq!(of("comm"), b"gslbd\n");
        assert!(
            of("cmdline").ends_with(b"config.yaml\0"),
            "its arguments went along"
        );
    }
}

#[test]
fn sigterm_is_an_orderly_end_and_sighup_a_reload() {
    let config = "dns:\n  listenAddr: 127.0.0.1\nlog:\n  format: json\nsignals:\n  static: {eu: 1}\n";
    let mut process = Process::start(config);
    process.line("answering");
    let path = process.folder.path().join("config.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replace("eu: 1", "eu: 2")
            .replace("127.0.0.1\n", "127.0.0.2\n"),
    )
    .unwrap();
    process.signal("HUP");
    let line = process.line("reloaded");
    assert!(line.contains("signals.static"), "{line}");
    assert!(
        line.contains("dns.listenAddr"),
        "the log does not tell what needs a restart: {line}"
    );
    process.signal("TERM");
    assert_eq!(process.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_second_daemon_on_the_same_port_is_refused() {
    let mut first = Process::start("dns:\n  listenAddr: 127.0.0.1\n");
    let line = first.line("answering");
    let port = line
        .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ':'))
        .filter_map(|word| word.parse::<SocketAddr>().ok())
        .next()
        .unwrap_or_else(|| panic!("no address in {line}"))
        .port();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.yaml");
    let database = folder.path().join("gslbd.db");
    std::fs::write(
        &path,
        format!("database:\n  path: {database:?}\ndns:\n  listenAddr: 127.0.0.1\n"),
    )
    .unwrap();
    let second = program()
        .args([
            "--api-port",
            "0",
            "--metrics-port",
            "0",
            "--dns-port",
            &port.to_string(),
            "--config",
        ])
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    let text = String::from_utf8_lossy(&second.stderr);
    assert!(text.contains(&format!("127.0.0.1:{port}")), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_have_no_login_on_their_port_and_need_one_on_the_apis() {
    let d = TestDaemon::plain().await;
    d.dig("nope.example.com.", None).await;
    eventually("the query is counted", || async {
        let text = send(d.metrics, Method::GET, "/metrics", &[], "").await.text();
        text.contains("NXDOMAIN") && text.ends_with("# EOF\n")
    })
    .await;
    assert_eq!(send(d.api, Method::GET, "/metrics", &[], "").await.status, 401);
    assert_eq!(send(d.api, Method::GET, "/healthz", &[], "").await.status, 200);
    assert_eq!(send(d.api, Method::GET, "/ready", &[], "").await.status, 200);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_is_its_owners_and_one_daemons() {
    use std::os::unix::fs::PermissionsExt;
    let d = TestDaemon::plain().await;
    for name in ["gslbd.db", "gslbd.db-wal", "gslbd.db-shm"] {
        let mode = std::fs::metadata(d.folder.path().join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{name} can be read by others: {mode:o}");
    }
    let config = d.folder.path().join("config.yaml");
    let second = program()
        .args([
            "--dns-port",
            "0",
            "--api-port",
            "0",
            "--metrics-port",
            "0",
            "--config",
        ])
        .arg(config)
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    let text = String::from_utf8_lossy(&second.stderr);
    assert!(text.contains("in use by another gslbd"), "{text}");
    let headers = [("x-request-id", "<script>")];
    let answer = send(d.api, Method::GET, "/healthz", &headers, "").await;
    assert_ne!(answer.headers["x-request-id"], "<script>");
    d.stop().await;
}

/// `gslbd user …` on the database of a test daemon.
fn user_command(folder: &Path, arguments: &[&str], input: &str) -> Output {
    use std::io::Write as _;

    let mut child = program()
        .arg("user")
        .args(arguments)
        .arg("--config")
        .arg(folder.join("config.yaml"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

async fn logs_in(d: &TestDaemon, password: &str) -> bool {
    let body = serde_json::json!({"username": "admin", "password": password}).to_string();
    send(d.api, Method::POST, "/api/v1/session", &[], &body)
        .await
        .status
        == 200
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_write_the_database_lets_an_account_in_again() {
    let d = TestDaemon::plain().await;
    // Beside the daemon, which goes on answering and writing.
    let listed = user_command(d.folder.path(), &["list"], "");
    let text = String::from_utf8(listed.stdout).unwrap();
    assert!(
        text.contains("admin") && text.contains("system-admin") && text.contains("enabled"),
        "{text}"
    );
    let reset = user_command(d.folder.path(), &["reset", "admin"], "");
    let text = String::from_utf8(reset.stdout).unwrap();
    let password = text.split("password ").nth(1).unwrap().lines().next().unwrap();
    assert!(logs_in(&d, password).await, "{text}");
    assert!(!logs_in(&d, crate::harness::PASSWORD).await);
    let made = d
        .post("/pools", serde_json::json!({"name": "after", "members": []}))
        .await;
    assert_eq!(made.status, 201, "{}", made.text());
    let trail = d.get("/audit?actor=gslbd%20user%20reset").await.json();
    assert_eq!(trail["total"], 1, "{trail}");
    assert!(!trail.to_string().contains("argon2"));

    let unknown = user_command(d.folder.path(), &["reset", "nobody"], "");
    assert_eq!(unknown.status.code(), Some(1));
    let weak = user_command(
        d.folder.path(),
        &["reset", "admin", "--password-stdin"],
        "short\n",
    );
    assert_eq!(weak.status.code(), Some(1));
    // And with the daemon stopped.
    let folder = d.stop().await;
    let chosen = "a password of my own";
    let reset = user_command(
        folder.path(),
        &["reset", "admin", "--password-stdin"],
        &format!("{chosen}\n"),
    );
    assert!(
        reset.status.success(),
        "{}",
        String::from_utf8_lossy(&reset.stderr)
    );
    let d = TestDaemon::in_folder(folder, "").await;
    assert!(logs_in(&d, chosen).await);
    d.stop().await;
}
