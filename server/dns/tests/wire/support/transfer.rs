//! Zones that are transferred, and a secondary that takes them.

use super::ask::{Ask, SOA};
use super::reply::Reply;
use super::tsig::Key;
use super::{Server, receive, send};
use gslb_dnssec::{Algorithm, PrivateKey};
use gslb_engine::environment::Environment;
use gslb_engine::model::{
    FilterName, MemberDraft, NotifyTargetDraft, PoolDraft, RecordDraft, RecordName, ServiceDraft, TenantId,
    TransferDraft, TransferPeerDraft, TsigAlgorithm, Zone, ZoneDraft,
};
use gslb_engine::snapshot::{Configuration, Slots, Snapshot, TsigKey};
use std::net::TcpStream;
use std::sync::Arc;

/// Keys that the server knows too.
pub const KEY: Key = Key {
    name: "xfr.key.",
    secret: b"a secret of thirty-two octets...",
    bits: 256,
};
pub const LONG_KEY: Key = Key {
    name: "long.key.",
    secret: b"another secret, which is quite a bit longer than the first one was",
    bits: 512,
};
pub const MIDDLE_KEY: Key = Key {
    name: "middle.key.",
    secret: b"yet another secret of some length",
    bits: 384,
};

/// A configuration that changes.
#[derive(Default)]
pub struct Site {
    pub config: Configuration,
    pub signed: bool,
    slots: Slots,
    ids: u32,
}

pub fn peer(network: Option<&str>, key: Option<&str>, signer: bool) -> TransferPeerDraft {
    TransferPeerDraft {
        network: network.map(str::to_owned),
        key: key.map(str::to_owned),
        signer: Some(signer),
    }
}

impl Site {
    /// The zone `xfr.test.` with records and a service of three members, of which one is down and one is disabled;
    /// `peers` may transfer it.
    pub fn new(peers: Vec<TransferPeerDraft>) -> Self {
        let mut site = Self::default();
        site.zone("xfr.test.", peers, &[]);
        for (name, rtype, data) in [
            ("@", "MX", "10 mail"),
            ("mail", "A", "192.0.2.25"),
            ("*.wild", "TXT", "w"),
            ("sub", "NS", "ns.sub.xfr.test."),
            ("ns.sub", "A", "192.0.2.53"),
        ] {
            site.record(name, rtype, data);
        }
        site.pool(&[("192.0.2.1", true), ("2001:db8::2", true), ("192.0.2.3", false)]);
        site.service("www.xfr.test.");
        site
    }

    fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(&mut self) -> T {
        self.ids += 1;
        format!("00000000-0000-0000-0001-{:012x}", self.ids)
            .parse()
            .unwrap()
    }

    pub fn zone(&mut self, name: &str, peers: Vec<TransferPeerDraft>, notify: &[(String, Option<&str>)]) {
        let notify = notify.iter().map(|(address, key)| NotifyTargetDraft {
            address: Some(address.clone()),
            key: key.map(str::to_owned),
        });
        let draft = ZoneDraft {
            name: Some(name.to_owned()),
            name_servers: Some(vec![format!("ns1.{name}")]),
            transfer: Some(TransferDraft {
                peers: Some(peers),
                notify: Some(notify.collect()),
            }),
            ..ZoneDraft::default()
        };
        let zone: Zone = draft.validate(self.id(), TenantId::DEFAULT, 7).unwrap();
        self.config.zones.push(zone);
    }

    /// Adds a record to the first zone.
    pub fn record(&mut self, name: &str, rtype: &str, data: &str) {
        let draft = RecordDraft {
            name: Some(name.to_owned()),
            rtype: Some(rtype.to_owned()),
            ttl: Some(300),
            data: Some(vec![data.to_owned()]),
        };
        let set = draft.validate(self.id(), &self.config.zones[0]).unwrap();
        self.config.records.push(set);
    }

    /// Takes the records of a name of the first zone out.
    pub fn without(&mut self, name: &str) {
        let name = RecordName::parse(&format!("{name}.xfr.test."), None).unwrap();
        self.config.records.retain(|set| set.name != name);
    }

    /// Members by address, enabled or not.
    pub fn pool(&mut self, members: &[(&str, bool)]) {
        let members = members.iter().map(|(ip, enabled)| MemberDraft {
            ip_address: Some((*ip).to_owned()),
            port: Some(80),
            enabled: Some(*enabled),
            ..MemberDraft::default()
        });
        let draft = PoolDraft {
            name: Some("pool".to_owned()),
            members: Some(members.collect()),
            ..PoolDraft::default()
        };
        let id = self.config.pools.first().map(|pool| pool.id);
        let id = id.unwrap_or_else(|| self.id());
        let pool = draft.validate(id, TenantId::DEFAULT, || self.id()).unwrap();
        self.config.pools = vec![pool];
    }

