//! What the demo shows: sites, pools, services that use every filter, and a small world of documentation networks.

use gslb_engine::model::{
    GeoDraft, HealthCheckDraft, MemberDraft, PoolDraft, ServiceDraft, WatermarksDraft, ZoneDraft,
};
use std::net::{IpAddr, Ipv4Addr};

/// One site of the demo: a country with two responders.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// Country, and region of its members.
    pub region: &'static str,
    /// Signal zone of its members.
    pub zone: &'static str,
    /// AS number of its members.
    pub asn: u32,
    /// Third octet of its members' loopback addresses: 127.0.N.1 and 127.0.N.2.
    pub octet: u8,
    /// Rank for failover.
    pub priority: u32,
    /// Continent, subdivision, latitude and longitude.
    pub place: (&'static str, &'static str, f64, f64),
    /// Network that the second member of the site is fenced for.
    pub fence: &'static str,
}

/// The sites.
pub const SITES: [Site; 3] = [
    Site {
        region: "US",
        zone: "us-east",
        asn: 64_496,
        octet: 10,
        priority: 1,
        place: ("NA", "US-VA", 38.9, -77.4),
        fence: "198.51.100.0/24",
    },
    Site {
        region: "DE",
        zone: "eu-central",
        asn: 64_500,
        octet: 20,
        priority: 2,
        place: ("EU", "DE-HE", 50.1, 8.7),
        fence: "203.0.113.0/24",
    },
    Site {
        region: "JP",
        zone: "ap-northeast",
        asn: 64_511,
        octet: 30,
        priority: 3,
        place: ("AS", "JP-13", 35.7, 139.7),
        fence: "192.0.2.0/24",
    },
];

/// Members a site has.
pub const MEMBERS_PER_SITE: u8 = 2;

/// Signal values of the zones, gCO2/kWh.
pub const SIGNALS: [(&str, u32); 3] = [("us-east", 410), ("eu-central", 120), ("ap-northeast", 480)];

/// Where the demo's networks are: continent, country, subdivision, latitude and longitude.
pub const PLACES: [(&str, &str, &str, (f64, f64)); 3] = [
    ("NA", "US", "VA", (39.04, -77.49)),
    ("EU", "DE", "HE", (50.11, 8.68)),
    ("AS", "JP", "13", (35.68, 139.77)),
];

/// Networks of the demo's geo databases: network, country, AS number, organisation.
pub const NETWORKS: [(&str, &str, u32, &str); 6] = [
    ("198.51.100.0/24", "US", 64_496, "Example Fiber US"),
    ("203.0.113.0/24", "DE", 64_500, "Beispielnetz"),
    ("192.0.2.0/24", "JP", 64_511, "Rei Networks"),
    ("2001:db8:1::/48", "US", 64_496, "Example Fiber US"),
    ("2001:db8:2::/48", "DE", 64_500, "Beispielnetz"),
    ("2001:db8:3::/48", "JP", 64_511, "Rei Networks"),
];

/// Rules of the demo's map file.
pub const MAP_FILE: &str = "\
# Network          targets in order of preference: regions, or member addresses
198.51.100.0/25    US, DE
198.51.100.128/25  DE, US      # half of the American clients are sent abroad
203.0.113.0/24     DE
192.0.2.0/24       JP, US
";

/// The demo's zone.
pub const ZONE: &str = "demo.example.";

/// Address of a responder.
#[must_use]
pub fn address(site: &Site, index: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, site.octet, index + 1))
}

/// Every responder: name and address.
pub fn backends() -> impl Iterator<Item = (String, IpAddr)> {
    SITES.iter().flat_map(|site| {
        (0..MEMBERS_PER_SITE).map(move |i| {
            (
                format!("{}-{}", site.region.to_ascii_lowercase(), i + 1),
                address(site, i),
            )
        })
    })
}

/// The zone.
#[must_use]
pub fn zone() -> ZoneDraft {
    ZoneDraft {
        name: Some(ZONE.to_owned()),
        ..ZoneDraft::default()
    }
}

