//! The format of scenario files. Unknown keys are errors.

use gslb_engine::environment::{Environment, LatencySettings, MapRule, Signals};
use gslb_engine::geo::{Continent, Country, Place, Point, Subdivision};
use gslb_engine::host::HostAddresses;
use gslb_engine::model::{
    AdminState, FallbackText, GeoDraft, MemberDraft, ServiceDraft, Tier, WatermarksDraft, ZoneDraft,
};
use gslb_engine::query::Family;
use gslb_engine::snapshot::{Slots, Snapshot};
use gslb_engine::testing::{Rows, Site};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// A scenario file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scenario {
    /// The rule shown.
    pub about: String,
    /// Default `pro`.
    pub tier: Option<Tier>,
    #[serde(default)]
    pub signals: SignalRows,
    #[serde(default)]
    pub latency: LatencyRows,
    #[serde(default)]
    pub geo: GeoRows,
    /// Lines of the map file.
    #[serde(default)]
    pub map: Vec<String>,
    #[serde(default)]
    pub zones: Vec<ZoneRow>,
    pub pools: BTreeMap<String, PoolRow>,
    #[serde(default)]
    pub services: BTreeMap<String, ServiceRow>,
    pub cases: Vec<Case>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignalRows {
    #[serde(default)]
    pub zones: BTreeMap<String, f64>,
    pub weight: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LatencyRows {
    pub region_bonus_multiplier: Option<f64>,
    pub min_rtt_threshold_ms: Option<f64>,
    pub fallback_region: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeoRows {
    #[serde(default)]
    pub country: BTreeMap<String, String>,
    #[serde(default)]
    pub asn: BTreeMap<String, AsRow>,
    #[serde(default)]
    pub place: BTreeMap<String, PlaceRow>,
}

/// What a database says about the place of a network.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceRow {
    pub continent: Option<Continent>,
    pub country: Option<Country>,
    pub subdivision: Option<Subdivision>,
    pub lat: Option<f64>,
    pub lon: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AsRow {
    pub number: u32,
    pub organisation: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ZoneRow {
    pub name: String,
    pub soa_ttl: Option<i64>,
    pub minimum: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PoolRow {
    #[serde(default)]
    pub min_healthy: i64,
    pub members: Vec<MemberRow>,
}

/// A member with its live state.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemberRow {
    /// Address, unless there is a `host`.
    #[serde(default)]
    pub ip: String,
    /// Host name.
    pub host: Option<String>,
    /// What that leads to; nobody knows when it is not there.
    pub addresses: Option<Vec<IpAddr>>,
    /// For how long, seconds; default 300.
    pub address_ttl: Option<u32>,
    pub weight: Option<i64>,
    pub priority: Option<i64>,
    pub region: Option<String>,
    pub zone: Option<String>,
    pub asn: Option<i64>,
    pub enabled: Option<bool>,
    pub admin_state: Option<AdminState>,
    /// Health score; without it nobody has probed yet.
    pub score: Option<f32>,
    pub rtt_ms: Option<f64>,
    /// Successful probes behind `rttMs`, default 5.
    pub probes: Option<u32>,
    pub geo: Option<GeoDraft>,
    pub fence_asns: Option<Vec<i64>>,
    pub fence_prefixes: Option<Vec<String>>,
    pub load_watermarks: Option<WatermarksDraft>,
    /// Load that was pushed.
    pub load: Option<f64>,
    /// Until when that counts, Unix seconds.
    pub load_until: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServiceRow {
    pub pool: String,
    pub algorithm: Option<String>,
    pub filter_chain: Option<Vec<String>>,
    pub ttl: Option<i64>,
    pub enabled: Option<bool>,
    pub fallback: Option<FallbackText>,
    pub max_answers: Option<i64>,
    pub flatten: Option<bool>,
}

/// One query and its decision.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    pub name: String,
    /// Health scores that differ from the members' rows, by address.
    #[serde(default)]
    pub scores: BTreeMap<String, f32>,
    pub query: QueryRow,
    pub expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QueryRow {
    pub name: String,
    /// Default A.
    #[serde(rename = "type", default = "a")]
    pub family: Family,
    /// The resolver.
    pub source: IpAddr,
    /// `198.51.100.0/24`
    pub ecs: Option<String>,
    #[serde(default)]
    pub now: u64,
    /// Number of the random bits of a single query, default 0.
    #[serde(default)]
    pub entropy: u64,
    /// How many queries `anyOf`, `shares` look at, default 4000.
    pub draws: Option<u64>,
}

fn a() -> Family {
    Family::V4
}

/// What must come out. What is not given is not looked at.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expect {
    /// `service` (default), `apex`, `empty`, `missing`, `outside`; for all but `outside` with ` zone.` behind it.
    pub found: Option<String>,
    pub outcome: Option<String>,
    /// The answer, in order.
    pub answers: Option<Vec<IpAddr>>,
    /// The host name that is the answer.
    pub names: Option<Vec<String>>,
    /// Over many queries the first answer is each of these, and no other.
    pub any_of: Option<Vec<IpAddr>>,
    /// Over many queries the first answers have these shares (chi-square).
    pub shares: Option<BTreeMap<IpAddr, f64>>,
    /// Queries one after another get these in turns, beginning anywhere.
    pub turns: Option<Vec<IpAddr>>,
    pub ttl: Option<u32>,
    /// TTL of the SOA of a reply without an answer.
    pub negative_ttl: Option<u32>,
    pub scope: Option<u8>,
    pub steered: Option<bool>,
    pub blind: Option<bool>,
    /// Addresses of members left out before the chain, with the reason.
    pub excluded: Option<BTreeMap<String, String>>,
    /// Every step of the trace.
    pub steps: Option<Vec<StepRow>>,
    /// Texts that the trace's notes contain.
    pub notes: Option<Vec<String>>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRow {
    pub step: Option<String>,
    pub action: String,
    /// A part of the reason.
    pub reason: Option<String>,
    pub before: Option<Vec<String>>,
    pub after: Option<Vec<String>>,
    /// Details that must be there.
    #[serde(default)]
    pub details: BTreeMap<String, String>,
}

impl Scenario {
    /// Reads a file's text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let scenario: Self = serde_saphyr::from_str(text).map_err(|e| e.to_string())?;
        if scenario.cases.is_empty() {
            return Err("has no cases".to_owned());
        }
        match scenario
            .cases
            .iter()
            .find(|case| case.expect == Expect::default())
        {
            Some(case) => Err(format!("the case `{}` expects nothing", case.name)),
            None => Ok(scenario),
        }
    }

    /// Compiles the scenario with the live state of one case.
    pub fn build(&self, case: &Case) -> Result<(Snapshot, Slots), String> {
        let mut site = Site::new();
        for zone in &self.zones {
            site = site.zone(&ZoneDraft {
                name: Some(zone.name.clone()),
                soa_ttl: zone.soa_ttl,
                minimum: zone.minimum,
                ..ZoneDraft::default()
            });
        }
        for (name, pool) in &self.pools {
            site = site.pool(
                name,
                pool.min_healthy,
                pool.members.iter().map(MemberRow::draft).collect(),
            );
        }
        for (domain, service) in &self.services {
            site = site.service(domain, &service.pool, service.draft());
        }
        let (snapshot, slots) = site.compile(&self.environment()?)?;
        let slot = |ip: &str| site.slot(&slots, ip).ok_or_else(|| format!("no member {ip}"));
        for member in self.pools.values().flat_map(|pool| &pool.members) {
            let ip = member.host.as_ref().unwrap_or(&member.ip);
            if let Some(addresses) = &member.addresses {
                let ttl = member.address_ttl.unwrap_or(300);
                let known = HostAddresses::new(addresses.clone(), ttl, 1);
                slot(ip)?.set_addresses(Some(Arc::new(known)));
            }
            if let Some(score) = member.score {
                slot(ip)?.set_score(score);
            }
            if member.load.is_some() {
                slot(ip)?.set_load(member.load, member.load_until);
            }
            if let Some(rtt) = member.rtt_ms {
                for _ in 0..member.probes.unwrap_or(5) {
                    slot(ip)?.set_rtt((rtt * 1e6) as u64, 0);
                }
            }
        }
        for (ip, score) in &case.scores {
            slot(ip)?.set_score(*score);
        }
        Ok((snapshot, slots))
    }

    fn environment(&self) -> Result<Environment, String> {
        let mut rows = Rows::new();
        for (network, country) in &self.geo.country {
            rows = rows.country(network, country);
        }
        for (network, row) in &self.geo.asn {
            rows = rows.asn(network, row.number, &row.organisation);
        }
        for (network, row) in &self.geo.place {
            let place = Place {
                continent: row.continent,
                country: row.country,
                subdivision: row.subdivision,
                point: row.lat.zip(row.lon).and_then(|(lat, lon)| Point::new(lat, lon)),
            };
            rows = rows.place(network, place);
        }
        let rule = |line: &String| {
            let (network, targets) = line.split_once(' ').ok_or_else(|| format!("map: {line}"))?;
            Ok(MapRule {
                network: network.parse().map_err(|e| format!("map: {line}: {e}"))?,
                targets: targets
                    .split(',')
                    .map(|target| target.trim().to_owned())
                    .collect(),
            })
        };
        let defaults = LatencySettings::default();
        let latency = &self.latency;
        Ok(Environment {
            geo: Arc::new(rows),
            map: self
                .map
                .iter()
                .map(rule)
                .collect::<Result<Vec<_>, String>>()?
                .into(),
            signals: Signals {
                zones: self.signals.zones.clone(),
                weight: self.signals.weight.unwrap_or(Signals::default().weight),
            },
            latency: LatencySettings {
                region_bonus_multiplier: latency
                    .region_bonus_multiplier
                    .unwrap_or(defaults.region_bonus_multiplier),
                min_rtt_threshold_ms: latency
                    .min_rtt_threshold_ms
                    .unwrap_or(defaults.min_rtt_threshold_ms),
                fallback_region: latency
                    .fallback_region
                    .clone()
                    .unwrap_or(defaults.fallback_region),
            },
            tier: self.tier.unwrap_or(Tier::Pro),
            ..Environment::default()
        })
    }
}

impl MemberRow {
    fn draft(&self) -> MemberDraft {
        MemberDraft {
            id: None,
            ip_address: Some(self.ip.clone()),
            hostname: self.host.clone(),
            port: Some(80),
            weight: self.weight,
            priority: self.priority,
            region: self.region.clone(),
            zone: self.zone.clone(),
            asn: self.asn,
            enabled: self.enabled,
            admin_state: self.admin_state,
            geo: self.geo.clone(),
            fence_asns: self.fence_asns.clone(),
            fence_prefixes: self.fence_prefixes.clone(),
            load_watermarks: self.load_watermarks.clone(),
        }
    }
}

impl ServiceRow {
    fn draft(&self) -> ServiceDraft {
        ServiceDraft {
            algorithm: self.algorithm.clone(),
            filter_chain: self.filter_chain.clone(),
            ttl: self.ttl,
            enabled: self.enabled,
            fallback: self.fallback.clone(),
            max_answers: self.max_answers,
            flatten: self.flatten,
            ..ServiceDraft::default()
        }
    }
}
