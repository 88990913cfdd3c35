//! Input of any kind is refused with words, never with a panic.

use gslb_core::config::Sources;
use gslb_core::mmdb_writer::{Database, Row};
use gslb_core::{geo::GeoSet, license};
use gslb_engine::geo::Geo as _;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use proptest::prelude::*;
use std::net::IpAddr;
use std::path::PathBuf;

/// Networks of both families, nested in each other now and then.
fn networks() -> impl Strategy<Value = Vec<(IpNet, u8)>> {
    let v4 = (any::<u32>(), 1_u8..=32).prop_map(|(bits, length)| {
        // Few distinct addresses make nesting likely.
        let address = (bits & 0x0300_00ff | 0x0a00_0000).into();
        IpNet::V4(Ipv4Net::new(address, length).unwrap().trunc())
    });
    let v6 = (any::<u128>(), 97_u8..=128).prop_map(|(bits, length)| {
        let address = (bits & 0xff | 0x2001_0db8 << 96).into();
        IpNet::V6(Ipv6Net::new(address, length).unwrap().trunc())
    });
    prop::collection::vec((prop_oneof![v4, v6], 0_u8..26), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn configuration_files(text in "\\PC*|([a-zA-Z.: \\n\\-\\[\\]{}#\"'&*|>!%@0-9]{0,200})") {
        let sources = Sources { file: Some((PathBuf::from("c.yaml"), text)), ..Sources::default() };
        let _ = sources.load();
    }

    /// The signal table as the environment has it: what is accepted is finite numbers of printable zones.
    #[test]
    fn signal_tables(text in "([a-z-]{0,3}[=,][-+0-9.einfNaE]{0,4},?){0,4}|\\PC*") {
        let load = |text: &str| {
            let value = ("signals.static".to_owned(), text.to_owned(), "the test".to_owned());
            let sources = Sources { overrides: vec![value], ..Sources::default() };
            sources.load().map(|settings| settings.signal_settings().zones)
        };
        prop_assert!(load("eu-west=1.5").is_ok(), "nothing is accepted");
        if let Ok(zones) = load(&text) {
            prop_assert!(zones.iter().all(|(zone, value)| text.contains(zone) && *value >= 0.0 && value.is_finite()));
            let again: Vec<String> = zones.iter().map(|(zone, value)| format!("{zone}={value}")).collect();
            prop_assert_eq!(load(&again.join(",")).unwrap(), zones);
        }
    }

    #[test]
    fn licences(text in "[A-Za-z0-9_.\\-]{0,300}|\\PC*") {
        prop_assert!(license::verify(&text, &[license::keygen().unwrap().public()]).is_err());
    }

    /// What is written is found again: for each address the longest network around it.
    #[test]
    fn geo_databases(rows in networks(), bits in prop::sample::select(vec![24_u8, 28, 32]), probe in any::<u8>()) {
        let mut unique: Vec<(IpNet, String)> = Vec::new();
        for (network, letter) in rows {
            if !unique.iter().any(|(other, _)| *other == network) {
                unique.push((network, format!("{}Z", char::from(b'A' + letter))));
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.mmdb");
        let written = Database::country(unique.iter().map(|(n, c)| Row::country(*n, c))).with_record_bits(bits);
        std::fs::write(&path, written.to_bytes()).unwrap();
        let mut geo = GeoSet::default();
        geo.set_country(Some(&path)).unwrap();
        let inside = unique.iter().map(|(network, _)| network.addr());
        let around = [IpAddr::from([10, 0, 0, probe]), IpAddr::from([11, 0, 0, probe]), IpAddr::from([probe | 1; 16])];
        for ip in inside.chain(around) {
            let best = unique.iter().filter(|(n, _)| n.contains(&ip)).max_by_key(|(n, _)| n.prefix_len());
            let found = geo.country(ip);
            prop_assert_eq!(found.value.map(|c| c.to_string()), best.map(|(_, c)| c.clone()), "{}", ip);
            // Every address of the network that the result claims to hold for has that result.
            let network = IpNet::new(ip, found.prefix).unwrap().trunc();
            for other in [network.network(), network.broadcast()] {
                prop_assert_eq!(geo.country(other).value, found.value, "{} in {}", other, network);
            }
        }
    }
}
