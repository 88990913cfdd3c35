//! A fingerprint of a configuration: equal on every node that holds the same objects.

use super::Configuration;
use crate::hash::mix;
use crate::model::Zone;
use serde::Serialize;
use std::io;

/// Folds bytes into 128 bits. Tells accidental differences apart; it is no defence against made-up ones.
struct Fold {
    high: u64,
    low: u64,
    length: u64,
}

impl io::Write for Fold {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for chunk in bytes {
            self.high = mix(self.high ^ u64::from(*chunk));
            self.low = mix(self
                .low
                .wrapping_add(u64::from(*chunk))
                .wrapping_add(0x9e37_79b9_7f4a_7c15));
        }
        self.length += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Fold {
    fn add(&mut self, object: &impl Serialize) {
        // Neither the stored types nor this writer can fail.
        let _: Result<(), serde_json::Error> = serde_json::to_writer(&mut *self, object);
        self.high = mix(self.high ^ self.length);
    }
}

fn sorted<T, K: Ord>(objects: &[T], key: impl Fn(&T) -> K) -> Vec<&T> {
    let mut sorted: Vec<&T> = objects.iter().collect();
    sorted.sort_by_key(|object| key(object));
    sorted
}

impl Configuration {
    /// The snapshot hash: 32 hexadecimal digits over every object, sorted by id. Serials are left out, since they
    /// count changes and say nothing about the result.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut fold = Fold {
            high: 1,
            low: 2,
            length: 0,
        };
        for zone in sorted(&self.zones, |zone| zone.id) {
            fold.add(&Zone {
                serial: 0,
                ..zone.clone()
            });
        }
        for pool in sorted(&self.pools, |pool| pool.id) {
            fold.add(pool);
        }
        for service in sorted(&self.services, |service| service.id) {
            fold.add(service);
        }
        for set in sorted(&self.records, |set| set.id) {
            fold.add(set);
        }
        format!("{:016x}{:016x}", fold.high, fold.low)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Site, member};

    #[test]
    fn the_fingerprint_sees_every_field_but_neither_order_nor_serial() {
        let site = Site::new()
            .zone_named("example.com.")
            .zone_named("example.net.")
            .pool("web", 0, vec![member("10.0.0.1", "DE"), member("10.0.0.2", "DE")])
            .chain("www.example.com.", "web", &["geo-ip"])
            .chain("api.example.com.", "web", &["geo-ip"]);
        let config = site.config;
        let original = config.fingerprint();
        assert_eq!(original.len(), 32);

        let mut same = config.clone();
        same.zones.reverse();
        same.services.reverse();
        same.zones[0].serial = 77;
        assert_eq!(same.fingerprint(), original);

        let mut ttl = config.clone();
        ttl.services[0].ttl += 1;
        let mut weight = config.clone();
        weight.pools[0].members[1].weight = 2;
        // The order of members breaks ties, and so belongs to the configuration.
        let mut order = config.clone();
        order.pools[0].members.reverse();
        let mut minimum = config.clone();
        minimum.zones[1].soa.minimum += 1;
        let mut fewer = config;
        fewer.services.pop();
        for other in [ttl, weight, order, minimum, fewer] {
            assert_ne!(other.fingerprint(), original);
        }
    }
}
