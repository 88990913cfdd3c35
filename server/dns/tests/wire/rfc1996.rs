//! RFC 1996: secondaries are told of changes.

use crate::support::PATIENCE;
use crate::support::ask::{SOA, wire};
use crate::support::reply::Reply;
use crate::support::transfer::{KEY, Site};
use crate::support::tsig::{Key, split};
use gslb_dns::Notifier;
use gslb_engine::snapshot::SnapshotCell;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A secondary that hears and answers.
struct Target(UdpSocket);

impl Target {
    fn new() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(socket)
    }

    fn address(&self) -> String {
        self.0.local_addr().unwrap().to_string()
    }

    /// The next message.
    fn hear(&self) -> (Vec<u8>, SocketAddr) {
        let mut buffer = vec![0; 4096];
        let (length, from) = self.0.recv_from(&mut buffer).expect("a message");
        (buffer[..length].to_vec(), from)
    }

    fn answer(&self, (message, to): &(Vec<u8>, SocketAddr), rcode: u8) {
        let mut answer = message.clone();
        answer[2] |= 0x80;
        answer[3] = rcode;
        self.0.send_to(&answer, to).unwrap();
    }
}

fn serial(message: &[u8]) -> u32 {
    let reply = Reply::new(message.to_vec());
    assert_eq!(reply.flags(), 4 << 11 | 0x0400, "opcode NOTIFY and AA");
    assert_eq!(
        reply.question(),
        [&wire("xfr.test.")[..], &SOA.to_be_bytes(), &[0, 1]].concat()
    );
    let [soa] = &reply.shown_answers()[..] else {
        panic!("the SOA alone")
    };
    soa.split(' ').nth(5).unwrap().parse().unwrap()
}

struct World {
    site: Site,
    cell: Arc<SnapshotCell>,
    notifier: Notifier,
    runtime: Runtime,
}

impl World {
    fn new(notify: &[(String, Option<&str>)]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let mut site = Site::default();
        site.zone("xfr.test.", vec![], notify);
        let cell = Arc::new(SnapshotCell::new(site.snapshot()));
        let listen = [SocketAddr::from(([127, 0, 0, 1], 53))];
        Self {
            site,
            notifier: Notifier::new(Arc::clone(&cell), &listen),
            cell,
            runtime,
        }
    }

    fn look(&mut self) {
        let _guard = self.runtime.enter();
        self.notifier.look();
    }

    fn grow(&mut self) {
        self.site.grow();
        self.cell.store(Arc::new(self.site.snapshot()));
        self.look();
    }
}

#[test]
fn each_target_is_told_of_each_new_serial() {
    let targets = [Target::new(), Target::new()];
    let mut world = World::new(&targets.each_ref().map(|target| (target.address(), None)));
    world.look();
    for target in &targets {
        let heard = target.hear();
        assert_eq!(serial(&heard.0), 7);
        target.answer(&heard, 0);
    }
    // Nothing new: what comes next is about the next serial.
    world.look();
    world.grow();
    for target in &targets {
        let heard = target.hear();
        assert_eq!(serial(&heard.0), 8);
        // Whatever it says, it has heard.
        target.answer(&heard, 5);
    }
    world.grow();
    assert_eq!(serial(&targets[0].hear().0), 9);
}

#[test]
fn who_does_not_answer_is_told_again() {
    let target = Target::new();
    let mut world = World::new(&[(target.address(), None)]);
    world.look();
    let first = target.hear();
    assert_eq!(serial(&first.0), 7);
    // An answer to something else is none.
    let mut other = first.clone();
    other.0[0] ^= 1;
    target.answer(&other, 0);
    let again = target.hear();
    assert_eq!(serial(&again.0), 7);
    // A newer serial takes the place of the one that was not heard.
    world.grow();
    let newer = target.hear();
    assert_eq!(serial(&newer.0), 8);
    target.answer(&newer, 0);
}

#[test]
fn with_a_key_message_and_answer_are_signed() {
    let target = Target::new();
    let mut world = World::new(&[(target.address(), Some(KEY.name))]);
    world.look();
    let (message, from) = target.hear();
    let (plain, record) = split(&message);
    let record = record.expect("a signed message");
    assert_eq!(record.mac, KEY.record(&plain, record.time).mac);
    assert_eq!(serial(&plain), 7);
    // An unsigned answer could be anybody's, and one with another key is somebody else's.
    target.answer(&(plain.clone(), from), 0);
    let mut answer = plain.clone();
    answer[2] |= 0x80;
    let stranger = Key {
        secret: b"not what the server has, but some",
        ..KEY
    };
    target.0.send_to(&stranger.sign(&answer).0, from).unwrap();
    let (again, _) = target.hear();
    assert_eq!(serial(&split(&again).0), 7);
}
