//! From the octets of a message to the octets of its reply, whatever transport they travel on.

mod plain;
mod policy;
mod pressure;
mod signed;

pub(crate) use plain::AHEAD;
pub(crate) use pressure::Pressed;

use crate::cookie::Checked;
use crate::decide::{Addresses, Answer, Asker, Plan, decide};
use crate::dnssec::{Signatures, Signer};
use crate::encode::{encode, udp_limit};
use crate::lookup::service_of;
use crate::proxy::Proxies;
use crate::rate::{Kind, Verdict};
use crate::sections::Source;
use crate::settings::DnsSettings;
use crate::stats::{DnsStats, Slot, Tally, Transport, Unanswered};
use crate::transfer::{Granted, is_transfer};
use crate::tsig::Tsig;
use crate::wire::{ErrorReply, Query, Rejection, ReplyEdns, parse, rcode};
use gslb_engine::chain::Scratch;
use gslb_engine::model::ServiceId;
use gslb_engine::snapshot::{Snapshot, SnapshotCell};
use plain::Row;
use policy::Policy;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Semaphore;

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
    /// Who says in whose name messages come.
    pub(crate) proxies: Option<Proxies>,
    policy: Arc<Policy>,
    /// Where the microseconds of all threads begin.
    begun: Instant,
    idle: Mutex<Vec<Bridge>>,
    /// Room for transfers of zones.
    transfers: Arc<Semaphore>,
}

impl Context {
    pub(crate) fn new(cell: Arc<SnapshotCell>, stats: Arc<DnsStats>, settings: &DnsSettings) -> Self {
        Self {
            cell,
            stats,
            proxies: Proxies::new(&settings.proxies),
            policy: Arc::new(Policy::new(settings)),
            begun: Instant::now(),
            idle: Mutex::default(),
            transfers: Arc::new(Semaphore::new(settings.transfers)),
        }
    }

    /// The moment in microseconds, for [`Moment`].
    pub(crate) fn micros(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.begun).as_micros()).unwrap_or(u64::MAX)
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

/// What messages that came together are answered from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'m> {
    /// Counters of the thread.
    pub(crate) slot: &'m Slot,
    pub(crate) snapshot: &'m Snapshot,
    /// Unix time, seconds.
    pub(crate) now: u64,
    /// Microseconds since any moment that is the same for all threads.
    pub(crate) micros: u64,
}

impl<'m> Moment<'m> {
    /// Now, for messages of streams, which are under no limit of replies.
    pub(crate) fn of_stream(slot: &'m Slot, snapshot: &'m Snapshot) -> Self {
        Self {
            slot,
            snapshot,
            now: unix_now(),
            micros: 0,
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
    /// A zone is to be sent: [`Bridge::take_transfer`] has what was granted. Only over TCP and TLS.
    Transfer,
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
    /// Encoded.
    Encoded {
        rcode: u16,
        kind: Kind,
        truncated: bool,
    },
    Left(ServiceId),
    Transfer,
}

/// What to do about scripts that take milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slow {
    /// Leave the query undecided.
    Leave,
    /// Wait for them, not for long: this is when the query came.
    Wait(Instant),
    /// Decide without them: their steps fail open.
    Skip,
}

/// Answers messages, one at a time, with memory that it reuses.
#[derive(Debug)]
pub(crate) struct Bridge {
    stats: Arc<DnsStats>,
    policy: Arc<Policy>,
    transport: Transport,
    scratch: Scratch,
    random: fastrand::Rng,
    /// Messages that are looked at ahead.
    rows: Box<[Row]>,
    /// Signatures of replies from signed zones.
    signatures: Signatures,
    tally: Tally,
    /// Replies that were too many.
    limited: u32,
    /// Signs the reply to the query at hand, if that was signed.
    tsig: Option<Tsig>,
    transfers: Arc<Semaphore>,
    granted: Option<Box<Granted>>,
}

impl Bridge {
    pub(crate) fn new(context: &Context, transport: Transport) -> Self {
        Self {
            stats: Arc::clone(&context.stats),
            policy: Arc::clone(&context.policy),
            transport,
            scratch: Scratch::new(),
            random: fastrand::Rng::new(),
            rows: Row::batch(),
            signatures: Signatures::default(),
            tally: Tally::default(),
            limited: 0,
            tsig: None,
            transfers: Arc::clone(&context.transfers),
            granted: None,
        }
    }

    /// Writes the reply to a message over `out`; it stays empty when there is none to give, or none yet. `client` is the
    /// transport source, IPv4 as such.
    pub(crate) fn answer(
        &mut self,
        moment: Moment<'_>,
        message: &[u8],
        client: IpAddr,
        out: &mut Vec<u8>,
    ) -> Handled {
        out.clear();
        let mut handled = Handled::Done;
        let padding = match parse(message) {
            Ok(query) => {
                moment.slot.question(query.qtype);
                match self.verify(moment, message, query.tsig) {
                    Err(rcode) => self.reject(moment, query.error(rcode), client, out),
                    Ok(()) if self.stats.limit.admit() => {
                        handled = self.settle(moment, &query, client, Slow::Leave, out);
                    }
                    Ok(()) => self.reject(moment, query.error(rcode::REFUSED), client, out),
                }
                query.edns.is_some_and(|edns| edns.padding)
            }
            Err(Rejection::Drop) => {
                moment.slot.unanswered(Unanswered::NoQuery);
                false
            }
            Err(Rejection::Answer(mut error)) => {
                if let Err(rcode) = self.verify(moment, message, error.tsig) {
                    error.rcode = rcode;
                }
                self.reject(moment, error, client, out);
                error.padding
            }
        };
        self.seal(moment, padding, out);
        handled
    }

