//! RFC 9250, DNS over QUIC.

use crate::support::ask::{A, Ask};
use crate::support::secure::{Pair, server};
use crate::support::{PATIENCE, Server, framed};
use gslb_dns::Transport;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint};
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::time::timeout;

/// DOQ_PROTOCOL_ERROR
const PROTOCOL_ERROR: u32 = 2;

fn ask() -> Ask {
    let mut ask = Ask::new("www.gslb.test.", A);
    ask.id = 0;
    ask
}

async fn connect(server: &Server, pair: &Pair) -> (Endpoint, Connection) {
    let tls = QuicClientConfig::try_from(pair.client(b"doq")).unwrap();
    let endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let connecting = endpoint
        .connect_with(
            ClientConfig::new(Arc::new(tls)),
            server.quic_address(),
            "localhost",
        )
        .unwrap();
    let connection = timeout(PATIENCE, connecting).await.unwrap().unwrap();
    (endpoint, connection)
}

/// Sends octets on a stream of their own, and reads what comes back.
async fn exchange(connection: &Connection, octets: &[u8]) -> Option<Vec<u8>> {
    let (mut send, mut receive) = connection.open_bi().await.ok()?;
    send.write_all(octets).await.ok()?;
    send.finish().ok()?;
    timeout(PATIENCE, receive.read_to_end(70_000)).await.unwrap().ok()
}

fn run(test: impl AsyncFnOnce(&Server, &Pair)) {
    let pair = Pair::new();
    let server = server(&pair.read());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test(&server, &pair));
}

#[test]
fn s4_2_each_query_has_a_stream_of_its_own() {
    run(async |server, pair| {
        let (_endpoint, connection) = connect(server, pair).await;
        let query = framed(&ask().octets());
        let replies: Vec<_> = (0..50).map(|_| exchange(&connection, &query)).collect();
        let mut answered = 0;
        for reply in replies {
            let reply = reply.await.unwrap();
            assert_eq!(reply[2..], server.tcp(&ask()).raw);
            answered += 1;
        }
        assert_eq!(answered, 50);
        let counted = server.counts().responses[Transport::Quic as usize];
        assert_eq!(counted[0], 50);
    });
}

#[test]
fn rfc_9250_s5_4_replies_are_padded_as_queries_are() {
    run(async |server, pair| {
        let (_endpoint, connection) = connect(server, pair).await;
        let query = ask().option(12, &[0; 40]);
        let reply = exchange(&connection, &framed(&query.octets())).await.unwrap();
        assert_eq!(reply.len(), 2 + 468);
    });
}

#[test]
fn s4_3_3_what_is_no_query_ends_the_connection() {
    let whole = framed(&ask().octets());
    let mut with_id = ask();
    with_id.id = 7;
    let mut reply = ask().octets();
    reply[2] |= 0x80;
    for (what, octets) in [
        ("an id", framed(&with_id.octets())),
        ("too short", whole[..whole.len() - 1].to_vec()),
        ("two queries", [&whole[..], &whole].concat()),
        ("nothing", Vec::new()),
        ("a reply", framed(&reply)),
    ] {
        run(async |server, pair| {
            let (_endpoint, connection) = connect(server, pair).await;
            assert_eq!(exchange(&connection, &octets).await, None, "{what}");
            let end = timeout(PATIENCE, connection.closed()).await.unwrap();
            let ConnectionError::ApplicationClosed(end) = end else {
                panic!("{what}: {end}");
            };
            assert_eq!(end.error_code, PROTOCOL_ERROR.into(), "{what}");
        });
    }
}

#[test]
fn s4_1_1_another_protocol_is_refused() {
    run(async |server, pair| {
        let tls = QuicClientConfig::try_from(pair.client(b"h3")).unwrap();
        let endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let connecting = endpoint
            .connect_with(
                ClientConfig::new(Arc::new(tls)),
                server.quic_address(),
                "localhost",
            )
            .unwrap();
        assert!(timeout(PATIENCE, connecting).await.unwrap().is_err());
    });
}

#[test]
fn s5_1_one_client_cannot_take_every_connection() {
    let pair = Pair::new();
    let certificate = pair.read();
    let server = Server::with(gslb_engine::model::Tier::Enterprise, |settings| {
        settings.tcp.connections_per_client = 2;
        settings.encrypted = Some(gslb_dns::Encrypted {
            certificate,
            tls: Vec::new(),
            quic: vec![([127, 0, 0, 1], 0).into()],
        });
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let _one = connect(&server, &pair).await;
        let _two = connect(&server, &pair).await;
        let tls = QuicClientConfig::try_from(pair.client(b"doq")).unwrap();
        let endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let connecting = endpoint
            .connect_with(
                ClientConfig::new(Arc::new(tls)),
                server.quic_address(),
                "localhost",
            )
            .unwrap();
        assert!(timeout(PATIENCE, connecting).await.unwrap().is_err());
    });
    assert_eq!(server.counts().tcp_refused, 1);
}

#[test]
fn s4_4_the_server_says_goodbye_when_it_stops() {
    let pair = Pair::new();
    let server = server(&pair.read());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let (_endpoint, connection) = runtime.block_on(async {
        let (endpoint, connection) = connect(&server, &pair).await;
        assert!(exchange(&connection, &framed(&ask().octets())).await.is_some());
        (endpoint, connection)
    });
    server.shutdown(PATIENCE);
    let end = runtime.block_on(async { timeout(PATIENCE, connection.closed()).await.unwrap() });
    assert!(matches!(end, ConnectionError::ApplicationClosed(end) if end.error_code == 0_u32.into()));
}
