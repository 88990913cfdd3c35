//! Messages that a stream carries whole: over TCP and TLS, and those that another server brings, over HTTPS and QUIC.
//!
//! No answer waits for anything but the processor, unless the query needs a script that takes milliseconds: then a thread
//! that may wait takes it.

use crate::bridge::{Context, Handled, Moment, Slow};
use crate::slow::{Job, SlowLane};
use crate::stats::{Slot, Transport};
use crate::transfer::Transfer;
use crate::wire::{Reader, code, skip};
use gslb_engine::model::ServiceId;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;

/// Answers messages of one transport.
#[derive(Debug, Clone)]
pub struct Messages {
    context: Arc<Context>,
    /// Takes queries that may have to wait for a script.
    slow: Arc<SlowLane>,
    slot: Arc<Slot>,
    transport: Transport,
}

impl Messages {
    pub(crate) fn new(context: &Arc<Context>, slow: &Arc<SlowLane>, transport: Transport) -> Self {
        Self {
            context: Arc::clone(context),
            slow: Arc::clone(slow),
            slot: context.stats.slot(),
            transport,
        }
    }

    /// The same for another transport.
    pub(crate) fn over(&self, transport: Transport) -> Self {
        Self {
            slot: self.context.stats.slot(),
            transport,
            ..self.clone()
        }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    pub(crate) fn transport(&self) -> Transport {
        self.transport
    }

    /// The reply to a message; `None` when there is none to give. `peer` is who sent it.
    pub async fn answer(&self, message: &[u8], peer: SocketAddr) -> Option<Vec<u8>> {
        match self.replies(message, peer).await? {
            Replies::One(reply) => Some(reply),
            // Only transports that carry several grant them.
            Replies::Zone(_) => None,
        }
    }

    /// The same, where a message can have several replies.
    pub(crate) async fn replies(&self, message: &[u8], peer: SocketAddr) -> Option<Replies> {
        let begin = Instant::now();
        let reply = match self.attempt(message, peer) {
            Attempt::Reply(reply) => reply,
            Attempt::Left(service) => {
                let reply = self.finish(service, message, peer).await;
                return (!reply.is_empty()).then_some(Replies::One(reply));
            }
            Attempt::Zone(transfer) => return Some(Replies::Zone(transfer)),
        };
        if reply.is_empty() {
            return None;
        }
        self.slot.latency(1, begin.elapsed());
        Some(Replies::One(reply))
    }

    fn attempt(&self, message: &[u8], peer: SocketAddr) -> Attempt {
        let mut reply = Vec::new();
        let mut bridge = self.context.lend(self.transport);
        let snapshot = self.context.cell.load();
        let moment = Moment::of_stream(&self.slot, &snapshot);
        let handled = bridge.answer(moment, message, peer.ip().to_canonical(), &mut reply);
        let granted = bridge.take_transfer();
        self.context.give_back(bridge);
        match handled {
            Handled::Left(service) => Attempt::Left(service),
            Handled::Transfer => granted
                .and_then(|granted| granted.begin(&snapshot, &self.context.stats))
                .map_or(Attempt::Reply(Vec::new()), |transfer| {
                    Attempt::Zone(Box::new(transfer))
                }),
            Handled::Done | Handled::InPlace(_) => Attempt::Reply(reply),
        }
    }

    /// The reply to a message that was left because of `service`, by a thread that may wait; empty after a defect.
    pub(crate) async fn finish(&self, service: ServiceId, message: &[u8], peer: SocketAddr) -> Vec<u8> {
        let begin = Instant::now();
        let (done, reply) = oneshot::channel();
        let left = Left {
            message: message.to_vec(),
            peer,
            transport: self.transport,
            arrived: begin,
            done,
        };
        let reply = if self.slow.push(service, Box::new(left)) {
            reply.await.unwrap_or_default()
        } else {
            finish(
                &self.context,
                &self.slot,
                self.transport,
                message,
                peer,
                Slow::Skip,
            )
        };
        self.slot.latency(1, begin.elapsed());
        reply
    }
}

/// What a message gets.
pub(crate) enum Replies {
    One(Vec<u8>),
    /// A zone, message by message.
    Zone(Box<Transfer>),
}

/// What became of a message.
enum Attempt {
    /// The reply, empty when there is none to give.
    Reply(Vec<u8>),
    /// It waits for a script of this service.
    Left(ServiceId),
    Zone(Box<Transfer>),
}

/// A message for a thread that may wait.
struct Left {
    message: Vec<u8>,
    peer: SocketAddr,
    transport: Transport,
    arrived: Instant,
    done: oneshot::Sender<Vec<u8>>,
}

impl Job for Left {
    fn work(self: Box<Self>, context: &Context, slot: &Slot) {
        let reply = finish(
            context,
            slot,
            self.transport,
            &self.message,
            self.peer,
            Slow::Wait(self.arrived),
        );
        // The connection may have been closed meanwhile.
        let _ = self.done.send(reply);
    }
}

fn finish(
    context: &Context,
    slot: &Slot,
    transport: Transport,
    message: &[u8],
    peer: SocketAddr,
    slow: Slow,
) -> Vec<u8> {
    let mut reply = Vec::new();
    let mut bridge = context.lend(transport);
    let snapshot = context.cell.load();
    let moment = Moment::of_stream(slot, &snapshot);
    bridge.finish(moment, message, peer.ip().to_canonical(), slow, &mut reply);
    context.give_back(bridge);
    reply
}

/// Least TTL of the records in a reply: how long a cache may keep it as a whole. `None` when it has none. Of an SOA that
/// says for how long there is nothing, its TTL counts, which is no more than its minimum (RFC 2308 §5).
#[must_use]
pub fn smallest_ttl(reply: &[u8]) -> Option<u32> {
    let mut reader = Reader::new(reply, 4);
    let questions = reader.u16()?;
    let records = [reader.u16()?, reader.u16()?, reader.u16()?];
    for _ in 0..questions {
        skip(&mut reader)?;
        reader.take(4)?;
    }
    let mut least = None;
    for _ in 0..records.into_iter().map(u32::from).sum() {
        skip(&mut reader)?;
        let (rtype, _class, ttl) = (reader.u16()?, reader.u16()?, reader.u32()?);
        let length = reader.u16()?;
        reader.take(length.into())?;
        // The TTL field of an OPT record is none.
        if rtype != code::OPT {
            least = Some(least.map_or(ttl, |least: u32| least.min(ttl)));
        }
    }
    least
}
