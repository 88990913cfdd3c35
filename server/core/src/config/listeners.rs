//! Ports that two listeners would both want. Told with the settings, before anything is bound: the error of the operating
//! system comes only with the second one, and names no setting.

use super::error::Problem;
use super::source::{Origin, place_of};
use super::table::Settings;
use std::net::{IpAddr, SocketAddr};

/// What travels to a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Udp,
    Tcp,
}

impl Protocol {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
        }
    }
}

/// A listener as the settings want it.
#[derive(Debug, Clone, Copy)]
struct Listener {
    /// The setting of its port.
    setting: &'static str,
    address: SocketAddr,
    protocol: Protocol,
}

impl Listener {
    /// Whether the operating system refuses one because of the other. `::` takes both families.
    fn clashes(&self, other: &Self) -> bool {
        let (one, two) = (self.address, other.address);
        let all = |ip: IpAddr, of: IpAddr| ip.is_unspecified() && (ip.is_ipv6() || of.is_ipv4());
        self.protocol == other.protocol
            && one.port() == two.port()
            && one.port() != 0
            && (one.ip() == two.ip() || all(one.ip(), two.ip()) || all(two.ip(), one.ip()))
    }
}

impl Settings {
    fn listeners(&self) -> Vec<Listener> {
        let (dns, api, metrics) = (&self.dns, &self.api, &self.metrics);
        let mut listeners = Vec::new();
        let mut add = |setting, ip: IpAddr, port: Option<u16>, protocol| {
            listeners.extend(port.map(|port| Listener {
                setting,
                address: SocketAddr::new(ip, port),
                protocol,
            }));
        };
        add("dns.port", dns.listen_addr, Some(dns.port.0), Protocol::Udp);
        add("dns.port", dns.listen_addr, Some(dns.port.0), Protocol::Tcp);
        // Without a certificate there is none of these.
        if dns.tls_cert.is_some() {
            add("dns.tlsPort", dns.listen_addr, dns.tls_port.0, Protocol::Tcp);
            add("dns.quicPort", dns.listen_addr, dns.quic_port.0, Protocol::Udp);
            add("dns.httpsPort", dns.listen_addr, dns.https_port.0, Protocol::Tcp);
        }
        add("api.port", api.listen_addr, Some(api.port.0), Protocol::Tcp);
        add(
            "metrics.port",
            metrics.listen_addr,
            Some(metrics.port.0),
            Protocol::Tcp,
        );
        listeners
    }

    /// Each pair of listeners that want the same port: told where the later one is set, or the other if only that is.
    pub(super) fn clashes(&self) -> Vec<Problem> {
        let listeners = self.listeners();
        let mut problems = Vec::new();
        for (index, two) in listeners.iter().enumerate() {
            for one in listeners.iter().take(index).filter(|one| one.clashes(two)) {
                let is_default = self.origin(two.setting) == Origin::Default;
                let (at, other) = if is_default { (one, two) } else { (two, one) };
                problems.push(Problem {
                    place: place_of(&self.origin(at.setting)),
                    message: format!(
                        "`{}` is {} {}, where `{}` ({}) listens too, on {}",
                        at.setting,
                        at.protocol.as_str(),
                        at.address,
                        other.setting,
                        place_of(&self.origin(other.setting)),
                        other.address,
                    ),
                });
            }
        }
        problems
    }
}