    /// Writes the reply to a message that [`answer`](Self::answer) has left, which has counted and admitted it.
    pub(crate) fn finish(
        &mut self,
        moment: Moment<'_>,
        message: &[u8],
        client: IpAddr,
        slow: Slow,
        out: &mut Vec<u8>,
    ) {
        out.clear();
        if let Ok(query) = parse(message) {
            // It was good when it was left, and the clock is not asked twice.
            let _ = self.verify(moment, message, query.tsig);
            // Only a hurried query is left.
            let _ = self.settle(moment, &query, client, slow, out);
            self.seal(moment, query.edns.is_some_and(|edns| edns.padding), out);
        }
    }

    /// Answers a message with FORMERR that was cut because it is longer than the payload that is advertised.
    pub(crate) fn too_long(&mut self, moment: Moment<'_>, message: &[u8], client: IpAddr, out: &mut Vec<u8>) {
        self.answer_with(rcode::FORMERR, moment, message, client, out);
    }

    /// Answers a message with REFUSED.
    pub(crate) fn refuse(&mut self, moment: Moment<'_>, message: &[u8], client: IpAddr, out: &mut Vec<u8>) {
        self.answer_with(rcode::REFUSED, moment, message, client, out);
    }

    fn answer_with(
        &mut self,
        rcode: u16,
        moment: Moment<'_>,
        message: &[u8],
        client: IpAddr,
        out: &mut Vec<u8>,
    ) {
        out.clear();
        match parse(message) {
            Ok(query) => self.reject(moment, query.error(rcode), client, out),
            Err(Rejection::Drop) => moment.slot.unanswered(Unanswered::NoQuery),
            Err(Rejection::Answer(error)) => self.reject(moment, error, client, out),
        }
    }

    fn settle(
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        client: IpAddr,
        slow: Slow,
        out: &mut Vec<u8>,
    ) -> Handled {
        let option = query.edns.as_ref().and_then(|edns| edns.cookie.as_ref());
        let cookie = self.policy.check(option, client, moment.now);
        // A defect in the code below must cost one query, not a thread.
        let result = catch_unwind(AssertUnwindSafe(|| {
            self.reply(moment, query, cookie.as_ref(), client, slow, out)
        }));
        match result {
            Ok(Reply::Left(service)) => return Handled::Left(service),
            Ok(Reply::Transfer) => return Handled::Transfer,
            Ok(reply) => self.deliver(moment, query, reply, cookie.as_ref(), client, out),
            Err(_) => {
                moment.slot.panicked();
                self.scratch = Scratch::new();
                self.fail(moment, query, client, out);
            }
        }
        Handled::Done
    }

    /// Lets a reply out, or not, and counts it.
    fn deliver(
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        reply: Reply,
        cookie: Option<&Checked>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) {
        if let Reply::Encoded { kind, .. } = reply {
            let limited = &mut self.limited;
            let verdict = self
                .policy
                .judge(self.transport, client, cookie, kind, moment.micros, limited);
            if verdict != Verdict::Send {
                self.hold_back(moment, verdict, kind, query, client, out);
                return;
            }
        }
        self.sent(moment, query, reply, client, out);
    }

    /// Counts a reply that goes out.
    fn sent(
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        reply: Reply,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) {
        match reply {
            Reply::Encoded {
                rcode,
                kind,
                truncated,
            } => {
                if truncated {
                    moment.slot.truncated();
                }
                if kind == Kind::NoData {
                    moment.slot.no_data();
                }
                moment.slot.response(self.transport, rcode);
            }
            Reply::Left(_) | Reply::Transfer => self.fail(moment, query, client, out),
        }
    }

    /// Answers with less than was asked for, or not at all.
    fn hold_back(
        &mut self,
        moment: Moment<'_>,
        verdict: Verdict,
        kind: Kind,
        query: &Query<'_>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) {
        moment.slot.rate_limited(verdict);
        if verdict == Verdict::Drop {
            out.clear();
            return;
        }
        if kind == Kind::Error {
            // That is as short as it gets.
            moment.slot.response(self.transport, rcode::REFUSED);
            return;
        }
        self.shorten(moment, query, client, out);
    }

    /// Answers so that a true client asks again in a way that is under no limit.
    fn shorten(&mut self, moment: Moment<'_>, query: &Query<'_>, client: IpAddr, out: &mut Vec<u8>) {
        let with_cookie = query.edns.is_some_and(|edns| edns.cookie.is_some());
        let error = if with_cookie {
            // With the fresh one that goes back there is no limit (RFC 7873 §5.2.3, §5.2.4).
            query.error(rcode::BADCOOKIE)
        } else {
            moment.slot.truncated();
            ErrorReply {
                truncated: true,
                ..query.error(rcode::NOERROR)
            }
        };
        self.put(moment, &error, client, out);
    }

