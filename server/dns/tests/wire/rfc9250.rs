//! RFC 9250, DNS over QUIC.

use crate::support::ask::{A, AXFR, Ask, IXFR};
use crate::support::quic::Client;
use crate::support::reply::Reply;
use crate::support::secure::{Pair, server};
use crate::support::transfer::{Site, ixfr, peer};
use crate::support::{PATIENCE, Server, framed, receive};
use gslb_dns::Transport;
use gslb_engine::model::Tier;
use quinn::{ConnectionError, VarInt};
use std::sync::Arc;
use tokio::time::timeout;

/// DOQ_PROTOCOL_ERROR
const PROTOCOL_ERROR: u32 = 2;
/// DOQ_REQUEST_CANCELLED
const REQUEST_CANCELLED: VarInt = VarInt::from_u32(3);

fn ask() -> Ask {
    let mut ask = Ask::new("www.gslb.test.", A);
    ask.id = 0;
    ask
}

/// A server and a client of it.
fn connected() -> (Server, Client) {
    let pair = Pair::new();
    let server = server(&pair.read());
    let client = Client::new(&server, &pair);
    (server, client)
}

#[test]
fn s4_2_each_query_has_a_stream_of_its_own() {
    let (server, client) = connected();
    for reply in client.exchange_at_once(&framed(&ask().octets()), 50) {
        assert_eq!(reply.unwrap()[2..], server.tcp(&ask()).raw);
    }
    let counted = server.counts().responses[Transport::Quic as usize];
    assert_eq!(counted[0], 50);
}

#[test]
fn s4_2_a_query_may_come_octet_by_octet() {
    let (server, client) = connected();
    let reply = client.on_stream(async |mut send, mut receive| {
        for octet in framed(&ask().octets()) {
            send.write_all(&[octet]).await.unwrap();
            tokio::task::yield_now().await;
        }
        send.finish().unwrap();
        timeout(PATIENCE, receive.read_to_end(600)).await.unwrap()
    });
    assert_eq!(reply.unwrap()[2..], server.tcp(&ask()).raw);
}

#[test]
fn rfc_9250_s5_4_replies_are_padded_as_queries_are() {
    let (_server, client) = connected();
    let query = ask().option(12, &[0; 40]);
    let reply = client.exchange(&framed(&query.octets())).unwrap();
    assert_eq!(reply.len(), 2 + 468);
}

#[test]
fn s4_3_1_a_query_that_is_given_up_leaves_the_others_alone() {
    let (_server, client) = connected();
    client.on_stream(async |mut send, mut receive| {
        send.write_all(&framed(&ask().octets())[..9]).await.unwrap();
        send.reset(REQUEST_CANCELLED).unwrap();
        receive.stop(REQUEST_CANCELLED).unwrap();
    });
    client.on_stream(async |mut send, mut receive| {
        receive.stop(REQUEST_CANCELLED).unwrap();
        send.write_all(&framed(&ask().octets())).await.unwrap();
        send.finish().unwrap();
    });
    assert!(client.exchange(&framed(&ask().octets())).is_some());
}

#[test]
fn s4_3_3_what_is_no_query_ends_the_connection() {
    let whole = framed(&ask().octets());
    let mut with_id = ask();
    with_id.id = 7;
    let mut reply = ask().octets();
    reply[2] |= 0x80;
    let keepalive = ask().option(11, b"");
    for (what, octets) in [
        ("an id", framed(&with_id.octets())),
        ("too short", whole[..whole.len() - 1].to_vec()),
        ("two queries", [&whole[..], &whole].concat()),
        ("nothing", Vec::new()),
        ("half a length", vec![0]),
        ("a reply", framed(&reply)),
        // §5.5.2: QUIC has its own.
        ("a keepalive", framed(&keepalive.octets())),
        (
            "a keepalive of an unknown version",
            framed(&keepalive.version(1).octets()),
        ),
    ] {
        let (_server, client) = connected();
        assert_eq!(client.exchange(&octets), None, "{what}");
        let ConnectionError::ApplicationClosed(end) = client.end() else {
            panic!("{what}");
        };
        assert_eq!(end.error_code, PROTOCOL_ERROR.into(), "{what}");
    }
}

#[test]
fn s4_1_1_another_protocol_is_refused() {
    let pair = Pair::new();
    let server = server(&pair.read());
    assert!(Client::speaking(&server, &pair, b"h3").is_err());
}

