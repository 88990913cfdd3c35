//! RFC 7858, DNS over TLS.

use crate::support::ask::{A, Ask};
use crate::support::reply::Reply;
use crate::support::secure::{Pair, connect, server};
use crate::support::{PATIENCE, framed, receive, send};
use gslb_dns::{Certificate, Transport};
use std::io::{Read, Write};
use std::net::TcpStream;

fn ask(id: u16) -> Ask {
    let mut ask = Ask::new("www.gslb.test.", A);
    ask.id = id;
    ask
}

#[test]
fn s3_3_the_answer_is_that_of_tcp() {
    let pair = Pair::new();
    let server = server(&pair.read());
    let mut stream = connect(&server, pair.client(b"dot"));
    send(&mut stream, &ask(7).octets());
    let secure = receive(&mut stream).unwrap();
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"dot"[..]));
    assert_eq!(secure, server.tcp(&ask(7)).raw);
    let counted = server.counts().responses[Transport::Tls as usize];
    assert_eq!(counted[0], 1, "{counted:?}");
}

#[test]
fn s3_3_a_client_without_alpn_is_served() {
    let pair = Pair::new();
    let server = server(&pair.read());
    let mut client = pair.client(b"dot");
    client.alpn_protocols.clear();
    let mut stream = connect(&server, client);
    send(&mut stream, &ask(1).octets());
    assert_eq!(Reply::new(receive(&mut stream).unwrap()).id(), 1);
}

#[test]
fn s3_2_versions_1_2_and_1_3_are_spoken() {
    let pair = Pair::new();
    let server = server(&pair.read());
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let mut stream = connect(&server, pair.client_of(b"dot", &[version]));
        send(&mut stream, &ask(1).octets());
        assert_eq!(Reply::new(receive(&mut stream).unwrap()).id(), 1);
        assert_eq!(stream.conn.protocol_version(), Some(version.version));
    }
}

#[test]
fn s3_2_older_versions_are_refused() {
    let pair = Pair::new();
    let server = server(&pair.read());
    // A ClientHello of TLS 1.1 (RFC 4346 §7.4.1.2): version, random, no session, two suites of its time, no compression.
    let hello = [&[3, 2][..], &[7; 32], &[0], &[0, 4, 0xc0, 0x09, 0, 0x2f], &[1, 0]].concat();
    let handshake = [&[1, 0, 0, u8::try_from(hello.len()).unwrap()][..], &hello].concat();
    let mut stream = TcpStream::connect(server.tls_address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
        .write_all(&[&[22, 3, 1][..], &framed(&handshake)].concat())
        .unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    // A fatal alert, and nothing more.
    assert_eq!((reply.len(), reply[0], reply[5]), (7, 21, 2), "{reply:?}");
}

#[test]
fn s3_3_a_pipeline_in_one_write() {
    let pair = Pair::new();
    let server = server(&pair.read());
    let mut stream = connect(&server, pair.client(b"dot"));
    let all: Vec<u8> = (0..200).flat_map(|id| framed(&ask(id).octets())).collect();
    stream.write_all(&all).unwrap();
    for id in 0..200 {
        assert_eq!(Reply::new(receive(&mut stream).unwrap()).id(), id);
    }
}

#[test]
fn s3_4_the_server_says_goodbye_when_it_stops() {
    let pair = Pair::new();
    let server = server(&pair.read());
    let mut stream = connect(&server, pair.client(b"dot"));
    send(&mut stream, &ask(1).octets());
    assert!(receive(&mut stream).is_some());
    let stats = server.shutdown(PATIENCE);
    // An end without `close_notify` would be an error here.
    assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
    assert_eq!(stats.snapshot().tcp_open, 0);
}

#[test]
fn what_is_no_tls_is_closed_and_holds_nothing() {
    let pair = Pair::new();
    let server = server(&pair.read());
    let mut stream = TcpStream::connect(server.tls_address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    send(&mut stream, &ask(1).octets());
    let mut rest = Vec::new();
    // An alert, perhaps, then the end.
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.len() < 16, "{rest:?}");
    server.until("the connection is gone", |counts| counts.tcp_open == 0);
}

#[test]
fn a_renewed_certificate_is_shown_to_the_next_client() {
    let mut pair = Pair::new();
    let certificate = pair.read();
    let server = server(&certificate);
    let mut old = connect(&server, pair.client(b"dot"));
    send(&mut old, &ask(1).octets());
    assert!(receive(&mut old).is_some());
    pair.renew();
    certificate.reload().unwrap();
    let mut new = connect(&server, pair.client(b"dot"));
    send(&mut new, &ask(2).octets());
    assert!(receive(&mut new).is_some(), "the new one is trusted");
    send(&mut old, &ask(3).octets());
    assert!(receive(&mut old).is_some(), "who is connected stays so");
    // A broken file keeps what there is.
    let [cert, key] = pair.files();
    std::fs::write(&cert, "nonsense").unwrap();
    let error = certificate.reload().unwrap_err().to_string();
    assert!(
        error.contains("cert.pem") && error.contains("no certificate"),
        "{error}"
    );
    let mut still = connect(&server, pair.client(b"dot"));
    send(&mut still, &ask(4).octets());
    assert!(receive(&mut still).is_some());
    std::fs::remove_file(&key).unwrap();
    pair.renew();
    std::fs::write(&key, "").unwrap();
    let error = Certificate::read(&cert, &key).unwrap_err().to_string();
    assert!(
        error.contains("key.pem") && error.contains("no private key"),
        "{error}"
    );
    let other = Pair::new();
    let error = Certificate::read(&cert, &other.files()[1])
        .unwrap_err()
        .to_string();
    assert!(error.contains("cert.pem") && error.contains("key.pem"), "{error}");
}
