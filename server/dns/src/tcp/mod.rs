//! TCP (RFC 7766), plain and with TLS in it (RFC 7858): an accept loop for each listen address, a task for each connection.

mod connection;
pub(crate) mod limits;

use crate::bridge::{Context, unix_now};
use crate::messages::Messages;
use crate::proxy::{self, Header, ProxyFault};
use crate::settings::TcpLimits;
use crate::slow::SlowLane;
use crate::stats::{DnsStats, Transport};
use limits::{Limiter, Permit};
use rustls::ServerConfig;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Pause after a failed accept: mostly for want of file descriptors, which only come back with time.
const PAUSE: Duration = Duration::from_millis(50);

/// Reads the header of a proxy and nothing behind it: whom it speaks for, if for another.
async fn read_header(stream: &mut TcpStream) -> std::io::Result<Result<Option<SocketAddr>, ProxyFault>> {
    let mut octets = [0; proxy::MOST];
    let mut have = 0;
    loop {
        match proxy::read(octets.get(..have).unwrap_or_default()) {
            Header::Whole { client, .. } => return Ok(Ok(client)),
            Header::Not(fault) => return Ok(Err(fault)),
            Header::Cut(need) => {
                let missing = octets.get_mut(have..need).unwrap_or_default();
                if missing.is_empty() {
                    return Ok(Err(ProxyFault::Bad));
                }
                stream.read_exact(missing).await?;
                have = need;
            }
        }
    }
}

/// What all connections share.
#[derive(Debug, Clone)]
pub(crate) struct TcpService {
    messages: Messages,
    /// Connections speak TLS before anything else.
    tls: Option<Arc<ServerConfig>>,
    limiter: Arc<Limiter>,
    idle: Duration,
    /// No new connections; those that are open answer what they have and close.
    stop: CancellationToken,
    /// Close at once.
    abort: CancellationToken,
    tasks: TaskTracker,
}

impl TcpService {
    pub(crate) fn new(context: &Arc<Context>, slow: &Arc<SlowLane>, limits: &TcpLimits) -> Self {
        Self {
            messages: Messages::new(context, slow, Transport::Tcp),
            tls: None,
            limiter: Limiter::new(limits),
            idle: limits.idle,
            stop: CancellationToken::new(),
            abort: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// The same service, its limits included, for connections that speak TLS.
    pub(crate) fn over_tls(&self, tls: Arc<ServerConfig>) -> Self {
        Self {
            messages: self.messages.over(Transport::Tls),
            tls: Some(tls),
            ..self.clone()
        }
    }

    /// Starts the accept loop of a listener. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When the runtime cannot watch the socket.
    pub(crate) fn listen(&self, listener: StdListener) -> std::io::Result<()> {
        let listener = TcpListener::from_std(listener)?;
        let service = self.clone();
        self.tasks.spawn(async move {
            // The listener is closed with the future, at the latest when it is told to stop.
            let stop = service.stop.clone();
            stop.run_until_cancelled(service.accept(listener)).await;
        });
        Ok(())
    }

    async fn accept(&self, listener: TcpListener) {
        let mut failing = false;
        loop {
            let (stream, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                // One connection was gone before it was accepted.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => continue,
                Err(error) => {
                    // Said once for a row of failures.
                    if !std::mem::replace(&mut failing, true) {
                        tracing::warn!(%error, "DNS connections cannot be accepted");
                    }
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            failing = false;
            let proxy = self.is_proxy(peer);
            let permit = if proxy {
                self.limiter.admit_anyone()
            } else {
                self.limiter.admit(peer.ip())
            };
            let Some(permit) = permit else {
                self.stats().tcp_refused();
                continue;
            };
            let service = self.clone();
            self.tasks.spawn(async move {
                service.stats().tcp_opened();
                service.hold(stream, peer, proxy, permit).await;
                service.stats().tcp_closed();
            });
        }
    }

    fn is_proxy(&self, peer: SocketAddr) -> bool {
        let proxies = self.messages.context().proxies.as_ref();
        proxies.is_some_and(|proxies| proxies.contain(peer.ip().to_canonical()))
    }

    /// Serves a connection until it ends or another one takes its place.
    async fn hold(&self, stream: TcpStream, peer: SocketAddr, proxy: bool, mut permit: Permit) {
        let (abort, lost) = (self.abort.clone(), permit.lost());
        let open = async {
            if proxy {
                self.open_for_another(stream, peer, &mut permit).await;
            } else {
                self.open(stream, peer, &permit).await;
            }
        };
        let kept = lost.run_until_cancelled(abort.run_until_cancelled(open)).await;
        if kept.is_none() {
            self.stats().tcp_replaced();
        }
    }

    /// Serves a connection that a proxy has made for the client that it names.
    async fn open_for_another(&self, mut stream: TcpStream, proxy: SocketAddr, permit: &mut Permit) {
        let header = timeout(self.idle, read_header(&mut stream));
        let client = match self.stop.run_until_cancelled(header).await {
            Some(Ok(Ok(Ok(client)))) => client.unwrap_or(proxy),
            Some(Ok(Ok(Err(fault)))) => {
                let ip = proxy.ip().to_canonical();
                return self.stats().proxy_refused(ip, fault, unix_now());
            }
            // It has gone, said nothing, or the server stops.
            _ => return,
        };
        if permit.claim(client.ip()) {
            self.open(stream, client, permit).await;
        } else {
            self.stats().tcp_refused();
        }
    }

    async fn open(&self, stream: TcpStream, peer: SocketAddr, permit: &Permit) {
        let Some(tls) = &self.tls else {
            return self.serve(stream, peer, permit).await;
        };
        let shake = self.stop.run_until_cancelled(timeout(
            self.idle,
            TlsAcceptor::from(Arc::clone(tls)).accept(stream),
        ));
        // A client that does not get through its handshake has its own log.
        if let Some(Ok(Ok(stream))) = shake.await {
            self.serve(stream, peer, permit).await;
        }
    }

    pub(crate) fn messages(&self) -> &Messages {
        &self.messages
    }

    fn stats(&self) -> &DnsStats {
        &self.messages.context().stats
    }

    /// Tells everything to end. Does not wait.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
    }

    /// Waits until all connections have ended; after `grace` they are closed.
    pub(crate) async fn drain(&self, grace: Duration) {
        if timeout(grace, self.tasks.wait()).await.is_err() {
            self.abort.cancel();
            self.tasks.wait().await;
        }
    }
}
