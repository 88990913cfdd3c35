//! What has changed since the snapshot in force was compiled.

use gslb_engine::model::{PoolId, RecordName, ServiceId, ZoneId};
use gslb_engine::snapshot::{Changes, Configuration};
use std::collections::BTreeSet;

/// Objects that changed, by id: their new form, or that there is none, stands in the configuration.
#[derive(Debug, Default)]
pub(super) struct Touched {
    zones: BTreeSet<ZoneId>,
    pools: BTreeSet<PoolId>,
    services: BTreeSet<ServiceId>,
    /// Names whose records changed.
    names: BTreeSet<(ZoneId, RecordName)>,
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

    /// The changes against the snapshot in force; `None` when everything must be compiled.
    pub(super) fn changes(&self, config: &Configuration) -> Option<Changes> {
        if self.everything {
            return None;
        }
        let (zones, removed_zones) = split(&self.zones, &config.zones, |zone| zone.id);
        let (pools, removed_pools) = split(&self.pools, &config.pools, |pool| pool.id);
        let (services, removed_services) = split(&self.services, &config.services, |service| service.id);
        let records = match self.names.is_empty() {
            true => Vec::new(),
            false => {
                let is_touched = |zone, name: &RecordName| self.names.contains(&(zone, name.clone()));
                let all = config.records.iter();
                all.filter(|set| is_touched(set.zone_id, &set.name))
                    .cloned()
                    .collect()
            }
        };
        Some(Changes {
            names: self.names.iter().cloned().collect(),
            records,
            zones,
            pools,
            services,
            removed_zones,
            removed_pools,
            removed_services,
        })
    }
}

/// Of the touched objects those that are there, and the ids of those that are gone.
fn split<I: Ord + Copy, T: Clone>(
    touched: &BTreeSet<I>,
    all: &[T],
    id: impl Fn(&T) -> I,
) -> (Vec<T>, Vec<I>) {
    if touched.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let there: Vec<T> = all
        .iter()
        .filter(|object| touched.contains(&id(object)))
        .cloned()
        .collect();
    let found: BTreeSet<I> = there.iter().map(&id).collect();
    (there, touched.difference(&found).copied().collect())
}
