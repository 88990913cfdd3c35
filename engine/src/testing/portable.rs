//! A fixed set of random decisions, folded into one number for each step: the same on every architecture.
//!
//! Nodes of a cluster may run on different machines, and the console previews chains in the browser: what a step decides must
//! not depend on how wide a word is, or on whose sine it is. The numbers are pinned, and compared on this machine and on
//! `wasm32-unknown-unknown` (`cargo xtask test --only wasm`).

use super::{Rows, Site, entropy, member};
use crate::chain::{NoTrace, Scratch, evaluate};
use crate::environment::{Environment, MapRule, Signals};
use crate::geo::{Continent, Country, Place, Point, Subdivision};
use crate::hash::{bits, mix, wide};
use crate::model::{FILTERS, GeoDraft, MemberDraft, Tier, WatermarksDraft};
use crate::query::{ClientSubnet, Family, QueryContext};
use crate::ranges::Table;
use crate::snapshot::Found;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// Sites per step.
const SITES: u64 = 60;
/// Queries per site.
const QUERIES: u64 = 40;
/// The numbers, one a line, with the name of what they stand for.
const PINNED: &str = include_str!("portable.txt");

const NAME: &str = "www.example.com.";
const REGIONS: [&str; 4] = ["DE", "US", "FR", "unknown"];

/// Where, in the pinned numbers, the first stands that this machine does not come to: a line from 1, and what it would be.
#[must_use]
pub fn difference() -> Option<(usize, String)> {
    first_difference(&digests(), PINNED)
}

fn first_difference(digests: &[String], pinned: &str) -> Option<(usize, String)> {
    let mut digests = digests.iter().map(String::as_str);
    let mut pinned = pinned.lines();
    let mut line = 0;
    loop {
        line += 1;
        match (digests.next(), pinned.next()) {
            (None, None) => return None,
            (digest, pinned) if digest == pinned => {}
            (digest, _) => return Some((line, digest.unwrap_or_default().to_owned())),
        }
    }
}

/// All numbers, as they are pinned.
#[must_use]
pub fn digests() -> Vec<String> {
    let alone = FILTERS.iter().map(|filter| {
        let name = filter.name.to_string();
        let step = if name == "select-first" {
            format!("{name}:3")
        } else {
            name
        };
        let digest = decisions(|_| vec![step.clone()]);
        format!("{digest:016x} {step}")
    });
    let mut digests: Vec<String> = alone.collect();
    digests.push(format!("{:016x} chains", decisions(chain)));
    digests.push(format!("{:016x} ranges", ranges()));
    digests
}

/// Random bits, one after the other.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        entropy(self.0)
    }

    fn below(&mut self, n: u64) -> u64 {
        // The high bits of a product, so that nothing depends on the size of a word.
        u64::try_from((u128::from(self.next()) * u128::from(n)) >> 64).unwrap_or_default()
    }

    fn one_of<T: Copy + Default>(&mut self, list: &[T]) -> T {
        let index = self.below(list.len() as u64) as usize;
        list.get(index).copied().unwrap_or_default()
    }

    fn degrees(&mut self, most: u64) -> f64 {
        (self.below(2 * most * 100 + 1) as f64) / 100.0 - most as f64
    }

    fn address(&mut self) -> IpAddr {
        let low = self.next();
        if self.below(3) == 0 {
            Ipv6Addr::from_bits(
                u128::from(0x2001_0db8_0000_0000 | self.below(1 << 12)) << 64 | u128::from(low),
            )
            .into()
        } else {
            // Few networks, so that rules, databases and clients meet.
            Ipv4Addr::from_bits(0xc600_0000 | low as u32 & 0x0003_ffff).into()
        }
    }

    fn network(&mut self) -> Option<IpNet> {
        match self.address() {
            IpAddr::V4(v4) => Some(Ipv4Net::new(v4, 14 + self.below(13) as u8).ok()?.trunc().into()),
            IpAddr::V6(v6) => Some(Ipv6Net::new(v6, 50 + self.below(20) as u8).ok()?.trunc().into()),
        }
    }

    fn place(&mut self) -> Place {
        Place {
            continent: Continent::parse(self.one_of(&["EU", "NA", "AS"])),
            country: Country::parse(self.one_of(&REGIONS)),
            subdivision: Subdivision::parse(self.one_of(&["DE-BE", "DE-BY", "US-CA"])),
            point: Point::new(self.degrees(90), self.degrees(180)),
        }
    }

    fn member(&mut self, number: u64) -> MemberDraft {
        let address = if self.below(4) == 0 {
            format!("2001:db8::{number:x}")
        } else {
            format!("10.0.0.{number}")
        };
        let fence = self.network().map(|network| network.to_string());
        MemberDraft {
            weight: Some(self.one_of(&[0, 1, 1, 2, 3, 7, 1000, i64::from(i32::MAX)])),
            priority: Some(self.below(4) as i64),
            asn: Some(64_500 + self.below(4) as i64),
            geo: Some(GeoDraft {
                continent: Some(self.one_of(&["EU", "NA", "AS"]).to_owned()),
                country: None,
                subdivision: Some(self.one_of(&["DE-BE", "DE-BY", "US-CA"]).to_owned()),
                lat: Some(self.degrees(90)),
                lon: Some(self.degrees(180)),
            }),
            fence_asns: (self.below(2) == 0).then(|| vec![64_500 + self.below(4) as i64]),
            fence_prefixes: fence.filter(|_| self.below(2) == 0).map(|fence| vec![fence]),
            load_watermarks: Some(WatermarksDraft {
                low: Some(0.25),
                high: Some(0.75),
            }),
            ..member(&address, self.one_of(&REGIONS))
        }
    }

    fn environment(&mut self) -> Environment {
        let mut rows = Rows::new();
        let mut known = BTreeSet::new();
        for network in (0..20).filter_map(|_| self.network()).collect::<Vec<_>>() {
            if known.insert(network) {
                let text = network.to_string();
                let organisation = self.one_of(&["one", "two", "three"]);
                rows = rows
                    .country(&text, self.one_of(&REGIONS))
                    .asn(&text, 64_500 + self.below(5) as u32, organisation)
                    .place(&text, self.place());
            }
        }
        let map = known.iter().step_by(2).map(|network| MapRule {
            network: *network,
            targets: vec![
                self.one_of(&["DE", "US", "10.0.0.1"]).to_owned(),
                self.one_of(&["FR", "unknown", "10.0.0.2"]).to_owned(),
            ],
        });
        let map = map
            .filter(|rule| rule.targets.first() != rule.targets.last())
            .collect();
        let zones = REGIONS.map(|zone| (zone.to_owned(), self.below(500) as f64 / 3.0));
        Environment {
            geo: Arc::new(rows),
            map,
            signals: Signals {
                zones: zones.into_iter().collect(),
                weight: self.below(1000) as f64 / 999.0,
            },
            tier: Tier::Enterprise,
            ..Environment::default()
        }
    }

    fn subnet(&mut self) -> Option<ClientSubnet> {
        let address = self.address();
        let source = if address.is_ipv4() {
            8 + self.below(25)
        } else {
            40 + self.below(60)
        };
        (self.below(3) > 0).then_some(ClientSubnet {
            address,
            source: source as u8,
        })
    }
}

