//! Members that every step finds something to go by, for benches and instruction counts.

use super::{Site, member};
use crate::geo::{AsInfo, Continent, Country, Geo, Located, Place, Point, Subdivision};
use crate::model::{GeoDraft, MemberDraft, WatermarksDraft};
use crate::snapshot::Slots;
use std::net::IpAddr;

/// Regions of the members, in turn.
const REGIONS: [&str; 4] = ["DE", "US", "FR", "unknown"];

/// The same of each four, in turn.
fn turn(list: [&str; 4], n: usize) -> &str {
    list.get(n % list.len()).copied().unwrap_or_default()
}

/// So many members with addresses from 10.0.0.1, with weights and fences by their number, and all facts.
pub fn crowd(
    size: usize,
    weight: impl Fn(usize) -> i64,
    fence: impl Fn(usize) -> String,
) -> Vec<MemberDraft> {
    let members = (0..size).map(|n| MemberDraft {
        weight: Some(weight(n)),
        priority: Some(n as i64 % 5),
        asn: Some(64_500 + n as i64 % 3),
        geo: Some(GeoDraft {
            continent: Some(turn(["EU", "NA", "EU", "NA"], n).to_owned()),
            country: None,
            subdivision: Some(turn(["DE-BE", "US-CA", "DE-BE", "US-CA"], n).to_owned()),
            lat: Some((n * 37 % 180) as f64 - 90.0),
            lon: Some((n * 71 % 360) as f64 - 180.0),
        }),
        fence_asns: Some(vec![64_500 + n as i64 % 4]),
        fence_prefixes: Some(vec![fence(n)]),
        load_watermarks: Some(WatermarksDraft {
            low: Some(0.25),
            high: Some(0.75),
        }),
        ..member(&format!("10.0.{}.{}", n / 250, n % 250 + 1), turn(REGIONS, n))
    });
    members.collect()
}

/// Gives the members of the site's first pool loads and round-trip times.
pub fn measure(site: &Site, slots: &Slots) {
    let members = site.config.pools.first().map_or(&[][..], |pool| &pool.members);
    for (n, stored) in members.iter().enumerate() {
        if let Some(slot) = slots.existing_member(stored.id) {
            slot.set_load(Some(n as f64 % 10.0 / 10.0), None);
            (0..5).for_each(|_| slot.set_rtt(1_000_000 * (n as u64 * 7 % 90 + 5), 0));
        }
    }
}

/// Databases of countries and systems with one of places: every country is in Berlin.
#[derive(Debug)]
pub struct Placed<G>(pub G);

impl<G: Geo> Geo for Placed<G> {
    fn country(&self, ip: IpAddr) -> Located<Country> {
        self.0.country(ip)
    }

    fn asn(&self, ip: IpAddr) -> Located<AsInfo> {
        self.0.asn(ip)
    }

    fn place(&self, ip: IpAddr) -> Located<Place> {
        let Located { value, prefix } = self.0.country(ip);
        Located {
            value: value.map(|country| Place {
                continent: Continent::parse("EU"),
                country: Some(country),
                subdivision: Subdivision::parse("DE-BE"),
                point: Point::new(52.5, 13.4),
            }),
            prefix,
        }
    }

    fn organisation(&self, id: u64) -> Option<String> {
        self.0.organisation(id)
    }

    fn organisation_of(&self, number: u32) -> Option<u64> {
        self.0.organisation_of(number)
    }

    fn has_country(&self) -> bool {
        self.0.has_country()
    }

    fn has_asn(&self) -> bool {
        self.0.has_asn()
    }

    fn has_place(&self) -> bool {
        self.0.has_country()
    }
}
