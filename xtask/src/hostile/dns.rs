//! Queries over UDP, one at a time, timed.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

/// Longest wait for a reply.
const PATIENCE: Duration = Duration::from_secs(2);

/// Asks one server.
pub struct Client {
    socket: UdpSocket,
    id: u16,
}

/// What came of a query.
pub struct Reply {
    pub took: Duration,
    /// The first address, if there is one.
    pub address: Option<Ipv4Addr>,
}

impl Client {
    pub fn new(server: SocketAddr) -> Result<Self> {
        let socket = UdpSocket::bind((server.ip(), 0))?;
        socket.connect(server)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { socket, id: 0 })
    }

    /// Asks for the address of a service. `since` is when the query was due, for one that is late because the one before
    /// it was: what it waited is its time too.
    pub fn ask(&mut self, service: &str, since: Option<Instant>) -> Result<Reply> {
        self.id = self.id.wrapping_add(1);
        let message = message(self.id, service);
        let begin = since.unwrap_or_else(Instant::now);
        self.socket.send(&message)?;
        let mut buffer = [0; 1500];
        loop {
            let length = self
                .socket
                .recv(&mut buffer)
                .with_context(|| format!("no reply for {service}"))?;
            let reply = buffer.get(..length).unwrap_or_default();
            if reply.get(..2) == message.get(..2) {
                let took = begin.elapsed();
                let rcode = reply.get(3).map_or(0, |flags| flags & 15);
                ensure!(rcode == 0, "{service}: response code {rcode}");
                // The question comes back, then the answer: a pointer, ten octets, the address.
                let address = reply.get(message.len() + 12..message.len() + 16);
                let address = address.and_then(|octets| octets.first_chunk::<4>());
                return Ok(Reply {
                    took,
                    address: address.map(|octets| Ipv4Addr::from(*octets)),
                });
            }
        }
    }
}

fn message(id: u16, service: &str) -> Vec<u8> {
    let mut message = id.to_be_bytes().to_vec();
    message.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in [service, "report", "example"] {
        message.push(u8::try_from(label.len()).unwrap_or(63));
        message.extend(label.as_bytes());
    }
    message.extend([0, 0, 1, 0, 1]);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_query_for_an_address() {
        let message = message(0x0102, "www");
        assert_eq!(message[..2], [1, 2]);
        assert!(message.ends_with(b"\x03www\x06report\x07example\0\0\x01\0\x01"));
    }
}
