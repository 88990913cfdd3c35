//! Start, stop, and who may listen where.

use crate::support::ask::{A, Ask};
use crate::support::reply::Reply;
use crate::support::{PATIENCE, Server, receive, send, world};
use gslb_dns::{DnsError, DnsServer, DnsSettings, DnsStats};
use gslb_engine::model::Tier;
use gslb_engine::snapshot::{Snapshot, SnapshotCell};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

fn ask() -> Ask {
    Ask::new("www.gslb.test.", A)
}

fn udp_from(bind: &str, target: SocketAddr) -> Reply {
    let socket = UdpSocket::bind((bind, 0)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.send_to(&ask().octets(), target).unwrap();
    let mut buffer = [0; 2048];
    let (length, from) = socket.recv_from(&mut buffer).unwrap();
    assert_eq!(from, target, "the reply comes from the address that was asked");
    Reply::new(buffer[..length].to_vec())
}

fn start(listen: Vec<SocketAddr>) -> Result<DnsServer, DnsError> {
    let settings = DnsSettings {
        listen,
        udp_threads: 2,
        ..DnsSettings::default()
    };
    DnsServer::start(settings, Arc::default(), Arc::default())
}

#[tokio::test]
async fn a_second_server_on_the_port_is_refused() {
    let first = start(vec![SocketAddr::from(([127, 0, 0, 1], 0))]).unwrap();
    let taken = first.local_addrs()[0];
    let error = start(vec![taken]).unwrap_err();
    assert!(error.is_in_use());
    assert_eq!(error.address(), Some(taken));
    assert!(error.to_string().contains(&taken.to_string()), "{error}");
    // On the wildcard address neither.
    assert!(
        start(vec![SocketAddr::from(([0, 0, 0, 0], taken.port()))])
            .unwrap_err()
            .is_in_use()
    );
    first.shutdown(PATIENCE).await;
    start(vec![taken]).unwrap().shutdown(PATIENCE).await;
}

#[tokio::test]
async fn nothing_is_left_when_one_address_fails() {
    let first = start(vec![SocketAddr::from(([127, 0, 0, 1], 0))]).unwrap();
    let taken = first.local_addrs()[0];
    let free = SocketAddr::from(([127, 0, 0, 3], taken.port()));
    assert!(start(vec![free, taken]).unwrap_err().is_in_use());
    start(vec![free]).unwrap().shutdown(PATIENCE).await;
}

#[tokio::test]
async fn settings_are_checked() {
    assert!(matches!(start(vec![]), Err(DnsError::NoAddress)));
    let settings = DnsSettings {
        listen: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
        nsid: Some(vec![0; 65]),
        ..DnsSettings::default()
    };
    let error = DnsServer::start(settings, Arc::default(), Arc::default()).unwrap_err();
    assert!(matches!(error, DnsError::NsidTooLong(65)), "{error}");
}

#[test]
fn several_addresses_of_both_families() {
    let server = Server::with(Tier::Enterprise, |s| {
        s.listen = vec![
            "127.0.0.1:0".parse().unwrap(),
            "[::1]:0".parse().unwrap(),
            "127.0.0.2:0".parse().unwrap(),
        ];
    });
    for (bind, target) in ["127.0.0.1", "::1", "127.0.0.2"]
        .into_iter()
        .zip(server.addresses())
    {
        assert_eq!(udp_from(bind, target).addresses().len(), 1);
    }
}

#[test]
fn wildcard_addresses_answer_from_the_address_asked() {
    let server = Server::with(Tier::Enterprise, |s| {
        s.listen = vec!["0.0.0.0:0".parse().unwrap(), "[::]:0".parse().unwrap()];
        s.udp_threads = 2;
    });
    let [v4, v6] = server.addresses()[..] else {
        panic!("two addresses")
    };
    for target in ["127.0.0.1", "127.0.0.2", "127.1.2.3"] {
        udp_from("127.0.0.1", SocketAddr::new(target.parse().unwrap(), v4.port()));
    }
    udp_from("::1", SocketAddr::new("::1".parse().unwrap(), v6.port()));
}

#[test]
fn queries_that_arrived_before_the_stop_are_answered() {
    let server = Server::with(Tier::Enterprise, |s| s.udp_threads = 2);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = server.connect();
    send(&mut stream, &ask().octets());
    assert!(receive(&mut stream).is_some());
    for _ in 0..50 {
        socket.send_to(&ask().octets(), server.address).unwrap();
    }
    send(&mut stream, &ask().octets());
    // The segment is in the server's queue once its acknowledgement is back; on loopback that is at once.
    let stats = server.shutdown(PATIENCE);
    for _ in 0..50 {
        socket.recv(&mut [0; 2048]).unwrap();
    }
    assert!(receive(&mut stream).is_some());
    assert_eq!(receive(&mut stream), None);
    assert_eq!(stats.snapshot().responses_of("NOERROR"), 52);
    assert_eq!(stats.snapshot().tcp_open, 0);
}

#[test]
fn an_idle_server_stops_at_once() {
    let server = Server::with(Tier::Enterprise, |s| s.udp_threads = 4);
    let mut idle = server.connect();
    send(&mut idle, &ask().octets());
    assert!(receive(&mut idle).is_some());
    server.shutdown(PATIENCE);
    assert_eq!(receive(&mut idle), None);
}

#[test]
fn connections_that_do_not_end_are_closed_after_the_grace() {
    let server = Server::start();
    let mut stream = server.connect();
    let large = crate::support::framed(&Ask::new("crowd.gslb.test.", 28).octets());
    let many: Vec<u8> = std::iter::repeat_n(large, 100).flatten().collect();
    // Write until the server can take no more, because its answers are not read.
    stream
        .set_write_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    while std::io::Write::write_all(&mut stream, &many).is_ok() {}
    let stats = server.shutdown(Duration::from_millis(50));
    assert_eq!(stats.snapshot().tcp_open, 0);
}

#[test]
fn a_new_snapshot_answers_the_next_query() {
    let server = Server::start();
    let mut stream = server.connect();
    let mut tcp = || {
        send(&mut stream, &ask().octets());
        Reply::new(receive(&mut stream).unwrap()).rcode()
    };
    assert_eq!((server.udp(&ask()).rcode(), tcp()), (0, 0));
    server.cell.store(Arc::new(Snapshot::empty()));
    assert_eq!((udp_from("127.0.0.1", server.address).rcode(), tcp()), (5, 5));
    server.cell.store(Arc::new(world::snapshot(Tier::Enterprise)));
    assert_eq!((server.udp(&ask()).rcode(), tcp()), (0, 0));
}

#[tokio::test]
async fn counters_survive_a_restart() {
    let stats = Arc::new(DnsStats::new());
    let cell: Arc<SnapshotCell> = Arc::default();
    for round in 1..=2 {
        let listen = vec![SocketAddr::from(([127, 0, 0, 1], 0))];
        let settings = DnsSettings {
            listen,
            udp_threads: 1,
            ..DnsSettings::default()
        };
        let server = DnsServer::start(settings, Arc::clone(&cell), Arc::clone(&stats)).unwrap();
        let target = server.local_addrs()[0];
        tokio::task::spawn_blocking(move || udp_from("127.0.0.1", target))
            .await
            .unwrap();
        server.shutdown(PATIENCE).await;
        assert_eq!(stats.snapshot().responses_of("REFUSED"), round);
    }
}
