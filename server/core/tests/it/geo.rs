//! Geo databases written by the project itself and read back through the engine's trait.

use gslb_core::geo::{GeoError, GeoSet};
use gslb_core::mmdb_writer::{Database, Row, RowPlace};
use gslb_engine::geo::{Geo as _, Located, Place, Point};
use ipnet::IpNet;
use std::net::IpAddr;
use tempfile::TempDir;

fn net(text: &str) -> IpNet {
    text.parse().unwrap()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn countries() -> Database {
    Database::country([
        // The longer prefix first: the order of rows does not matter.
        Row::country(net("198.51.100.128/25"), "CA"),
        Row::country(net("198.51.100.0/24"), "US"),
        Row::country(net("192.0.2.0/24"), "JP"),
        Row::registered(net("203.0.113.0/24"), "DE"),
        Row::country(net("2001:db8::/32"), "FR"),
        Row::country(net("2001:db8:1::/48"), "DE"),
    ])
}

fn systems() -> Database {
    Database::asn([
        Row::asn(net("198.51.100.0/24"), 64_496, "Example Fiber"),
        Row::asn(net("192.0.2.0/24"), 64_497, "Example Fiber"),
        Row::asn(
            net("203.0.113.0/24"),
            4_200_000_000,
            "An organisation with a rather long name, beyond the short form",
        ),
        Row::asn(net("2001:db8::/32"), 64_500, ""),
    ])
}

fn open(folder: &TempDir, countries: &Database, systems: &Database) -> GeoSet {
    let (country, asn) = (folder.path().join("country.mmdb"), folder.path().join("asn.mmdb"));
    std::fs::write(&country, countries.to_bytes()).unwrap();
    std::fs::write(&asn, systems.to_bytes()).unwrap();
    let mut geo = GeoSet::default();
    geo.set_country(Some(&country)).unwrap();
    geo.set_asn(Some(&asn)).unwrap();
    geo
}

#[test]
fn countries_are_found_with_the_network_they_hold_for() {
    let folder = tempfile::tempdir().unwrap();
    for bits in [24, 28, 32] {
        let geo = open(
            &folder,
            &countries().with_record_bits(bits),
            &systems().with_record_bits(bits),
        );
        for (address, country, prefix) in [
            ("198.51.100.5", Some("US"), 25),
            ("198.51.100.200", Some("CA"), 25),
            ("192.0.2.1", Some("JP"), 24),
            ("2001:db8:1::1", Some("DE"), 48),
            ("2001:db8:2::1", Some("FR"), 47),
            // Only registered there: not placed, as nothing from 200.0.0.0 on is.
            ("203.0.113.9", None, 5),
        ] {
            let Located { value, prefix: found } = geo.country(ip(address));
            assert_eq!(
                (value.map(|c| c.to_string()).as_deref(), found),
                (country, prefix),
                "{address} {bits}"
            );
        }
        // A miss holds for a network too: no row begins with the same bits.
        for (address, longest) in [("10.0.0.1", 8), ("2002::1", 32)] {
            let Located { value, prefix } = geo.country(ip(address));
            assert_eq!(value, None);
            assert!((1..=longest).contains(&prefix), "{address} {prefix}");
        }
    }
}

#[test]
fn organisations_with_one_name_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let geo = open(&folder, &countries(), &systems());
    let first = geo.asn(ip("198.51.100.1")).value.unwrap();
    let second = geo.asn(ip("192.0.2.1")).value.unwrap();
    assert_eq!((first.number, second.number), (64_496, 64_497));
    assert_eq!(first.organisation, second.organisation);
    assert_ne!(first.organisation, 0);
    assert_eq!(
        geo.organisation(first.organisation).as_deref(),
        Some("Example Fiber")
    );
    assert_eq!(geo.organisation_of(64_497), Some(first.organisation));
    let nameless = geo.asn(ip("2001:db8::1")).value.unwrap();
    assert_eq!((nameless.number, nameless.organisation), (64_500, 0));
    assert_eq!(geo.organisation_of(64_500), None);
    let large = geo.asn(ip("203.0.113.1"));
    assert_eq!((large.value.unwrap().number, large.prefix), (4_200_000_000, 24));
    assert!(
        geo.organisation(large.value.unwrap().organisation)
            .unwrap()
            .ends_with("short form")
    );
}

