//! RFC 1995: what has changed in a zone.

use crate::support::ask::{Ask, IXFR};
use crate::support::reply::Reply;
use crate::support::transfer::{Site, ixfr, peer, transfer};
use crate::support::{Server, ask::AXFR};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeSet;

fn local() -> Site {
    Site::new(vec![peer(Some("127.0.0.1"), None, false)])
}

fn since(server: &Server, serial: u32) -> Vec<String> {
    transfer(server, &ixfr(&Ask::new("xfr.test.", IXFR), serial))
}

fn is_soa(record: &str) -> bool {
    record.contains(" SOA ")
}

/// The zone without its SOA.
fn whole(server: &Server) -> BTreeSet<String> {
    let records = transfer(server, &Ask::new("xfr.test.", AXFR).octets());
    records.into_iter().filter(|record| !is_soa(record)).collect()
}

/// Applies an incremental transfer, as a secondary does. Returns the serial reached.
fn apply(zone: &mut BTreeSet<String>, records: &[String]) -> u32 {
    let serial = |record: &String| record.split(' ').nth(5).unwrap().parse().unwrap();
    let [first, middle @ .., last] = records else {
        return serial(&records[0]);
    };
    assert_eq!(first, last);
    let mut rest = middle;
    if !rest.first().is_some_and(|record| is_soa(record)) {
        *zone = middle.iter().cloned().collect();
        return serial(first);
    }
    while let Some((from, tail)) = rest.split_first() {
        assert!(is_soa(from));
        let (removed, tail) = tail.split_at(tail.iter().position(|r| is_soa(r)).unwrap());
        let tail = &tail[1..];
        let end = tail.iter().position(|r| is_soa(r)).unwrap_or(tail.len());
        for record in removed {
            assert!(zone.remove(record), "{record} was not there");
        }
        for record in &tail[..end] {
            assert!(zone.insert(record.clone()), "{record} was there");
        }
        rest = &tail[end..];
    }
    serial(first)
}

#[test]
fn differences_come_one_after_the_other() {
    let mut site = local();
    let server = site.serve();
    site.record("new", "A", "192.0.2.77");
    site.grow();
    site.publish(&server);
    site.without("mail");
    site.pool(&[("192.0.2.1", true), ("192.0.2.3", true)]);
    site.grow();
    site.publish(&server);
    let soa = |serial| {
        format!("xfr.test. SOA 3600 ns1.xfr.test. hostmaster.xfr.test. {serial} 7200 900 1209600 60")
    };
    let mut records = since(&server, 7);
    assert_eq!(records.len(), 10, "{records:?}");
    records[5..7].sort();
    assert_eq!(
        records,
        [
            soa(9),
            soa(7),
            soa(8),
            "new.xfr.test. A 300 192.0.2.77".to_owned(),
            soa(8),
            "mail.xfr.test. A 300 192.0.2.25".to_owned(),
            "www.xfr.test. AAAA 30 2001:db8::2".to_owned(),
            soa(9),
            "www.xfr.test. A 30 192.0.2.3".to_owned(),
            soa(9),
        ]
    );
    assert_eq!(server.counts().transfers, [0, 1]);
}

#[test]
fn who_has_all_gets_the_soa_and_who_is_too_far_back_everything() {
    let mut site = local();
    let server = site.serve();
    site.grow();
    site.publish(&server);
    for serial in [8, 9, 100] {
        let records = since(&server, serial);
        assert_eq!(records.len(), 1, "{records:?}");
        assert!(records[0].contains(" 8 7200 "));
    }
    for serial in [6, 0, 3_000_000_000] {
        assert_eq!(since(&server, serial).len(), 10);
    }
    // Without the SOA that says what is there already.
    assert_eq!(server.tcp(&Ask::new("xfr.test.", IXFR)).rcode(), 1);
    assert_eq!(server.udp(&Ask::new("xfr.test.", IXFR)).rcode(), 1);
}

