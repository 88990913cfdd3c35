//! RFC 5936: zones as a whole.

use crate::support::ask::{A, AXFR, Ask, EDE};
use crate::support::transfer::{KEY, Site, peer, read_signed, transfer};
use crate::support::{Server, framed, receive, send};
use std::io::Write;
use std::sync::Arc;

fn local() -> Site {
    Site::new(vec![peer(Some("127.0.0.1"), None, false)])
}

const SOA_TEXT: &str = "xfr.test. SOA 3600 ns1.xfr.test. hostmaster.xfr.test. 7 7200 900 1209600 60";

#[test]
fn a_zone_is_its_configuration_between_two_soas() {
    let server = local().serve();
    let mut records = transfer(&server, &Ask::new("xfr.test.", AXFR).octets());
    assert_eq!((&*records[0], &**records.last().unwrap()), (SOA_TEXT, SOA_TEXT));
    let last = records.len() - 1;
    records[1..last].sort();
    assert_eq!(
        records[1..last],
        [
            "*.wild.xfr.test. TXT 300 w",
            "mail.xfr.test. A 300 192.0.2.25",
            "ns.sub.xfr.test. A 300 192.0.2.53",
            "sub.xfr.test. NS 300 ns.sub.xfr.test.",
            // Whatever their health: enabled is what counts.
            "www.xfr.test. A 30 192.0.2.1",
            "www.xfr.test. AAAA 30 2001:db8::2",
            "xfr.test. MX 300 10 mail.xfr.test.",
            "xfr.test. NS 3600 ns1.xfr.test.",
        ]
    );
    assert_eq!(server.counts().transfers, [1, 0]);
}

#[test]
fn a_zone_above_has_the_records_about_the_zone_below() {
    let mut site = local();
    site.zone("kid.xfr.test.", vec![peer(Some("127.0.0.1"), None, false)], &[]);
    site.record("kid", "NS", "ns.kid.xfr.test.");
    site.record("ns.kid", "A", "192.0.2.99");
    let server = site.serve();
    let above = transfer(&server, &Ask::new("xfr.test.", AXFR).octets());
    for record in [
        "kid.xfr.test. NS 300 ns.kid.xfr.test.",
        "ns.kid.xfr.test. A 300 192.0.2.99",
    ] {
        assert!(above.iter().any(|r| r == record), "{record}: {above:?}");
    }
    let below = transfer(&server, &Ask::new("kid.xfr.test.", AXFR).octets());
    assert_eq!(below.len(), 3, "{below:?}");
}

#[test]
fn nobody_else_gets_it() {
    for peers in [
        vec![],
        vec![peer(Some("192.0.2.0/24"), None, false)],
        vec![peer(None, Some(KEY.name), false)],
        vec![peer(Some("127.0.0.1"), Some(KEY.name), false)],
    ] {
        let server = Site::new(peers).serve();
        let reply = server.tcp(&Ask::new("xfr.test.", AXFR).edns());
        assert_eq!((reply.rcode(), reply.answers().len()), (5, 0));
        let ede = reply.option(EDE).unwrap();
        assert_eq!(
            (&ede[..2], &ede[2..]),
            (&[0, 18][..], &b"not a peer of this zone"[..])
        );
        assert_eq!(server.counts().transfers_refused, 1);
        assert_eq!(server.counts().transfers, [0, 0]);
    }
}

#[test]
fn only_zones_and_only_over_streams() {
    let server = local().serve();
    for name in ["www.xfr.test.", "nope.xfr.test.", "example.org.", "test."] {
        assert_eq!(server.tcp(&Ask::new(name, AXFR)).rcode(), 9, "{name}");
    }
    let reply = server.udp(&Ask::new("xfr.test.", AXFR));
    assert_eq!((reply.rcode(), reply.answers().len()), (5, 0));
}

