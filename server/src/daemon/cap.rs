//! How many HTTP connections there may be: however many clients come, file descriptors are left for DNS, probes and the
//! database, and one client leaves some for the others.

use axum_server::accept::Accept;
use std::collections::HashMap;
use std::future::{Ready, ready};
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Most connections, whatever the limit of open files is.
const MOST: usize = 4096;
/// Fewest, so that somebody can still look at what is wrong.
const FEWEST: usize = 16;

/// Connections that HTTP may have of so many file descriptors: a quarter. The rest is for DNS, probes and files.
#[must_use]
pub fn share_of(descriptors: u64) -> usize {
    usize::try_from(descriptors / 4)
        .unwrap_or(usize::MAX)
        .clamp(FEWEST, MOST)
}

#[derive(Debug, Default)]
struct Open {
    total: usize,
    clients: HashMap<IpAddr, usize>,
}

/// Counts connections, and closes those that are too many before anything is read from them.
#[derive(Debug, Clone)]
pub struct Cap {
    total: usize,
    per_client: usize,
    open: Arc<Mutex<Open>>,
}

impl Cap {
    /// At most so many connections, and half of them for one client.
    #[must_use]
    pub fn new(total: usize) -> Self {
        Self {
            total,
            per_client: total.div_ceil(2),
            open: Arc::default(),
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, ip: IpAddr) -> Option<Permit> {
        let client = client(ip);
        let mut open = self.open();
        let of_client = open.clients.get(&client).copied().unwrap_or_default();
        if open.total >= self.total || of_client >= self.per_client {
            return None;
        }
        open.total += 1;
        open.clients.insert(client, of_client + 1);
        Some(Permit {
            cap: self.clone(),
            client,
        })
    }
}

/// Who counts as one client: an IPv4 address, or an IPv6 /64, out of which one host can take any address.
fn client(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(v4) => v4.into(),
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

/// The right to one connection; given back when dropped.
#[derive(Debug)]
struct Permit {
    cap: Cap,
    client: IpAddr,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.cap.open();
        open.total = open.total.saturating_sub(1);
        if let Some(count) = open.clients.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.clients.remove(&self.client);
            }
        }
    }
}

impl<S> Accept<TcpStream, S> for Cap {
    type Stream = Held;
    type Service = S;
    type Future = Ready<io::Result<(Held, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        // HTTP/2 writes a reply in small pieces. The kernel would keep the second back until the client has confirmed the
        // first, which many do only after 40 ms.
        let ready_to_write = stream.set_nodelay(true);
        let held = ready_to_write.and_then(|()| stream.peer_addr()).and_then(|peer| {
            let permit = self.take(peer.ip());
            permit.ok_or_else(|| io::Error::other("too many connections"))
        });
        ready(held.map(|permit| {
            let held = Held {
                stream,
                _permit: permit,
            };
            (held, service)
        }))
    }
}

/// A connection with its permit.
#[derive(Debug)]
pub struct Held {
    stream: TcpStream,
    _permit: Permit,
}

impl AsyncRead for Held {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Held {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_quarter_of_the_descriptors_is_for_http() {
        assert_eq!(share_of(1024), 256);
        assert_eq!(share_of(20), FEWEST);
        assert_eq!(share_of(u64::MAX), MOST);
    }

    #[tokio::test]
    async fn small_pieces_leave_at_once() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let (client, accepted) = tokio::join!(client, listener.accept());
        let (held, ()) = Cap::new(2).accept(accepted.unwrap().0, ()).await.unwrap();
        assert!(held.stream.nodelay().unwrap());
        drop(client);
    }

    #[test]
    fn one_client_leaves_some_for_the_others_and_what_ends_is_free_again() {
        let cap = Cap::new(4);
        let mut held: Vec<_> = [1, 2].map(|n| cap.take(ip(&format!("2001:db8::{n}")))).into();
        assert!(held.iter().all(Option::is_some));
        assert!(cap.take(ip("2001:db8::3")).is_none(), "one /64 is one client");
        held.push(cap.take(ip("192.0.2.1")));
        held.push(cap.take(ip("192.0.2.2")));
        assert!(cap.take(ip("192.0.2.3")).is_none(), "four are four");
        held.clear();
        assert!(cap.take(ip("2001:db8::3")).is_some());
        assert!(cap.open().clients.is_empty());
    }
}
