//! Zones in a snapshot.

use crate::environment::Environment;
use crate::model::{DomainName, Rdata, RecordName, RecordType, Soa, Transfer, Zone, ZoneId};
use crate::snapshot::contents::ZoneRecord;
use crate::snapshot::records::CompiledSet;
use crate::snapshot::signing::SignedZone;
use std::sync::Arc;

/// TTL and negative TTL of the SOA of a service that lies outside every zone, seconds.
const SYNTHETIC_TTL: u32 = 60;

/// A zone: the authority in whose name answers are given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledZone {
    /// Id; a synthetic zone has none.
    pub id: Option<ZoneId>,
    /// The apex.
    pub name: DomainName,
    /// The apex in lower-case wire form.
    pub wire: Arc<[u8]>,
    /// Start of authority.
    pub soa: Soa,
    /// Serial of the SOA.
    pub serial: u32,
    /// The SOA as a record.
    pub soa_set: CompiledSet,
    /// Name servers of the apex; a synthetic zone has none.
    pub name_servers: Option<CompiledSet>,
    /// What its answers are signed with, if they are.
    pub signed: Option<SignedZone>,
    /// Who may transfer it, and who is told of changes.
    pub transfer: Transfer,
    /// Made up for a service outside every zone, so that the service works before anyone makes a zone: the apex is
    /// the service's own name, or for a wildcard the name above the `*`.
    pub synthetic: bool,
}

/// The SOA as a record; the engine's own types always fit.
fn soa_set(soa: &Soa, serial: u32) -> CompiledSet {
    let mut wire = soa.mname.to_wire();
    wire.extend_from_slice(soa.rname.as_wire());
    for number in [serial, soa.refresh, soa.retry, soa.expire, soa.minimum] {
        wire.extend_from_slice(&number.to_be_bytes());
    }
    let data = Rdata::from_wire(RecordType::SOA, &wire);
    CompiledSet::new(RecordType::SOA, soa.ttl, data.into_iter().collect())
}

fn ns_set(names: &[DomainName], ttl: u32) -> Option<CompiledSet> {
    let data: Vec<Rdata> = names
        .iter()
        .filter_map(|name| Rdata::from_wire(RecordType::NS, &name.to_wire()).ok())
        .collect();
    (!data.is_empty()).then(|| CompiledSet::new(RecordType::NS, ttl, data))
}

impl CompiledZone {
    pub(crate) fn new(zone: &Zone, env: &Environment) -> Self {
        let keys = env.keys.get(&zone.id);
        Self {
            id: Some(zone.id),
            name: zone.name.clone(),
            wire: zone.name.to_wire().into(),
            soa: zone.soa.clone(),
            serial: zone.serial,
            soa_set: soa_set(&zone.soa, zone.serial),
            name_servers: ns_set(&zone.name_servers, zone.ns_ttl),
            signed: keys.map(|keys| SignedZone::new(Arc::clone(keys), zone.soa.ttl)),
            transfer: zone.transfer.clone(),
            synthetic: false,
        }
    }

    /// The zone of a service outside every zone. `name` is the service's name, or the name above its `*`.
    pub(crate) fn synthetic(name: DomainName, wire: Arc<[u8]>) -> Self {
        let soa = Soa {
            mname: name.clone(),
            rname: RecordName::parse(&format!("hostmaster.{name}"), None)
                .unwrap_or_else(|_| RecordName::from(&name)),
            refresh: 7200,
            retry: 900,
            expire: 1_209_600,
            minimum: SYNTHETIC_TTL,
            ttl: SYNTHETIC_TTL,
        };
        Self {
            id: None,
            name,
            wire,
            soa_set: soa_set(&soa, 1),
            soa,
            serial: 1,
            name_servers: None,
            signed: None,
            transfer: Transfer::default(),
            synthetic: true,
        }
    }

    /// The SOA as a record of the zone.
    #[must_use]
    pub fn soa_record(&self) -> Option<ZoneRecord> {
        let data = self.soa_set.data.first()?.clone();
        Some(ZoneRecord {
            owner: Arc::clone(&self.wire),
            rtype: self.soa_set.rtype,
            ttl: self.soa_set.ttl,
            data,
        })
    }

    /// TTL of the SOA in a negative answer, seconds: the smaller of the SOA's own TTL and MINIMUM (RFC 2308 §3).
    #[must_use]
    pub fn negative_ttl(&self) -> u32 {
        self.soa.ttl.min(self.soa.minimum)
    }
}
