//! A zone as a whole, for its transfer: what is configured, not what is healthy. A service is there with the addresses of
//! all its enabled members.
//!
//! The tree of names knows no order and no list of a zone's names, so that all of it is gone through, part by part: each
//! part takes little time and memory, whatever the size of the zone.

use super::Snapshot;
use crate::model::{Rdata, RecordType, ZoneId};
use crate::snapshot::pools::RoutedService;
use crate::snapshot::records::CompiledSet;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

/// A record of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ZoneRecord {
    /// Owner in lower-case wire form.
    pub owner: Arc<[u8]>,
    /// Type.
    pub rtype: u16,
    /// Seconds.
    pub ttl: u32,
    /// Data, uncompressed.
    pub data: Rdata,
}

impl ZoneRecord {
    /// Octets on the wire without compression.
    #[must_use]
    pub fn octets(&self) -> usize {
        self.owner.len() + 10 + self.data.as_wire().len()
    }
}

/// Goes through a zone. It keeps its snapshot, so that what comes out is of one moment.
#[derive(Debug)]
pub struct ZoneContents {
    snapshot: Arc<Snapshot>,
    place: u32,
    next: usize,
}

impl Snapshot {
    /// The contents of a stored zone but for its SOA, to be gone through.
    #[must_use]
    pub fn contents(self: &Arc<Self>, zone: ZoneId) -> Option<ZoneContents> {
        Some(ZoneContents {
            place: self.names.place_of(zone)?,
            snapshot: Arc::clone(self),
            next: 0,
        })
    }
}

impl ZoneContents {
    /// Appends the records of the next part, of which there may be none. False when there was no part left.
    pub fn next_part(&mut self, records: &mut Vec<ZoneRecord>) -> bool {
        let (names, pools) = (&self.snapshot.names, &self.snapshot.pools);
        if self.next >= names.parts() {
            return false;
        }
        names.part(pools, self.place, self.next, names.parts(), records);
        self.next += 1;
        true
    }
}

/// Appends a set, each record by itself.
pub(super) fn push_set(owner: &Arc<[u8]>, set: &CompiledSet, records: &mut Vec<ZoneRecord>) {
    records.extend(set.data.iter().map(|data| ZoneRecord {
        owner: Arc::clone(owner),
        rtype: set.rtype,
        ttl: set.ttl,
        data: data.clone(),
    }));
}

/// Appends what stands for a service where nobody can steer: the addresses of all enabled members. Of names there can only
/// be one, the first. What flattened names lead to just now is no configuration: nothing stands for them.
pub(super) fn push_service(owner: &Arc<[u8]>, service: RoutedService<'_>, records: &mut Vec<ZoneRecord>) {
    let mut enabled = service.pool.members.iter().filter(|member| member.stored.enabled);
    if service.is_alias() {
        let name = enabled.find_map(|member| member.host.clone());
        records.extend(name.map(|data| ZoneRecord {
            owner: Arc::clone(owner),
            rtype: RecordType::CNAME.0,
            ttl: service.ttl,
            data,
        }));
        return;
    }
    // Members on two ports of one address are one record.
    let addresses: BTreeSet<IpAddr> = enabled.filter_map(|member| member.ip).collect();
    for address in addresses {
        let (rtype, data) = match address {
            IpAddr::V4(v4) => (RecordType::A, Rdata::from_wire(RecordType::A, &v4.octets())),
            IpAddr::V6(v6) => (RecordType::AAAA, Rdata::from_wire(RecordType::AAAA, &v6.octets())),
        };
        // An address is always good data of its type.
        records.extend(data.ok().map(|data| ZoneRecord {
            owner: Arc::clone(owner),
            rtype: rtype.0,
            ttl: service.ttl,
            data,
        }));
    }
}
