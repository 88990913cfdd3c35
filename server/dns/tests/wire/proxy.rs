//! PROXY protocol, version 2: the client is the one that a trusted proxy names, and nobody else names one.

use crate::support::ask::{A, Ask, COOKIE, MX};
use crate::support::reply::Reply;
use crate::support::secure::Pair;
use crate::support::{PATIENCE, Server, framed, receive, secure, send, world};
use gslb_dns::{Encrypted, Unanswered};
use gslb_engine::model::Tier;
use gslb_engine::testing::{FakeScript, FakeScripts};
use std::io::Write;
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;

const AMERICAN: &str = "198.51.100.9";
const GERMAN: &str = "203.0.113.9";
const CLIENT_COOKIE: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// A header with any fields.
fn raw(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
    [&b"\r\n\r\n\0\r\nQUIT\n"[..], &[command, family], &length, rest].concat()
}

/// A header that names this client.
fn header(client: &str) -> Vec<u8> {
    let ports = [0x12, 0x34, 0, 53];
    match client.parse().unwrap() {
        IpAddr::V4(ip) => raw(0x21, 0x12, &[&ip.octets()[..], &[192, 0, 2, 53], &ports].concat()),
        IpAddr::V6(ip) => raw(0x21, 0x22, &[&ip.octets()[..], &[9; 16], &ports].concat()),
    }
}

/// A server that trusts 127.0.0.1 and no other address.
fn server() -> Server {
    with(|_| {})
}

fn with(change: impl FnOnce(&mut gslb_dns::DnsSettings)) -> Server {
    Server::with(Tier::Enterprise, |settings| {
        settings.proxies = vec!["127.0.0.1/32".parse().unwrap()];
        change(settings);
    })
}

/// A socket with this address that talks to the server.
struct Peer(UdpSocket);

