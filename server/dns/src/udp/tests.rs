//! A thread that gets more than it can answer. Here it is the test that decides when it works, so that its queue can be
//! filled before: what is answered then does not depend on how fast the machine is.

use super::*;
use crate::bind::bind_udp;
use crate::settings::DnsSettings;
use crate::stats::{DnsStats, Unanswered};
use gslb_engine::environment::Environment;
use gslb_engine::snapshot::{Slots, SnapshotCell};
use gslb_engine::testing::{Site, member};
use std::net::{SocketAddr, UdpSocket};

/// When a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

struct Flooded {
    worker: Worker,
    batch: Batch,
    address: SocketAddr,
    flood: Vec<UdpSocket>,
    sent: u32,
    client: UdpSocket,
    begun: Instant,
    _slots: Slots,
}

impl Flooded {
    /// A worker without a thread, flooded from so many networks.
    fn new(networks: u8) -> Self {
        let site = Site::new()
            .zone_named("gslb.test.")
            .pool("pool", 0, vec![member("192.0.2.1", "DE")])
            .chain("www.gslb.test.", "pool", &["failover"]);
        let (snapshot, slots) = site.compile(&Environment::default()).unwrap();
        let context = Context::new(
            Arc::new(SnapshotCell::new(snapshot)),
            Arc::new(DnsStats::new()),
            &DnsSettings::default(),
        );
        let context = Arc::new(context);
        let socket = bind_udp(SocketAddr::from(([127, 0, 0, 1], 0)), 1)
            .unwrap()
            .remove(0);
        let address = socket.local_addr().unwrap().as_socket().unwrap();
        let slow = SlowLane::start(&context).unwrap();
        let from = |network: u8| UdpSocket::bind(SocketAddr::from(([127, 0, network, 1], 0))).unwrap();
        let client = UdpSocket::bind("127.9.9.9:0").unwrap();
        client.set_nonblocking(true).unwrap();
        Self {
            worker: Worker::new(context, slow, Arc::new(socket), Arc::default()),
            batch: Batch::new(),
            address,
            flood: (1..=networks).map(from).collect(),
            sent: 0,
            client,
            begun: Instant::now(),
            _slots: slots,
        }
    }

    /// The client asks in the middle of a flood that fills the queue; then the worker works until nothing is left. Whether
    /// the client got its answer.
    fn round(&mut self, message: impl Fn(u32) -> Vec<u8>) -> bool {
        let socket = Arc::clone(&self.worker.socket);
        let is_full = || system::queue(&socket).is_none_or(|queue| queue.waiting > queue.size / 10 * 9);
        for n in 0.. {
            if n == 200 {
                self.client.send_to(&query(b"www", 7), self.address).unwrap();
            }
            let from = &self.flood[n % self.flood.len()];
            from.send_to(&message(self.sent), self.address).unwrap();
            self.sent += 1;
            if n > 200 && is_full() {
                break;
            }
        }
        while self.worker.turn(&mut self.batch, false).is_ok() {}
        let mut reply = [0; 512];
        let answered = matches!(self.client.recv(&mut reply), Ok(length) if length > 12 && reply[7] == 1);
        assert!(
            self.begun.elapsed() < PATIENCE,
            "{:?}",
            self.worker.context.stats.snapshot()
        );
        answered
    }

    fn left_out(&self, reason: Unanswered) -> u64 {
        self.worker.context.stats.snapshot().unanswered_for(reason)
    }
}

/// A query for an address of a name in the zone.
fn query(label: &[u8], id: u16) -> Vec<u8> {
    let [high, low] = id.to_be_bytes();
    let head = [high, low, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let length = u8::try_from(label.len()).unwrap();
    [&head[..], &[length], label, b"\x04gslb\x04test\0\0\x01\0\x01"].concat()
}

/// Queries that nothing but their number gives away.
#[test]
fn loud_networks_do_not_take_the_answers_of_others() {
    let mut flooded = Flooded::new(4);
    let message = |n: u32| query(b"www", n as u16);
    let mut rounds = 0;
    while flooded.left_out(Unanswered::Share) < 5000 {
        assert!(flooded.round(message), "round {rounds}");
        rounds += 1;
    }
    assert_eq!(flooded.left_out(Unanswered::Scarce), 0, "the name exists");
    // Of no use is one that is loud itself: some are told to come over TCP.
    let counts = flooded.worker.context.stats.snapshot();
    assert!(counts.truncated > 0, "{counts:?}");
}

/// Random names and junk, from so many networks that each is quiet.
#[test]
fn many_quiet_networks_that_ask_for_nothing_do_not_take_the_answers_of_others() {
    let mut flooded = Flooded::new(250);
    let message = |n: u32| match n % 2 {
        0 => query(format!("x{n}").as_bytes(), n as u16),
        _ => (0..40).map(|_| fastrand::u8(..)).collect(),
    };
    let mut rounds = 0;
    while flooded.left_out(Unanswered::Scarce) < 5000 {
        assert!(flooded.round(message), "round {rounds}");
        rounds += 1;
    }
    // A few are answered all the same.
    let counts = flooded.worker.context.stats.snapshot();
    assert!(counts.responses_of("NXDOMAIN") > 0, "{counts:?}");
}

/// As much as that is no overload while the queue empties.
#[test]
fn a_thread_that_keeps_up_leaves_nothing_out() {
    let mut flooded = Flooded::new(1);
    for n in 0..5000_u32 {
        for id in 0..16 {
            flooded.flood[0]
                .send_to(&query(b"www", id), flooded.address)
                .unwrap();
        }
        while flooded.worker.turn(&mut flooded.batch, false).is_ok() {}
        assert_eq!(flooded.left_out(Unanswered::Share), 0, "{n}");
    }
    assert_eq!(
        flooded.worker.context.stats.snapshot().responses_of("NOERROR"),
        80_000
    );
}