#[test]
fn a_large_zone_takes_many_messages_and_other_queries_pass_it() {
    let mut site = local();
    let text = "x".repeat(200);
    for n in 0..3000 {
        site.record(&format!("host{n}"), "TXT", &text);
    }
    let server = site.serve();
    let mut stream = server.connect();
    let other = Ask::new("mail.xfr.test.", A);
    let asks = [
        Ask::new("xfr.test.", AXFR).edns().octets(),
        other.octets(),
        Ask::new("xfr.test.", AXFR).octets(),
    ];
    let together: Vec<u8> = asks.iter().flat_map(|ask| framed(ask)).collect();
    stream.write_all(&together).unwrap();
    let mut first = receive(&mut stream).unwrap();
    // The three came together: the small one is not behind the first of them.
    let mut passed = false;
    let mut seen = std::collections::HashSet::new();
    let mut sizes = Vec::new();
    let mut soas = 0;
    while soas < 4 {
        let reply = crate::support::reply::Reply::new(std::mem::take(&mut first));
        if reply.id() == other.id {
            assert!(soas < 2, "behind the whole first transfer");
            passed = true;
        } else {
            sizes.push(reply.raw.len());
            for record in reply.shown_answers() {
                if record.contains(" SOA ") {
                    soas += 1;
                } else if soas < 2 {
                    assert!(seen.insert(record.clone()), "twice: {record}");
                }
            }
        }
        if soas < 4 {
            first = receive(&mut stream).unwrap();
        }
    }
    assert!(passed);
    assert_eq!(seen.len(), 3008);
    assert!(sizes.len() > 10, "{sizes:?}");
    let full = sizes.iter().filter(|size| **size > 60_000).count();
    assert!(full >= sizes.len() - 4, "{sizes:?}");
}

#[test]
fn a_service_of_names_is_an_alias_to_the_first() {
    let mut site = local();
    site.hosts(&[
        ("off.example.net", false),
        ("eu.example.net", true),
        ("us.example.net", true),
    ]);
    let www = |site: &mut Site| {
        let server = site.serve();
        let records = transfer(&server, &Ask::new("xfr.test.", AXFR).octets());
        records
            .into_iter()
            .filter(|record| record.starts_with("www."))
            .collect::<Vec<_>>()
    };
    assert_eq!(www(&mut site), ["www.xfr.test. CNAME 30 eu.example.net."]);
    // What it leads to just now is no configuration.
    site.config.services[0].flatten = true;
    assert_eq!(www(&mut site), [""; 0]);
}

#[test]
fn a_transfer_that_is_broken_off_is_counted() {
    let mut site = local();
    let text = "x".repeat(200);
    for n in 0..3000 {
        site.record(&format!("host{n}"), "TXT", &text);
    }
    let server = site.serve();
    // More than all buffers between hold.
    let mut stream = server.connect();
    let query = framed(&Ask::new("xfr.test.", AXFR).octets());
    stream.write_all(&query.repeat(16)).unwrap();
    receive(&mut stream).unwrap();
    drop(stream);
    server.until("those that were not finished", |counts| {
        counts.transfers_broken > 0 && counts.tcp_open == 0
    });
    let whole = transfer(&server, &Ask::new("xfr.test.", AXFR).octets());
    assert_eq!(whole.len(), 3010);
    server.until("the connection has ended", |counts| counts.tcp_open == 0);
    assert!(server.counts().transfers_broken <= 16);
}

#[test]
fn a_zone_signed_online_goes_to_signers_only() {
    let mut site = local();
    site.signed = true;
    let server = site.serve();
    let reply = server.tcp(&Ask::new("xfr.test.", AXFR).edns());
    assert_eq!(reply.rcode(), 5);
    assert_eq!(&reply.option(EDE).unwrap()[2..], b"the zone is signed online");
    drop(server);
    let mut site = Site::new(vec![
        peer(Some("127.0.0.1"), None, false),
        peer(Some("127.0.0.0/8"), None, true),
    ]);
    site.signed = true;
    let server = site.serve();
    let records = transfer(&server, &Ask::new("xfr.test.", AXFR).octets());
    assert_eq!(records.len(), 10);
    assert!(
        !records
            .iter()
            .any(|r| r.contains("DNSKEY") || r.contains("RRSIG")),
        "{records:?}"
    );
}

#[test]
fn transfers_are_limited() {
    let server = Server::with(gslb_engine::model::Tier::Free, |settings| settings.transfers = 0);
    server.cell.store(Arc::new(local().snapshot()));
    assert_eq!(server.tcp(&Ask::new("xfr.test.", AXFR)).rcode(), 2);
}

#[test]
fn a_client_that_has_closed_its_side_still_gets_all() {
    let server = local().serve();
    let mut stream = server.connect();
    send(&mut stream, &Ask::new("xfr.test.", AXFR).octets());
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let replies = read_signed(&mut stream, None);
    assert_eq!(replies[0].answers().len(), 10);
    assert_eq!(receive(&mut stream), None);
}
