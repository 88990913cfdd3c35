//! RFC 8945: signed messages.

use crate::support::ask::{A, AXFR, Ask, SOA};
use crate::support::reply::Reply;
use crate::support::transfer::{KEY, LONG_KEY, MIDDLE_KEY, Site, peer, read_signed};
use crate::support::tsig::{Key, now, split};
use crate::support::{Server, send};

fn keyed() -> Site {
    Site::new(vec![peer(None, Some(KEY.name), false)])
}

fn ask(server: &Server, octets: &[u8]) -> Vec<u8> {
    server.udp_octets(octets).expect("a reply")
}

#[test]
fn a_signed_query_gets_a_signed_answer() {
    let server = keyed().serve();
    for key in [KEY, MIDDLE_KEY, LONG_KEY] {
        for (name, rcode) in [("mail.xfr.test.", 0), ("nope.xfr.test.", 3), ("example.org.", 5)] {
            let (query, mac) = key.sign(&Ask::new(name, A).edns().octets());
            let (message, record) = key.open(&ask(&server, &query), &mac, true);
            assert_eq!(Reply::new(message).rcode(), rcode);
            assert_eq!((record.error, record.fudge), (0, 300));
        }
    }
    // What is not answered as a query is signed too: NOTIFY is none.
    let (notify, mac) = KEY.sign(&Ask::new("xfr.test.", SOA).flags(4 << 11).octets());
    let (message, _) = KEY.open(&ask(&server, &notify), &mac, true);
    assert_eq!(Reply::new(message).rcode(), 4);
}

#[test]
fn a_transfer_is_signed_message_by_message() {
    let mut site = keyed();
    for n in 0..1500 {
        site.record(&format!("host{n}"), "TXT", &"x".repeat(200));
    }
    let server = site.serve();
    let mut stream = server.connect();
    let (query, mac) = KEY.sign(&Ask::new("xfr.test.", AXFR).edns().octets());
    send(&mut stream, &query);
    let replies = read_signed(&mut stream, Some((&KEY, mac)));
    assert!(replies.len() > 3, "{}", replies.len());
    let records: usize = replies.iter().map(|reply| reply.answers().len()).sum();
    assert_eq!(records, 1510);
    // Another key of ours is not that of the peer.
    let (query, mac) = LONG_KEY.sign(&Ask::new("xfr.test.", AXFR).octets());
    send(&mut stream, &query);
    let raw = crate::support::receive(&mut stream).unwrap();
    let (message, _) = LONG_KEY.open(&raw, &mac, true);
    assert_eq!(Reply::new(message).rcode(), 5);
}

/// The error of an unsigned reply.
fn unsigned_error(server: &Server, query: &[u8]) -> (u16, u16) {
    let (message, record) = split(&ask(server, query));
    let record = record.expect("a TSIG record");
    assert_eq!((&*record.mac, &*record.other), (&[][..], &[][..]));
    let reply = Reply::new(message);
    assert_eq!(reply.answers(), []);
    (reply.rcode(), record.error)
}

#[test]
fn section_5_2_unknown_keys_and_wrong_signatures() {
    let server = keyed().serve();
    let query = Ask::new("mail.xfr.test.", A).octets();
    let stranger = Key {
        name: "nobody.key.",
        ..KEY
    };
    assert_eq!(unsigned_error(&server, &stranger.sign(&query).0), (9, 17));
    let other_algorithm = Key { bits: 512, ..KEY };
    assert_eq!(unsigned_error(&server, &other_algorithm.sign(&query).0), (9, 17));
    let other_secret = Key {
        secret: b"not what the server has, but some",
        ..KEY
    };
    assert_eq!(unsigned_error(&server, &other_secret.sign(&query).0), (9, 16));
    // Signed, and changed on the way: the type asked for.
    let mut changed = KEY.sign(&query).0;
    changed[12 + 15 + 1] ^= 1;
    assert_eq!(unsigned_error(&server, &changed), (9, 16));
    assert_eq!(server.counts().tsig_errors, 4);
    // Names of keys know no case.
    let record = KEY.record(&query, now());
    let mac = record.mac.clone();
    let mut shouted = record;
    shouted.name = shouted.name.to_ascii_uppercase();
    KEY.open(&ask(&server, &shouted.append(&query)), &mac, true);
}

#[test]
fn section_5_2_3_wrong_times_are_told_with_ours() {
    let server = keyed().serve();
    let query = Ask::new("mail.xfr.test.", A).octets();
    for time in [now() - 400, now() + 400, 0, (1 << 48) - 1] {
        let record = KEY.record(&query, time);
        let reply = ask(&server, &record.append(&query));
        let (message, answer) = KEY.open(&reply, &record.mac, true);
        assert_eq!(
            (Reply::new(message).rcode(), answer.error, answer.time),
            (9, 18, time)
        );
        let other: [u8; 6] = answer.other.try_into().unwrap();
        let [a, b, c, d, e, f] = other;
        let theirs = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        assert!(theirs.abs_diff(now()) < 60, "{theirs}");
    }
    // Within the fudge it is good.
    let record = KEY.record(&query, now() - 200);
    let (message, _) = KEY.open(&ask(&server, &record.append(&query)), &record.mac, true);
    assert_eq!(Reply::new(message).rcode(), 0);
}

#[test]
fn section_5_2_2_1_short_signatures() {
    let server = keyed().serve();
    let query = Ask::new("mail.xfr.test.", A).octets();
    let mut record = KEY.record(&query, now());
    record.mac.truncate(16);
    let (message, answer) = KEY.open(&ask(&server, &record.append(&query)), &record.mac, true);
    assert_eq!((Reply::new(message).rcode(), answer.error), (9, 22));
    record.mac.truncate(15);
    let (message, answer) = split(&ask(&server, &record.append(&query)));
    assert_eq!((Reply::new(message).rcode(), answer), (1, None));
}

#[test]
fn section_5_1_a_record_in_the_wrong_place_is_a_format_error() {
    let server = keyed().serve();
    let query = Ask::new("mail.xfr.test.", A).octets();
    let twice = KEY.sign(&KEY.sign(&query).0).0;
    assert_eq!(Reply::new(ask(&server, &twice)).rcode(), 1);
    // Counted as an answer.
    let mut answer = KEY.sign(&query).0;
    answer.swap(7, 11);
    assert_eq!(Reply::new(ask(&server, &answer)).rcode(), 1);
    // Octets behind it, inside of the record.
    let mut record = KEY.record(&query, now());
    record.other = vec![0; 3];
    let mut cut = record.append(&query);
    let end = cut.len() - 5;
    cut[end..end + 2].copy_from_slice(&[0, 2]);
    assert_eq!(Reply::new(ask(&server, &cut)).rcode(), 1);
}
