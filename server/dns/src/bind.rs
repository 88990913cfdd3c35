//! Sockets: one TCP listener and a group of UDP sockets per listen address, that no other process can join.
//!
//! `SO_REUSEPORT` lets the kernel spread datagrams over our threads, and it would let a second gslbd (of the same user)
//! take a share of them without anybody noticing. Two things prevent that. The TCP listener goes without it, and a
//! listening port is exclusive for as long as we run. And the first UDP socket is bound alone, which fails when anybody
//! holds the port, whatever his options; only then is the option set on it, so that its siblings can follow. Others
//! cannot: they would have to bind the same way first.

use crate::error::DnsError;
use crate::stats::Transport;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;
/// Octets of the kernel's receive queue that are asked for: a burst of some thousand queries.
const RECEIVE_QUEUE: usize = 1 << 20;
/// Tries to find a port that is free for both transports.
const TRIES: usize = 32;

/// The sockets of one listen address.
#[derive(Debug)]
pub(crate) struct Bound {
    /// The address with its real port.
    pub(crate) address: SocketAddr,
    /// One for each thread.
    pub(crate) udp: Vec<Socket>,
    /// Non-blocking.
    pub(crate) tcp: TcpListener,
}

impl Bound {
    /// Binds `threads` UDP sockets and a TCP listener to `address`.
    ///
    /// # Errors
    /// Names the address and the transport that failed.
    pub(crate) fn new(address: SocketAddr, threads: usize) -> Result<Self, DnsError> {
        let mut tries = if address.port() == 0 { TRIES } else { 1 };
        loop {
            tries -= 1;
            let tcp = bind_tcp(address).map_err(|e| DnsError::listen(address, Transport::Tcp, e))?;
            let at = tcp
                .local_addr()
                .map_err(|e| DnsError::listen(address, Transport::Tcp, e))?;
            match bind_udp(at, threads) {
                Ok(udp) => {
                    return Ok(Self {
                        address: at,
                        udp,
                        tcp,
                    });
                }
                // A port that is free for TCP may be taken for UDP: with port 0 the next one may do.
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && tries > 0 => {}
                Err(error) => return Err(DnsError::listen(at, Transport::Udp, error)),
            }
        }
    }
}

fn socket(address: SocketAddr, kind: Type, protocol: Protocol) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))?;
    if address.is_ipv6() {
        // Else `[::]:53` and `0.0.0.0:53` could not both be listened on.
        socket.set_only_v6(true)?;
    }
    Ok(socket)
}

pub(crate) fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket(address, Type::STREAM, Protocol::TCP)?;
    // Lets a restart bind while connections of before are in TIME_WAIT; it does not let two listen.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    // Accepted connections inherit it: an answer must not wait for the acknowledgement of the one before.
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

pub(crate) fn bind_udp(address: SocketAddr, threads: usize) -> io::Result<Vec<Socket>> {
    let first = socket(address, Type::DGRAM, Protocol::UDP)?;
    first.bind(&address.into())?;
    first.set_reuse_port(true)?;
    let mut group = vec![first];
    while group.len() < threads {
        let sibling = socket(address, Type::DGRAM, Protocol::UDP)?;
        sibling.set_reuse_port(true)?;
        sibling.bind(&address.into())?;
        group.push(sibling);
    }
    for socket in &group {
        // The kernel grants what its limit allows; a smaller queue is no reason not to start.
        let _ = socket.set_recv_buffer_size(RECEIVE_QUEUE);
    }
    Ok(group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    fn loopback(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn both_transports_get_the_same_port() {
        let bound = Bound::new(loopback(0), 2).unwrap();
        assert_ne!(bound.address.port(), 0);
        assert_eq!(bound.tcp.local_addr().unwrap(), bound.address);
        for socket in &bound.udp {
            assert_eq!(socket.local_addr().unwrap().as_socket(), Some(bound.address));
        }
    }

    #[test]
    fn a_second_server_is_refused() {
        let first = Bound::new(loopback(0), 2).unwrap();
        let error = Bound::new(first.address, 2).unwrap_err();
        assert!(error.is_in_use(), "{error}");
        assert_eq!(error.address(), Some(first.address));
        assert!(error.to_string().contains(&first.address.to_string()));
    }

    #[test]
    fn udp_alone_is_refused_too() {
        let first = Bound::new(loopback(0), 2).unwrap();
        let error = bind_udp(first.address, 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        // Not even beside a socket with all the options that a multicast DNS responder on port 5353 sets. (Its port may be
        // a client's in TCP: then another one is tried.)
        let error = std::iter::repeat_with(|| {
            let responder = socket(loopback(0), Type::DGRAM, Protocol::UDP).unwrap();
            responder.set_reuse_address(true).unwrap();
            responder.set_reuse_port(true).unwrap();
            responder.bind(&loopback(0).into()).unwrap();
            let taken = responder.local_addr().unwrap().as_socket().unwrap();
            Bound::new(taken, 1).unwrap_err()
        })
        .take(TRIES)
        .find(|error| {
            !matches!(
                error,
                DnsError::InUse {
                    transport: Transport::Tcp,
                    ..
                }
            )
        })
        .unwrap();
        assert!(
            matches!(
                error,
                DnsError::InUse {
                    transport: Transport::Udp,
                    ..
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn the_port_is_free_again_afterwards() {
        let address = Bound::new(loopback(0), 2).unwrap().address;
        Bound::new(address, 2).unwrap();
    }

    #[test]
    fn the_group_shares_the_datagrams() {
        let bound = Bound::new(loopback(0), 4).unwrap();
        for socket in &bound.udp {
            socket.set_nonblocking(true).unwrap();
        }
        for _ in 0..64 {
            let client = UdpSocket::bind("127.0.0.1:0").unwrap();
            client.send_to(b"x", bound.address).unwrap();
        }
        let counts: Vec<usize> = bound
            .udp
            .iter()
            .map(|socket| {
                std::iter::from_fn(|| socket.recv(&mut [std::mem::MaybeUninit::uninit(); 4]).ok()).count()
            })
            .collect();
        assert_eq!(
            counts.iter().sum::<usize>(),
            64,
            "loopback loses nothing: {counts:?}"
        );
        assert!(
            counts.iter().filter(|n| **n > 0).count() > 1,
            "all datagrams went to one socket: {counts:?}"
        );
    }

    #[test]
    fn an_address_of_another_host_is_an_error_of_its_own() {
        let error = Bound::new("192.0.2.1:0".parse().unwrap(), 1).unwrap_err();
        assert!(matches!(error, DnsError::Listen { .. }), "{error}");
        assert!(!error.is_in_use());
    }
}
