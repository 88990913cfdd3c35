//! A daemon with its sample services, and what its API is asked for.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

/// Token of the administrator; the daemon listens on loopback, and ends with the report.
const TOKEN: &str = "gslb_hostile_report";

/// A running daemon. It ends when this is dropped.
pub struct Daemon {
    process: Child,
    log: Option<std::thread::JoinHandle<()>>,
    pub dns: SocketAddr,
    api: SocketAddr,
    pool: String,
}

impl Daemon {
    /// Starts it and makes a pool with two members, which always count as healthy.
    pub fn start(program: &Path) -> Result<Self> {
        let mut process = Command::new(program)
            .args([
                "--demo",
                "--dns-port",
                "0",
                "--api-port",
                "0",
                "--metrics-port",
                "0",
            ])
            .env("GSLB_API_KEY", TOKEN)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {}: build it first", program.display()))?;
        let stderr = process.stderr.take().context("no log")?;
        let mut daemon = Self {
            process,
            log: None,
            dns: SocketAddr::from(([0; 4], 0)),
            api: SocketAddr::from(([0; 4], 0)),
            pool: String::new(),
        };
        daemon.wait(stderr)?;
        let member = |ip: &str| json!({"ipAddress": ip, "port": 80, "adminState": "up"});
        let members = ["127.0.9.1", "127.0.9.2"].map(member);
        let pool = daemon.ask("POST", "/pools", &json!({"name": "report", "members": members}))?;
        daemon.pool = text(&pool, "id")?;
        Ok(daemon)
    }

    /// Reads the log until it tells the ports; goes on reading, so that the daemon never waits for a reader.
    fn wait(&mut self, stderr: ChildStderr) -> Result<()> {
        let mut lines = BufReader::new(stderr).lines();
        let mut seen = String::new();
        for line in lines.by_ref() {
            let line = line?;
            let port = |name: &str| {
                let rest = line.split_once(name)?.1;
                rest.split_whitespace().next()?.parse().ok()
            };
            if let (Some(dns), Some(api)) = (port("dns="), port("api=")) {
                (self.dns, self.api) = (dns, api);
                self.log = Some(std::thread::spawn(move || lines.for_each(drop)));
                return Ok(());
            }
            seen = seen + &line + "\n";
        }
        bail!("the daemon ended:\n{seen}")
    }

    /// A service of the pool with this chain.
    pub fn service(&self, name: &str, chain: &[&str]) -> Result<String> {
        let service = json!({
            "name": name,
            "domain": format!("{name}.report.example."),
            "poolId": self.pool,
            "filterChain": chain,
            "ttl": 1,
        });
        text(&self.ask("POST", "/services", &service)?, "id")
    }

    pub fn remove(&self, id: &str) -> Result<()> {
        self.ask("DELETE", &format!("/services/{id}"), &Value::Null)
            .map(drop)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let mut stream = TcpStream::connect(self.api)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        write!(
            stream,
            "{method} /api/v1{path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.api,
            body.len()
        )?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        let (head, content) = reply.split_once("\r\n\r\n").context("no HTTP")?;
        let status = head.split(' ').nth(1).unwrap_or_default();
        ensure!(status.starts_with('2'), "{method} {path}: {status} {content}");
        Ok(serde_json::from_str(content).unwrap_or_default())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Its files are temporary, and nobody waits for it.
        let _ = self.process.kill();
        let _ = self.process.wait();
        if let Some(log) = self.log.take() {
            let _ = log.join();
        }
    }
}

fn text(value: &Value, field: &str) -> Result<String> {
    let text = value.get(field).and_then(Value::as_str);
    Ok(text.with_context(|| format!("no {field} in {value}"))?.to_owned())
}
