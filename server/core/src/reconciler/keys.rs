//! Keys of the signed zones, read from their records as the snapshot needs them.

use crate::dnssec;
use crate::store::KeysRecord;
use gslb_engine::model::{DomainName, Zone, ZoneId};
use gslb_engine::snapshot::ZoneKeys;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// The records, and the keys that were read from them.
#[derive(Debug)]
pub(super) struct KeyRing {
    records: HashMap<ZoneId, KeysRecord>,
    /// With the name of the zone, which is part of its DS.
    read: HashMap<ZoneId, (DomainName, Arc<ZoneKeys>)>,
    /// Keys of which zones could not be read, and why.
    errors: BTreeMap<String, String>,
}

impl KeyRing {
    pub(super) fn new(records: Vec<KeysRecord>) -> Self {
        Self {
            records: records
                .into_iter()
                .map(|record| (record.zone_id, record))
                .collect(),
            read: HashMap::new(),
            errors: BTreeMap::new(),
        }
    }

    /// Forgets keys that came from files: they are read again.
    pub(super) fn read_files_again(&mut self) {
        let records = &self.records;
        self.read.retain(|zone, _| {
            records
                .get(zone)
                .is_some_and(|record| record.ksk_file.is_none() && record.zsk_file.is_none())
        });
    }

    /// Zones that are to be signed and are not, with the reason.
    pub(super) fn errors(&self) -> Vec<String> {
        let told = |(zone, error): (&String, &String)| format!("{zone} is not signed: {error}");
        self.errors.iter().map(told).collect()
    }

    pub(super) fn put(&mut self, record: KeysRecord) {
        self.read.remove(&record.zone_id);
        self.records.insert(record.zone_id, record);
    }

    pub(super) fn remove(&mut self, zone: ZoneId) {
        self.read.remove(&zone);
        self.records.remove(&zone);
    }

    /// Keys of those of the zones that are signed. A record that cannot be read leaves its zone unsigned, and is told: the
    /// rest of the configuration must not wait for it.
    pub(super) fn of(&mut self, zones: &[Zone], folder: &Path) -> HashMap<ZoneId, Arc<ZoneKeys>> {
        let mut keys = HashMap::new();
        let before = std::mem::take(&mut self.errors);
        for zone in zones {
            let Some(record) = self.records.get(&zone.id) else {
                continue;
            };
            if let Some((name, read)) = self.read.get(&zone.id)
                && *name == zone.name
            {
                keys.insert(zone.id, Arc::clone(read));
                continue;
            }
            match dnssec::keys(&zone.name, record, folder) {
                Ok(read) => {
                    let read = Arc::new(read);
                    self.read.insert(zone.id, (zone.name.clone(), Arc::clone(&read)));
                    keys.insert(zone.id, read);
                }
                Err(error) => {
                    let (zone, error) = (zone.name.to_string(), error.to_string());
                    if before.get(&zone) != Some(&error) {
                        tracing::error!(zone, error, "the zone is not signed");
                    }
                    self.errors.insert(zone, error);
                }
            }
        }
        keys
    }
}
