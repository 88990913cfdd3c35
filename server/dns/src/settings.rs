//! What the daemon configures.

use crate::certificate::Certificate;
use crate::cookie::CookieSecret;
use crate::wire::MAX_PAYLOAD;
use ipnet::IpNet;
use std::net::SocketAddr;
use std::time::Duration;

/// Limits of TCP service (RFC 7766 §6.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpLimits {
    /// Connections open at the same time, over all listen addresses. One more takes the place of one that has not asked
    /// for long.
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

/// Response rate limiting over UDP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    /// Replies of one kind (answers, empty answers, names that do not exist, errors) that a client network gets in a
    /// second; 0 is no limit.
    pub responses_per_second: u32,
    /// Every so many limited replies one says "truncated" instead of being left out; 0: none does.
    pub slip: u32,
    /// Bits of an IPv4 client network.
    pub ipv4_prefix: u8,
    /// Bits of an IPv6 client network.
    pub ipv6_prefix: u8,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self {
            responses_per_second: 0,
            slip: 2,
            ipv4_prefix: 24,
            ipv6_prefix: 56,
        }
    }
}

/// Settings of the DNS server.
#[derive(Debug, Clone)]
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
    /// Secrets of DNS cookies: the first makes, all are accepted. Without any one is made up.
    pub cookies: Vec<CookieSecret>,
    /// Octets of a UDP reply to a client without a cookie of ours, at most; not less than 512 counts, nor more than 1232.
    /// What is longer is truncated, so that the server is of no use to send much to whom has not asked.
    pub payload_without_cookie: u16,
    /// Response rate limiting.
    pub rate: RateLimit,
    /// Networks that must begin each datagram and each connection, with TLS or without, with a header of the PROXY
    /// protocol, version 2: the client is the one it names. Such addresses must not be open to others, who could then
    /// claim to be anybody.
    pub proxies: Vec<IpNet>,
    /// Transfers of zones that may be on their way at the same time.
    pub transfers: usize,
}

impl Default for DnsSettings {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            udp_threads: 0,
            nsid: None,
            tcp: TcpLimits::default(),
            encrypted: None,
            cookies: Vec::new(),
            payload_without_cookie: MAX_PAYLOAD,
            rate: RateLimit::default(),
            proxies: Vec::new(),
            transfers: 16,
        }
    }
}

impl DnsSettings {
    /// Most octets of the server identifier: with the longest name and every other option it still fits into 512.
    pub const MAX_NSID: usize = 64;
}
