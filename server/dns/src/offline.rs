//! A UDP thread without its sockets (feature `fuzzing`): octets in, octets out, for tools that count instructions.

use crate::bridge::{AHEAD, Bridge, Context, Handled, Moment, Place};
use crate::cookie::CookieSecret;
use crate::settings::DnsSettings;
use crate::stats::{DnsStats, Slot, Transport};
use gslb_engine::snapshot::{Snapshot, SnapshotCell};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

const NOW: u64 = 1_700_000_000;
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
/// Octets of a receive buffer.
const BUFFER: usize = 1280;

/// What a UDP thread has.
#[derive(Debug)]
pub struct Answerer {
    context: Context,
    slot: Arc<Slot>,
    bridge: Bridge,
    buffers: Vec<([u8; BUFFER], usize)>,
    beside: Vec<u8>,
}

impl Answerer {
    /// Messages of a batch.
    pub const BATCH: usize = AHEAD;

    /// Answers from this snapshot; the same messages get the same replies from each new one.
    #[must_use]
    pub fn new(snapshot: Snapshot) -> Self {
        let stats = Arc::new(DnsStats::new());
        let settings = DnsSettings {
            cookies: vec![CookieSecret::new([7; CookieSecret::LEN])],
            ..DnsSettings::default()
        };
        let context = Context::new(
            Arc::new(SnapshotCell::new(snapshot)),
            Arc::clone(&stats),
            &settings,
        );
        fastrand::seed(7);
        Self {
            slot: stats.slot(),
            bridge: Bridge::new(&context, Transport::Udp),
            context,
            buffers: vec![([0; BUFFER], 0); Self::BATCH],
            beside: Vec::with_capacity(BUFFER),
        }
    }

    /// Answers messages that came together, [`BATCH`](Self::BATCH) at most, and returns the octets of the replies; a message
    /// longer than a receive buffer is cut.
    pub fn answer(&mut self, messages: &[Vec<u8>]) -> usize {
        let snapshot = self.context.cell.load();
        let moment = Moment {
            slot: &self.slot,
            snapshot: &snapshot,
            now: NOW,
            micros: 0,
        };
        // This copy is the kernel's.
        for ((buffer, length), message) in self.buffers.iter_mut().zip(messages) {
            *length = message.len().min(BUFFER);
            if let (Some(to), Some(from)) = (buffer.get_mut(..*length), message.get(..*length)) {
                to.copy_from_slice(from);
            }
        }
        let count = messages.len().min(Self::BATCH);
        let batch = self.buffers.get_mut(..count).unwrap_or_default();
        let read = batch
            .iter()
            .map(|(buffer, length)| buffer.get(..*length).unwrap_or_default());
        let mut ahead = self.bridge.look_ahead(moment, read);
        let mut octets = 0;
        for (index, (buffer, length)) in batch.iter_mut().enumerate() {
            let place = Place {
                buffer,
                length: *length,
            };
            let out = &mut self.beside;
            let handled = self
                .bridge
                .answer_in_place(moment, &mut ahead, index, place, CLIENT, out);
            octets += match handled {
                Handled::InPlace(length) => length,
                Handled::Done | Handled::Left(_) | Handled::Transfer => self.beside.len(),
            };
        }
        self.bridge.count(&self.slot, &ahead);
        octets
    }
}
