//! TCP (RFC 7766), plain and with TLS in it (RFC 7858): an accept loop for each listen address, a task for each connection.

mod connection;
pub(crate) mod limits;

use crate::bridge::Context;
use crate::messages::Messages;
use crate::settings::TcpLimits;
use crate::slow::SlowLane;
use crate::stats::{DnsStats, Transport};
use limits::Limiter;
use rustls::ServerConfig;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Pause after a failed accept: mostly for want of file descriptors, which only come back with time.
const PAUSE: Duration = Duration::from_millis(50);

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
            let Some(permit) = self.limiter.admit(peer.ip()) else {
                self.stats().tcp_refused();
                continue;
            };
            let service = self.clone();
            self.tasks.spawn(async move {
                service.stats().tcp_opened();
                let abort = service.abort.clone();
                abort.run_until_cancelled(service.open(stream, peer)).await;
                service.stats().tcp_closed();
                drop(permit);
            });
        }
    }

    async fn open(&self, stream: TcpStream, peer: SocketAddr) {
        let Some(tls) = &self.tls else {
            return self.serve(stream, peer).await;
        };
        let shake = self.stop.run_until_cancelled(timeout(
            self.idle,
            TlsAcceptor::from(Arc::clone(tls)).accept(stream),
        ));
        // A client that does not get through its handshake has its own log.
        if let Some(Ok(Ok(stream))) = shake.await {
            self.serve(stream, peer).await;
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
