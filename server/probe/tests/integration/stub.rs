//! Backends that behave and misbehave, and a prober to point at them.

use gslb_engine::model::{CheckKind, HealthCheck, HttpCheck, MemberId, PoolId, StatusRange};
use gslb_engine::slots::MemberSlot;
use gslb_probe::{HealthEvent, MemberStatus, Prober, ProberSettings, SystemClock, Target};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use uuid::Uuid;

/// Far longer than anything here takes: reaching it is a failure, not a measurement.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What a backend does once it has read the head of a request.
#[derive(Clone)]
pub enum Reply {
    /// Sends the pieces one by one and closes.
    Pieces(Vec<Vec<u8>>),
    /// Sends this once and then the piece again and again, every few milliseconds.
    Trickle(&'static str, &'static str),
    /// Says nothing and keeps the connection.
    Hang,
    /// Cuts the connection off, after these bytes.
    Reset(&'static str),
}

impl Reply {
    pub fn text(text: &str) -> Self {
        Self::Pieces(vec![text.as_bytes().to_vec()])
    }

    pub fn status(code: u16) -> Self {
        Self::text(&format!("HTTP/1.1 {code} Whatever\r\nContent-Length: 0\r\n\r\n"))
    }

    pub fn body(body: &str) -> Self {
        Self::text(&format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }
}

/// An HTTP backend.
pub struct Stub {
    pub address: SocketAddr,
    reply: Arc<Mutex<Reply>>,
    heads: Arc<Mutex<Vec<String>>>,
    pub open: Arc<AtomicUsize>,
    pub most_open: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Stub {
    pub async fn start(reply: Reply) -> Self {
        Self::bind("127.0.0.1:0", reply).await
    }

    pub async fn bind(address: &str, reply: Reply) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let reply = Arc::new(Mutex::new(reply));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (open, most_open) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut tasks = JoinSet::new();
        let (r, h, o, m) = (
            Arc::clone(&reply),
            Arc::clone(&heads),
            Arc::clone(&open),
            Arc::clone(&most_open),
        );
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                m.fetch_max(o.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let (reply, heads, open) = (Arc::clone(&r), Arc::clone(&h), Arc::clone(&o));
                connections.spawn(async move {
                    serve(stream, &reply, &heads).await;
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self {
            address,
            reply,
            heads,
            open,
            most_open,
            _tasks: tasks,
        }
    }

    pub fn set(&self, reply: Reply) {
        *self.reply.lock().unwrap() = reply;
    }

    /// The heads of all requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    pub fn hits(&self) -> usize {
        self.heads.lock().unwrap().len()
    }

    /// Requests for a path.
    pub fn hits_of(&self, path: &str) -> usize {
        let line = format!("GET {path} HTTP/1.1\r\n");
        self.heads().iter().filter(|head| head.starts_with(&line)).count()
    }
}

async fn serve(mut stream: TcpStream, reply: &Mutex<Reply>, heads: &Mutex<Vec<String>>) {
    let Some(head) = read_head(&mut stream).await else {
        return;
    };
    heads.lock().unwrap().push(head);
    let reply = reply.lock().unwrap().clone();
    if matches!(reply, Reply::Reset(_)) {
        stream.set_zero_linger().unwrap();
    }
    answer(&mut stream, reply).await;
}

/// Reads up to the empty line; nothing when the other side closes before.
pub async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// Does what the reply says. Errors are the prober's hanging up, which is its right.
pub async fn answer(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), reply: Reply) {
    match reply {
        Reply::Pieces(pieces) => {
            for piece in pieces {
                let _ = stream.write_all(&piece).await;
                let _ = stream.flush().await;
                tokio::task::yield_now().await;
            }
            let _ = stream.shutdown().await;
        }
        Reply::Trickle(start, piece) => {
            let _ = stream.write_all(start.as_bytes()).await;
            while stream.write_all(piece.as_bytes()).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Reply::Hang => {
            let _ = stream.read_u8().await;
        }
        Reply::Reset(start) => {
            let _ = stream.write_all(start.as_bytes()).await;
        }
    }
}

pub fn tcp(interval_ms: u32) -> HealthCheck {
    HealthCheck {
        kind: CheckKind::Tcp,
        port: None,
        interval_ms,
        timeout_ms: 10_000,
        rise: 1,
        fall: 1,
        score_window: 0,
    }
}

pub fn http(interval_ms: u32) -> HealthCheck {
    http_with(interval_ms, |_| ())
}

pub fn http_with(interval_ms: u32, change: impl FnOnce(&mut HttpCheck)) -> HealthCheck {
    let mut http = HttpCheck {
        path: "/".to_owned(),
        host: None,
        method: "GET".to_owned(),
        headers: Vec::new(),
        expected_status: vec![StatusRange { from: 200, to: 399 }],
        contains: None,
        tls: false,
        insecure_skip_verify: false,
    };
    change(&mut http);
    HealthCheck {
        kind: CheckKind::Http(http),
        ..tcp(interval_ms)
    }
}

/// A member of its own.
pub fn target(address: SocketAddr, check: HealthCheck) -> Target {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let member_id = MemberId(Uuid::from_u128(NEXT.fetch_add(1, Ordering::Relaxed).into()));
    Target {
        member_id,
        pool_id: PoolId(Uuid::from_u128(1)),
        address,
        check: Some(check),
        slot: Arc::new(MemberSlot::new(member_id)),
        last_known: None,
    }
}

pub fn prober(settings: ProberSettings) -> (Prober, UnboundedReceiver<HealthEvent>) {
    let (sender, events) = unbounded_channel();
    (Prober::start(settings, Arc::new(SystemClock), sender), events)
}

/// Waits until it holds.
pub async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let wait = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(
        tokio::time::timeout(PATIENCE, wait).await.is_ok(),
        "waited in vain until {what}"
    );
}

/// The next transition.
pub async fn next(events: &mut UnboundedReceiver<HealthEvent>) -> HealthEvent {
    tokio::time::timeout(PATIENCE, events.recv())
        .await
        .expect("no event came")
        .unwrap()
}

/// The status after one probe.
pub async fn probe_with(settings: ProberSettings, address: SocketAddr, check: HealthCheck) -> MemberStatus {
    let (prober, _events) = prober(settings);
    let target = target(
        address,
        HealthCheck {
            interval_ms: 3_600_000,
            ..check
        },
    );
    prober.set_targets(vec![target.clone()]);
    until("a probe has ended", || {
        prober.status(target.member_id).unwrap().last_probe_ms.is_some()
    })
    .await;
    let status = prober.status(target.member_id).unwrap();
    assert_eq!(target.slot.score(), status.score, "the slot says the same");
    assert_eq!(target.slot.rtt_ns(), status.rtt_ns, "the slot says the same");
    prober.shutdown().await;
    status
}

pub async fn probe(address: SocketAddr, check: HealthCheck) -> MemberStatus {
    probe_with(ProberSettings::default(), address, check).await
}

/// Why one probe fails; empty when it does not.
pub async fn failure(address: SocketAddr, check: HealthCheck) -> String {
    probe(address, check).await.last_error.unwrap_or_default()
}

/// A port on which nobody listens.
pub async fn closed_port(ip: &str) -> SocketAddr {
    TcpListener::bind((ip, 0)).await.unwrap().local_addr().unwrap()
}
