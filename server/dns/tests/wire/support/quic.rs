//! A client of DNS over QUIC.

use super::secure::Pair;
use super::{PATIENCE, Server};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, RecvStream, SendStream};
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// Longest reply that is read: a zone of some messages.
const MOST: usize = 4 << 20;

/// One connection.
pub struct Client {
    runtime: Runtime,
    connection: Connection,
    _endpoint: Endpoint,
}

impl Client {
    pub fn new(server: &Server, pair: &Pair) -> Self {
        Self::speaking(server, pair, b"doq").unwrap()
    }

    /// Connects with this protocol (ALPN).
    pub fn speaking(server: &Server, pair: &Pair, protocol: &[u8]) -> Result<Self, ConnectionError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let tls = QuicClientConfig::try_from(pair.client(protocol)).unwrap();
        let (endpoint, connection) = runtime.block_on(async {
            let endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
            let config = ClientConfig::new(Arc::new(tls));
            let connecting = endpoint.connect_with(config, server.quic_address(), "localhost");
            let connection = timeout(PATIENCE, connecting.unwrap()).await.unwrap();
            (endpoint, connection)
        });
        Ok(Self {
            runtime,
            connection: connection?,
            _endpoint: endpoint,
        })
    }

    /// Sends octets on a stream of their own, and reads what comes back.
    pub fn exchange(&self, octets: &[u8]) -> Option<Vec<u8>> {
        self.runtime
            .block_on(exchange(self.connection.clone(), octets.to_vec()))
    }

    /// The same on so many streams at once.
    pub fn exchange_at_once(&self, octets: &[u8], streams: usize) -> Vec<Option<Vec<u8>>> {
        let one = || {
            self.runtime
                .spawn(exchange(self.connection.clone(), octets.to_vec()))
        };
        let all: Vec<_> = (0..streams).map(|_| one()).collect();
        all.into_iter()
            .map(|task| self.runtime.block_on(task).unwrap())
            .collect()
    }

    /// Does something with a new stream.
    pub fn on_stream<T>(&self, act: impl AsyncFnOnce(SendStream, RecvStream) -> T) -> T {
        self.runtime.block_on(async {
            let (send, receive) = self.connection.open_bi().await.unwrap();
            act(send, receive).await
        })
    }

    /// What the connection ends with.
    pub fn end(&self) -> ConnectionError {
        self.runtime
            .block_on(async { timeout(PATIENCE, self.connection.closed()).await.unwrap() })
    }
}

async fn exchange(connection: Connection, octets: Vec<u8>) -> Option<Vec<u8>> {
    let (mut send, mut receive) = connection.open_bi().await.ok()?;
    send.write_all(&octets).await.ok()?;
    send.finish().ok()?;
    timeout(PATIENCE, receive.read_to_end(MOST)).await.unwrap().ok()
}
