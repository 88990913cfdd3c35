//! RFC 7766, DNS over TCP: pipelining, segments, half-close, limits.

use crate::support::ask::{A, AAAA, Ask};
use crate::support::reply::Reply;
use crate::support::{PATIENCE, Server, framed, receive, send};
use gslb_engine::model::Tier;
use std::collections::HashSet;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

fn ask(id: u16) -> Ask {
    let mut ask = Ask::new("www.gslb.test.", A);
    ask.id = id;
    ask
}

fn ids(stream: &mut TcpStream) -> HashSet<u16> {
    std::iter::from_fn(|| receive(stream))
        .map(|octets| Reply::new(octets).id())
        .collect()
}

#[test]
fn s6_2_1_1_a_hundred_queries_in_one_write() {
    let server = Server::start();
    let mut stream = server.connect();
    let all: Vec<u8> = (0..100).flat_map(|id| framed(&ask(id).octets())).collect();
    stream.write_all(&all).unwrap();
    let answered: HashSet<_> = (0..100)
        .map(|_| Reply::new(receive(&mut stream).unwrap()).id())
        .collect();
    assert_eq!(answered, (0..100).collect());
    send(&mut stream, &ask(777).octets());
    assert_eq!(
        Reply::new(receive(&mut stream).unwrap()).id(),
        777,
        "the connection stays open"
    );
}

#[test]
fn s6_2_1_a_and_aaaa_in_one_write() {
    let server = Server::start();
    let mut stream = server.connect();
    let (a, aaaa) = (Ask::new("www.gslb.test.", A), Ask::new("www.gslb.test.", AAAA));
    stream
        .write_all(&[framed(&a.octets()), framed(&aaaa.octets())].concat())
        .unwrap();
    for _ in 0..2 {
        let reply = Reply::new(receive(&mut stream).unwrap());
        let of = if reply.id() == a.id { &a } else { &aaaa };
        assert_eq!((reply.id(), reply.question()), (of.id, &of.question()[..]));
        assert_eq!(reply.addresses().len(), 1);
    }
}

#[test]
fn s8_a_message_may_come_in_any_segments() {
    let server = Server::start();
    let mut stream = server.connect();
    stream.set_nodelay(true).unwrap();
    let octets = framed(&ask(1).octets());
    // The length itself in two, then the rest octet by octet.
    for part in octets.chunks(1) {
        stream.write_all(part).unwrap();
    }
    assert_eq!(Reply::new(receive(&mut stream).unwrap()).id(), 1);
    // One and a half messages, then the other half.
    let two = [framed(&ask(2).octets()), framed(&ask(3).octets())].concat();
    let (first, rest) = two.split_at(octets.len() + 9);
    stream.write_all(first).unwrap();
    assert_eq!(Reply::new(receive(&mut stream).unwrap()).id(), 2);
    stream.write_all(rest).unwrap();
    assert_eq!(Reply::new(receive(&mut stream).unwrap()).id(), 3);
}

#[test]
fn s6_2_4_half_close_still_gets_all_answers() {
    let server = Server::start();
    let mut stream = server.connect();
    let all: Vec<u8> = (0..500).flat_map(|id| framed(&ask(id).octets())).collect();
    stream.write_all(&all).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(ids(&mut stream), (0..500).collect());
    server.until("the connection is closed", |counts| counts.tcp_open == 0);
}

#[test]
fn s8_a_message_of_the_greatest_length() {
    let server = Server::start();
    let mut stream = server.connect();
    let padding = 65_535 - Ask::new("www.gslb.test.", A).option(65001, b"").octets().len();
    let long = Ask::new("www.gslb.test.", A).option(65001, &vec![7; padding]);
    assert_eq!(long.octets().len(), 65_535);
    send(&mut stream, &long.octets());
    assert_eq!(Reply::new(receive(&mut stream).unwrap()).addresses().len(), 1);
}

#[test]
fn messages_that_are_no_queries_do_not_end_the_connection() {
    let server = Server::start();
    let mut stream = server.connect();
    for junk in [&b""[..], b"x", &[0xff; 700]] {
        send(&mut stream, junk);
    }
    send(&mut stream, &ask(9).octets());
    assert_eq!(Reply::new(receive(&mut stream).unwrap()).id(), 9);
}

