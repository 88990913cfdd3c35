//! From the octets of a message to the octets of its reply, whatever transport they travel on.

use crate::decide::{Addresses, Answer, Asker, Plan, address, decide};
use crate::encode::{encode, udp_limit};
use crate::fast::Plain;
use crate::lookup::service_of;
use crate::stats::{DnsStats, Slot, Tally, Transport};
use crate::wire::{EdnsQuery, ErrorReply, MAX_NAME, Query, Rejection, ReplyEdns, parse, rcode};
use gslb_engine::chain::Scratch;
use gslb_engine::model::ServiceId;
use gslb_engine::snapshot::{Found, Snapshot, SnapshotCell};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bridges that are kept for the connections' next queries.
const KEPT: usize = 16;

/// Unix time, seconds.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// What all transports share.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) cell: Arc<SnapshotCell>,
    pub(crate) stats: Arc<DnsStats>,
    nsid: Option<Arc<[u8]>>,
    idle: Mutex<Vec<Bridge>>,
}

impl Context {
    pub(crate) fn new(cell: Arc<SnapshotCell>, stats: Arc<DnsStats>, nsid: Option<Vec<u8>>) -> Self {
        Self {
            cell,
            stats,
            nsid: nsid.map(Arc::from),
            idle: Mutex::default(),
        }
    }

    /// A bridge for some queries of one connection: connections are many, and its memory is not small.
    pub(crate) fn lend(&self, transport: Transport) -> Bridge {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut bridge = kept.unwrap_or_else(|| Bridge::new(self, transport));
        bridge.transport = transport;
        bridge
    }

    pub(crate) fn give_back(&self, bridge: Bridge) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(bridge);
        }
    }
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Handled {
    /// The reply, if there is one to give, is written.
    Done,
    /// The reply stands where the message was, and has this length.
    InPlace(usize),
    /// Deciding may take milliseconds, which this thread has not, for a script of this service: [`Bridge::finish`] has to
    /// follow, somewhere.
    Left(ServiceId),
}

/// A message in a buffer that has room for its reply.
#[derive(Debug)]
pub(crate) struct Place<'b> {
    pub(crate) buffer: &'b mut [u8],
    /// Octets of the message.
    pub(crate) length: usize,
}

impl Place<'_> {
    fn message(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }
}

/// What became of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    /// Encoded, with this response code.
    Sent(u16),
    Left(ServiceId),
}

/// What to do about scripts that take milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slow {
    /// Leave the query undecided.
    Leave,
    /// Wait for them.
    Wait,
    /// Decide without them: their steps fail open.
    Skip,
}

/// Answers messages, one at a time, with memory that it reuses.
#[derive(Debug)]
pub(crate) struct Bridge {
    stats: Arc<DnsStats>,
    nsid: Option<Arc<[u8]>>,
    transport: Transport,
    scratch: Scratch,
    random: fastrand::Rng,
    /// The name of the query at hand, in lower case.
    name: [u8; MAX_NAME],
    tally: Tally,
}

impl Bridge {
    pub(crate) fn new(context: &Context, transport: Transport) -> Self {
        Self {
            stats: Arc::clone(&context.stats),
            nsid: context.nsid.clone(),
            transport,
            scratch: Scratch::new(),
            random: fastrand::Rng::new(),
            name: [0; MAX_NAME],
            tally: Tally::default(),
        }
    }

    /// As [`answer`](Self::answer), but most replies are written where the message is, which takes less time. Those are
    /// counted with [`count`](Self::count).
    pub(crate) fn answer_in_place(
        &mut self,
        slot: &Slot,
        snapshot: &Snapshot,
        now: u64,
        mut place: Place<'_>,
        peer: SocketAddr,
        out: &mut Vec<u8>,
    ) -> Handled {
        // A defect in the code below must cost one query, not a thread.
        let result = catch_unwind(AssertUnwindSafe(|| {
            self.plain(slot, snapshot, now, &mut place, peer, out)
        }));
        match result {
            Ok(Some(handled)) => handled,
            Ok(None) => self.answer(slot, snapshot, now, place.message(), peer, out),
            Err(_) => {
                slot.panicked();
                self.scratch = Scratch::new();
                out.clear();
                if let Ok(query) = parse(place.message()) {
                    self.fail(slot, &query, out);
                }
                Handled::Done
            }
        }
    }

