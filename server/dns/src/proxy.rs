//! PROXY protocol, version 2: whom a load balancer in front of the server speaks for.
//!
//! A header in binary form begins each datagram, and each connection, of the networks that are trusted to send one. The
//! client of a query is then the address in it: for steering, limits, cookies and the log. Replies go back to the proxy,
//! without a header.

use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What every header begins with.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// What a header of version 1 begins with.
const VERSION_1: &[u8; 6] = b"PROXY ";
/// Octets of a header before its addresses.
const FIXED: usize = 16;
/// Octets of addresses and what else there is, at most. The addresses take 36.
const MOST_REST: usize = 512;
/// Octets of a header, at most.
pub(crate) const MOST: usize = FIXED + MOST_REST;

/// Why a message of a proxy is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyFault {
    /// No header. A proxy must not leave it out: whose query it is cannot be told.
    Missing,
    /// A header of the version in text, which is not read.
    Version1,
    /// A header that says nothing.
    Bad,
}

impl ProxyFault {
    /// What the log says.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "there is no PROXY header",
            Self::Version1 => "PROXY protocol version 1; version 2 is wanted",
            Self::Bad => "the PROXY header is broken",
        }
    }
}

/// What stands at the beginning of a datagram or connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// Something else, or a header that breaks a rule.
    Not(ProxyFault),
    /// The beginning of a header, which can be judged when there are so many octets.
    Cut(usize),
    /// A header.
    Whole {
        /// Whom the sender speaks for; `None`: for itself.
        client: Option<SocketAddr>,
        /// Octets it takes.
        length: usize,
    },
}

/// Whether a message is really a header.
pub(crate) fn is_header(octets: &[u8]) -> bool {
    octets.starts_with(SIGNATURE)
}

/// Reads what `octets` begin with.
pub(crate) fn read(octets: &[u8]) -> Header {
    if octets.starts_with(VERSION_1) {
        return Header::Not(ProxyFault::Version1);
    }
    let Some((fixed, rest)) = octets.split_first_chunk::<FIXED>() else {
        let begun = octets
            .get(..SIGNATURE.len().min(octets.len()))
            .unwrap_or_default();
        return if SIGNATURE.starts_with(begun) {
            Header::Cut(FIXED)
        } else {
            Header::Not(ProxyFault::Missing)
        };
    };
    let Some((&[command, family, high, low], [])) = fixed
        .strip_prefix(SIGNATURE)
        .and_then(|fields| fields.split_first_chunk::<4>())
    else {
        return Header::Not(ProxyFault::Missing);
    };
    let size = usize::from(u16::from_be_bytes([high, low]));
    if size > MOST_REST {
        return Header::Not(ProxyFault::Bad);
    }
    let length = FIXED + size;
    let Some(rest) = rest.get(..size) else {
        return Header::Cut(length);
    };
    let client = match command {
        // LOCAL: the addresses, if there are any, mean nothing.
        0x20 => None,
        0x21 => match client(family, rest) {
            Ok(client) => client,
            Err(()) => return Header::Not(ProxyFault::Bad),
        },
        _ => return Header::Not(ProxyFault::Bad),
    };
    Header::Whole { client, length }
}

/// The source address; what stands behind the addresses means nothing here.
fn client(family: u8, rest: &[u8]) -> Result<Option<SocketAddr>, ()> {
    match family {
        // Unspecified: the sender cannot tell.
        0x00 => Ok(None),
        // A query may reach the proxy over one transport, and this server over another.
        0x11 | 0x12 => {
            let (&[a, b, c, d, _, _, _, _, p0, p1, _, _], _) = rest.split_first_chunk::<12>().ok_or(())?;
            let port = u16::from_be_bytes([p0, p1]);
            Ok(Some(SocketAddr::new(Ipv4Addr::new(a, b, c, d).into(), port)))
        }
        0x21 | 0x22 => {
            let (source, rest) = rest.split_first_chunk::<16>().ok_or(())?;
            let (&[.., p0, p1, _, _], _) = rest.split_first_chunk::<20>().ok_or(())?;
            let ip = IpAddr::V6(Ipv6Addr::from(*source)).to_canonical();
            Ok(Some(SocketAddr::new(ip, u16::from_be_bytes([p0, p1]))))
        }
        // Sockets without addresses of the Internet, and what is not defined.
        _ => Err(()),
    }
}

/// What became of a datagram that may come from a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opened {
    /// It holds a message of this client.
    Message(IpAddr),
    /// It is not taken.
    Not(ProxyFault),
}

/// The networks that are trusted to say whom they speak for.
#[derive(Debug)]
pub(crate) struct Proxies(Box<[IpNet]>);

impl Proxies {
    /// `None` if there are none.
    pub(crate) fn new(networks: &[IpNet]) -> Option<Self> {
        (!networks.is_empty()).then(|| Self(networks.into()))
    }