/// One to four steps.
fn chain(random: &mut Random) -> Vec<String> {
    let steps = (0..=random.below(4)).filter_map(|_| {
        let name = FILTERS.get(random.below(FILTERS.len() as u64) as usize)?.name;
        let name = name.to_string();
        Some(if name == "select-first" {
            format!("{name}:2")
        } else {
            name
        })
    });
    steps.collect()
}

/// What random sites with chains answer to random queries.
fn decisions(chain: impl Fn(&mut Random) -> Vec<String>) -> u64 {
    let mut scratch = Scratch::new();
    let mut digest = 0;
    for number in 0..SITES {
        let mut random = Random(number << 32);
        let members = (1..=random.below(24) + 2)
            .map(|n| random.member(n))
            .collect::<Vec<_>>();
        let environment = random.environment();
        let steps = chain(&mut random);
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let site = Site::new().pool("web", 0, members).chain(NAME, "web", &steps);
        let (snapshot, slots) = match site.compile(&environment) {
            Ok(compiled) => compiled,
            Err(error) => unreachable!("site {number} does not compile: {error}"),
        };
        for member in site.config.pools.iter().flat_map(|pool| &pool.members) {
            if let Some(slot) = slots.existing_member(member.id) {
                slot.set_score(random.below(8) as f32 / 7.0);
                slot.set_load(Some(random.below(1000) as f64 / 999.0), None);
                let rtt = 1_000_000 + random.below(80_000_000);
                (0..random.below(6)).for_each(|_| slot.set_rtt(rtt, random.below(5_000_000)));
            }
        }
        let Found::Service { service, .. } = snapshot.find(&super::wire(NAME)) else {
            unreachable!("site {number} has no service");
        };
        for _ in 0..QUERIES {
            let ctx = QueryContext {
                qname: b"",
                family: if random.below(3) == 0 {
                    Family::V6
                } else {
                    Family::V4
                },
                source: random.address(),
                subnet: random.subnet(),
                now: 1,
                entropy: random.next(),
            };
            let decision = evaluate(&snapshot, service, &ctx, &mut scratch, &mut NoTrace);
            digest = scratch
                .answers()
                .iter()
                .fold(digest, |digest, ip| wide(bits(*ip), digest));
            digest = mix(digest ^ u64::from(decision.ecs_scope) ^ (decision.outcome as u64) << 8);
        }
    }
    digest
}

/// What tables of random networks find.
fn ranges() -> u64 {
    let mut digest = 0;
    for number in 0..SITES {
        let mut random = Random(number << 32);
        let networks: BTreeSet<IpNet> = (0..60).filter_map(|_| random.network()).collect();
        let table = Table::nested(networks.iter().copied().zip(0..));
        for _ in 0..QUERIES {
            let (value, prefix) = table.find(random.address());
            digest = mix(digest ^ value.map_or(u64::MAX, u64::from) ^ u64::from(prefix) << 32);
        }
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn the_first_line_that_differs_is_told() {
        let digests = ["1 geo-ip", "2 asn"].map(str::to_owned);
        for (pinned, line) in [
            ("1 geo-ip\n2 asn\n", None),
            ("1 geo-ip\n3 asn\n", Some(2)),
            ("2 geo-ip\n3 asn\n", Some(1)),
            ("1 geo-ip\n", Some(2)),
            ("1 geo-ip\n2 asn\n3 sticky\n", Some(3)),
        ] {
            let found = first_difference(&digests, pinned).map(|(line, _)| line);
            assert_eq!(found, line, "{pinned}");
        }
    }
}