#[test]
fn s5_1_one_client_cannot_take_every_connection() {
    let pair = Pair::new();
    let certificate = pair.read();
    let server = Server::with(Tier::Enterprise, |settings| {
        settings.tcp.connections_per_client = 2;
        settings.encrypted = Some(gslb_dns::Encrypted {
            certificate,
            tls: Vec::new(),
            quic: vec![([127, 0, 0, 1], 0).into()],
        });
    });
    let _two = [Client::new(&server, &pair), Client::new(&server, &pair)];
    assert!(Client::speaking(&server, &pair, b"doq").is_err());
    assert_eq!(server.counts().tcp_refused, 1);
}

#[test]
fn s4_4_the_server_says_goodbye_when_it_stops() {
    let (server, client) = connected();
    assert!(client.exchange(&framed(&ask().octets())).is_some());
    server.shutdown(PATIENCE);
    assert!(
        matches!(client.end(), ConnectionError::ApplicationClosed(end) if end.error_code == 0_u32.into())
    );
}

/// A server of a zone that its client may have, and that client.
fn secondary(site: &mut Site) -> (Server, Client) {
    let (server, client) = connected();
    server.cell.store(Arc::new(site.snapshot()));
    (server, client)
}

fn site() -> Site {
    Site::new(vec![peer(Some("127.0.0.1"), None, false)])
}

/// The records of all messages of a stream, and the number of those.
fn records(stream: &[u8]) -> (Vec<String>, usize) {
    let mut rest = stream;
    let mut records = Vec::new();
    let mut messages = 0;
    while let Some(message) = receive(&mut rest) {
        let reply = Reply::new(message);
        assert_eq!((reply.id(), reply.rcode()), (0, 0));
        records.extend(reply.shown_answers());
        messages += 1;
    }
    (records, messages)
}

fn axfr(name: &str) -> Vec<u8> {
    let mut ask = Ask::new(name, AXFR);
    ask.id = 0;
    framed(&ask.octets())
}

#[test]
fn s4_2_a_zone_is_sent_on_one_stream() {
    let mut site = site();
    let text = "x".repeat(200);
    for n in 0..2000 {
        site.record(&format!("host{n}"), "TXT", &text);
    }
    let (server, client) = secondary(&mut site);
    let (records, messages) = records(&client.exchange(&axfr("XFR.test.")).unwrap());
    assert_eq!(records.len(), 2010);
    // The first owner is that of the question, in the case it came in.
    assert!(records[0].starts_with("XFR.test. SOA "));
    assert!(records[0].eq_ignore_ascii_case(&records[2009]));
    assert!(messages > 5, "{messages}");
    assert_eq!(server.counts().transfers, [1, 0]);
    assert_eq!(server.counts().transfers_broken, 0);
}

#[test]
fn s4_2_what_has_changed_is_sent_too() {
    let mut site = site();
    let (server, client) = secondary(&mut site);
    let before = site.serial();
    site.record("new", "A", "192.0.2.77");
    site.grow();
    site.publish(&server);
    let mut ask = Ask::new("xfr.test.", IXFR);
    ask.id = 0;
    let (changed, _) = records(&client.exchange(&framed(&ixfr(&ask, before))).unwrap());
    assert_eq!(changed.len(), 5);
    assert!(changed.contains(&"new.xfr.test. A 300 192.0.2.77".to_owned()));
    let (current, _) = records(&client.exchange(&framed(&ixfr(&ask, site.serial()))).unwrap());
    assert_eq!(current.len(), 1);
    assert_eq!(server.counts().transfers, [0, 1]);
}

#[test]
fn s4_3_1_a_zone_that_nobody_reads_is_broken_off() {
    let mut site = site();
    let text = "x".repeat(200);
    for n in 0..8000 {
        site.record(&format!("host{n}"), "TXT", &text);
    }
    let (server, client) = secondary(&mut site);
    client.on_stream(async |mut send, mut receive| {
        send.write_all(&axfr("xfr.test.")).await.unwrap();
        send.finish().unwrap();
        let mut some = [0; 100];
        timeout(PATIENCE, receive.read_exact(&mut some))
            .await
            .unwrap()
            .unwrap();
        receive.stop(REQUEST_CANCELLED).unwrap();
    });
    server.until("a transfer is broken off", |counts| counts.transfers_broken == 1);
    assert!(
        client.exchange(&axfr("nope.test.")).is_some(),
        "the connection goes on"
    );
}
