//! From the settings to those of the DNS server, of probes and of what looks names up.

use crate::state::unix_seconds;
use gslb_core::config::{PortOrOff, Settings};
use gslb_dns::{Certificate, CookieSecret, DnsSettings, Encrypted, RateLimit, TcpLimits};
use gslb_probe::{Names, SystemClock, Upstream};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Starts what looks host names up: at the configured resolvers, those of the system, or the one that a system without a
/// list of them has (resolv.conf(5)).
pub(super) fn start_names(settings: &Settings) -> anyhow::Result<Names> {
    let clock = Arc::new(SystemClock);
    let servers = &settings.dns.resolvers.0;
    if !servers.is_empty() {
        return Ok(Names::start(&Upstream::Servers(servers.clone()), clock)?);
    }
    Names::start(&Upstream::System, clock.clone()).or_else(|error| {
        tracing::warn!(%error, "host names are looked up at 127.0.0.1");
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 53));
        Ok(Names::start(&Upstream::Servers(vec![local]), clock)?)
    })
}

/// Routing follows a round-trip time that has moved by this much.
pub(super) fn rtt_threshold(settings: &Settings) -> Duration {
    Duration::try_from_secs_f64(settings.latency.min_rtt_threshold_ms.0 / 1_000.0).unwrap_or_default()
}

/// The configured addresses of DNS, with a port.
fn dns_addresses(settings: &Settings, port: u16) -> Vec<SocketAddr> {
    let ip = settings.dns.listen_addr;
    let mut addresses = vec![SocketAddr::new(ip, port)];
    if ip == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        // A socket of its own for IPv4: the one for IPv6 takes that family alone.
        addresses.push(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port));
    }
    addresses
}

pub(super) fn dns_settings(settings: &Settings, certificate: Option<&Certificate>) -> DnsSettings {
    let dns = &settings.dns;
    let at = |port: PortOrOff| {
        let addresses = port.0.map(|port| dns_addresses(settings, port));
        addresses.unwrap_or_default()
    };
    DnsSettings {
        listen: dns_addresses(settings, dns.port.0),
        udp_threads: size(dns.udp_threads),
        nsid: dns.nsid.as_ref().map(|text| text.clone().into_bytes()),
        encrypted: certificate.map(|certificate| Encrypted {
            certificate: certificate.clone(),
            tls: at(dns.tls_port),
            quic: at(dns.quic_port),
        }),
        tcp: TcpLimits {
            connections: size(settings.dns.tcp_connections),
            connections_per_client: size(settings.dns.tcp_connections_per_client),
            idle: Duration::from_secs(settings.dns.tcp_idle_seconds.into()),
        },
        cookies: cookie_secrets(settings),
        // The settings have been checked: none of these is cut.
        payload_without_cookie: settings.dns.payload_without_cookie.min(1232) as u16,
        rate: RateLimit {
            responses_per_second: settings.rate_limit.responses_per_second,
            slip: settings.rate_limit.slip,
            ipv4_prefix: settings.rate_limit.ipv4_prefix.min(32) as u8,
            ipv6_prefix: settings.rate_limit.ipv6_prefix.min(128) as u8,
        },
        proxies: dns.proxy_protocol_from.0.clone(),
        transfers: size(dns.transfers),
    }
}

/// A number of settings as one of things.
pub(super) fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The configured secrets of DNS cookies, or those kept beside the database.
fn cookie_secrets(settings: &Settings) -> Vec<CookieSecret> {
    let mut secrets = settings.dns.cookie_secrets.0.clone();
    if secrets.is_empty() {
        let folder = settings.database.path.parent().unwrap_or(Path::new(""));
        let kept = gslb_core::cookies::kept_in(folder, unix_seconds());
        secrets = kept.unwrap_or_else(|error| {
            tracing::warn!(%error, "secrets of DNS cookies cannot be kept: the next start makes new ones");
            Vec::new()
        });
    }
    secrets.into_iter().map(CookieSecret::new).collect()
}
