//! Scripts that take long keep nobody waiting but those who ask for them.

use crate::support::ask::{A, Ask};
use crate::support::reply::Reply;
use crate::support::{PATIENCE, Server, framed, receive, send, world};
use gslb_engine::script::ScriptFailure;
use gslb_engine::testing::{FakeScript, FakeScripts};
use std::io::Write;
use std::net::{IpAddr, UdpSocket};
use std::sync::{Arc, Condvar, Mutex};

/// Keeps scripts from ending until it is opened; by itself when the test fails.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let closed = self
            .opened
            .wait_timeout_while(self.open.lock().unwrap(), PATIENCE, |open| !*open);
        assert!(!closed.unwrap().1.timed_out(), "nobody has opened the gate");
    }
}

/// A server whose slow script waits for the gate. Each script wants the second candidate.
fn server() -> (Server, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let of_script = Arc::clone(&gate);
    let slow = FakeScript::new(move |_, order| {
        of_script.pass();
        order.push(1);
        Ok(())
    });
    let broken = FakeScript::new(|_, _| -> Result<(), ScriptFailure> { panic!("a defect") });
    let scripts = FakeScripts::new()
        .with("slow", slow.quick_up_to(0))
        .with("patient", FakeScript::order(&[1]).quick_up_to(0))
        .with("broken", broken.quick_up_to(0))
        .with("quick", FakeScript::order(&[1]));
    let server = Server::start();
    server.cell.store(Arc::new(world::scripted(Arc::new(scripts))));
    (server, gate)
}

fn ask(name: &str) -> Ask {
    Ask::new(name, A)
}

const FIRST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
const SECOND: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

struct Client {
    socket: UdpSocket,
}

impl Client {
    fn new(server: &Server) -> Self {
        let socket = UdpSocket::bind((server.address.ip(), 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.connect(server.address).unwrap();
        Self { socket }
    }

    fn send(&self, ask: &Ask) {
        self.socket.send(&ask.octets()).unwrap();
    }

    fn receive(&self) -> Reply {
        let mut buffer = [0; 2048];
        let length = self.socket.recv(&mut buffer).unwrap();
        Reply::new(buffer[..length].to_vec())
    }
}

#[test]
fn others_are_answered_while_a_script_runs() {
    let (server, gate) = server();
    let client = Client::new(&server);
    let slow = ask("slow.gslb.test.");
    client.send(&slow);
    // One thread receives all of them.
    for name in ["www.gslb.test.", "quick.gslb.test.", "nowhere.gslb.test."] {
        let other = ask(name);
        client.send(&other);
        assert_eq!(client.receive().id(), other.id, "{name}");
    }
    gate.open();
    let reply = client.receive();
    assert_eq!((reply.id(), reply.addresses()), (slow.id, vec![SECOND]));
    server.until("everything is counted", |counts| {
        counts.latency.iter().sum::<u64>() == 4
    });
}

#[test]
fn what_finds_no_room_is_answered_without_the_script() {
    let (server, gate) = server();
    let client = Client::new(&server);
    // A few run, some wait, the rest finds no room.
    let all = 120;
    for _ in 0..all {
        client.send(&ask("slow.gslb.test."));
    }
    let mut early = 0;
    while early < all - 40 {
        assert_eq!(client.receive().addresses(), [FIRST]);
        early += 1;
    }
    // Room and a thread are left for another one.
    let other = ask("patient.gslb.test.");
    client.send(&other);
    let reply = loop {
        let reply = client.receive();
        if reply.id() == other.id {
            break reply;
        }
        assert_eq!(reply.addresses(), [FIRST]);
        early += 1;
    };
    assert_eq!(reply.addresses(), [SECOND]);
    gate.open();
    let mut steered = 0;
    for _ in early..all {
        steered += usize::from(client.receive().addresses() == [SECOND]);
    }
    assert!((32..=40).contains(&steered), "{steered}");
    let found = server.cell.load();
    let service = found
        .services()
        .find(|service| service.domain.as_str() == "slow.gslb.test.")
        .unwrap();
    let errors = service
        .slot
        .script_errors
        .load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(
        errors,
        u64::try_from(all - steered).unwrap(),
        "each is counted as a failure of the step"
    );
}

#[test]
fn no_query_waits_for_the_script_of_another() {
    let (server, gate) = server();
    let (mut waiting, mut other) = (server.connect(), server.connect());
    let (slow, next) = (ask("slow.gslb.test."), ask("www.gslb.test."));
    waiting
        .write_all(&[framed(&slow.octets()), framed(&next.octets())].concat())
        .unwrap();
    let asked = ask("www.gslb.test.");
    send(&mut other, &asked.octets());
    assert_eq!(Reply::new(receive(&mut other).unwrap()).id(), asked.id);
    // Nor on the same connection (RFC 7766 §6.2.1.1), whose client has nothing more to say.
    waiting.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(Reply::new(receive(&mut waiting).unwrap()).id(), next.id);
    gate.open();
    let last = Reply::new(receive(&mut waiting).unwrap());
    assert_eq!((last.id(), last.addresses()), (slow.id, vec![SECOND]));
    assert_eq!(receive(&mut waiting), None);
    server.until("everything is counted", |counts| {
        counts.latency.iter().sum::<u64>() == 3
    });
}

#[test]
fn a_defect_costs_its_own_query() {
    let (server, gate) = server();
    gate.open();
    let client = Client::new(&server);
    let both = |name: &str| {
        client.send(&ask(name));
        [client.receive(), server.tcp(&ask(name))]
    };
    // More often than there are threads.
    for _ in 0..10 {
        both("broken.gslb.test.")
            .iter()
            .for_each(|reply| assert_eq!(reply.rcode(), 2));
    }
    assert_eq!(server.counts().panics, 20);
    both("slow.gslb.test.")
        .iter()
        .for_each(|reply| assert_eq!(reply.addresses(), [SECOND]));
}

#[test]
fn what_has_arrived_is_answered_at_the_stop() {
    let (server, gate) = server();
    let client = Client::new(&server);
    let slow = ask("slow.gslb.test.");
    client.send(&slow);
    let other = ask("www.gslb.test.");
    client.send(&other);
    assert_eq!(client.receive().id(), other.id);
    let stopping = std::thread::spawn(move || server.shutdown(PATIENCE));
    gate.open();
    assert_eq!(client.receive().id(), slow.id);
    stopping.join().unwrap();
}
