//! Host names at a resolver on loopback.

use gslb_engine::model::{DomainName, MemberId};
use gslb_engine::slots::MemberSlot;
use gslb_probe::{Host, Names, SystemClock, Upstream};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;
use uuid::Uuid;

/// Longest wait for something that must happen.
const PATIENCE: Duration = Duration::from_secs(60);
const A: u16 = 1;
const AAAA: u16 = 28;

/// Response code, TTL and addresses by name and type. What is not there does not exist.
type Answers = HashMap<(String, u16), (u8, u32, Vec<IpAddr>)>;

/// A resolver that answers over UDP what it is told.
struct Resolver {
    address: SocketAddr,
    answers: Arc<Mutex<Answers>>,
}

impl Resolver {
    async fn start() -> Self {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).await.unwrap();
        let (address, answers) = (socket.local_addr().unwrap(), Arc::<Mutex<Answers>>::default());
        let told = Arc::clone(&answers);
        tokio::spawn(async move {
            let mut buffer = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                let reply = reply(&buffer[..length], &told.lock().unwrap());
                socket.send_to(&reply, from).await.unwrap();
            }
        });
        Self { address, answers }
    }

    fn say(&self, name: &str, qtype: u16, rcode: u8, ttl: u32, addresses: &[&str]) {
        let addresses = addresses.iter().map(|text| text.parse().unwrap()).collect();
        let mut answers = self.answers.lock().unwrap();
        answers.insert((name.to_owned(), qtype), (rcode, ttl, addresses));
    }

    fn names(&self) -> Names {
        let upstream = Upstream::Servers(vec![self.address]);
        Names::start(&upstream, Arc::new(SystemClock)).unwrap()
    }
}

fn reply(query: &[u8], answers: &Answers) -> Vec<u8> {
    let (mut name, mut at) = (String::new(), 12);
    while query[at] > 0 {
        let label = &query[at + 1..at + 1 + usize::from(query[at])];
        name.push_str(&String::from_utf8_lossy(label).to_ascii_lowercase());
        name.push('.');
        at += 1 + label.len();
    }
    let qtype = u16::from_be_bytes([query[at + 1], query[at + 2]]);
    let (rcode, ttl, addresses) = answers.get(&(name, qtype)).cloned().unwrap_or((3, 0, vec![]));
    let mut out = vec![
        query[0],
        query[1],
        0x81,
        0x80 | rcode,
        0,
        1,
        0,
        addresses.len() as u8,
        0,
        0,
        0,
        0,
    ];
    out.extend_from_slice(&query[12..at + 5]);
    for address in addresses {
        out.extend_from_slice(&[0xc0, 12]);
        out.extend_from_slice(&qtype.to_be_bytes());
        out.extend_from_slice(&[0, 1]);
        out.extend_from_slice(&ttl.to_be_bytes());
        match address {
            IpAddr::V4(v4) => {
                out.extend_from_slice(&[0, 4]);
                out.extend_from_slice(&v4.octets());
            }
            IpAddr::V6(v6) => {
                out.extend_from_slice(&[0, 16]);
                out.extend_from_slice(&v6.octets());
            }
        }
    }
    out
}

fn host(name: &str, id: u128) -> Host {
    Host {
        name: DomainName::parse("hostname", name).unwrap(),
        slot: Arc::new(MemberSlot::new(MemberId(Uuid::from_u128(id)))),
    }
}

/// The addresses that are known, and whether the last look-up failed.
fn known(host: &Host) -> Option<(Vec<String>, bool)> {
    let known = host.slot.addresses();
    let known = known.as_ref()?;
    let addresses = known.all().iter().map(ToString::to_string).collect();
    Some((addresses, known.failure.is_some()))
}

async fn until(names: &Names, host: &Host, addresses: &[&str], failed: bool) {
    let wanted = Some((addresses.iter().map(|text| (*text).to_owned()).collect(), failed));
    let mut changes = names.changes();
    let wait = async {
        while known(host) != wanted {
            changes.changed().await.unwrap();
        }
    };
    if timeout(PATIENCE, wait).await.is_err() {
        panic!("wanted {wanted:?}, got {:?}", known(host));
    }
}

#[tokio::test]
async fn a_name_is_looked_up_in_both_families_and_again_when_its_ttl_has_passed() {
    let resolver = Resolver::start().await;
    resolver.say("lb.test.", A, 0, 1, &["192.0.2.2", "192.0.2.1"]);
    resolver.say("lb.test.", AAAA, 0, 300, &["2001:db8::1"]);
    let (names, host) = (resolver.names(), host("lb.test", 1));
    names.set_hosts(vec![host.clone()]);
    until(&names, &host, &["192.0.2.1", "192.0.2.2", "2001:db8::1"], false).await;
    resolver.say("lb.test.", A, 0, 1, &["192.0.2.3"]);
    resolver.say("lb.test.", AAAA, 0, 300, &[]);
    until(&names, &host, &["192.0.2.3"], false).await;
    // That it is gone is an answer too.
    resolver.say("lb.test.", A, 3, 1, &[]);
    until(&names, &host, &[], false).await;
    assert_eq!(
        (
            names.stats().names(),
            names.stats().stale(),
            names.stats().failures()
        ),
        (1, 0, 0)
    );
    names.shutdown().await;
}

#[tokio::test]
async fn what_was_good_stays_while_the_resolver_fails() {
    let resolver = Resolver::start().await;
    resolver.say("lb.test.", A, 0, 1, &["192.0.2.1"]);
    resolver.say("lb.test.", AAAA, 0, 1, &[]);
    let (names, host) = (resolver.names(), host("lb.test", 1));
    names.set_hosts(vec![host.clone()]);
    until(&names, &host, &["192.0.2.1"], false).await;
    for qtype in [A, AAAA] {
        resolver.say("lb.test.", qtype, 2, 0, &[]);
    }
    until(&names, &host, &["192.0.2.1"], true).await;
    assert_eq!(names.stats().stale(), 1);
    for qtype in [A, AAAA] {
        resolver.say(
            "lb.test.",
            qtype,
            0,
            1,
            if qtype == A { &["192.0.2.9"] } else { &[] },
        );
    }
    until(&names, &host, &["192.0.2.9"], false).await;
    assert_eq!(names.stats().stale(), 0);
    names.shutdown().await;
}