    /// Adds what was answered in place to the counters: once for a batch, because that too takes time.
    pub(crate) fn count(&mut self, slot: &Slot) {
        slot.batch(self.transport, &mut self.tally);
    }

    /// Answers a query for the addresses of a service. `None`: it is another query, and nothing has been done.
    #[inline]
    fn plain(
        &mut self,
        slot: &Slot,
        snapshot: &Snapshot,
        now: u64,
        place: &mut Place<'_>,
        peer: SocketAddr,
        out: &mut Vec<u8>,
    ) -> Option<Handled> {
        let plain = Plain::read(place.message(), &mut self.name)?;
        let Found::Service { service, zone, .. } = snapshot.find(plain.question(&self.name).name) else {
            return None;
        };
        if service.has_slow_script() || !self.stats.limit.is_open() {
            return None;
        }
        self.tally.question(plain.qtype);
        let asker = Asker {
            source: peer.ip().to_canonical(),
            now,
            entropy: self.random.u64(..),
            hurried: true,
        };
        let question = plain.question(&self.name);
        let plan = address(snapshot, service, zone, question, asker, &mut self.scratch);
        if let Answer::Addresses { ttl } = plan.answer {
            let edns = plain
                .edns
                .as_ref()
                .map(|edns| reply_edns(&self.nsid, edns, &plan));
            let written = plain.reply(place.buffer, ttl, self.scratch.answers(), edns.as_ref());
            if let Some(length) = written {
                self.report(snapshot, question, asker, &plan);
                self.tally.answer();
                return Some(Handled::InPlace(length));
            }
        }
        let query = parse(place.message()).ok()?;
        self.report(snapshot, question, asker, &plan);
        match self.write(slot, snapshot, &query, &plan, out) {
            Reply::Sent(rcode) => slot.response(self.transport, rcode),
            _ => self.fail(slot, &query, out),
        }
        Some(Handled::Done)
    }

    /// Writes the reply to a message over `out`; it stays empty when there is none to give, or none yet.
    pub(crate) fn answer(
        &mut self,
        slot: &Slot,
        snapshot: &Snapshot,
        now: u64,
        message: &[u8],
        peer: SocketAddr,
        out: &mut Vec<u8>,
    ) -> Handled {
        out.clear();
        match parse(message) {
            Ok(query) => {
                slot.question(query.qtype);
                if self.stats.limit.admit() {
                    return self.settle(slot, snapshot, now, &query, peer, Slow::Leave, out);
                }
                self.reject(slot, Rejection::Answer(query.error(rcode::REFUSED)), out);
            }
            Err(rejection) => self.reject(slot, rejection, out),
        }
        Handled::Done
    }

