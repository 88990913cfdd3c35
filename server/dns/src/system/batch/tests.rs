//! Batches over real sockets.

use super::*;
use crate::system::want_local_address;
use std::net::UdpSocket;
use std::time::Duration;

fn server(address: &str) -> (Socket, SocketAddr) {
    let socket = UdpSocket::bind(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let address = socket.local_addr().unwrap();
    (Socket::from(socket), address)
}

fn echo(batch: &mut Batch, socket: &Socket) -> usize {
    let received = batch.receive(socket, true).unwrap();
    for index in 0..received {
        let datagram = batch.datagram(index).unwrap();
        // The one and the other way.
        if index % 2 == 0 {
            *datagram.in_place = *datagram.length;
        } else {
            let payload = datagram.payload().to_vec();
            datagram.reply.extend_from_slice(&payload);
        }
    }
    assert_eq!(batch.send(socket), 0);
    received
}

#[test]
fn many_datagrams_come_back_to_their_senders() {
    let (socket, address) = server("127.0.0.1:0");
    let clients: Vec<_> = (0..40_u8)
        .map(|n| {
            let client = UdpSocket::bind("127.0.0.1:0").unwrap();
            client.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            client.send_to(&[n; 3], address).unwrap();
            client
        })
        .collect();
    let mut batch = Batch::new();
    let mut calls = 0;
    let mut answered = 0;
    while answered < clients.len() {
        answered += echo(&mut batch, &socket);
        calls += 1;
    }
    assert_eq!(calls, 3, "40 waiting datagrams are three batches of at most 16");
    for (n, client) in (0_u8..).zip(&clients) {
        let mut buffer = [0; 8];
        assert_eq!(client.recv(&mut buffer).unwrap(), 3);
        assert_eq!(buffer[..3], [n; 3]);
    }
}

#[test]
fn a_long_datagram_is_marked() {
    let (socket, address) = server("127.0.0.1:0");
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.send_to(&[7; 4000], address).unwrap();
    let mut batch = Batch::new();
    assert_eq!(batch.receive(&socket, true).unwrap(), 1);
    let datagram = batch.datagram(0).unwrap();
    assert!(datagram.oversize);
    assert_eq!(datagram.payload().len(), STRIDE);
    assert!(batch.datagram(1).is_none());
}

#[test]
fn a_wildcard_socket_answers_from_the_address_asked() {
    for (bind, targets) in [
        ("0.0.0.0:0", &["127.0.0.1", "127.0.0.2", "127.9.9.9"][..]),
        ("[::]:0", &["::1"]),
    ] {
        let (socket, address) = server(bind);
        want_local_address(&socket, address.is_ipv6()).unwrap();
        let mut batch = Batch::new();
        for target in targets {
            let target = SocketAddr::new(target.parse().unwrap(), address.port());
            let client = UdpSocket::bind((target.ip(), 0)).unwrap();
            client.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            client.send_to(b"?", target).unwrap();
            echo(&mut batch, &socket);
            assert_eq!(client.recv_from(&mut [0; 8]).unwrap(), (1, target));
        }
    }
}

#[test]
fn a_reply_that_the_kernel_refuses_does_not_hold_up_the_others() {
    let (socket, address) = server("127.0.0.1:0");
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    client.send_to(b"1", address).unwrap();
    client.send_to(b"2", address).unwrap();
    let mut batch = Batch::new();
    assert_eq!(batch.receive(&socket, true).unwrap(), 2);
    // More than a UDP datagram can hold.
    batch.datagram(0).unwrap().reply.resize(70_000, 0);
    batch.datagram(1).unwrap().reply.push(b'2');
    assert_eq!(batch.send(&socket), 1);
    let mut buffer = [0; 8];
    assert_eq!(client.recv(&mut buffer).unwrap(), 1);
    assert_eq!(buffer[0], b'2');
}

#[test]
fn nothing_there_is_would_block() {
    let (socket, _) = server("127.0.0.1:0");
    let error = Batch::new().receive(&socket, false).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
}
