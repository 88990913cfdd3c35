//! How many connections there may be, in total and for one client.

use crate::settings::TcpLimits;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts open connections.
#[derive(Debug)]
pub(crate) struct Limiter {
    total: usize,
    per_client: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    total: usize,
    clients: HashMap<IpAddr, usize>,
}

/// The right to hold one connection; given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    limiter: Arc<Limiter>,
    client: IpAddr,
}

/// Who counts as one client: an IPv4 address, or an IPv6 /64, out of which one host can take any address.
fn client(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
    }
}

impl Limiter {
    pub(crate) fn new(limits: &TcpLimits) -> Arc<Self> {
        Arc::new(Self {
            total: limits.connections,
            per_client: limits.connections_per_client,
            open: Mutex::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a connection in, or not.
    pub(crate) fn admit(self: &Arc<Self>, ip: IpAddr) -> Option<Permit> {
        let client = client(ip);
        let mut open = self.open();
        let held = open.clients.get(&client).copied().unwrap_or(0);
        if open.total >= self.total || held >= self.per_client {
            return None;
        }
        open.total += 1;
        open.clients.insert(client, held + 1);
        Some(Permit {
            limiter: Arc::clone(self),
            client,
        })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.limiter.open();
        open.total -= 1;
        if let Some(held) = open.clients.get_mut(&self.client) {
            *held -= 1;
            if *held == 0 {
                open.clients.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(connections: usize, connections_per_client: usize) -> Arc<Limiter> {
        Limiter::new(&TcpLimits {
            connections,
            connections_per_client,
            ..TcpLimits::default()
        })
    }

    #[test]
    fn limits_hold_and_are_given_back() {
        let limiter = limiter(3, 2);
        let (one, two) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let a = limiter.admit(one).unwrap();
        let _b = limiter.admit(one).unwrap();
        assert!(limiter.admit(one).is_none(), "two for one client");
        let _c = limiter.admit(two).unwrap();
        assert!(limiter.admit(two).is_none(), "three in total");
        drop(a);
        let _d = limiter.admit(two).unwrap();
        assert!(limiter.admit(one).is_none());
        drop((_b, _c, _d));
        assert!(limiter.open().clients.is_empty());
        assert_eq!(limiter.open().total, 0);
    }

    #[test]
    fn an_ipv6_64_is_one_client() {
        let limiter = limiter(9, 1);
        let _permit = limiter.admit("2001:db8::1".parse().unwrap()).unwrap();
        assert!(limiter.admit("2001:db8::ffff:0:0:1".parse().unwrap()).is_none());
        assert!(limiter.admit("2001:db8:0:1::1".parse().unwrap()).is_some());
    }
}
