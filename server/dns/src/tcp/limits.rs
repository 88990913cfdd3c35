//! How many connections there may be, in total and for one client.
//!
//! Whoever can fill all places must not keep others out: a new connection takes the place of one that has not asked for
//! long. A client whose own share is used up takes nobody's place.

use crate::settings::TcpLimits;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Connections that are looked at for one that gives up its place: enough to find one of the oldest few, and no more work
/// however many there are.
const LOOK: usize = 64;

/// Counts open connections.
#[derive(Debug)]
pub(crate) struct Limiter {
    total: usize,
    per_client: usize,
    /// Counts what is asked: the order of connections by when they asked last.
    asked: AtomicU64,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// The connections that hold a place.
    places: Vec<Option<Arc<Place>>>,
    /// Which of the places are empty.
    empty: Vec<usize>,
    /// Where the next look begins.
    look: usize,
    clients: HashMap<IpAddr, usize>,
}

#[derive(Debug, Default)]
struct Place {
    /// The limiter's count when it asked last, or came.
    asked: AtomicU64,
    /// Taken by another.
    lost: CancellationToken,
}

/// The right to hold one connection; given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    limiter: Arc<Limiter>,
    index: usize,
    place: Arc<Place>,
    /// Whose share it takes, once that is known.
    client: Option<IpAddr>,
}

/// Who counts as one client: an IPv4 address, or an IPv6 /64, out of which one host can take any address.
fn client(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
    }
}

impl Open {
    /// Takes one of `total` places, of another connection if none is empty.
    fn place(&mut self, total: usize, asked: u64) -> Option<(usize, Arc<Place>)> {
        let place = Arc::new(Place {
            asked: AtomicU64::new(asked),
            lost: CancellationToken::new(),
        });
        let index = match self.empty.pop() {
            Some(index) => index,
            None if self.places.len() < total => {
                self.places.push(None);
                self.places.len() - 1
            }
            None => self.oldest()?,
        };
        let before = self.places.get_mut(index)?.replace(Arc::clone(&place));
        if let Some(before) = before {
            before.lost.cancel();
        }
        Some((index, place))
    }

    /// The one of some that has not asked for the longest.
    fn oldest(&mut self) -> Option<usize> {
        let count = self.places.len();
        let from = self.look;
        self.look = (from + LOOK) % count.max(1);
        (from..from + LOOK.min(count))
            .map(|index| index % count)
            .filter_map(|index| {
                Some((
                    self.places.get(index)?.as_ref()?.asked.load(Ordering::Relaxed),
                    index,
                ))
            })
            .min()
            .map(|(_, index)| index)
    }
}

impl Limiter {
    pub(crate) fn new(limits: &TcpLimits) -> Arc<Self> {
        Arc::new(Self {
            total: limits.connections,
            per_client: limits.connections_per_client,
            asked: AtomicU64::new(0),
            open: Mutex::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::Relaxed)
    }

    /// Lets a connection in, or not, if its client has no share left.
    pub(crate) fn admit(self: &Arc<Self>, ip: IpAddr) -> Option<Permit> {
        let client = client(ip);
        let mut open = self.open();
        let held = open.clients.get(&client).copied().unwrap_or(0);
        if held >= self.per_client {
            return None;
        }
        let (index, place) = open.place(self.total, self.count())?;
        open.clients.insert(client, held + 1);
        Some(Permit {
            limiter: Arc::clone(self),
            index,
            place,
            client: Some(client),
        })
    }

    /// Lets a connection in whose client is to be told by [`Permit::claim`].
    pub(crate) fn admit_anyone(self: &Arc<Self>) -> Option<Permit> {
        let (index, place) = self.open().place(self.total, self.count())?;
        Some(Permit {
            limiter: Arc::clone(self),
            index,
            place,
            client: None,
        })
    }
}

impl Permit {
    /// Says whose connection it is; false if that one has no share left.
    pub(crate) fn claim(&mut self, ip: IpAddr) -> bool {
        let client = client(ip);
        let mut open = self.limiter.open();
        let held = open.clients.get(&client).copied().unwrap_or(0);
        if self.client.is_some() || held >= self.limiter.per_client {
            return false;
        }
        open.clients.insert(client, held + 1);
        drop(open);
        self.client = Some(client);
        true
    }

