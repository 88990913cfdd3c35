//! A UDP thread without its sockets (feature `fuzzing`): octets in, octets out, for tools that count instructions.

use crate::bridge::{Bridge, Context, Handled, Moment, Place};
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
    buffer: Vec<u8>,
    beside: Vec<u8>,
}

impl Answerer {
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
            buffer: vec![0; BUFFER],
            beside: Vec::with_capacity(BUFFER),
        }
    }

    /// The reply to a message; empty without one. A message longer than a receive buffer is cut.
    pub fn answer(&mut self, message: &[u8]) -> &[u8] {
        let length = message.len().min(self.buffer.len());
        // This copy is the kernel's.
        self.buffer
            .iter_mut()
            .zip(message)
            .for_each(|(to, from)| *to = *from);
        let place = Place {
            buffer: &mut self.buffer,
            length,
        };
        let snapshot = self.context.cell.load();
        let out = &mut self.beside;
        let moment = Moment {
            slot: &self.slot,
            snapshot: &snapshot,
            now: NOW,
            micros: 0,
        };
        match self.bridge.answer_alone(moment, place, CLIENT, out) {
            Handled::InPlace(length) => self.buffer.get(..length).unwrap_or_default(),
            Handled::Done | Handled::Left(_) | Handled::Transfer => &self.beside,
        }
    }
}
