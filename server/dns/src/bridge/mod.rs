//! From the octets of a message to the octets of its reply, whatever transport they travel on.

mod context;
mod decided;
mod outlet;
mod plain;
mod policy;
mod pressure;
mod signed;

pub(crate) use context::{Context, Moment, unix_now};
pub(crate) use plain::AHEAD;
pub(crate) use pressure::Pressed;

use crate::dnssec::Signatures;
use crate::rate::Kind;
use crate::stats::{DnsStats, Tally, Transport, Unanswered};
use crate::transfer::Granted;
use crate::tsig::Tsig;
use crate::wire::{Extras, Query, Rejection, parse, rcode};
use gslb_engine::chain::Scratch;
use gslb_engine::model::ServiceId;
use plain::Row;
use policy::Policy;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;

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
        let parsed = parse(message);
        let extras = match &parsed {
            Ok(query) => query.extras(),
            Err(Rejection::Answer(error)) => error.extras,
            Err(Rejection::Drop) => Extras::NONE,
        };
        if extras.keepalive && self.transport == Transport::Quic {
            // QUIC has a keepalive of its own, and the option is an error there (RFC 9250 §5.5.2).
            moment.slot.unanswered(Unanswered::NoQuery);
            return handled;
        }
        match parsed {
            Ok(query) => {
                moment.slot.question(query.qtype);
                match self.verify(moment, message, query.tsig) {
                    Err(rcode) => self.reject(moment, query.error(rcode), client, out),
                    Ok(()) if self.stats.limit.admit() => {
                        handled = self.settle(moment, &query, client, Slow::Leave, out);
                    }
                    Ok(()) => self.reject(moment, query.error(rcode::REFUSED), client, out),
                }
            }
            Err(Rejection::Drop) => moment.slot.unanswered(Unanswered::NoQuery),
            Err(Rejection::Answer(mut error)) => {
                if let Err(rcode) = self.verify(moment, message, error.tsig) {
                    error.rcode = rcode;
                }
                self.reject(moment, error, client, out);
            }
        }
        self.seal(moment, extras, out);
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
            self.seal(moment, query.extras(), out);
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
}
