//! Response rate limiting: what a network gets that asks too much, and that others do not notice.

use crate::support::ask::{A, AAAA, Ask, COOKIE};
use crate::support::reply::Reply;
use crate::support::{PATIENCE, Server};
use gslb_engine::model::Tier;
use std::net::UdpSocket;
use std::time::Instant;

const CLIENT: [u8; 8] = [8, 7, 6, 5, 4, 3, 2, 1];

fn limited(responses_per_second: u32, slip: u32) -> Server {
    Server::with(Tier::Enterprise, |settings| {
        settings.rate.responses_per_second = responses_per_second;
        settings.rate.slip = slip;
    })
}

fn client(server: &Server, ip: &str) -> UdpSocket {
    let socket = UdpSocket::bind((ip, 0)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.connect(server.address).unwrap();
    socket
}

/// Sends a query; the next datagram is its reply.
fn exchange(socket: &UdpSocket, ask: &Ask) -> Reply {
    socket.send(&ask.octets()).unwrap();
    let mut buffer = [0; 2048];
    let length = socket.recv(&mut buffer).unwrap();
    Reply::new(buffer[..length].to_vec())
}

/// Asks until a reply is held back: with one a second and a slip of 1 that shows in the reply.
fn until_limited(socket: &UdpSocket, ask: &Ask) -> Reply {
    let begin = Instant::now();
    loop {
        let reply = exchange(socket, ask);
        if reply.tc() || reply.rcode() == 23 {
            return reply;
        }
        assert!(begin.elapsed() < PATIENCE, "nothing was held back");
    }
}

#[test]
fn what_is_too_much_is_asked_over_tcp() {
    let server = limited(1, 1);
    let socket = client(&server, "127.0.0.1");
    let query = Ask::new("www.gslb.test.", A).ecs("198.51.100.0/24");
    let slipped = until_limited(&socket, &query);
    assert_eq!((slipped.rcode(), slipped.answers().len()), (0, 0));
    assert_eq!(slipped.question(), query.question());
    assert_eq!(slipped.scope(), Some(0));
    for _ in 0..5 {
        assert_eq!(server.tcp(&query).addresses().len(), 1, "TCP has no limit");
    }
    assert!(server.counts().limited_slipped > 0);
}

#[test]
fn a_client_that_knows_cookies_is_told_to_use_them() {
    let server = limited(1, 1);
    let socket = client(&server, "127.0.0.1");
    let told = until_limited(&socket, &Ask::new("www.gslb.test.", A).option(COOKIE, &CLIENT));
    assert_eq!(told.rcode(), 23);
    let cookie = told.option(COOKIE).unwrap().to_vec();
    for _ in 0..20 {
        let reply = exchange(&socket, &Ask::new("www.gslb.test.", A).option(COOKIE, &cookie));
        assert_eq!((reply.rcode(), reply.addresses().len()), (0, 1));
    }
}

#[test]
fn kinds_and_networks_have_limits_of_their_own() {
    let server = limited(1, 1);
    let socket = client(&server, "127.0.0.1");
    let query = Ask::new("www.gslb.test.", A);
    until_limited(&socket, &query);
    let neighbour = client(&server, "127.0.0.9");
    let far = client(&server, "127.0.1.1");
    // The first of its kind, and the first of its network.
    assert_eq!(exchange(&socket, &Ask::new("nope.gslb.test.", A)).rcode(), 3);
    assert_eq!(exchange(&socket, &Ask::new("v4.gslb.test.", AAAA)).rcode(), 0);
    assert_eq!(exchange(&far, &query).addresses().len(), 1);
    until_limited(&neighbour, &query);
}

#[test]
fn without_slip_the_others_are_left_out() {
    let server = limited(1, 0);
    let socket = client(&server, "127.0.0.1");
    let begin = Instant::now();
    for _ in 0..200 {
        socket.send(&Ask::new("nope.gslb.test.", A).octets()).unwrap();
    }
    let whole =
        |counts: &gslb_dns::DnsCounts| counts.responses_of("NXDOMAIN") + counts.limited_dropped == 200;
    server.until("all are answered or left out", whole);
    // At most one for the first moment, and one for every second that has begun.
    let most = begin.elapsed().as_secs() + 2;
    let sent = server.counts().responses_of("NXDOMAIN");
    assert!((1..=most).contains(&sent), "{sent} of at most {most}");
}

/// Random junk and names that do not exist from one address, as fast as they are taken; from another address every query is
/// answered.
#[test]
fn a_flood_from_one_address_does_not_take_the_answers_of_another() {
    let server = limited(50, 2);
    let flood = client(&server, "127.0.0.1");
    flood.set_nonblocking(true).unwrap();
    let patient = client(&server, "127.0.2.1");
    let junk = |n: u32| match n % 3 {
        0 => (0..40).map(|_| fastrand::u8(..)).collect(),
        1 => Ask::new(&format!("x{n}.gslb.test."), A).octets(),
        _ => Ask::new(&format!("{n}.nope.gslb.test."), A)
            .ecs("198.51.100.0/24")
            .octets(),
    };
    let mut sent = 0_u32;
    let cookie = exchange(&patient, &Ask::new("www.gslb.test.", A).option(COOKIE, &CLIENT));
    let cookie = cookie.option(COOKIE).unwrap().to_vec();
    for round in 0..200 {
        for _ in 0..100 {
            // What finds no room in the queue is lost, as it would be.
            let _ = flood.send(&junk(sent));
            sent += 1;
        }
        let query = Ask::new("www.gslb.test.", A).option(COOKIE, &cookie);
        patient.send(&query.octets()).unwrap();
        let mut buffer = [0; 2048];
        let length = patient
            .recv(&mut buffer)
            .unwrap_or_else(|e| panic!("round {round}: {e}"));
        assert_eq!(Reply::new(buffer[..length].to_vec()).addresses().len(), 1);
    }
    let counts = server.counts();
    assert!(counts.limited_dropped > 1000, "{counts:?}");
    assert_eq!(counts.panics, 0);
}
