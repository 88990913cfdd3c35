//! The configuration that the tests ask: zones, pools with members up and down, services of every kind.

use gslb_dnssec::{Algorithm, PrivateKey};
use gslb_engine::environment::{Environment, MapRule};
use gslb_engine::geo::{AsInfo, Country, Geo, Located};
use gslb_engine::model::{
    FallbackText, FilterName, MemberDraft, Pool, PoolDraft, Service, ServiceDraft, TenantId, Tier, Zone,
    ZoneDraft, ZoneId,
};
use gslb_engine::script::{NoScripts, Scripts};
use gslb_engine::snapshot::{Configuration, Slots, Snapshot, ZoneKeys};
use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// Networks of documentation with countries. Everything else is nowhere.
#[derive(Debug)]
struct Atlas(Vec<(IpNet, &'static str)>);

impl Geo for Atlas {
    fn country(&self, ip: IpAddr) -> Located<Country> {
        let found = self
            .0
            .iter()
            .filter(|(net, _)| net.contains(&ip))
            .max_by_key(|(net, _)| net.prefix_len());
        match found {
            Some((net, code)) => Located {
                value: Country::parse(code),
                prefix: net.prefix_len(),
            },
            None => Located {
                value: None,
                prefix: 16,
            },
        }
    }

    fn asn(&self, _: IpAddr) -> Located<AsInfo> {
        Located::NOWHERE
    }

    fn organisation(&self, _: u64) -> Option<String> {
        None
    }

    fn organisation_of(&self, _: u32) -> Option<u64> {
        None
    }

    fn has_country(&self) -> bool {
        true
    }

    fn has_asn(&self) -> bool {
        false
    }
}

fn atlas() -> Atlas {
    let net = |text: &str| text.parse().unwrap();
    Atlas(vec![
        (net("198.51.100.0/24"), "US"),
        (net("203.0.113.0/24"), "DE"),
        (net("192.0.0.0/20"), "DE"),
        (net("2001:db8:1::/48"), "US"),
        (net("2001:db8:8000::/33"), "DE"),
    ])
}

/// Builds a configuration; ids count up.
#[derive(Default)]
struct Builder {
    config: Configuration,
    ids: u32,
    /// Members that are down, by index of pool and member.
    down: Vec<(usize, usize)>,
}

/// A member: address, region, whether it is up.
type M = (&'static str, &'static str, bool);

impl Builder {
    fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(&mut self) -> T {
        self.ids += 1;
        format!("00000000-0000-0000-0000-{:012x}", self.ids)
            .parse()
            .unwrap()
    }

    fn zone(&mut self, name: &str, soa_ttl: i64, minimum: i64) {
        let draft = ZoneDraft {
            name: Some(name.to_owned()),
            soa_ttl: Some(soa_ttl),
            minimum: Some(minimum),
            ns_ttl: Some(7200),
            name_servers: Some(vec![format!("ns1.{name}"), format!("ns2.{name}")]),
            ..ZoneDraft::default()
        };
        let zone: Zone = draft.validate(self.id(), TenantId::DEFAULT, 2024).unwrap();
        self.config.zones.push(zone);
    }

    fn pool(&mut self, min_healthy: i64, members: &[M]) -> String {
        let index = self.config.pools.len();
        let members = members.iter().enumerate().map(|(at, (ip, region, up))| {
            if !up {
                self.down.push((index, at));
            }
            MemberDraft {
                ip_address: Some((*ip).to_owned()),
                port: Some(80),
                region: Some((*region).to_owned()),
                ..MemberDraft::default()
            }
        });
        let draft = PoolDraft {
            name: Some(format!("pool {index}")),
            min_healthy: Some(min_healthy),
            members: Some(members.collect()),
            ..PoolDraft::default()
        };
        let id = self.id();
        let pool: Pool = draft.validate(id, TenantId::DEFAULT, || self.id()).unwrap();
        let id = pool.id.to_string();
        self.config.pools.push(pool);
        id
    }

    fn service(&mut self, domain: &str, pool: &str, change: impl FnOnce(&mut ServiceDraft)) {
        let mut draft = ServiceDraft {
            name: Some(domain.chars().take(60).collect()),
            domain: Some(domain.to_owned()),
            pool_id: Some(pool.to_owned()),
            algorithm: Some("failover".to_owned()),
            ttl: Some(30),
            ..ServiceDraft::default()
        };
        change(&mut draft);
        let service: Service = draft
            .validate(self.id(), TenantId::DEFAULT, FilterName::RoundRobin)
            .unwrap();
        self.config.services.push(service);
    }
}

/// The longest name below the zone `gslb.test.`: 255 octets on the wire.
pub fn longest_name() -> String {
    let labels = [63, 63, 63, 51].map(|n| "x".repeat(n));
    format!("{}.gslb.test.", labels.join("."))
}

/// Compiles the world for a licence of this tier.
pub fn snapshot(tier: Tier) -> Snapshot {
    compile(tier, None, None)
}

/// The world with services whose chains are scripts of their names.
pub fn scripted(scripts: Arc<dyn Scripts>) -> Snapshot {
    compile(Tier::Enterprise, Some(scripts), None)
}

/// The world with all its zones signed but `short.test.`; with one key for all, or two.
pub fn signed(algorithm: Algorithm, one_key: bool) -> Snapshot {
    compile(Tier::Enterprise, None, Some((algorithm, one_key)))
}

fn zone_keys(config: &Configuration, (algorithm, one_key): (Algorithm, bool)) -> Keys {
    let key = || PrivateKey::from_pkcs8(&gslb_dnssec::generate(algorithm).unwrap()).unwrap();
    let zones = config
        .zones
        .iter()
        .filter(|zone| zone.name.as_str() != "short.test.");
    zones
        .map(|zone| {
            let zsk = (!one_key).then(key);
            (
                zone.id,
                Arc::new(gslb_dnssec::zone_keys(&zone.name, key(), zsk).unwrap()),
            )
        })
        .collect()
}

type Keys = HashMap<ZoneId, Arc<ZoneKeys>>;

fn compile(tier: Tier, scripts: Option<Arc<dyn Scripts>>, signed: Option<(Algorithm, bool)>) -> Snapshot {
    let mut b = Builder::default();
    // SOA TTL above MINIMUM, and below it.
    b.zone("gslb.test.", 3600, 60);
    b.zone("short.test.", 30, 600);
    b.zone("apex.test.", 3600, 60);
    b.zone("inner.gslb.test.", 3600, 20);

    let dual = b.pool(
        0,
        &[
            ("192.0.2.1", "US", true),
            ("192.0.2.2", "DE", true),
            ("2001:db8::3", "US", true),
        ],
    );
    let six = b.pool(0, &[("192.0.2.10", "US", true), ("2001:db8::10", "DE", true)]);
    let v4 = b.pool(0, &[("192.0.2.4", "unknown", true)]);
    let down = b.pool(
        0,
        &[("192.0.2.5", "unknown", false), ("2001:db8::5", "unknown", false)],
    );
    let gate = b.pool(
        2,
        &[("192.0.2.6", "unknown", true), ("192.0.2.7", "unknown", false)],
    );
    let mixed = b.pool(
        0,
        &[("192.0.2.8", "unknown", false), ("192.0.2.9", "unknown", true)],
    );
    let crowd: Vec<String> = (1..=64)
        .flat_map(|n| [format!("198.18.0.{n}"), format!("2001:db8:64::{n}")])
        .collect();
    let crowd: Vec<M> = crowd
        .iter()
        .map(|ip| (&*ip.clone().leak(), "unknown", true))
        .collect();
    let crowd = b.pool(0, &crowd);

    let chain = |steps: &'static [&'static str]| {
        move |s: &mut ServiceDraft| {
            s.filter_chain = Some(steps.iter().map(|step| (*step).to_owned()).collect());
        }
    };
    b.service("www.gslb.test.", &dual, |_| {});
    b.service("www.inner.gslb.test.", &dual, |_| {});
    b.service("v4.gslb.test.", &v4, |_| {});
    b.service("a.b.c.gslb.test.", &v4, |_| {});
    b.service("*.wild.gslb.test.", &dual, |_| {});
    b.service("host.wild.gslb.test.", &v4, |_| {});
    b.service("x.sub.wild.gslb.test.", &v4, |_| {});
    b.service("down.gslb.test.", &down, |_| {});
    b.service("down5.gslb.test.", &down, |s| s.ttl = Some(5));
    b.service("gate.gslb.test.", &gate, |_| {});
    b.service("mixed.gslb.test.", &mixed, |s| s.max_answers = Some(8));
    b.service("saved.gslb.test.", &down, |s| {
        s.fallback = Some(FallbackText::List(vec![
            "192.0.2.99".into(),
            "2001:db8::99".into(),
        ]));
    });
    b.service("open.gslb.test.", &down, |s| {
        s.fallback = Some(FallbackText::Word("all".into()));
    });
    b.service("zero.gslb.test.", &v4, |s| s.ttl = Some(0));
    b.service("long.gslb.test.", &v4, |s| s.ttl = Some(0x7fff_ffff));
    b.service("off.gslb.test.", &v4, |s| s.enabled = Some(false));
    b.service("geo.gslb.test.", &dual, chain(&["geo-ip", "failover"]));
    b.service("sticky.gslb.test.", &dual, chain(&["sticky"]));
    b.service("map.gslb.test.", &dual, chain(&["map-file", "failover"]));
    b.service("six.gslb.test.", &six, chain(&["geo-ip", "failover"]));
    b.service("crowd.gslb.test.", &crowd, |s| s.max_answers = Some(64));
    b.service("few.gslb.test.", &crowd, |s| s.max_answers = Some(30));
    b.service(&longest_name(), &v4, |_| {});
    b.service("www.short.test.", &down, |s| s.ttl = Some(3600));
    b.service("apex.test.", &v4, |_| {});
    b.service("both.gslb.test.", &dual, chain(&["geo-ip", "failover"]));
    b.service("gone.gslb.test.", &down, |_| {});
    b.service("*.star.gslb.test.", &dual, |_| {});
    b.service("svc.static.test.", &v4, |_| {});
    b.service("round.gslb.test.", &crowd, |s| {
        s.algorithm = Some("round-robin".to_owned());
        s.max_answers = Some(3);
    });
    b.service("lonely.example.", &v4, |_| {});
    b.service("*.lonely-wild.example.", &v4, |_| {});
    b.zone("static.test.", 3600, 60);
    b.zone("kid.static.test.", 3600, 60);
    b.zone("rfc4592.test.", 3600, 60);
    super::records::add(&mut b.config);
    if scripts.is_some() {
        b.service("slow.gslb.test.", &dual, chain(&["script:slow"]));
        b.service("quick.gslb.test.", &dual, chain(&["script:quick"]));
        b.service("patient.gslb.test.", &dual, chain(&["script:patient"]));
        b.service("broken.gslb.test.", &dual, chain(&["script:broken"]));
    }

    let rule = |network: &str, target: &str| MapRule {
        network: network.parse().unwrap(),
        targets: vec![target.to_owned()],
    };
    let map = [
        rule("198.51.0.0/16", "DE"),
        rule("198.51.200.0/24", "US"),
        rule("2001:db8::/32", "DE"),
    ];
    let environment = Environment {
        geo: Arc::new(atlas()),
        map: Arc::new(map),
        tier,
        scripts: scripts.unwrap_or_else(|| Arc::new(NoScripts)),
        keys: Arc::new(signed.map(|how| zone_keys(&b.config, how)).unwrap_or_default()),
        ..Environment::default()
    };
    let mut slots = Slots::new();
    let snapshot = Snapshot::compile(&b.config, &environment, &mut slots, 7).unwrap();
    for (pool, member) in &b.down {
        let id = b.config.pools[*pool].members[*member].id;
        slots.existing_member(id).unwrap().set_score(0.0);
    }
    snapshot
}
