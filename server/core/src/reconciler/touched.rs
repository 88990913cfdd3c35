//! What has changed since the snapshot in force was compiled.

use super::objects::Objects;
use gslb_engine::model::{PoolId, RecordName, ServiceId, ZoneId};
use gslb_engine::snapshot::Changes;
use std::collections::BTreeSet;

/// Objects that changed, by id: their new form, or that there is none, stands among the objects.
#[derive(Debug, Default)]
pub(super) struct Touched {
    zones: BTreeSet<ZoneId>,
    pools: BTreeSet<PoolId>,
    services: BTreeSet<ServiceId>,
    /// Names whose records changed.
    names: BTreeSet<(ZoneId, RecordName)>,
    /// Services whose pool has other addresses.
    moved: BTreeSet<ServiceId>,
    /// More than objects: settings, files, the licence, or a compilation that failed.
    everything: bool,
}

impl Touched {
    /// Everything must be compiled.
    pub(super) fn everything() -> Self {
        Self {
            everything: true,
            ..Self::default()
        }
    }

    /// A zone changed.
    pub(super) fn zone(&mut self, id: ZoneId) {
        self.zones.insert(id);
    }

    /// A pool changed.
    pub(super) fn pool(&mut self, id: PoolId) {
        self.pools.insert(id);
    }

    /// A service changed.
    pub(super) fn service(&mut self, id: ServiceId) {
        self.services.insert(id);
    }

    /// Records of a name changed.
    pub(super) fn name(&mut self, zone: ZoneId, name: &RecordName) {
        self.names.insert((zone, name.clone()));
    }

    /// A service stays as it is, and its pool has other addresses.
    pub(super) fn moved(&mut self, id: ServiceId) {
        self.moved.insert(id);
    }

    /// The changes against the snapshot in force; `None` when everything must be compiled.
    pub(super) fn changes(&self, objects: &Objects) -> Option<Changes> {
        if self.everything {
            return None;
        }
        let (zones, removed_zones) = split(&self.zones, |id| objects.zone(id));
        let (pools, removed_pools) = split(&self.pools, |id| objects.pool(id));
        let (services, removed_services) = split(&self.services, |id| objects.service(id));
        let names = self.names.iter();
        Some(Changes {
            records: names
                .clone()
                .flat_map(|(zone, name)| objects.records_at(*zone, name).cloned())
                .collect(),
            names: names.cloned().collect(),
            zones,
            pools,
            services,
            removed_zones,
            removed_pools,
            removed_services,
            moved: self.moved.iter().copied().collect(),
        })
    }
}

/// Of the touched objects those that are there, and the ids of those that are gone.
fn split<'a, I: Copy, T: Clone + 'a>(
    touched: &BTreeSet<I>,
    find: impl Fn(I) -> Option<&'a T>,
) -> (Vec<T>, Vec<I>) {
    let (mut there, mut gone) = (Vec::new(), Vec::new());
    for id in touched {
        match find(*id) {
            Some(object) => there.push(object.clone()),
            None => gone.push(*id),
        }
    }
    (there, gone)
}
