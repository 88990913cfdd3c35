//! A real server on loopback and a client that sends octets.

pub mod ask;
pub mod dnssec;
pub mod quic;
pub mod records;
pub mod reply;
pub mod secure;
pub mod transfer;
pub mod tsig;
pub mod world;

use ask::Ask;
use gslb_dns::{DnsCounts, DnsServer, DnsSettings, DnsStats};
use gslb_engine::model::Tier;
use gslb_engine::snapshot::SnapshotCell;
use reply::Reply;
use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Longest wait for something that must happen.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A server and the runtime it needs.
pub struct Server {
    pub address: SocketAddr,
    pub stats: Arc<DnsStats>,
    pub cell: Arc<SnapshotCell>,
    /// The connection that single queries share: each of its own would leave a port in TIME_WAIT.
    tcp: RefCell<Option<TcpStream>>,
    server: Option<DnsServer>,
    runtime: Runtime,
}

impl Server {
    /// Serves the world on a free port of 127.0.0.1.
    pub fn start() -> Self {
        Self::with(Tier::Enterprise, |_| {})
    }

    pub fn with(tier: Tier, change: impl FnOnce(&mut DnsSettings)) -> Self {
        let mut settings = DnsSettings {
            listen: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
            udp_threads: 1,
            ..DnsSettings::default()
        };
        change(&mut settings);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let cell = Arc::new(SnapshotCell::new(world::snapshot(tier)));
        let stats = Arc::new(DnsStats::new());
        let guard = runtime.enter();
        let server = DnsServer::start(settings, Arc::clone(&cell), Arc::clone(&stats)).unwrap();
        drop(guard);
        Self {
            address: server.local_addrs()[0],
            stats,
            cell,
            tcp: RefCell::new(None),
            server: Some(server),
            runtime,
        }
    }

    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.server.as_ref().unwrap().local_addrs().to_vec()
    }

    pub fn tls_address(&self) -> SocketAddr {
        self.server.as_ref().unwrap().tls_addrs()[0]
    }

    pub fn quic_address(&self) -> SocketAddr {
        self.server.as_ref().unwrap().quic_addrs()[0]
    }

    /// Stops the server and waits until it has.
    pub fn shutdown(mut self, grace: Duration) -> Arc<DnsStats> {
        let server = self.server.take().unwrap();
        self.runtime.block_on(server.shutdown(grace));
        Arc::clone(&self.stats)
    }

    /// The reply over UDP.
    pub fn udp(&self, ask: &Ask) -> Reply {
        Reply::new(self.udp_octets(&ask.octets()).expect("a reply"))
    }

    /// The reply over TCP.
    pub fn tcp(&self, ask: &Ask) -> Reply {
        let mut tcp = self.tcp.borrow_mut();
        let stream = tcp.get_or_insert_with(|| self.connect());
        send(stream, &ask.octets());
        Reply::new(receive(stream).expect("a reply"))
    }

    /// The reply over UDP and over TCP; they must not differ.
    pub fn both(&self, ask: &Ask) -> Reply {
        let (udp, tcp) = (self.udp(ask), self.tcp(ask));
        assert_eq!(udp.raw, tcp.raw, "UDP and TCP differ for {ask:?}");
        udp
    }

    /// Sends octets over UDP. A query that is certainly answered follows; what comes before its answer is the reply.
    pub fn udp_octets(&self, octets: &[u8]) -> Option<Vec<u8>> {
        let socket = UdpSocket::bind((self.address.ip(), 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.send_to(octets, self.address).unwrap();
        let mut marker = Ask::new("marker.gslb.test.", ask::TXT);
        marker.id = octets.first_chunk().map_or(0, |id| !u16::from_be_bytes(*id));
        socket.send_to(&marker.octets(), self.address).unwrap();
        let mut buffer = vec![0; 65_536];
        let mut reply = None;
        loop {
            let (length, from) = socket.recv_from(&mut buffer).expect("the marker's answer");
            assert_eq!(from, self.address);
            if length > 12 && buffer[12..length].starts_with(b"\x06marker") {
                return reply;
            }
            assert!(
                reply.replace(buffer[..length].to_vec()).is_none(),
                "one reply at most"
            );
        }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub fn counts(&self) -> DnsCounts {
        self.stats.snapshot()
    }

    /// Waits until the counters say so.
    pub fn until(&self, what: &str, condition: impl Fn(&DnsCounts) -> bool) {
        let begin = Instant::now();
        while !condition(&self.counts()) {
            assert!(
                begin.elapsed() < PATIENCE,
                "never happened: {what}: {:?}",
                self.counts()
            );
            std::thread::yield_now();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.shutdown(Duration::ZERO));
        }
    }
}

/// Sends a message with its length.
pub fn send(stream: &mut impl Write, message: &[u8]) {
    stream.write_all(&framed(message)).unwrap();
}

/// A message with its length in front.
pub fn framed(message: &[u8]) -> Vec<u8> {
    [&u16::try_from(message.len()).unwrap().to_be_bytes()[..], message].concat()
}

/// The next message; `None` when the server has closed the connection.
pub fn receive(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut length = [0; 2];
    match stream.read_exact(&mut length) {
        Ok(()) => {}
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset
            ) =>
        {
            return None;
        }
        Err(error) => panic!("no message and no end: {error}"),
    }
    let mut message = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut message).unwrap();
    Some(message)
}