    /// Writes the reply to a message that [`answer`](Self::answer) has left, which has counted and admitted it.
    #[expect(clippy::too_many_arguments, reason = "all of them belong to the one query")]
    pub(crate) fn finish(
        &mut self,
        slot: &Slot,
        snapshot: &Snapshot,
        now: u64,
        message: &[u8],
        peer: SocketAddr,
        slow: Slow,
        out: &mut Vec<u8>,
    ) {
        out.clear();
        if let Ok(query) = parse(message) {
            // Only a hurried query is left.
            let _ = self.settle(slot, snapshot, now, &query, peer, slow, out);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all of them belong to the one query")]
    fn settle(
        &mut self,
        slot: &Slot,
        snapshot: &Snapshot,
        now: u64,
        query: &Query<'_>,
        peer: SocketAddr,
        slow: Slow,
        out: &mut Vec<u8>,
    ) -> Handled {
        // A defect in the code below must cost one query, not a thread.
        let result = catch_unwind(AssertUnwindSafe(|| {
            self.reply(slot, snapshot, now, query, peer, slow, out)
        }));
        match result {
            Ok(Reply::Sent(rcode)) => slot.response(self.transport, rcode),
            Ok(Reply::Left(service)) => return Handled::Left(service),
            Err(_) => {
                slot.panicked();
                self.scratch = Scratch::new();
                self.fail(slot, query, out);
            }
        }
        Handled::Done
    }

    /// Answers a message that was cut because it is longer than the payload that is advertised.
    pub(crate) fn refuse(&self, slot: &Slot, message: &[u8], out: &mut Vec<u8>) {
        out.clear();
        match parse(message) {
            Ok(query) => self.reject(slot, Rejection::Answer(query.error(rcode::FORMERR)), out),
            Err(rejection) => self.reject(slot, rejection, out),
        }
    }

    fn reject(&self, slot: &Slot, rejection: Rejection<'_>, out: &mut Vec<u8>) {
        match rejection {
            Rejection::Drop => slot.dropped(),
            Rejection::Answer(error) => {
                error.write(out);
                slot.response(self.transport, error.rcode);
            }
        }
    }

    fn fail(&self, slot: &Slot, query: &Query<'_>, out: &mut Vec<u8>) {
        self.reject(slot, Rejection::Answer(query.error(rcode::SERVFAIL)), out);
    }

    /// Decides and encodes.
    #[expect(clippy::too_many_arguments, reason = "all of them belong to the one query")]
    fn reply(
        &mut self,
        slot: &Slot,
        snapshot: &Snapshot,
        now: u64,
        query: &Query<'_>,
        peer: SocketAddr,
        slow: Slow,
        out: &mut Vec<u8>,
    ) -> Reply {
        let asker = Asker {
            source: peer.ip().to_canonical(),
            now,
            entropy: self.random.u64(..),
            hurried: slow == Slow::Leave,
        };
        self.scratch.skip_slow_scripts(slow == Slow::Skip);
        let plan = match decide(snapshot, query, asker, &mut self.scratch) {
            Ok(plan) => plan,
            Err(service) => return Reply::Left(service),
        };
        let question = Addresses {
            name: query.name.as_wire(),
            qtype: query.qtype,
            edns: query.edns.as_ref(),
        };
        self.report(snapshot, question, asker, &plan);
        self.write(slot, snapshot, query, &plan, out)
    }

    /// Tells the operator what is wrong for this query.
    #[inline]
    fn report(&self, snapshot: &Snapshot, question: Addresses<'_>, asker: Asker, plan: &Plan<'_>) {
        if let Some(failure) = self.scratch.script_failure()
            && let Some((service, _)) = service_of(snapshot, question.name)
            && self
                .stats
                .script_failed(&service.slot.script_error_logged, asker.now)
        {
            tracing::warn!(
                service = &*service.name,
                %failure,
                "a script step failed, and all candidates were kept"
            );
        }
        if plan.blind && self.stats.private_client(asker.now) {
            let ecs = question
                .edns
                .is_some_and(|edns| edns.subnet.is_some_and(|s| s.subnet.source > 0));
            tracing::warn!(
                ecs,
                source = %asker.source,
                "a private client address is in no geo database: geo steering is blind for this query"
            );
        }
    }

    /// Encodes.
    fn write(
        &self,
        slot: &Slot,
        snapshot: &Snapshot,
        query: &Query<'_>,
        plan: &Plan<'_>,
        out: &mut Vec<u8>,
    ) -> Reply {
        let edns = query.edns.as_ref().map(|edns| reply_edns(&self.nsid, edns, plan));
        let limit = match self.transport {
            Transport::Udp => udp_limit(query),
            _ => u16::MAX,
        };
        let answers = self.scratch.answers();
        if encode(snapshot, query, plan, answers, edns.as_ref(), limit, out) {
            slot.truncated();
        }
        if plan.rcode == rcode::NOERROR && plan.negative_ttl.is_some() {
            slot.no_data();
        }
        Reply::Sent(plan.rcode)
    }
}

/// The OPT record of a reply.
#[inline]
fn reply_edns<'a>(nsid: &'a Option<Arc<[u8]>>, edns: &EdnsQuery, plan: &Plan<'_>) -> ReplyEdns<'a> {
    ReplyEdns {
        dnssec_ok: edns.dnssec_ok,
        subnet: edns
            .subnet
            .map(|subnet| (subnet, plan.scope.min(subnet.subnet.source))),
        ede: plan.ede,
        nsid: nsid.as_deref().filter(|_| edns.nsid),
    }
}

impl<'p> Query<'p> {
    /// The reply that is only a response code.
    fn error(&self, rcode: u16) -> ErrorReply<'p> {
        ErrorReply {
            id: self.id,
            flags: self.flags,
            rcode,
            question: self.question,
            edns: self.edns.is_some(),
            subnet: self.edns.and_then(|edns| edns.subnet),
        }
    }
}