impl Peer {
    fn new(server: &Server, ip: &str) -> Self {
        let socket = UdpSocket::bind((ip, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.connect(server.address).unwrap();
        Self(socket)
    }

    fn send(&self, octets: &[u8]) {
        self.0.send(octets).unwrap();
    }

    fn receive(&self) -> Reply {
        let mut buffer = [0; 2048];
        let length = self.0.recv(&mut buffer).unwrap();
        Reply::new(buffer[..length].to_vec())
    }

    /// The reply to a query for which the proxy names a client.
    fn ask(&self, client: &str, ask: &Ask) -> Reply {
        self.send(&[header(client), ask.octets()].concat());
        self.receive()
    }
}

/// The reply over a connection of its own.
fn over_tcp(server: &Server, client: &str, ask: &Ask) -> Option<Reply> {
    let mut stream = server.connect();
    stream.write_all(&header(client)).unwrap();
    send(&mut stream, &ask.octets());
    receive(&mut stream).map(Reply::new)
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn the_client_is_the_one_in_the_header() {
    let server = server();
    let proxy = Peer::new(&server, "127.0.0.1");
    for (client, member) in [
        (AMERICAN, "192.0.2.1"),
        (GERMAN, "192.0.2.2"),
        ("2001:db8:1::7", "192.0.2.1"),
        ("2001:db8:8000::7", "192.0.2.2"),
        ("::ffff:203.0.113.9", "192.0.2.2"),
    ] {
        let query = Ask::new("geo.gslb.test.", A).edns();
        let reply = proxy.ask(client, &query);
        assert_eq!(reply.addresses(), [ip(member)], "{client}");
        assert_eq!((reply.id(), reply.question()), (query.id, &query.question()[..]));
        let tcp = over_tcp(&server, client, &query).unwrap();
        assert_eq!(tcp.raw, reply.raw, "{client}");
        // What the fast path does not take.
        let odd = proxy.ask(client, &Ask::new("togeo.static.test.", A));
        assert_eq!(odd.addresses(), [ip(member)], "{client}");
    }
    // The client subnet of the query still comes first.
    let reply = proxy.ask(AMERICAN, &Ask::new("geo.gslb.test.", A).ecs("203.0.113.0/24"));
    assert_eq!(
        (reply.addresses(), reply.scope()),
        (vec![ip("192.0.2.2")], Some(24))
    );
    assert_eq!(server.counts().proxy_refused, 0);
}

#[test]
fn who_speaks_for_itself_is_the_client() {
    let server = server();
    let proxy = Peer::new(&server, "127.0.0.1");
    // Its own address is private, and geography blind for it.
    for (n, own) in [raw(0x20, 0, &[]), raw(0x20, 0x12, &[1; 12]), raw(0x21, 0, &[])]
        .iter()
        .enumerate()
    {
        proxy.send(&[own.clone(), Ask::new("geo.gslb.test.", A).octets()].concat());
        assert_eq!(proxy.receive().addresses().len(), 1);
        let mut stream = server.connect();
        stream.write_all(own).unwrap();
        send(&mut stream, &Ask::new("geo.gslb.test.", A).octets());
        assert!(receive(&mut stream).is_some());
        assert_eq!(server.counts().private_client_ip, 2 * n as u64 + 2);
    }
}

#[test]
fn what_else_is_in_the_header_is_passed_over() {
    let server = server();
    let proxy = Peer::new(&server, "127.0.0.1");
    let with_more = [&header(GERMAN)[16..], &[4, 0, 2, 0, 0, 0x20, 0, 1, 7]].concat();
    for family in [0x11, 0x12] {
        let sent = raw(0x21, family, &with_more);
        proxy.send(&[&sent[..], &Ask::new("geo.gslb.test.", A).octets()].concat());
        assert_eq!(proxy.receive().addresses(), [ip("192.0.2.2")]);
        let mut stream = server.connect();
        // In pieces, and with the query right behind it.
        let all = [&sent[..], &framed(&Ask::new("geo.gslb.test.", A).octets())].concat();
        for piece in all.chunks(5) {
            stream.write_all(piece).unwrap();
        }
        let reply = Reply::new(receive(&mut stream).unwrap());
        assert_eq!(reply.addresses(), [ip("192.0.2.2")]);
    }
}

#[test]
fn a_proxy_must_not_leave_the_header_out() {
    let server = server();
    let proxy = Peer::new(&server, "127.0.0.1");
    let query = Ask::new("www.gslb.test.", A).edns();
    proxy.send(&query.octets());
    let reply = proxy.receive();
    assert_eq!((reply.rcode(), reply.answers().len()), (5, 0));
    assert_eq!((reply.id(), reply.question()), (query.id, &query.question()[..]));
    let mut stream = server.connect();
    send(&mut stream, &query.octets());
    assert_eq!(receive(&mut stream), None, "closed");
    assert_eq!(server.counts().proxy_refused, 2);
}

#[test]
fn broken_headers_get_no_answer_and_stop_nothing() {
    let server = server();
    let proxy = Peer::new(&server, "127.0.0.1");
    let query = Ask::new("www.gslb.test.", A).octets();
    let whole = [header(GERMAN), query.clone()].concat();
    let broken = [
        raw(0x11, 0x12, &[0; 12]),
        raw(0x22, 0x12, &[0; 12]),
        raw(0x21, 0x12, &[0; 11]),
        raw(0x21, 0x22, &[0; 12]),
        raw(0x21, 0x31, &[0; 216]),
        raw(0x21, 0x12, &[0; 513]),
    ];
    for head in &broken {
        proxy.send(&[&head[..], &query].concat());
        let mut stream = server.connect();
        stream.write_all(&[&head[..], &framed(&query)].concat()).unwrap();
        assert_eq!(receive(&mut stream), None, "{head:02x?}");
    }
    // Cut anywhere; a length of more than there is.
    for cut in 1..28 {
        proxy.send(&whole[..cut]);
    }
    let mut longer = header(GERMAN);
    longer[15] = 200;
    proxy.send(&[&longer[..], &query].concat());
    // Nothing behind it, and less than a message.
    proxy.send(&header(GERMAN));
    proxy.send(&whole[..33]);
    // Twice: the second one is no message.
    proxy.send(&[header(GERMAN), whole.clone()].concat());
    let twice = proxy.receive();
    assert_eq!((twice.rcode(), twice.answers().len()), (1, 0));
    proxy.send(&whole);
    let next = proxy.receive();
    assert_eq!(
        (next.rcode(), next.addresses().len()),
        (0, 1),
        "what came first is the answer to the last"
    );
    let counts = server.counts();
    assert_eq!(counts.proxy_refused, 2 * broken.len() as u64 + 27 + 1);
    assert_eq!(counts.panics, 0);
    assert_eq!(counts.unanswered_for(Unanswered::NoQuery), 2);
    let datagrams = broken.len() as u64 + 27 + 1;
    assert_eq!(counts.unanswered_for(Unanswered::Proxy), datagrams);
}

#[test]
fn a_header_of_version_1_gets_no_answer() {
    let server = server();
    let proxy = Peer::new(&server, "127.0.0.1");
    let query = Ask::new("www.gslb.test.", A).octets();
    let text = b"PROXY UDP4 192.0.2.1 192.0.2.2 4000 53\r\n";
    proxy.send(&[text, &query[..]].concat());
    proxy.send(text);
    proxy.send(&[&header(GERMAN)[..], &query].concat());
    let reply = proxy.receive();
    assert_eq!(
        (reply.rcode(), reply.addresses().len()),
        (0, 1),
        "only to the last"
    );
    let mut stream = server.connect();
    stream.write_all(&[text, &framed(&query)[..]].concat()).unwrap();
    assert_eq!(receive(&mut stream), None, "closed");
    let counts = server.counts();
    assert_eq!((counts.proxy_refused, counts.responses_of("NOTIMP")), (3, 0));
    assert_eq!(counts.unanswered_for(Unanswered::Proxy), 2);
}

#[test]
fn nobody_else_names_a_client() {
    let server = server();
    let stranger = Peer::new(&server, "127.0.0.2");
    let with_header = [header(GERMAN), Ask::new("geo.gslb.test.", A).octets()].concat();
    stranger.send(&with_header);
    let reply = stranger.receive();
    assert_eq!((reply.rcode(), reply.answers().len()), (1, 0));
    stranger.send(&Ask::new("geo.gslb.test.", A).octets());
    assert_eq!(stranger.receive().addresses().len(), 1);
    let mut stream = connect_from("127.0.0.2", server.address);
    stream.write_all(&with_header).unwrap();
    assert_eq!(receive(&mut stream), None, "closed at once, not waited for");
    let mut stream = connect_from("127.0.0.2", server.address);
    send(&mut stream, &Ask::new("geo.gslb.test.", A).octets());
    assert!(receive(&mut stream).is_some());

    // So it is for all where no proxy is trusted.
    let plain = Server::start();
    let reply = Reply::new(plain.udp_octets(&with_header).unwrap());
    assert_eq!((reply.rcode(), reply.answers().len()), (1, 0));
    let mut stream = plain.connect();
    stream.write_all(&with_header).unwrap();
    assert_eq!(receive(&mut stream), None);
    assert_eq!(
        (server.counts().proxy_refused, plain.counts().proxy_refused),
        (0, 0)
    );
}

fn connect_from(ip: &str, to: SocketAddr) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let from: SocketAddr = (ip.parse::<IpAddr>().unwrap(), 0).into();
    socket.bind(&from.into()).unwrap();
    socket.connect(&to.into()).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

#[test]
fn replies_are_limited_by_client() {
    let server = with(|settings| {
        settings.rate.responses_per_second = 1;
        settings.rate.slip = 1;
    });
    let proxy = Peer::new(&server, "127.0.0.1");
    let query = Ask::new("www.gslb.test.", A);
    let begin = std::time::Instant::now();
    while !proxy.ask(GERMAN, &query).tc() {
        assert!(begin.elapsed() < PATIENCE, "nothing was held back");
    }
    assert!(
        !proxy.ask(AMERICAN, &query).tc(),
        "another client has its own share"
    );
}

#[test]
fn cookies_are_those_of_the_client() {
    let server = server();
    let proxy = Peer::new(&server, "127.0.0.1");
    let ask = |sent: &[u8]| Ask::new("www.gslb.test.", A).option(COOKIE, sent);
    let german = proxy
        .ask(GERMAN, &ask(&CLIENT_COOKIE))
        .option(COOKIE)
        .unwrap()
        .to_vec();
    let again = proxy.ask(GERMAN, &ask(&german));
    assert_eq!(again.option(COOKIE), Some(&german[..]), "it is good");
    let other = proxy.ask(AMERICAN, &ask(&german));
    assert_ne!(other.option(COOKIE), Some(&german[..]), "not for another client");
    // Over TCP, and for what the fast path does not take, it is the same client.
    let odd = Ask::new("static.test.", MX).option(COOKIE, &german);
    for reply in [proxy.ask(GERMAN, &odd), over_tcp(&server, GERMAN, &odd).unwrap()] {
        assert_eq!(reply.option(COOKIE), Some(&german[..]));
    }
    // And where a script may take long.
    let scripts = FakeScripts::new().with("slow", FakeScript::order(&[1]).quick_up_to(0));
    server.cell.store(Arc::new(world::scripted(Arc::new(scripts))));
    let slow = Ask::new("slow.gslb.test.", A).option(COOKIE, &german);
    for reply in [
        proxy.ask(GERMAN, &slow),
        over_tcp(&server, GERMAN, &slow).unwrap(),
    ] {
        assert_eq!(reply.addresses(), [ip("192.0.2.2")]);
        assert_eq!(reply.option(COOKIE), Some(&german[..]));
    }
}

#[test]
fn connections_are_limited_by_client() {
    let server = with(|settings| settings.tcp.connections_per_client = 2);
    let query = Ask::new("www.gslb.test.", A);
    let open = |client: &str| {
        let mut stream = server.connect();
        stream.write_all(&header(client)).unwrap();
        send(&mut stream, &query.octets());
        receive(&mut stream).map(|_| stream)
    };
    let mut german = [open(GERMAN).unwrap(), open(GERMAN).unwrap()];
    assert!(open(GERMAN).is_none(), "the third of this client");
    assert_eq!(server.counts().tcp_refused, 1);
    let _american = [open(AMERICAN).unwrap(), open(AMERICAN).unwrap()];
    for stream in &mut german {
        send(stream, &query.octets());
        assert!(receive(stream).is_some(), "those that are open go on");
    }
    drop(german);
    server.until("two are closed", |counts| counts.tcp_open == 2);
    assert!(open(GERMAN).is_some());
}

#[test]
fn connections_that_say_nothing_are_limited_in_total_and_time() {
    let server = with(|settings| {
        settings.tcp.connections = 2;
        settings.tcp.idle = std::time::Duration::from_secs(2);
    });
    let mut silent = [server.connect(), server.connect(), server.connect()];
    for stream in &mut silent {
        assert_eq!(
            receive(stream),
            None,
            "it idles too long, or another takes its place"
        );
    }
    assert!(over_tcp(&server, GERMAN, &Ask::new("www.gslb.test.", A)).is_some());
}

#[test]
fn over_tls_the_header_comes_before_the_handshake() {
    let pair = Pair::new();
    let server = with(|settings| {
        settings.encrypted = Some(Encrypted {
            certificate: pair.read(),
            tls: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
            quic: Vec::new(),
        });
    });
    let query = Ask::new("geo.gslb.test.", A).octets();
    for (client, member) in [(AMERICAN, "192.0.2.1"), (GERMAN, "192.0.2.2")] {
        let mut stream = secure::connect(&server, pair.client(b"dot"));
        stream.sock.write_all(&header(client)).unwrap();
        send(&mut stream, &query);
        let reply = Reply::new(receive(&mut stream).unwrap());
        assert_eq!(reply.addresses(), [ip(member)]);
    }
    let mut without = secure::connect(&server, pair.client(b"dot"));
    assert!(without.write_all(&framed(&query)).is_err(), "no handshake");
    assert_eq!(server.counts().proxy_refused, 1);
}