    /// Whether an address, IPv4 as such, is one of theirs.
    pub(crate) fn contain(&self, ip: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&ip))
    }

    /// Takes the header off the datagram that fills `buffer` up to `length`, if `peer` is a proxy.
    pub(crate) fn open(&self, peer: IpAddr, buffer: &mut [u8], length: &mut usize) -> Opened {
        if !self.contain(peer) {
            return Opened::Message(peer);
        }
        let end = (*length).min(buffer.len());
        match read(buffer.get(..end).unwrap_or_default()) {
            Header::Whole {
                client,
                length: taken,
            } if taken <= end => {
                buffer.copy_within(taken..end, 0);
                *length = end - taken;
                Opened::Message(client.map_or(peer, |client| client.ip()))
            }
            Header::Not(fault) => Opened::Not(fault),
            Header::Whole { .. } | Header::Cut(_) => Opened::Not(ProxyFault::Bad),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [&SIGNATURE[..], &[command, family], &length, rest].concat()
    }

    /// 192.0.2.1 port 258 to 198.51.100.7 port 53.
    const V4: [u8; 12] = [192, 0, 2, 1, 198, 51, 100, 7, 1, 2, 0, 53];

    fn v6() -> Vec<u8> {
        let ip = |text: &str| text.parse::<Ipv6Addr>().unwrap().octets();
        [&ip("2001:db8::1")[..], &ip("2001:db8::53"), &[1, 2, 0, 53]].concat()
    }

    #[test]
    fn addresses_of_both_families_over_both_transports() {
        for (family, rest, client) in [
            (0x11, V4.to_vec(), "192.0.2.1:258"),
            (0x12, V4.to_vec(), "192.0.2.1:258"),
            (0x21, v6(), "[2001:db8::1]:258"),
            (0x22, v6(), "[2001:db8::1]:258"),
            // Other data behind the addresses.
            (0x11, [&V4[..], &[4, 0, 1, 9]].concat(), "192.0.2.1:258"),
            (0x22, [&v6()[..], &[0; 476]].concat(), "[2001:db8::1]:258"),
        ] {
            let octets = header(0x21, family, &rest);
            let whole = Header::Whole {
                client: Some(client.parse().unwrap()),
                length: octets.len(),
            };
            assert_eq!(read(&octets), whole);
            assert_eq!(read(&[&octets[..], b"message"].concat()), whole);
            for cut in 0..octets.len() {
                let need = if cut < FIXED { FIXED } else { octets.len() };
                assert_eq!(read(&octets[..cut]), Header::Cut(need), "{cut}");
            }
        }
    }

    #[test]
    fn who_speaks_for_nobody_speaks_for_itself() {
        for octets in [
            header(0x20, 0x00, &[]),
            header(0x20, 0x11, &V4),
            header(0x20, 0xff, &[7; 9]),
            header(0x21, 0x00, &[]),
            header(0x21, 0x00, &V4),
        ] {
            let length = octets.len();
            assert_eq!(read(&octets), Header::Whole { client: None, length });
        }
    }

    #[test]
    fn what_breaks_a_rule_is_bad() {
        for octets in [
            header(0x10, 0x11, &V4),
            header(0x22, 0x11, &V4),
            header(0x31, 0x11, &V4),
            header(0x21, 0x10, &V4),
            header(0x21, 0x13, &V4),
            header(0x21, 0x31, &[0; 216]),
            header(0x21, 0x11, &V4[..11]),
            header(0x21, 0x21, &v6()[..35]),
            header(0x21, 0x22, &V4),
            header(0x21, 0x11, &[&V4[..], &[0; 501]].concat()),
            header(0x20, 0x00, &[0; 60_000]),
        ] {
            assert_eq!(read(&octets), Header::Not(ProxyFault::Bad), "{octets:02x?}");
        }
        let version_1 = b"PROXY TCP4 192.0.2.1 192.0.2.2 1 53\r\n";
        assert_eq!(read(version_1), Header::Not(ProxyFault::Version1));
        for octets in [&b"\r\n\r\nx"[..], b"PROXYx", &[0; 16]] {
            assert_eq!(read(octets), Header::Not(ProxyFault::Missing));
        }
    }

    #[test]
    fn a_datagram_is_opened_for_those_who_are_trusted() {
        let proxies =
            Proxies::new(&["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()]).unwrap();
        let (proxy, stranger) = ("10.1.2.3".parse().unwrap(), "192.0.2.9".parse().unwrap());
        let sent = [&header(0x21, 0x12, &V4)[..], b"message"].concat();
        let open = |peer, octets: &[u8]| {
            let (mut buffer, mut length) = (octets.to_vec(), octets.len());
            let opened = proxies.open(peer, &mut buffer, &mut length);
            buffer.truncate(length);
            (opened, buffer)
        };
        let client = Opened::Message("192.0.2.1".parse().unwrap());
        assert_eq!(open(proxy, &sent), (client, b"message".to_vec()));
        assert_eq!(open(stranger, &sent), (Opened::Message(stranger), sent.clone()));
        assert_eq!(
            open(proxy, b"message"),
            (Opened::Not(ProxyFault::Missing), b"message".to_vec())
        );
        assert_eq!(open(proxy, &sent[..20]).0, Opened::Not(ProxyFault::Bad));
        let own = header(0x20, 0, &[]);
        assert_eq!(open(proxy, &own), (Opened::Message(proxy), Vec::new()));
        assert!(Proxies::new(&[]).is_none());
    }
}