    /// The same of names.
    pub fn hosts(&mut self, members: &[(&str, bool)]) {
        let members = members.iter().map(|(name, enabled)| MemberDraft {
            hostname: Some((*name).to_owned()),
            port: Some(80),
            enabled: Some(*enabled),
            ..MemberDraft::default()
        });
        let draft = PoolDraft {
            name: Some("pool".to_owned()),
            members: Some(members.collect()),
            ..PoolDraft::default()
        };
        let id = self.config.pools[0].id;
        self.config.pools = vec![draft.validate(id, TenantId::DEFAULT, || self.id()).unwrap()];
    }

    pub fn service(&mut self, domain: &str) {
        let draft = ServiceDraft {
            name: Some(domain.to_owned()),
            domain: Some(domain.to_owned()),
            pool_id: Some(self.config.pools[0].id.to_string()),
            ttl: Some(30),
            ..ServiceDraft::default()
        };
        let service = draft.validate(self.id(), TenantId::DEFAULT, FilterName::RoundRobin);
        self.config.services.push(service.unwrap());
    }

    /// The next serial.
    pub fn grow(&mut self) {
        let zone = &mut self.config.zones[0];
        zone.serial = zone.serial.wrapping_add(1);
    }

    pub fn serial(&self) -> u32 {
        self.config.zones[0].serial
    }

    pub fn snapshot(&mut self) -> Snapshot {
        let key = |key: Key, algorithm| {
            let name = RecordName::parse(key.name, None).unwrap();
            TsigKey::new(name, algorithm, key.secret)
        };
        let private = || PrivateKey::from_pkcs8(&gslb_dnssec::generate(Algorithm::P256).unwrap()).unwrap();
        let zones = self.config.zones.iter().filter(|_| self.signed);
        let keys = zones.map(|zone| {
            let keys = gslb_dnssec::zone_keys(&zone.name, private(), None).unwrap();
            (zone.id, Arc::new(keys))
        });
        let tsig = [
            key(KEY, TsigAlgorithm::HmacSha256),
            key(MIDDLE_KEY, TsigAlgorithm::HmacSha384),
            key(LONG_KEY, TsigAlgorithm::HmacSha512),
        ];
        let environment = Environment {
            keys: Arc::new(keys.collect()),
            tsig: Arc::new(tsig.into_iter().collect()),
            ..Environment::default()
        };
        let snapshot = Snapshot::compile(&self.config, &environment, &mut self.slots, 7).unwrap();
        if let Some(member) = self.config.pools.first().and_then(|pool| pool.members.first()) {
            // The first one is down.
            self.slots.existing_member(member.id).unwrap().set_score(0.0);
        }
        snapshot
    }

    /// Puts the configuration in force, as what follows on the one before.
    pub fn publish(&mut self, server: &Server) {
        let before = server.cell.load_full();
        server.cell.store(Arc::new(self.snapshot().following(&before)));
    }

    /// A server with this in force.
    pub fn serve(&mut self) -> Server {
        let server = Server::start();
        server.cell.store(Arc::new(self.snapshot()));
        server
    }
}

/// Reads the messages of a transfer; with a key they must be signed, by what was signed with this MAC.
pub fn read_signed(stream: &mut TcpStream, key: Option<(&Key, Vec<u8>)>) -> Vec<Reply> {
    let mut replies = Vec::new();
    let mut soas = 0;
    let mut key = key;
    loop {
        let raw = receive(stream).expect("the next message");
        let message = match &mut key {
            Some((key, prior)) => {
                let (message, record) = key.open(&raw, prior, replies.is_empty());
                *prior = record.mac;
                message
            }
            None => raw,
        };
        let reply = Reply::new(message);
        assert_eq!(reply.rcode(), 0);
        let answers = reply.answers();
        soas += answers
            .iter()
            .filter(|r| u16::from(r.record_type()) == SOA)
            .count();
        let last = answers.last().is_some_and(|r| u16::from(r.record_type()) == SOA);
        let alone = replies.is_empty() && answers.len() == 1;
        replies.push(reply);
        // An incremental transfer has pairs of them between.
        if last && (alone || soas % 2 == 0) {
            return replies;
        }
    }
}

/// The records of a transfer over a connection of its own.
pub fn transfer(server: &Server, ask: &[u8]) -> Vec<String> {
    let mut stream = server.connect();
    send(&mut stream, ask);
    let replies = read_signed(&mut stream, None);
    replies.iter().flat_map(Reply::shown_answers).collect()
}

/// A query for what has changed since a serial.
pub fn ixfr(ask: &Ask, serial: u32) -> Vec<u8> {
    let mut octets = ask.octets();
    let at = 12 + ask.question().len();
    let numbers = [serial, 0, 0, 0, 0];
    let rdata: Vec<u8> = [0, 0]
        .into_iter()
        .chain(numbers.iter().flat_map(|n| n.to_be_bytes()))
        .collect();
    let soa = [&[0xc0, 12, 0, 6, 0, 1, 0, 0, 0, 0, 0, 22][..], &rdata].concat();
    octets.splice(at..at, soa);
    octets[9] = 1;
    octets
}
