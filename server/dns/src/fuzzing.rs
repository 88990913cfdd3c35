//! A server without sockets, and what the fuzz target does with it (feature `fuzzing`). It stands here so that the tests
//! can replay the checked-in inputs with the ordinary compiler.

use crate::bridge::{Bridge, Context, Handled, Moment, Place, Slow};
use crate::cookie::CookieSecret;
use crate::encode::udp_limit;
use crate::proxy::{Header, MOST, Opened, Proxies, ProxyFault, read};
use crate::settings::DnsSettings;
use crate::stats::{DnsStats, Slot, Transport};
use crate::wire::{HEADER, MAX_PAYLOAD, PLAIN_PAYLOAD, Rejection, parse};
use gslb_engine::environment::Environment;
use gslb_engine::model::{MemberDraft, ServiceDraft, Tier};
use gslb_engine::snapshot::{Slots, Snapshot, SnapshotCell};
use gslb_engine::testing::{FakeScript, FakeScripts, Rows, Site, host, member};
use hickory_proto::op::{Message, MessageType};
use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Instant;

/// Body of the script step that takes long.
const SLOW: &str = "slow";
/// An option code that is nobody's (RFC 6891 §9).
const PRIVATE_OPTION: u16 = 65_001;
const NOW: u64 = 1_700_000_000;
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 9));

/// A server without sockets.
struct Server {
    context: Context,
    slot: Arc<Slot>,
    snapshot: Arc<Snapshot>,
    /// Keep what the snapshot's members are measured by.
    _slots: Slots,
}

/// Services of each kind that decides about the form of a reply: one address and many, wildcard, nobody, a steered one
/// (its scope goes into the client subnet option), a slow script.
fn site() -> Site {
    let crowd = |n: u32| [format!("198.18.0.{n}"), format!("2001:db8:64::{n:x}")];
    let crowd: Vec<MemberDraft> = (1..=64).flat_map(crowd).map(|ip| member(&ip, "DE")).collect();
    let pair = vec![
        member("192.0.2.1", "US"),
        member("192.0.2.2", "DE"),
        member("2001:db8::3", "US"),
    ];
    let many = ServiceDraft {
        // Not round-robin: the same message would get another reply each time.
        filter_chain: Some(vec!["failover".to_owned()]),
        max_answers: Some(64),
        ..ServiceDraft::default()
    };
    let script = format!("script:{SLOW}");
    Site::new()
        .zone_named("gslb.test.")
        .zone_named("in.gslb.test.")
        .pool("crowd", 0, crowd)
        .pool("pair", 0, pair)
        .pool("shut", 2, vec![member("192.0.2.9", "DE")])
        .service("many.gslb.test.", "crowd", many)
        .chain("geo.gslb.test.", "pair", &["geo-ip", "failover"])
        .chain("*.wild.gslb.test.", "pair", &["sticky"])
        .chain("www.in.gslb.test.", "pair", &["random"])
        .chain("down.gslb.test.", "shut", &["round-robin"])
        .chain("slow.gslb.test.", "pair", &[&script])
        .pool(
            "names",
            0,
            vec![host("geo.gslb.test", "US"), host("lb.example.net", "DE")],
        )
        .chain("named.gslb.test.", "names", &["geo-ip", "failover"])
        .chain("lonely.example.", "pair", &["failover"])
}

impl Server {
    fn new() -> Result<Self, String> {
        let geo = Rows::new()
            .country("198.51.100.0/24", "US")
            .country("192.0.0.0/20", "DE")
            .country("2001:db8:8000::/33", "DE");
        let slow = FakeScript::order(&[1, 0]).quick_up_to(0);
        let environment = Environment {
            geo: Arc::new(geo),
            scripts: Arc::new(FakeScripts::new().with(SLOW, slow)),
            tier: Tier::Enterprise,
            ..Environment::default()
        };
        let (snapshot, slots) = site().compile(&environment)?;
        let cell = Arc::new(SnapshotCell::new(snapshot));
        let snapshot = cell.load_full();
        let stats = Arc::new(DnsStats::new());
        let settings = DnsSettings {
            nsid: Some(b"fuzz".to_vec()),
            cookies: vec![CookieSecret::new([7; CookieSecret::LEN])],
            ..DnsSettings::default()
        };
        Ok(Self {
            slot: stats.slot(),
            context: Context::new(cell, stats, &settings),
            snapshot,
            _slots: slots,
        })
    }

