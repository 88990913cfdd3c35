//! RFC 7873, DNS cookies, in the form of RFC 9018. (The hash itself is held against the RFC's examples where it is made.)

use crate::support::ask::{A, AAAA, ANY, Ask, COOKIE, Opt, message};
use crate::support::reply::Reply;
use crate::support::{Server, receive, send};
use gslb_dns::CookieSecret;
use gslb_engine::model::Tier;

const CLIENT: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
const BADCOOKIE: u16 = 23;

fn ask(name: &str) -> Ask {
    Ask::new(name, A).option(COOKIE, &CLIENT)
}

/// The cookie of a reply, which is whole and begins with the client's.
fn cookie(reply: &Reply) -> Vec<u8> {
    let cookie = reply.option(COOKIE).expect("a cookie").to_vec();
    assert_eq!((cookie.len(), &cookie[..8]), (24, &CLIENT[..]));
    assert_eq!(
        cookie[8..12],
        [1, 0, 0, 0],
        "version and reserved octets (RFC 9018 §4)"
    );
    cookie
}

#[test]
fn s5_2_3_a_client_cookie_alone_gets_a_server_cookie() {
    let server = Server::start();
    for name in [
        "www.gslb.test.",
        "crowd.gslb.test.",
        "nope.gslb.test.",
        "elsewhere.test.",
    ] {
        for qtype in [A, AAAA, ANY] {
            let query = Ask::new(name, qtype).option(COOKIE, &CLIENT);
            cookie(&server.udp(&query));
            cookie(&server.tcp(&query));
        }
    }
    // Errors carry it too.
    let reply = server.udp(&ask("www.gslb.test.").version(1));
    assert_eq!(reply.rcode(), 16);
    cookie(&reply);
    let reply = server.udp(&ask("www.gslb.test.").flags(0x2000));
    assert_eq!(reply.rcode(), 4);
    cookie(&reply);
}

#[test]
fn s5_2_1_nobody_gets_one_unasked() {
    let server = Server::start();
    assert_eq!(
        server.both(&Ask::new("www.gslb.test.", A).edns()).option(COOKIE),
        None
    );
    assert_eq!(server.both(&Ask::new("www.gslb.test.", A)).opt, None);
}

#[test]
fn s5_2_2_malformed_lengths_get_formerr() {
    let server = Server::start();
    for length in [0, 1, 7, 9, 10, 15, 41, 60] {
        let reply = server.both(&Ask::new("www.gslb.test.", A).option(COOKIE, &vec![7; length]));
        assert_eq!((reply.rcode(), reply.answers().len()), (1, 0), "{length}");
        assert!(reply.opt.is_some(), "{length}");
    }
}

#[test]
fn s5_2_4_a_bad_server_cookie_gets_the_answer_and_a_good_one() {
    let server = Server::start();
    for length in [16, 17, 24, 32, 40] {
        let mut sent = vec![9; length];
        sent[..8].copy_from_slice(&CLIENT);
        let reply = server.udp(&Ask::new("www.gslb.test.", A).option(COOKIE, &sent));
        assert_eq!((reply.rcode(), reply.addresses().len()), (0, 1), "{length}");
        assert_ne!(cookie(&reply), sent);
    }
}

#[test]
fn s5_2_5_a_good_one_comes_back_as_it_is() {
    let server = Server::start();
    let first = cookie(&server.udp(&ask("www.gslb.test.")));
    let again = server.both(&Ask::new("crowd.gslb.test.", A).option(COOKIE, &first));
    assert_eq!(cookie(&again), first);
}

#[test]
fn s5_4_a_cookie_can_be_asked_for_without_a_question() {
    let server = Server::start();
    let without = |sent: &[u8]| {
        let opt = Opt {
            payload: 1232,
            options: vec![(COOKIE, sent.to_vec())],
            ..Opt::default()
        };
        message(0x4711, 0, &[], &[opt.octets()])
    };
    let reply = Reply::new(server.udp_octets(&without(&CLIENT)).unwrap());
    assert_eq!(
        (reply.rcode(), reply.id(), reply.field(2), reply.field(3)),
        (0, 0x4711, 0, 0)
    );
    let good = cookie(&reply);
    let reply = Reply::new(server.udp_octets(&without(&good)).unwrap());
    assert_eq!((reply.rcode(), cookie(&reply)), (0, good.clone()));
    let mut bad = good.clone();
    bad[23] ^= 1;
    let reply = Reply::new(server.udp_octets(&without(&bad)).unwrap());
    assert_eq!((reply.rcode(), cookie(&reply)), (BADCOOKIE, good.clone()));
    let mut stream = server.connect();
    send(&mut stream, &without(&good));
    assert_eq!(Reply::new(receive(&mut stream).unwrap()).rcode(), 0);
}

#[test]
fn s5_4_without_a_cookie_there_must_be_a_question() {
    let server = Server::start();
    let opt = Opt {
        payload: 1232,
        ..Opt::default()
    };
    for additionals in [vec![], vec![opt.octets()]] {
        let reply = Reply::new(server.udp_octets(&message(1, 0, &[], &additionals)).unwrap());
        assert_eq!(reply.rcode(), 1);
    }
}

#[test]
fn s7_1_a_secret_of_before_is_accepted_and_replaced() {
    let secret = |n| CookieSecret::new([n; 16]);
    let with = |cookies: Vec<CookieSecret>| {
        Server::with(Tier::Enterprise, |settings| {
            settings.cookies = cookies;
            settings.payload_without_cookie = 512;
        })
    };
    let old = with(vec![secret(1)]);
    let rotated = with(vec![secret(2), secret(1)]);
    let stranger = with(vec![secret(3)]);
    let of_before = cookie(&old.udp(&ask("www.gslb.test.")));
    let query = Ask::new("crowd.gslb.test.", A).option(COOKIE, &of_before);
    let reply = rotated.udp(&query);
    assert!(!reply.tc(), "it is valid");
    assert_ne!(cookie(&reply), of_before);
    assert!(stranger.udp(&query).tc(), "it is not");
}

#[test]
fn large_answers_are_for_those_who_have_shown_a_cookie_or_come_over_tcp() {
    let server = Server::with(Tier::Enterprise, |settings| settings.payload_without_cookie = 512);
    let plain = Ask::new("crowd.gslb.test.", A).payload(4096);
    let reply = server.udp(&plain);
    assert!(reply.tc() && reply.answers().is_empty() && reply.raw.len() < 60);
    assert_eq!(server.tcp(&plain).answers().len(), 64);
    let alone = server.udp(&ask("crowd.gslb.test."));
    assert!(alone.tc(), "the client's own cookie shows nothing");
    let shown = Ask::new("crowd.gslb.test.", A).option(COOKIE, &cookie(&alone));
    assert_eq!(server.udp(&shown).answers().len(), 64);
    // What is not large is for everybody.
    assert!(!server.udp(&Ask::new("www.gslb.test.", A)).tc());
}