#[test]
fn a_broken_file_is_refused_and_the_old_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut geo = open(&folder, &countries(), &systems());
    let good = countries().to_bytes();
    let path = folder.path().join("new.mmdb");
    // Both sides of each node lead to the next: whoever follows every branch never comes to an end.
    let mut braid = good.clone();
    let records = (1_u8..).take(127).flat_map(|next| [[0, 0, next]; 2]);
    let records: Vec<u8> = records.flatten().collect();
    braid[..records.len()].copy_from_slice(&records);
    let mut cut_tree = good.clone();
    cut_tree.drain(10..40);
    let mut bad_data = good.clone();
    // The tree of `good` is followed by 16 zero bytes; what follows is the first record.
    let data = good.windows(16).position(|w| w == [0; 16]).unwrap() + 16;
    bad_data[data] = 0xff;
    for (what, bytes) in [
        ("empty", Vec::new()),
        ("text", b"not a database".to_vec()),
        ("first half", good[..good.len() / 2].to_vec()),
        ("a piece missing", cut_tree),
        ("a tree without end", braid),
        ("a record damaged", bad_data),
        ("another kind", systems().to_bytes()),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let result = geo.set_country(Some(&path));
        assert!(
            matches!(result, Err(GeoError::Damaged { .. } | GeoError::Useless { .. })),
            "{what}: {result:?}"
        );
        assert_eq!(
            geo.country(ip("192.0.2.1"))
                .value
                .map(|c| c.to_string())
                .as_deref(),
            Some("JP"),
            "{what}"
        );
    }
    assert!(matches!(
        geo.set_country(Some(&folder.path().join("absent"))),
        Err(GeoError::Read { .. })
    ));
    geo.set_country(None).unwrap();
    assert!(!geo.has_country() && geo.has_asn());
    assert_eq!(geo.country(ip("192.0.2.1")), Located::NOWHERE);
}

#[test]
fn places_come_from_a_city_database_and_with_less_in_them_from_one_of_countries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("city.mmdb");
    let virginia = RowPlace {
        continent: "NA",
        country: "US",
        subdivision: Some("VA"),
        point: Some((39.04, -77.49)),
    };
    let ocean = RowPlace {
        continent: "OC",
        country: "FJ",
        subdivision: None,
        point: Some((-17.8, 180.0)),
    };
    let odd = RowPlace {
        continent: "??",
        country: "DE",
        subdivision: Some("Hesse"),
        point: Some((91.0, 0.0)),
    };
    let cities = Database::city([
        Row::place(net("198.51.100.0/25"), &virginia),
        Row::place(net("198.51.100.128/25"), &virginia),
        Row::place(net("2001:db8::/32"), &ocean),
        Row::place(net("192.0.2.0/24"), &odd),
    ]);
    std::fs::write(&path, cities.to_bytes()).unwrap();
    let mut geo = GeoSet::default();
    assert!(!geo.has_place());
    assert_eq!(geo.place(ip("198.51.100.1")), Located::NOWHERE);
    geo.set_place(Some(&path)).unwrap();
    geo.set_country(Some(&path)).unwrap();
    assert!(geo.has_place());
    let texts = |place: Place| {
        let degrees = place.point.map(Point::degrees);
        (
            place.continent.map(|c| c.to_string()),
            place.country.map(|c| c.to_string()),
            place.subdivision.map(|s| s.to_string()),
            degrees.map(|(lat, lon)| ((lat * 100.0).round(), (lon * 100.0).round().abs())),
        )
    };
    let some = |text: &str| Some(text.to_owned());
    let found = geo.place(ip("198.51.100.200"));
    // Two neighbours at one place are one network.
    assert_eq!(found.prefix, 24);
    assert_eq!(
        texts(found.value.unwrap()),
        (some("NA"), some("US"), some("US-VA"), Some((3904.0, 7749.0)))
    );
    assert_eq!(
        texts(geo.place(ip("2001:db8::1")).value.unwrap()),
        (some("OC"), some("FJ"), None, Some((-1780.0, 18000.0)))
    );
    // What is no continent, subdivision or latitude is left out; the rest counts.
    assert_eq!(
        texts(geo.place(ip("192.0.2.1")).value.unwrap()),
        (None, some("DE"), None, None)
    );
    assert_eq!(geo.place(ip("10.0.0.1")).value, None);
    assert_eq!(geo.country(ip("198.51.100.1")).value.unwrap().to_string(), "US");

    std::fs::write(&path, countries().to_bytes()).unwrap();
    geo.set_place(Some(&path)).unwrap();
    assert_eq!(
        texts(geo.place(ip("198.51.100.5")).value.unwrap()),
        (None, some("US"), None, None)
    );
    std::fs::write(&path, systems().to_bytes()).unwrap();
    assert!(matches!(
        geo.set_place(Some(&path)),
        Err(GeoError::Useless { .. })
    ));
    assert!(geo.place(ip("198.51.100.5")).value.is_some());
}