    /// The reply to `client`; empty when there is none.
    fn reply(&self, client: IpAddr, message: &[u8], transport: Transport, slow: Slow) -> Vec<u8> {
        let mut bridge = self.bridge(transport);
        let mut out = Vec::new();
        match bridge.answer(self.moment(), message, client, &mut out) {
            Handled::Done | Handled::InPlace(_) | Handled::Transfer => {}
            Handled::Left(_) => bridge.finish(self.moment(), message, client, slow, &mut out),
        }
        assert_eq!(self.context.stats.snapshot().panics, 0, "a panic was caught");
        out
    }

    /// The reply over UDP, by the fast path where that takes the message, and whether it did.
    fn reply_in_place(&self, message: &[u8], slow: Slow) -> (Vec<u8>, bool) {
        self.reply_in_buffer(CLIENT, &mut buffer(message), message.len(), slow)
    }

    /// The same for a client, and for the message that fills a receive buffer up to `length`.
    fn reply_in_buffer(
        &self,
        client: IpAddr,
        buffer: &mut [u8],
        length: usize,
        slow: Slow,
    ) -> (Vec<u8>, bool) {
        let mut bridge = self.bridge(Transport::Udp);
        let mut out = Vec::new();
        let message = buffer.get(..length).unwrap_or_default().to_vec();
        let place = Place { buffer, length };
        let handled = bridge.answer_alone(self.moment(), place, client, &mut out);
        match handled {
            Handled::Done | Handled::Transfer => {}
            Handled::InPlace(length) => return (buffer.get(..length).unwrap_or_default().to_vec(), true),
            Handled::Left(_) => bridge.finish(self.moment(), &message, client, slow, &mut out),
        }
        assert_eq!(self.context.stats.snapshot().panics, 0, "a panic was caught");
        (out, false)
    }

    fn moment(&self) -> Moment<'_> {
        Moment {
            slot: &self.slot,
            snapshot: &self.snapshot,
            now: NOW,
            micros: 0,
        }
    }

    /// The same message gets the same reply from each.
    fn bridge(&self, transport: Transport) -> Bridge {
        fastrand::seed(7);
        Bridge::new(&self.context, transport)
    }
}

/// A receive buffer with a datagram.
fn buffer(datagram: &[u8]) -> Vec<u8> {
    let mut buffer = datagram.to_vec();
    // What it holds behind a message is of an earlier one.
    buffer.resize(datagram.len().max(usize::from(MAX_PAYLOAD)), 0xa5);
    buffer
}

/// What a message is answered with, by octets, over UDP.
#[derive(Debug, PartialEq, Eq)]
pub struct BothWays {
    /// By the way of all messages; empty without a reply.
    pub full: Vec<u8>,
    /// By the fast path, if it took the message.
    pub fast: Option<Vec<u8>>,
}

/// Answers a message over UDP both ways. Without the fast path's form both are the same code.
///
/// # Panics
/// Anything panics, or the two replies differ.
pub fn both_ways(message: &[u8]) -> BothWays {
    with_server(|server| {
        let full = server.reply(CLIENT, message, Transport::Udp, Slow::Skip);
        let (reply, fast) = server.reply_in_place(message, Slow::Skip);
        assert_eq!(full, reply, "the replies of both ways to {message:02x?}");
        BothWays {
            full,
            fast: fast.then_some(reply),
        }
    })
}

fn with_server<T>(ask: impl FnOnce(&Server) -> T) -> T {
    thread_local! {
        static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
    }
    SERVER.with_borrow_mut(|server| {
        let server = match server {
            Some(server) => server,
            None => match Server::new() {
                Ok(new) => server.insert(new),
                Err(error) => unreachable!("the site does not compile: {error}"),
            },
        };
        ask(server)
    })
}

/// Answers a message over UDP and TCP, slow scripts waited for and skipped.
///
/// # Panics
/// Anything panics; a message that wants a reply gets none; a reply is longer than its limit, is none to this message, or
/// cannot be parsed.
pub fn packet(message: &[u8]) {
    with_server(|server| {
        for slow in [Slow::Wait(Instant::now()), Slow::Skip] {
            let limit = parse(message).map_or(PLAIN_PAYLOAD, |query| udp_limit(&query));
            assert!((PLAIN_PAYLOAD..=MAX_PAYLOAD).contains(&limit), "limit {limit}");
            let over_udp = server.reply(CLIENT, message, Transport::Udp, slow);
            assert!(over_udp.len() <= usize::from(limit), "{} octets", over_udp.len());
            check(message, &over_udp);
            let (in_place, _) = server.reply_in_place(message, slow);
            assert_eq!(over_udp, in_place, "the replies of both ways");
            let over_tcp = server.reply(CLIENT, message, Transport::Tcp, slow);
            assert!(
                over_tcp.len() <= usize::from(u16::MAX),
                "{} octets",
                over_tcp.len()
            );
            check(message, &over_tcp);
            // Only what is too long for the one differs, and over a connection it may be said how long that may be idle.
            let told = asks_for_idle_time(message) && over_tcp.len() == over_udp.len() + 6;
            assert!(over_udp == over_tcp || told || over_tcp.len() > usize::from(limit));
        }
    });
}

