//! A few of the latest queries to each service, in memory only, so that a change can be tried on them.
//!
//! Which queries are kept a service's [`Sampling`](gslb_engine::sampling::Sampling) says, with one comparison for each that is
//! not. Those that are go into one of some rings, by service, so that a busy service pushes out the queries of few others. A
//! thread that finds a ring in use does without the query: it never waits.

use gslb_engine::model::ServiceId;
use gslb_engine::query::QueryContext;
use gslb_engine::replay::PastQuery;
use gslb_engine::snapshot::{CompiledService, Snapshot};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Rings.
const RINGS: usize = 64;

/// Queries of the services that share it.
#[derive(Debug, Default)]
struct Ring {
    queries: Vec<(ServiceId, PastQuery)>,
    /// Where the next one goes, once it is full.
    next: usize,
    /// Services of which something was kept, until they have been quiet for a while.
    watched: HashSet<ServiceId>,
}

impl Ring {
    fn push(&mut self, query: (ServiceId, PastQuery)) {
        // All its memory is there from the start.
        if self.queries.len() < self.queries.capacity() {
            self.queries.push(query);
        } else if let Some(oldest) = self.queries.get_mut(self.next) {
            *oldest = query;
            self.next = (self.next + 1) % self.queries.len();
        }
    }

    /// Oldest first.
    fn of(&self, service: ServiceId) -> Vec<PastQuery> {
        let (newer, older) = self.queries.split_at(self.next.min(self.queries.len()));
        let all = older.iter().chain(newer);
        all.filter(|(id, _)| *id == service)
            .map(|(_, query)| *query)
            .collect()
    }
}

/// The latest queries. Keeps none until it is [given room](Self::resize).
#[derive(Debug)]
pub struct RecentQueries {
    rings: [Mutex<Ring>; RINGS],
    /// Queries that a ring holds.
    room: AtomicUsize,
}

impl Default for RecentQueries {
    fn default() -> Self {
        Self {
            rings: std::array::from_fn(|_| Mutex::default()),
            room: AtomicUsize::new(0),
        }
    }
}

impl RecentQueries {
    /// Makes room for about so many queries over all services; 0 forgets what there is, and keeps nothing from then on.
    pub fn resize(&self, queries: usize) {
        let room = queries.div_ceil(RINGS);
        if self.room.swap(room, Ordering::Relaxed) == room {
            return;
        }
        for ring in &self.rings {
            *lock(ring) = Ring {
                queries: Vec::with_capacity(room),
                ..Ring::default()
            };
        }
    }

    /// Whether queries are kept at all.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.room.load(Ordering::Relaxed) > 0
    }

    /// Queries to a service, the oldest first.
    #[must_use]
    pub fn of(&self, service: ServiceId) -> Vec<PastQuery> {
        self.ring(service)
            .map(|ring| lock(ring).of(service))
            .unwrap_or_default()
    }

    /// Tells the services that are asked how many of their queries are to be kept; for every few seconds.
    pub fn adapt(&self, snapshot: &Snapshot) {
        for ring in &self.rings {
            // Threads do without it meanwhile: there may be many services.
            let mut watched = std::mem::take(&mut lock(ring).watched);
            watched.retain(|id| snapshot.service(*id).is_some_and(|service| !adapt(&service)));
            lock(ring).watched.extend(watched);
        }
    }

    /// Tells every service that its queries are kept, after they were not.
    pub fn resume(&self, snapshot: &Snapshot) {
        if self.is_on() {
            snapshot.services().for_each(|service| {
                adapt(&service);
            });
        }
    }

    /// Keeps a query that is one to be kept.
    #[cold]
    #[inline(never)]
    pub(crate) fn keep(&self, service: &CompiledService, context: &QueryContext<'_>) {
        let sampling = &service.slot.sampling;
        if !self.is_on() {
            sampling.stop();
            return;
        }
        if let Some(Ok(mut ring)) = self.ring(service.id).map(Mutex::try_lock) {
            sampling.taken();
            ring.watched.insert(service.id);
            let query = PastQuery::new(context.source, context.subnet, context.family, context.now);
            ring.push((service.id, query));
        }
    }

    fn ring(&self, service: ServiceId) -> Option<&Mutex<Ring>> {
        // The last octets of an id are random, whatever its version.
        let (_, low) = service.0.as_u64_pair();
        let at = usize::try_from(low % RINGS as u64).ok()?;
        self.rings.get(at)
    }
}