/// The pools. All responders listen on `port`; `health_path` is where they tell how they are.
#[must_use]
pub fn pools(port: u16, health_path: &str) -> Vec<PoolDraft> {
    let member = |site: &Site, index: u8| MemberDraft {
        ip_address: Some(address(site, index).to_string()),
        port: Some(port.into()),
        weight: Some(if index == 0 { 3 } else { 1 }),
        priority: Some(site.priority.into()),
        region: Some(site.region.to_owned()),
        zone: Some(site.zone.to_owned()),
        asn: Some(site.asn.into()),
        geo: Some(GeoDraft {
            continent: Some(site.place.0.to_owned()),
            country: None,
            subdivision: Some(site.place.1.to_owned()),
            lat: Some(site.place.2),
            lon: Some(site.place.3),
        }),
        // The second member of a site is like a cache inside an access network: for that network alone.
        fence_asns: (index > 0).then(|| vec![site.asn.into()]),
        fence_prefixes: (index > 0).then(|| vec![site.fence.to_owned()]),
        load_watermarks: Some(WatermarksDraft {
            low: Some(0.7),
            high: Some(0.95),
        }),
        ..MemberDraft::default()
    };
    let http = HealthCheckDraft {
        kind: Some("http".to_owned()),
        path: Some(health_path.to_owned()),
        interval_ms: Some(1_000),
        timeout_ms: Some(500),
        ..HealthCheckDraft::default()
    };
    let tcp = HealthCheckDraft {
        kind: Some("tcp".to_owned()),
        path: None,
        ..http.clone()
    };
    let all = SITES
        .iter()
        .flat_map(|site| (0..MEMBERS_PER_SITE).map(move |i| (site, i)));
    vec![
        PoolDraft {
            name: Some("web".to_owned()),
            min_healthy: Some(1),
            members: Some(all.map(|(site, i)| member(site, i)).collect()),
            health_check: Some(http),
        },
        PoolDraft {
            name: Some("api".to_owned()),
            min_healthy: Some(0),
            members: Some(SITES.iter().map(|site| member(site, 0)).collect()),
            health_check: Some(tcp),
        },
    ]
}

/// The script of a service: members that are nearly as quick as the quickest, for the step behind it to choose from.
const SCRIPT: &str = "script:\
# Members that answer within twice the time of the quickest.
quickest = min([c[\"rtt_ms\"] for c in candidates])
result = [c[\"ip\"] for c in candidates if c[\"rtt_ms\"] <= 2 * quickest]
";

/// Services: name, label below the zone, pool, chain (or algorithm), what it shows.
const SERVICES: [(&str, &str, &str, &[&str]); 13] = [
    ("www", "www", "web", &["geo-ip", "weighted-round-robin"]),
    ("isp-aware", "isp", "web", &["geo-ip", "asn", "failover"]),
    ("mapped", "map", "web", &["map-file", "latency"]),
    (
        "sticky",
        "sticky",
        "web",
        &["geo-ip", "sticky", "weighted-round-robin"],
    ),
    ("green", "green", "web", &["signal-weight"]),
    ("api", "api", "api", &["round-robin"]),
    ("standby", "standby", "api", &["failover"]),
    ("fastest", "fast", "api", &["latency"]),
    ("tenants", "*.apps", "web", &["geo-ip", "random"]),
    (
        "nearest",
        "near",
        "web",
        &["geo-continent", "geo-nearest", "select-first:2"],
    ),
    (
        "fenced",
        "cache",
        "web",
        &["prefix-fence", "asn-fence", "geo-subdivision", "random"],
    ),
    ("shedding", "calm", "web", &["shed-load", "round-robin"]),
    ("scripted", "own", "web", &[SCRIPT, "weighted-round-robin"]),
];

/// The services, with the name of the pool of each.
#[must_use]
pub fn services() -> Vec<(&'static str, ServiceDraft)> {
    SERVICES
        .iter()
        .map(|(name, label, pool, steps)| {
            // A selecting filter alone is a single algorithm; everything else is a chain.
            let single = steps.len() == 1 && *steps != ["signal-weight"];
            let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
            let draft = ServiceDraft {
                name: Some((*name).to_owned()),
                domain: Some(format!("{label}.{ZONE}")),
                algorithm: steps.first().filter(|_| single).cloned(),
                filter_chain: (!single).then_some(steps),
                ttl: Some(5),
                ..ServiceDraft::default()
            };
            (*pool, draft)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gslb_engine::model::{FILTERS, FilterName, MemberId, PoolId, ServiceId, TenantId};

    #[test]
    fn every_filter_is_used_and_everything_is_valid() {
        let used: String = SERVICES
            .iter()
            .flat_map(|s| s.3.iter().copied())
            .collect::<Vec<_>>()
            .join(" ");
        for info in FILTERS {
            assert!(
                used.contains(info.name.as_str()),
                "{} is in no service of the demo",
                info.name
            );
        }
        assert!(used.contains("script:"), "no service of the demo has a script");
        let id = TenantId::DEFAULT.0;
        for pool in pools(8081, "/health") {
            let mut next = 10_u128;
            let new_id = || {
                next += 1;
                MemberId(
                    format!("00000000-0000-0000-0000-0000000000{next:02}")
                        .parse()
                        .unwrap_or(id),
                )
            };
            assert_eq!(pool.validate(PoolId(id), TenantId::DEFAULT, new_id).err(), None);
        }
        for (_, mut service) in services() {
            service.pool_id = Some(id.to_string());
            let result = service.validate(ServiceId(id), TenantId::DEFAULT, FilterName::RoundRobin);
            assert_eq!(result.err(), None);
        }
    }
}