#[test]
fn over_udp_what_fits_is_sent_and_else_the_soa() {
    let mut site = local();
    let server = site.serve();
    site.record("new", "A", "192.0.2.77");
    site.grow();
    site.publish(&server);
    let udp = |serial| {
        let query = ixfr(&Ask::new("xfr.test.", IXFR).edns(), serial);
        Reply::new(server.udp_octets(&query).unwrap())
    };
    let reply = udp(7);
    assert_eq!((reply.answers().len(), reply.tc(), reply.aa()), (5, false, true));
    for n in 0..30 {
        site.record(&format!("more{n}"), "TXT", &"x".repeat(100));
    }
    site.grow();
    site.publish(&server);
    for serial in [7, 8, 3, 9] {
        let reply = udp(serial);
        assert_eq!((reply.answers().len(), reply.tc()), (1, false));
        assert!(reply.shown_answers()[0].contains(" 9 7200 "));
    }
}

#[test]
fn the_serial_goes_round() {
    let mut site = local();
    site.config.zones[0].serial = u32::MAX;
    let server = site.serve();
    site.record("new", "A", "192.0.2.77");
    site.grow();
    site.publish(&server);
    assert_eq!(site.serial(), 0);
    assert_eq!(since(&server, u32::MAX).len(), 5);
    assert_eq!(since(&server, 0).len(), 1);
}

#[test]
fn a_history_is_bounded_in_length_and_size() {
    let mut site = local();
    let server = site.serve();
    for n in 0..300 {
        site.without("counter");
        site.record("counter", "TXT", &n.to_string());
        site.grow();
        site.publish(&server);
    }
    assert_eq!(since(&server, 306).len(), 6);
    assert!(since(&server, 100).len() > 100);
    assert_eq!(since(&server, 20).len(), 11, "the whole zone");
    // A change that is larger than what is kept.
    for n in 0..4000 {
        site.record(&format!("big{n}"), "TXT", &"x".repeat(250));
    }
    site.grow();
    site.publish(&server);
    assert!(since(&server, 307).len() > 4000);
}

/// A change of the configuration.
#[derive(Debug, Clone)]
enum Change {
    Put(u8, u8),
    Remove(u8),
    Members(Vec<(u8, bool)>),
    NameServers(u8),
    Nothing,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0_u8..6, 0_u8..4).prop_map(|(name, value)| Change::Put(name, value)),
        (0_u8..6).prop_map(Change::Remove),
        prop::collection::vec((1_u8..8, any::<bool>()), 1..5).prop_map(Change::Members),
        (0_u8..3).prop_map(Change::NameServers),
        Just(Change::Nothing),
    ]
}

fn make(site: &mut Site, change: &Change) {
    match change {
        Change::Put(name, value) => {
            site.without(&format!("n{name}.deep"));
            site.record(&format!("n{name}.deep"), "A", &format!("192.0.2.{value}"));
        }
        Change::Remove(name) => site.without(&format!("n{name}.deep")),
        Change::Members(members) => {
            let addresses: Vec<(String, bool)> = members
                .iter()
                .enumerate()
                .map(|(at, (n, enabled))| (format!("198.51.{at}.{n}"), *enabled))
                .collect();
            let members: Vec<(&str, bool)> = addresses.iter().map(|(ip, on)| (&**ip, *on)).collect();
            site.pool(&members);
        }
        Change::NameServers(n) => {
            let name = format!("ns{n}.xfr.test.");
            site.config.zones[0].name_servers =
                vec![gslb_engine::model::DomainName::parse("", &name).unwrap()];
        }
        Change::Nothing => {}
    }
}

#[test]
fn the_difference_applied_to_the_old_zone_is_the_new_one() {
    let mut runner = TestRunner::new(Config::with_cases(24));
    let server = local().serve();
    let steps = prop::collection::vec(change(), 1..8);
    runner
        .run(&steps, |steps| {
            let mut site = local();
            server.cell.store(std::sync::Arc::new(site.snapshot()));
            let mut zones = vec![whole(&server)];
            for step in &steps {
                make(&mut site, step);
                site.grow();
                site.publish(&server);
                zones.push(whole(&server));
            }
            let last = zones.last().cloned().unwrap_or_default();
            for (age, mut zone) in zones.into_iter().enumerate() {
                let serial = 7 + u32::try_from(age).unwrap();
                prop_assert_eq!(apply(&mut zone, &since(&server, serial)), site.serial());
                prop_assert_eq!(&zone, &last);
            }
            Ok(())
        })
        .unwrap();
}
