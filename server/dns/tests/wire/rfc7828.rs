//! RFC 7828: how long connections may be idle.

use crate::support::ask::{A, Ask, TXT};
use crate::support::reply::Reply;
use crate::support::secure::{Pair, connect, server};
use crate::support::{Server, receive, send};
use gslb_engine::model::Tier;
use std::time::Duration;

const KEEPALIVE: u16 = 11;

#[test]
fn s3_3_2_who_asks_over_a_connection_is_told() {
    let server = Server::with(Tier::Enterprise, |settings| {
        settings.tcp.idle = Duration::from_millis(12_345);
    });
    for (name, qtype, rcode) in [
        ("www.gslb.test.", A, 0),
        ("crowd.gslb.test.", A, 0),
        ("nope.gslb.test.", TXT, 3),
        ("example.net.", A, 5),
    ] {
        let reply = server.tcp(&Ask::new(name, qtype).option(KEEPALIVE, b""));
        assert_eq!(
            (reply.rcode(), reply.option(KEEPALIVE)),
            (rcode, Some(&[0, 123][..])),
            "{name}"
        );
        let without = server.tcp(&Ask::new(name, qtype).edns());
        assert_eq!(without.option(KEEPALIVE), None, "{name}");
        assert_eq!(without.answers().len(), reply.answers().len(), "{name}");
    }
    // Also where the reply is nothing but a code.
    let other = Ask::new("www.gslb.test.", A)
        .option(KEEPALIVE, b"")
        .flags(2 << 11);
    assert_eq!(server.tcp(&other).option(KEEPALIVE), Some(&[0, 123][..]));
}

#[test]
fn s3_3_1_over_udp_it_is_ignored() {
    let server = Server::start();
    for data in [&b""[..], b"\0\x0a"] {
        let reply = server.udp(&Ask::new("www.gslb.test.", A).option(KEEPALIVE, data));
        assert_eq!((reply.rcode(), reply.addresses().len()), (0, 1));
        assert_eq!(reply.option(KEEPALIVE), None);
    }
}

#[test]
fn over_tls_it_stands_before_the_padding() {
    let pair = Pair::new();
    let server = server(&pair.read());
    let mut stream = connect(&server, pair.client(b"dot"));
    let query = Ask::new("www.gslb.test.", A)
        .option(KEEPALIVE, b"")
        .option(12, &[0; 9]);
    send(&mut stream, &query.octets());
    let reply = Reply::new(receive(&mut stream).unwrap());
    assert_eq!((reply.raw.len(), reply.addresses().len()), (468, 1));
    let options: Vec<u16> = reply
        .opt
        .iter()
        .flat_map(|opt| &opt.options)
        .map(|(code, _)| *code)
        .collect();
    assert_eq!(options, [KEEPALIVE, 12]);
    assert_eq!(reply.option(KEEPALIVE), Some(&[0, 100][..]));
}