/// As [`Sampling::adapt`](gslb_engine::sampling::Sampling::adapt).
fn adapt(service: &CompiledService) -> bool {
    service.slot.sampling.adapt(service.slot.all_queries())
}

fn lock(ring: &Mutex<Ring>) -> MutexGuard<'_, Ring> {
    ring.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gslb_engine::environment::Environment;
    use gslb_engine::model::ServiceDraft;
    use gslb_engine::query::Family;
    use gslb_engine::testing::{Site, entropy, member};
    use std::net::{IpAddr, Ipv4Addr};

    fn snapshot() -> Snapshot {
        let site = Site::new()
            .pool("web", 0, vec![member("192.0.2.1", "US")])
            .service("www.example.com", "web", ServiceDraft::default());
        site.compile(&Environment::default()).unwrap().0
    }

    /// Lets the clients 10.0.n.9 ask.
    fn ask(recent: &RecentQueries, service: &CompiledService, numbers: std::ops::Range<u32>) {
        for number in numbers {
            let client = Ipv4Addr::from_bits((10 << 24) + (number << 8) + 9);
            let context = QueryContext {
                qname: &service.wire,
                family: Family::V4,
                source: IpAddr::V4(client),
                subnet: None,
                now: 1000 + u64::from(number),
                entropy: entropy(number.into()),
            };
            if service.slot.sampling.takes(context.entropy) {
                recent.keep(service, &context);
            }
        }
    }

    fn times(recent: &RecentQueries, service: &CompiledService) -> Vec<u64> {
        let queries = recent.of(service.id);
        queries.into_iter().map(|query| query.at).collect()
    }

    #[test]
    fn the_latest_queries_are_kept_without_the_clients_own_bits() {
        let (snapshot, recent) = (snapshot(), RecentQueries::default());
        let service = snapshot.services().next().unwrap();
        recent.resize(4 * RINGS);
        ask(&recent, &service, 0..10);
        assert_eq!(times(&recent, &service), [1006, 1007, 1008, 1009]);
        let last = recent.of(service.id)[3];
        assert_eq!((last.network, last.bits), (IpAddr::from([10, 0, 9, 0]), 24));
    }

    #[test]
    fn without_room_nothing_is_kept_and_what_was_is_gone() {
        let (snapshot, recent) = (snapshot(), RecentQueries::default());
        let service = snapshot.services().next().unwrap();
        ask(&recent, &service, 0..3);
        assert!(times(&recent, &service).is_empty());
        // The service was told to keep nothing: that has to be taken back.
        recent.resize(1000);
        recent.resume(&snapshot);
        ask(&recent, &service, 3..5);
        assert_eq!(times(&recent, &service), [1003, 1004]);
        recent.resize(0);
        assert!(times(&recent, &service).is_empty());
        recent.resume(&snapshot);
        ask(&recent, &service, 5..9);
        assert!(times(&recent, &service).is_empty());
    }

    #[test]
    fn a_service_is_watched_until_it_has_been_quiet() {
        let (snapshot, recent) = (snapshot(), RecentQueries::default());
        let service = snapshot.services().next().unwrap();
        recent.resize(64_000);
        let watched = || lock(recent.ring(service.id).unwrap()).watched.len();
        ask(&recent, &service, 0..100_000);
        let burst = times(&recent, &service).len();
        assert!((256..600).contains(&burst), "{burst}");
        assert_eq!(watched(), 1);
        recent.adapt(&snapshot);
        assert_eq!(watched(), 1);
        for _ in 0..40 {
            recent.adapt(&snapshot);
        }
        assert_eq!(watched(), 0);
        ask(&recent, &service, 100_000..100_010);
        assert_eq!((times(&recent, &service).len(), watched()), (burst + 10, 1));
    }

    #[test]
    fn a_ring_in_use_is_not_waited_for() {
        let (snapshot, recent) = (snapshot(), RecentQueries::default());
        let service = snapshot.services().next().unwrap();
        recent.resize(1000);
        let held = recent.ring(service.id).map(lock);
        ask(&recent, &service, 0..3);
        drop(held);
        ask(&recent, &service, 3..4);
        assert_eq!(times(&recent, &service), [1003]);
    }
}
