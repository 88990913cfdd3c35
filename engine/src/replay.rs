//! Queries that have been answered, once more: by a service as it is, and as it might be.
//!
//! A [`Replay`] decides with the code that answers queries, and on the live state of the members. Its counters are its own:
//! it takes turns among the candidates as the wire would, and nobody else's turn.

use crate::chain::{Scratch, Sink, evaluate};
use crate::decision::Outcome;
use crate::hash::{self, mix};
use crate::query::{ClientSubnet, Family, QueryContext};
use crate::slots::ServiceSlot;
use crate::snapshot::{CompiledMember, CompiledPool, CompiledService, RoutedService, Snapshot};
use std::net::IpAddr;
use std::sync::Arc;

/// Bits of a client network that are kept, IPv4 and IPv6: what resolvers tell of their clients (RFC 7871 §11.1).
const BITS: [u8; 2] = [24, 56];

/// A query to a service as it is kept: no address of a client, only its network, and no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PastQuery {
    /// Network of the effective client, zero past `bits`.
    pub network: IpAddr,
    /// Its bits: 24 or 56, or fewer when the client subnet said less.
    pub bits: u8,
    /// Whether it came as a client subnet, rather than as the transport source.
    pub from_ecs: bool,
    /// Address family asked for.
    pub family: Family,
    /// Unix time, seconds.
    pub at: u64,
}

impl PastQuery {
    /// What is kept of a query.
    #[must_use]
    pub fn new(source: IpAddr, subnet: Option<ClientSubnet>, family: Family, at: u64) -> Self {
        let subnet = subnet.filter(|subnet| subnet.source > 0);
        let client = subnet.map_or(source, |subnet| subnet.address);
        let [v4, v6] = BITS;
        let most = if client.is_ipv4() { v4 } else { v6 };
        let bits = subnet.map_or(most, |subnet| most.min(subnet.source));
        Self {
            network: hash::network(client, bits),
            bits,
            from_ecs: subnet.is_some(),
            family,
            at,
        }
    }

    /// The query once more: for `qname`, the service's own name in wire form. `number` tells it from others like it; the same
    /// number gets the same random bits, whoever answers.
    #[must_use]
    pub fn context<'a>(&self, qname: &'a [u8], number: u64) -> QueryContext<'a> {
        let bits = hash::bits(self.network);
        let seed = mix(self.at ^ mix(number.wrapping_add(0x7265_706c_6179)));
        QueryContext {
            qname,
            family: self.family,
            source: self.network,
            subnet: self.from_ecs.then_some(ClientSubnet {
                address: self.network,
                source: self.bits,
            }),
            now: self.at,
            entropy: hash::wide(bits, seed),
        }
    }
}

/// What a query gets from one of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// How it ends.
    pub outcome: Outcome,
    /// Members of the answer, in order, by their index in the pool; none when the answer is fallback addresses.
    pub members: Vec<usize>,
    /// Addresses of the answer, in order.
    pub addresses: Vec<IpAddr>,
    /// Time in scripts, nanoseconds; none when none ran.
    pub script_ns: Option<u64>,
    /// Scripts that failed open.
    pub script_errors: u8,
}

/// Decides as on the wire, but measures scripts.
struct Meter<C> {
    clock: C,
    begun: u64,
    script_ns: Option<u64>,
}

impl<C: FnMut() -> u64> Sink for Meter<C> {
    const LIVE: bool = true;
    const WATCHES: bool = false;

    fn begin(&mut self) {
        self.begun = (self.clock)();
    }

    fn end(&mut self, _what: &str) {
        let taken = (self.clock)().saturating_sub(self.begun);
        self.script_ns = Some(self.script_ns.unwrap_or(0).saturating_add(taken));
    }
}

/// A service that answers past queries.
#[derive(Debug)]
pub struct Replay<'a> {
    snapshot: &'a Snapshot,
    service: CompiledService,
    pool: &'a CompiledPool,
    scratch: Scratch,
}

