//! Serials of zones in the reconciler's copy: they grow as those in the store do (`store/serials.rs`).

use super::touched::Touched;
use crate::store::closest;
use gslb_engine::model::{PoolId, ZoneId};
use gslb_engine::snapshot::Configuration;
use std::collections::{BTreeSet, HashMap};

/// A zone with another record has a new serial.
pub(super) fn grow_zone(config: &mut Configuration, touched: &mut Touched, zone: ZoneId) {
    if let Some(zone) = config.zones.iter_mut().find(|known| known.id == zone) {
        zone.serial = zone.serial.wrapping_add(1);
        touched.zone(zone.id);
    }
}

/// The closest zone around a name has a new serial.
pub(super) fn grow_around(config: &mut Configuration, touched: &mut Touched, name: &str) {
    let zones = &config.zones;
    let around = closest(name, |name| zones.iter().any(|zone| zone.name.as_str() == name));
    let zone = around.and_then(|name| zones.iter().find(|zone| zone.name.as_str() == name));
    if let Some(id) = zone.map(|zone| zone.id) {
        grow_zone(config, touched, id);
    }
}

/// The zone that one of this name lies in has a new serial.
pub(super) fn grow_above(config: &mut Configuration, touched: &mut Touched, zone: &str) {
    if let Some((_, above)) = zone.split_once('.') {
        grow_around(config, touched, above);
    }
}

/// All zones with services of a pool have a new serial.
pub(super) fn grow_for_pool(config: &mut Configuration, touched: &mut Touched, pool: PoolId) {
    let zones: HashMap<&str, ZoneId> = config
        .zones
        .iter()
        .map(|zone| (zone.name.as_str(), zone.id))
        .collect();
    let services = config.services.iter().filter(|service| service.pool_id == pool);
    let around = |domain| closest(domain, |name| zones.contains_key(name));
    let ids: BTreeSet<ZoneId> = services
        .filter_map(|service| zones.get(around(service.domain.as_str())?).copied())
        .collect();
    for id in ids {
        grow_zone(config, touched, id);
    }
}
