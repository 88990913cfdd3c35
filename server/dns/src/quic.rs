//! DNS over QUIC (RFC 9250): a stream of its own for each query, so that none waits for another.

use crate::bind::bind_udp;
use crate::bridge::unix_now;
use crate::messages::{Messages, Replies};
use crate::settings::TcpLimits;
use crate::tcp::limits::{Limiter, Permit};
use crate::transfer::{Step, Transfer};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Connection, Endpoint, EndpointConfig, Incoming, RecvStream, SendStream, TokioRuntime, VarInt};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What a connection or a stream ends with (RFC 9250 §8.4).
const NO_ERROR: VarInt = VarInt::from_u32(0);
const INTERNAL_ERROR: VarInt = VarInt::from_u32(1);
const PROTOCOL_ERROR: VarInt = VarInt::from_u32(2);
/// Queries that a connection may have open at the same time.
const STREAMS: u32 = 100;
/// Longest message with its length in front.
const MESSAGE: usize = 2 + u16::MAX as usize;
/// Octets that a connection may send ahead of what is read: some queries, of which few are longer than a hundred.
const WINDOW: u32 = 256 * 1024;
/// An answer counts as delivered when the client has confirmed it, or after this.
const DELIVERY: Duration = Duration::from_secs(1);

/// What all connections share.
#[derive(Debug, Clone)]
pub(crate) struct QuicService {
    messages: Messages,
    limiter: Arc<Limiter>,
    idle: Duration,
    /// No new connections and queries; those that have come are answered.
    stop: CancellationToken,
    /// Close at once.
    abort: CancellationToken,
    tasks: TaskTracker,
}

impl QuicService {
    pub(crate) fn new(messages: Messages, limits: &TcpLimits) -> Self {
        Self {
            messages,
            limiter: Limiter::new(limits),
            idle: limits.idle,
            stop: CancellationToken::new(),
            abort: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// Binds an address and begins to answer there. Must be called inside a tokio runtime. Returns the address with its
    /// real port.
    ///
    /// # Errors
    /// The address cannot be had.
    pub(crate) fn listen(
        &self,
        address: SocketAddr,
        tls: Arc<rustls::ServerConfig>,
    ) -> io::Result<SocketAddr> {
        let socket = bind_udp(address, 1)?
            .pop()
            .ok_or_else(|| io::Error::other("no socket"))?;
        socket.set_nonblocking(true)?;
        let crypto = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
        let mut config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
        let mut transport = quinn::TransportConfig::default();
        transport
            .max_concurrent_bidi_streams(STREAMS.into())
            .max_concurrent_uni_streams(VarInt::from_u32(0))
            .stream_receive_window(VarInt::from_u32(WINDOW))
            .receive_window(VarInt::from_u32(WINDOW))
            .max_idle_timeout(Some(self.idle.try_into().map_err(io::Error::other)?));
        config.transport_config(Arc::new(transport));
        let endpoint = Endpoint::new(
            EndpointConfig::default(),
            Some(config),
            socket.into(),
            Arc::new(TokioRuntime),
        )?;
        let bound = endpoint.local_addr()?;
        let service = self.clone();
        self.tasks.spawn(async move { service.accept(endpoint).await });
        Ok(bound)
    }

    async fn accept(&self, endpoint: Endpoint) {
        let connections = TaskTracker::new();
        while let Some(Some(incoming)) = self.stop.run_until_cancelled(endpoint.accept()).await {
            let Some(permit) = self.limiter.admit(incoming.remote_address().ip()) else {
                self.messages.context().stats.tcp_refused();
                incoming.refuse();
                continue;
            };
            let service = self.clone();
            connections.spawn(async move {
                let lost = permit.lost();
                if lost
                    .run_until_cancelled(service.open(incoming, &permit))
                    .await
                    .is_none()
                {
                    service.messages.context().stats.tcp_replaced();
                }
            });
        }
        // Whoever comes now is told so.
        endpoint.set_server_config(None);
        connections.close();
        self.abort.run_until_cancelled(connections.wait()).await;
        endpoint.close(NO_ERROR, b"");
        // The farewells are still to be sent.
        let _ = timeout(DELIVERY, endpoint.wait_idle()).await;
    }

    async fn open(&self, incoming: Incoming, permit: &Permit) {
        // A client that does not get through its handshake has its own log.
        let Ok(connecting) = incoming.accept() else { return };
        let Ok(Ok(connection)) = timeout(self.idle, connecting).await else {
            return;
        };
        let peer = connection.remote_address();
        let queries = TaskTracker::new();
        while let Some(Ok((send, receive))) = self.stop.run_until_cancelled(connection.accept_bi()).await {
            permit.asked();
            let (service, connection) = (self.clone(), connection.clone());
            queries.spawn(async move { service.answer(&connection, send, receive, peer).await });
        }
        queries.close();
        queries.wait().await;
        connection.close(NO_ERROR, b"");
    }

    async fn answer(
        &self,
        connection: &Connection,
        mut send: SendStream,
        mut receive: RecvStream,
        peer: SocketAddr,
    ) {
        // A stream that ends before its time is the client's affair.
        let Ok(Ok(octets)) = timeout(self.idle, receive.read_to_end(MESSAGE)).await else {
            return;
        };
        // One query on a stream, whole, with id 0 (§4.2, §4.2.1): anything else ends the connection (§4.3.3).
        let query = octets
            .split_first_chunk::<2>()
            .filter(|(length, message)| usize::from(u16::from_be_bytes(**length)) == message.len())
            .map(|(_, message)| message)
            .filter(|message| message.starts_with(&[0, 0]));
        let replies = match query {
            Some(message) => self.messages.replies(message, peer).await,
            None => None,
        };
        let sent = match replies {
            Some(Replies::One(reply)) => self.write(&mut send, &reply).await,
            Some(Replies::Zone(transfer)) => self.send_zone(&mut send, *transfer).await,
            None => {
                connection.close(PROTOCOL_ERROR, b"a stream carries one whole query with id 0");
                return;
            }
        };
        match sent {
            Some(()) => {
                let delivered = send.finish().map(|()| send.stopped());
                if let Ok(delivered) = delivered {
                    let _ = timeout(self.idle.min(DELIVERY), delivered).await;
                }
            }
            // What has been sent is not all (RFC 9250 §4.3.2). The client may have said that it wants no more.
            None => {
                let _ = send.reset(INTERNAL_ERROR);
            }
        }
    }

    /// Sends a message with its length. `None`: the client does not want it, or does not read.
    async fn write(&self, send: &mut SendStream, message: &[u8]) -> Option<()> {
        let length = u16::try_from(message.len()).ok()?.to_be_bytes();
        let framed = [&length[..], message].concat();
        timeout(self.idle, send.write_all(&framed)).await.ok()?.ok()
    }

    /// Sends a zone on one stream (RFC 9250 §4.2). Other streams go on meanwhile.
    async fn send_zone(&self, send: &mut SendStream, mut transfer: Transfer) -> Option<()> {
        loop {
            match transfer.step(unix_now()) {
                Step::More => yield_now().await,
                Step::Message(message) => self.write(send, &message).await?,
                Step::End => return Some(()),
                Step::Broken => {
                    tracing::error!("a zone has a record that no message can hold: it cannot be transferred");
                    return None;
                }
            }
        }
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