impl<'a> Replay<'a> {
    /// A service of `snapshot`, stored or proposed, with counters of its own.
    #[must_use]
    pub fn new(snapshot: &'a Snapshot, routed: RoutedService<'a>) -> Self {
        let mut service = routed.service().clone();
        service.slot = Arc::new(ServiceSlot::new(service.id, 0));
        Self {
            snapshot,
            service,
            pool: routed.pool,
            scratch: Scratch::new(),
        }
    }

    /// The service.
    #[must_use]
    pub fn service(&self) -> RoutedService<'_> {
        RoutedService::new(&self.service, self.pool)
    }

    /// A member of its pool.
    #[must_use]
    pub fn member(&self, index: usize) -> Option<&CompiledMember> {
        self.pool.members.get(index)
    }

    /// Answers a query. `clock` gives nanoseconds from any fixed point.
    pub fn ask(&mut self, context: &QueryContext<'_>, clock: impl FnMut() -> u64) -> Replayed {
        let mut meter = Meter {
            clock,
            begun: 0,
            script_ns: None,
        };
        let service = RoutedService::new(&self.service, self.pool);
        let decision = evaluate(self.snapshot, service, context, &mut self.scratch, &mut meter);
        Replayed {
            outcome: decision.outcome,
            members: self.scratch.chosen().collect(),
            addresses: self.scratch.answers().to_vec(),
            script_ns: meter.script_ns,
            script_errors: decision.script_errors,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::{Environment, Signals};
    use crate::model::{Service, Tier};
    use crate::testing::{Rows, Site, member};

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn query(client: &str, at: u64) -> PastQuery {
        PastQuery::new(ip(client), None, Family::V4, at)
    }

    fn environment() -> Environment {
        let geo = Rows::new()
            .country("198.51.100.0/24", "US")
            .country("203.0.113.0/24", "DE");
        Environment {
            geo: Arc::new(geo),
            tier: Tier::Enterprise,
            ..Environment::default()
        }
    }

    fn site(chain: &[&str]) -> Site {
        let members = vec![member("192.0.2.1", "US"), member("192.0.2.2", "DE")];
        Site::new()
            .pool("web", 0, members)
            .chain("www.example.com", "web", chain)
    }

    fn stored(site: &Site) -> Service {
        site.config.services[0].clone()
    }

    /// Indexes of the members that 10 queries of a client get.
    fn ten(replay: &mut Replay<'_>, client: &str) -> Vec<usize> {
        let qname = replay.service().wire.to_vec();
        let one = |number: u64| {
            let context = query(client, 100).context(&qname, number);
            replay.ask(&context, || 0).members
        };
        (0..10).flat_map(one).collect()
    }

    #[test]
    fn only_the_network_of_a_client_is_kept() {
        let kept = query("198.51.100.77", 5);
        assert_eq!((kept.network, kept.bits), (ip("198.51.100.0"), 24));
        let v6 = PastQuery::new(ip("2001:db8:1:2ff::1"), None, Family::V6, 5);
        assert_eq!((v6.network, v6.bits), (ip("2001:db8:1:200::"), 56));
        let wide = ClientSubnet {
            address: ip("198.51.0.0"),
            source: 16,
        };
        let kept = PastQuery::new(ip("192.0.2.53"), Some(wide), Family::V4, 5);
        assert_eq!(
            (kept.network, kept.bits, kept.from_ecs),
            (ip("198.51.0.0"), 16, true)
        );
        // One that says nothing of the client counts as none.
        let silent = ClientSubnet {
            address: ip("0.0.0.0"),
            source: 0,
        };
        let kept = PastQuery::new(ip("192.0.2.53"), Some(silent), Family::V4, 5);
        assert_eq!((kept.network, kept.from_ecs), (ip("192.0.2.0"), false));
    }

    #[test]
    fn a_replay_takes_turns_and_leaves_those_of_the_wire_alone() {
        let site = site(&["round-robin"]);
        let (snapshot, _slots) = site.compile(&environment()).unwrap();
        let service = snapshot.services().next().unwrap();
        let mut replay = Replay::new(&snapshot, snapshot.route(&service).unwrap());
        let turn = ten(&mut replay, "198.51.100.7");
        assert!(turn.windows(2).all(|pair| pair[0] != pair[1]), "{turn:?}");
        assert_eq!(service.slot.tickets(), 0);
    }

    #[test]
    fn the_same_service_answers_the_same_and_a_proposed_chain_its_own() {
        let before = site(&["weighted-round-robin"]);
        let (snapshot, _slots) = before.compile(&environment()).unwrap();
        let service = snapshot.services().next().unwrap();
        let mut one = Replay::new(&snapshot, snapshot.route(&service).unwrap());
        let mut other = Replay::new(&snapshot, snapshot.route(&service).unwrap());
        let drawn = ten(&mut one, "198.51.100.7");
        assert_eq!(drawn, ten(&mut other, "198.51.100.7"));
        assert!(drawn.contains(&0) && drawn.contains(&1), "{drawn:?}");
        let after = stored(&site(&["geo-ip", "weighted-round-robin"]));
        let (snapshot, service) = snapshot.proposal(&after, None, None).unwrap();
        let mut replay = Replay::new(&snapshot, snapshot.route(&service).unwrap());
        assert_eq!(ten(&mut replay, "198.51.100.7"), [0; 10]);
        assert_eq!(ten(&mut replay, "203.0.113.7"), [1; 10]);
    }

    #[test]
    fn a_proposed_pool_keeps_the_health_of_its_members() {
        let site = site(&["failover"]);
        let (snapshot, slots) = site.compile(&environment()).unwrap();
        site.slot(&slots, "192.0.2.1").unwrap().set_score(0.0);
        let mut pool = site.config.pools[0].clone();
        let mut third = pool.members[1].clone();
        third.id = crate::model::MemberId(uuid::Uuid::from_u128(99));
        third.endpoint = crate::model::Endpoint::IpAddress(ip("192.0.2.3"));
        third.priority = 1;
        pool.members.push(third);
        let (snapshot, service) = snapshot.proposal(&stored(&site), Some(&pool), None).unwrap();
        let mut replay = Replay::new(&snapshot, snapshot.route(&service).unwrap());
        // The first one is down, and of the others the new one has a priority.
        assert_eq!(ten(&mut replay, "198.51.100.7"), [2; 10]);
        // Members that are probed later are seen by the proposal too.
        site.slot(&slots, "192.0.2.1").unwrap().set_score(1.0);
        pool.members.truncate(1);
        let (snapshot, service) = snapshot.proposal(&stored(&site), Some(&pool), None).unwrap();
        assert_eq!(
            ten(
                &mut Replay::new(&snapshot, snapshot.route(&service).unwrap()),
                "198.51.100.7"
            ),
            [0; 10]
        );
    }

    #[test]
    fn a_proposed_signal_table_steers() {
        let site = site(&["signal-weight", "failover"]);
        let (snapshot, _slots) = site.compile(&environment()).unwrap();
        let pool = site.config.pools[0].clone();
        let signals = Signals {
            zones: [("US".to_owned(), 10.0), ("DE".to_owned(), 1.0)].into(),
            weight: 1.0,
        };
        let proposed = snapshot.proposal(&stored(&site), Some(&pool), Some(&signals));
        let (with, service) = proposed.unwrap();
        assert_eq!(
            ten(
                &mut Replay::new(&with, with.route(&service).unwrap()),
                "198.51.100.7"
            ),
            [1; 10]
        );
        let (without, service) = snapshot.proposal(&stored(&site), None, None).unwrap();
        assert_eq!(
            ten(
                &mut Replay::new(&without, without.route(&service).unwrap()),
                "198.51.100.7"
            ),
            [0; 10]
        );
    }
}