    /// Answers with a response code, if the client may have it.
    fn reject(&mut self, moment: Moment<'_>, mut error: ErrorReply<'_>, client: IpAddr, out: &mut Vec<u8>) {
        let cookie = self.policy.check(error.cookie.as_ref(), client, moment.now);
        if let (Some(option), Some(checked)) = (&error.cookie, &cookie)
            && error.rcode == rcode::NOERROR
            && option.has_server
            && !checked.valid
        {
            // The client wants to know whether its cookie is good (RFC 7873 §5.4).
            error.rcode = rcode::BADCOOKIE;
        }
        let limited = &mut self.limited;
        let verdict = self.policy.judge(
            self.transport,
            client,
            cookie.as_ref(),
            Kind::Error,
            moment.micros,
            limited,
        );
        if verdict != Verdict::Send {
            moment.slot.rate_limited(verdict);
        }
        if verdict == Verdict::Drop {
            out.clear();
        } else {
            self.put(moment, &error, client, out);
        }
    }

    fn fail(&self, moment: Moment<'_>, query: &Query<'_>, client: IpAddr, out: &mut Vec<u8>) {
        self.put(moment, &query.error(rcode::SERVFAIL), client, out);
    }

    /// Writes and counts.
    fn put(&self, moment: Moment<'_>, error: &ErrorReply<'_>, client: IpAddr, out: &mut Vec<u8>) {
        let cookie = self.policy.check(error.cookie.as_ref(), client, moment.now);
        error.write(cookie.map(|checked| checked.reply), out);
        moment.slot.response(self.transport, error.rcode);
    }

    /// Decides and encodes.
    fn reply(
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        cookie: Option<&Checked>,
        client: IpAddr,
        slow: Slow,
        out: &mut Vec<u8>,
    ) -> Reply {
        if is_transfer(query) {
            return self.transfer(moment, query, cookie, client, out);
        }
        let asker = Asker {
            source: client,
            now: moment.now,
            entropy: self.random.u64(..),
            hurried: slow == Slow::Leave,
            recent: &self.stats.recent,
        };
        // A script may stop being quick after it was looked at.
        let arrived = match slow {
            Slow::Wait(arrived) => Some(arrived),
            Slow::Leave | Slow::Skip => None,
        };
        self.scratch.skip_slow_scripts(arrived.is_none());
        self.scratch.arrived(arrived);
        let plan = match decide(moment.snapshot, query, asker, &mut self.scratch) {
            Ok(plan) => plan,
            Err(service) => return Reply::Left(service),
        };
        let question = Addresses {
            name: query.name.as_wire(),
            qtype: query.qtype,
            edns: query.edns.as_ref(),
        };
        self.report(moment.snapshot, question, asker, plan.blind);
        self.write(moment, query, &plan, cookie, out)
    }

    /// Tells the operator what is wrong for this query; `blind`: a private client could not be placed by any database.
    #[inline]
    fn report(&self, snapshot: &Snapshot, question: Addresses<'_>, asker: Asker<'_>, blind: bool) {
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
        if blind && self.stats.private_client(asker.now) {
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
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        plan: &Plan<'_>,
        cookie: Option<&Checked>,
        out: &mut Vec<u8>,
    ) -> Reply {
        let edns = query.edns.as_ref().map(|edns| ReplyEdns {
            ede: plan.ede,
            ..self.policy.edns(edns, cookie, plan.scope)
        });
        let limit = match self.transport {
            Transport::Udp => udp_limit(query).min(self.policy.most_over_udp(cookie)),
            _ => u16::MAX,
        };
        let limit = limit.saturating_sub(self.reserved());
        let wanted = query.edns.is_some_and(|edns| edns.dnssec_ok) || plan.answer == Answer::Rrsig;
        // Aliases may be in other zones than what they lead to.
        let signed = plan.aliases > 0 || plan.zone.is_some_and(|zone| zone.signed.is_some());
        let signer = (wanted && signed).then(|| Signer::new(&mut self.signatures, moment.now));
        let source = Source {
            snapshot: moment.snapshot,
            query,
            plan,
            addresses: self.scratch.answers(),
        };
        let truncated = encode(source, edns.as_ref(), limit, signer, out);
        Reply::Encoded {
            rcode: plan.rcode,
            kind: kind(plan),
            truncated,
        }
    }
}

fn kind(plan: &Plan<'_>) -> Kind {
    match plan.rcode {
        rcode::NOERROR if plan.negative_ttl.is_some() => Kind::NoData,
        rcode::NOERROR => Kind::Answer,
        rcode::NXDOMAIN => Kind::NoName,
        _ => Kind::Error,
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
            cookie: self.edns.and_then(|edns| edns.cookie),
            padding: self.edns.is_some_and(|edns| edns.padding),
            truncated: false,
            tsig: self.tsig,
        }
    }
}
