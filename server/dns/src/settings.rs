//! What the daemon configures.

use crate::certificate::Certificate;
use std::net::SocketAddr;
use std::time::Duration;

/// Limits of TCP service (RFC 7766 §6.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpLimits {
    /// Connections open at the same time, over all listen addresses.
    pub connections: usize,
    /// Connections of one client (an IPv4 address, an IPv6 /64) at the same time.
    pub connections_per_client: usize,
    /// A connection is closed when it has brought no whole query for this long, or does not take its answers.
    pub idle: Duration,
}

impl Default for TcpLimits {
    fn default() -> Self {
        Self {
            connections: 1024,
            connections_per_client: 64,
            idle: Duration::from_secs(10),
        }
    }
}

/// The encrypted transports.
#[derive(Debug, Clone)]
pub struct Encrypted {
    /// What clients are shown.
    pub certificate: Certificate,
    /// Addresses for DNS over TLS (RFC 7858). Limits are those of TCP, which they share.
    pub tls: Vec<SocketAddr>,
    /// Addresses for DNS over QUIC (RFC 9250).
    pub quic: Vec<SocketAddr>,
}

/// Settings of the DNS server.
#[derive(Debug, Clone, Default)]
pub struct DnsSettings {
    /// Addresses to listen on, each over UDP and TCP. Port 0 takes a free one, the same for both. An IPv6 address
    /// serves IPv6 only: `[::]` does not include `0.0.0.0`.
    pub listen: Vec<SocketAddr>,
    /// UDP threads per listen address; 0: one for each core.
    pub udp_threads: usize,
    /// Server identifier (RFC 5001) for queries that ask; at most [`MAX_NSID`](Self::MAX_NSID) octets.
    pub nsid: Option<Vec<u8>>,
    /// TCP.
    pub tcp: TcpLimits,
    /// DNS over TLS and QUIC; none without a certificate.
    pub encrypted: Option<Encrypted>,
}

impl DnsSettings {
    /// Most octets of the server identifier: with the longest name and every other option it still fits into 512.
    pub const MAX_NSID: usize = 64;
}
