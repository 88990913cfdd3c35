//! The tcp prober.

use crate::stub::{Reply, Stub, closed_port, failure, probe, tcp};
use gslb_engine::model::HealthCheck;
use gslb_probe::HealthState;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

#[tokio::test]
async fn an_open_port_is_up_over_ipv4_and_ipv6() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let listener = TcpListener::bind(address).await.unwrap();
        let status = probe(listener.local_addr().unwrap(), tcp(1_000)).await;
        assert_eq!(
            (status.state, status.score, status.last_error),
            (HealthState::Up, 1.0, None)
        );
        assert!(status.rtt_ns.is_some_and(|ns| ns > 0));
        assert_eq!(status.recent.len(), 1);
    }
}

#[tokio::test]
async fn a_closed_port_is_down() {
    for ip in ["127.0.0.1", "::1"] {
        let status = probe(closed_port(ip).await, tcp(1_000)).await;
        assert_eq!(
            (status.state, status.score, status.rtt_ns),
            (HealthState::Down, 0.0, None)
        );
        assert_eq!(status.last_error.as_deref(), Some("connection refused"));
    }
}

#[tokio::test]
async fn the_checks_own_port_is_used() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let open = listener.local_addr().unwrap();
    let check = HealthCheck {
        port: Some(open.port()),
        ..tcp(1_000)
    };
    let status = probe(closed_port("127.0.0.1").await, check).await;
    assert_eq!((status.state, status.address), (HealthState::Up, open));
}

#[tokio::test]
async fn whoever_accepts_is_up_even_if_it_says_nothing() {
    let stub = Stub::start(Reply::Hang).await;
    assert_eq!(failure(stub.address, tcp(1_000)).await, "");
}

#[tokio::test]
async fn nobody_answers_the_connect() {
    // A listener whose queue is full drops what comes next, like a host that is not there.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    while let Ok(stream) = tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(address)).await
    {
        queued.push(stream.unwrap());
        assert!(queued.len() < 100, "the queue has no end");
    }
    let check = HealthCheck {
        timeout_ms: 100,
        ..tcp(1_000)
    };
    assert_eq!(
        failure(address, check).await,
        "timeout after 100 ms during connect"
    );
}
