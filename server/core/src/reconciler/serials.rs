//! Serials of zones in the reconciler's copy: they grow as those in the store do (`store/serials.rs`).

use super::objects::Objects;
use super::touched::Touched;
use gslb_engine::model::{PoolId, ZoneId};
use std::collections::BTreeSet;

/// A zone with another record has a new serial.
pub(super) fn grow_zone(objects: &mut Objects, touched: &mut Touched, zone: ZoneId) {
    if objects.raise_serial(zone) {
        touched.zone(zone);
    }
}

/// The closest zone around a name has a new serial.
pub(super) fn grow_around(objects: &mut Objects, touched: &mut Touched, name: &str) {
    if let Some(zone) = objects.zone_around(name) {
        grow_zone(objects, touched, zone);
    }
}

/// The zone that one of this name lies in has a new serial.
pub(super) fn grow_above(objects: &mut Objects, touched: &mut Touched, zone: &str) {
    if let Some((_, above)) = zone.split_once('.') {
        grow_around(objects, touched, above);
    }
}

/// All zones with services of a pool have a new serial.
pub(super) fn grow_for_pool(objects: &mut Objects, touched: &mut Touched, pool: PoolId) {
    let mut zones = BTreeSet::new();
    for (service, zone) in objects.services_of_pool(pool) {
        touched.moved(service);
        zones.extend(zone);
    }
    for zone in zones {
        grow_zone(objects, touched, zone);
    }
}