    /// The connection has asked something.
    pub(crate) fn asked(&self) {
        self.place.asked.store(self.limiter.count(), Ordering::Relaxed);
    }

    /// Cancelled when another connection takes the place: this one has to go.
    pub(crate) fn lost(&self) -> CancellationToken {
        self.place.lost.clone()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.limiter.open();
        if let Some(place) = open.places.get_mut(self.index)
            && place.as_ref().is_some_and(|held| Arc::ptr_eq(held, &self.place))
        {
            *place = None;
            open.empty.push(self.index);
        }
        if let Some(client) = &self.client
            && let Some(held) = open.clients.get_mut(client)
        {
            *held -= 1;
            if *held == 0 {
                open.clients.remove(client);
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

    fn held(limiter: &Limiter) -> usize {
        limiter.open().places.iter().flatten().count()
    }

    #[test]
    fn limits_hold_and_are_given_back() {
        let limiter = limiter(3, 2);
        let (one, two) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let a = limiter.admit(one).unwrap();
        let b = limiter.admit(one).unwrap();
        assert!(limiter.admit(one).is_none(), "two for one client");
        let c = limiter.admit(two).unwrap();
        assert_eq!(held(&limiter), 3);
        drop(a);
        let d = limiter.admit(two).unwrap();
        assert_eq!(held(&limiter), 3);
        assert!(limiter.admit(two).is_none());
        assert!([&b, &c, &d].iter().all(|permit| !permit.lost().is_cancelled()));
        drop((b, c, d));
        assert!(limiter.open().clients.is_empty());
        assert_eq!(held(&limiter), 0);
    }

    #[test]
    fn a_full_house_makes_room_for_the_next() {
        let limiter = limiter(2, 2);
        let ip = |n: u8| IpAddr::from([192, 0, 2, n]);
        let mut first = limiter.admit(ip(1)).unwrap();
        let second = limiter.admit(ip(2)).unwrap();
        first.asked();
        let third = limiter.admit(ip(3)).unwrap();
        assert!(second.lost().is_cancelled(), "it has not asked for the longest");
        assert!(!first.lost().is_cancelled() && !third.lost().is_cancelled());
        assert_eq!(held(&limiter), 2);
        // The one that lost its place gives back nothing that is another's.
        drop(second);
        assert_eq!(held(&limiter), 2);
        assert!(!first.claim(ip(4)), "it is somebody's already");
        first.asked();
        let mut unknown = limiter.admit_anyone().unwrap();
        assert!(third.lost().is_cancelled());
        assert!(unknown.claim(ip(1)), "the second of this client");
        assert!(
            limiter.admit(ip(1)).is_none(),
            "a client over its share takes no place"
        );
        assert!(!first.lost().is_cancelled() && !unknown.lost().is_cancelled());
        drop((first, third, unknown));
        assert!(limiter.open().clients.is_empty());
        assert_eq!(held(&limiter), 0);
    }

    #[test]
    fn of_very_many_some_are_looked_at_each_time() {
        let limiter = limiter(1000, 1000);
        let ip = IpAddr::from([192, 0, 2, 1]);
        let permits: Vec<_> = (0..1000).map(|_| limiter.admit_anyone().unwrap()).collect();
        let mut later = Vec::new();
        for _ in 0..500 {
            later.push(limiter.admit(ip).unwrap());
        }
        let lost = permits
            .iter()
            .filter(|permit| permit.lost().is_cancelled())
            .count();
        assert_eq!(lost, 500);
        assert!(later.iter().all(|permit| !permit.lost().is_cancelled()));
        assert_eq!(held(&limiter), 1000);
    }

    #[test]
    fn without_places_nobody_is_let_in() {
        assert!(limiter(0, 1).admit([192, 0, 2, 1].into()).is_none());
        assert!(limiter(1, 0).admit([192, 0, 2, 1].into()).is_none());
    }

    #[test]
    fn an_ipv6_64_is_one_client() {
        let limiter = limiter(9, 1);
        let _permit = limiter.admit("2001:db8::1".parse().unwrap()).unwrap();
        assert!(limiter.admit("2001:db8::ffff:0:0:1".parse().unwrap()).is_none());
        assert!(limiter.admit("2001:db8:0:1::1".parse().unwrap()).is_some());
    }
}
