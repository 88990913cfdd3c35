//! A datagram that a receiving thread has left for one that may wait.

use crate::bridge::{Context, Moment, Slow, unix_now};
use crate::slow::Job;
use crate::stats::{Slot, Transport};
use crate::system::Batch;
use socket2::Socket;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

pub(super) struct Left {
    /// This datagram alone.
    batch: Batch,
    client: IpAddr,
    socket: Arc<Socket>,
    received: Instant,
}

impl Left {
    pub(super) fn new(batch: Batch, client: IpAddr, socket: Arc<Socket>, received: Instant) -> Box<Self> {
        Box::new(Self {
            batch,
            client,
            socket,
            received,
        })
    }
}

impl Job for Left {
    fn work(mut self: Box<Self>, context: &Context, slot: &Slot) {
        if let Some(datagram) = self.batch.datagram(0) {
            let mut bridge = context.lend(Transport::Udp);
            let snapshot = context.cell.load();
            let moment = Moment {
                slot,
                snapshot: &snapshot,
                now: unix_now(),
                micros: context.micros(self.received),
            };
            let payload = datagram.buffer.get(..*datagram.length).unwrap_or_default();
            bridge.finish(
                moment,
                payload,
                self.client,
                Slow::Wait(self.received),
                datagram.reply,
            );
            context.give_back(bridge);
        }
        let refused = self.batch.send(&self.socket);
        if refused > 0 {
            slot.send_errors(refused);
        }
        slot.latency(1, self.received.elapsed());
    }
}