/// Whether a message has the keepalive option (RFC 7828), as far as it is read.
fn asks_for_idle_time(message: &[u8]) -> bool {
    match parse(message) {
        Ok(query) => query.edns.is_some_and(|edns| edns.extras.keepalive),
        Err(Rejection::Answer(error)) => error.extras.keepalive,
        Err(Rejection::Drop) => false,
    }
}

/// Reads a datagram of a proxy: as a whole, and as a stream brings its octets. The message in it is answered as if the
/// client had sent it.
///
/// # Panics
/// Anything panics; a header takes other octets than it may; the two ways, or the two replies, differ.
pub fn proxied(datagram: &[u8]) {
    let whole = read(datagram);
    let mut have = 0;
    let streamed = loop {
        match read(datagram.get(..have).unwrap_or_default()) {
            Header::Cut(need) => {
                assert!(need > have && need <= MOST, "{need} octets behind {have}");
                if need > datagram.len() {
                    break Header::Cut(need);
                }
                have = need;
            }
            header => break header,
        }
    };
    if datagram.len() >= 16 {
        assert_eq!(whole, streamed, "as a stream brings it");
    }
    let proxies = Proxies::new(&[CLIENT.into()]);
    let Some(proxies) = proxies else {
        unreachable!("one network is one")
    };
    let (mut buffer, mut length) = (buffer(datagram), datagram.len());
    match (whole, proxies.open(CLIENT, &mut buffer, &mut length)) {
        (
            Header::Whole {
                client,
                length: taken,
            },
            Opened::Message(opened),
        ) => {
            assert_eq!(taken + length, datagram.len());
            assert_eq!(taken, have, "a stream reads no more");
            assert_eq!(opened, client.map_or(CLIENT, |client| client.ip()));
            let message = datagram.get(taken..).unwrap_or_default();
            with_server(|server| {
                let plain = server.reply(opened, message, Transport::Udp, Slow::Skip);
                let (reply, _) = server.reply_in_buffer(opened, &mut buffer, length, Slow::Skip);
                assert_eq!(plain, reply, "to the message of {opened}");
            });
        }
        (Header::Not(one), Opened::Not(other)) => assert_eq!(one, other),
        (Header::Cut(_), Opened::Not(ProxyFault::Bad)) => {}
        other => unreachable!("{other:?}"),
    }
}

fn check(message: &[u8], reply: &[u8]) {
    let wants = message.len() >= HEADER && message.get(2).is_some_and(|flags| flags & 0x80 == 0);
    assert_eq!(wants, !reply.is_empty(), "replies are for whole queries");
    if !wants {
        return;
    }
    assert_eq!(message.get(..2), reply.get(..2), "the id");
    match Message::from_vec(&readable(reply)) {
        Ok(parsed) => assert_eq!(parsed.metadata.message_type, MessageType::Response),
        Err(error) => unreachable!("{error} in the reply {reply:02x?}"),
    }
}

/// The reply, its client subnet under an option code for private use if the family is 0. That of `dig +subnet=0` comes back
/// so, as it was, and hickory-proto does not take it.
fn readable(reply: &[u8]) -> Vec<u8> {
    let mut reply = reply.to_vec();
    let mut rest = options(&reply);
    while let Some([code @ .., a, b]) = rest.first_chunk::<4>() {
        let option = 4 + usize::from(u16::from_be_bytes([*a, *b]));
        if *code == [0, 8] && rest.get(4..6) == Some(&[0, 0]) {
            let at = reply.len() - rest.len();
            if let Some(code) = reply.get_mut(at..at + 2) {
                code.copy_from_slice(&PRIVATE_OPTION.to_be_bytes());
            }
            break;
        }
        rest = rest.get(option..).unwrap_or_default();
    }
    reply
}

/// The options at the end of a reply: its OPT record is the last one, if it has one.
fn options(reply: &[u8]) -> &[u8] {
    let [high, low] = MAX_PAYLOAD.to_be_bytes();
    let head = [0, 0, 41, high, low];
    let candidates = reply.windows(11).enumerate().rev();
    let ends = candidates.filter(|(_, fixed)| fixed.starts_with(&head));
    ends.filter_map(|(at, fixed)| Some((at + 11, fixed.last_chunk::<2>()?)))
        .find(|(at, length)| at + usize::from(u16::from_be_bytes(**length)) == reply.len())
        .and_then(|(at, _)| reply.get(at..))
        .unwrap_or_default()
}