#[test]
fn s6_2_3_an_idle_connection_is_closed() {
    let server = Server::with(Tier::Enterprise, |s| s.tcp.idle = Duration::from_millis(200));
    let mut stream = server.connect();
    assert_eq!(receive(&mut stream), None);
    // Single octets of a query that never ends do not count as life.
    let mut slow = server.connect();
    let begin = std::time::Instant::now();
    while slow.write_all(&[1]).is_ok() {
        assert!(begin.elapsed() < PATIENCE, "still open");
        std::thread::sleep(Duration::from_millis(20));
    }
    server.until("all closed", |counts| counts.tcp_open == 0);
}

#[test]
fn s6_2_3_an_answer_keeps_the_connection() {
    let server = Server::with(Tier::Enterprise, |s| s.tcp.idle = Duration::from_secs(2));
    let mut stream = server.connect();
    let begin = std::time::Instant::now();
    // Longer than the limit in all.
    for id in 0.. {
        send(&mut stream, &ask(id).octets());
        assert_eq!(
            Reply::new(receive(&mut stream).expect("open while it asks")).id(),
            id
        );
        if begin.elapsed() > Duration::from_millis(2500) {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn s6_2_2_connections_are_limited() {
    let server = Server::with(Tier::Enterprise, |s| s.tcp.connections_per_client = 3);
    let mut open: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for stream in &mut open {
        send(stream, &ask(1).octets());
        assert!(receive(stream).is_some());
    }
    assert_eq!(
        receive(&mut server.connect()),
        None,
        "the fourth is closed at once"
    );
    assert_eq!(server.counts().tcp_refused, 1);
    // Another client has its own share.
    let other = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    other
        .bind(&std::net::SocketAddr::from(([127, 0, 0, 2], 0)).into())
        .unwrap();
    other.connect(&server.address.into()).unwrap();
    let mut other = TcpStream::from(other);
    other.set_read_timeout(Some(PATIENCE)).unwrap();
    send(&mut other, &ask(2).octets());
    assert!(receive(&mut other).is_some());
    // A closed connection makes room.
    open.pop();
    server.until("one is closed", |counts| counts.tcp_open == 3);
    let mut next = server.connect();
    send(&mut next, &ask(3).octets());
    assert!(receive(&mut next).is_some());
}

#[test]
fn s6_2_2_connections_are_limited_in_total() {
    let server = Server::with(Tier::Enterprise, |s| s.tcp.connections = 2);
    let mut silent = server.connect();
    server.until("it is open", |counts| counts.tcp_open == 1);
    let mut busy = server.connect();
    send(&mut busy, &ask(1).octets());
    assert!(receive(&mut busy).is_some());
    let mut third = server.connect();
    send(&mut third, &ask(3).octets());
    assert!(
        receive(&mut third).is_some(),
        "it gets the place of the silent one"
    );
    assert_eq!(receive(&mut silent), None);
    send(&mut busy, &ask(2).octets());
    assert!(receive(&mut busy).is_some(), "which is not that of the busy one");
    server.until("one is replaced", |counts| {
        (counts.tcp_replaced, counts.tcp_open) == (1, 2)
    });
}

#[test]
fn s6_2_2_a_crowd_keeps_nobody_out() {
    let server = Server::with(Tier::Enterprise, |s| {
        s.tcp.connections = 20;
        s.tcp.connections_per_client = 1000;
    });
    // All send an octet and no more.
    let mut crowd: Vec<_> = (0..60)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(&[0]).unwrap();
            stream
        })
        .collect();
    for id in 0..30 {
        let mut stream = server.connect();
        send(&mut stream, &ask(id).octets());
        assert_eq!(Reply::new(receive(&mut stream).unwrap()).id(), id);
    }
    assert!(server.counts().tcp_open <= 20);
    let last = crowd.split_off(59);
    for mut stream in crowd.drain(..40) {
        assert_eq!(receive(&mut stream), None, "closed for others");
    }
    drop(last);
}

#[test]
fn a_client_that_does_not_read_is_closed() {
    let server = Server::with(Tier::Enterprise, |s| s.tcp.idle = Duration::from_millis(500));
    let mut stream = server.connect();
    let large = framed(&Ask::new("crowd.gslb.test.", AAAA).octets());
    let many: Vec<u8> = std::iter::repeat_n(large, 1000).flatten().collect();
    // Answers of a hundred times the size pile up until nobody can write any more.
    while stream.write_all(&many).is_ok() {}
    server.until("it is closed", |counts| counts.tcp_open == 0);
    assert_eq!(server.udp(&ask(1)).addresses().len(), 1);
}
