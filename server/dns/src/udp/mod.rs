//! UDP: a thread of its own for each socket, which blocks in the kernel until datagrams come, takes all that wait (up to
//! a batch), answers them, and sends the answers in one call.

mod left;

use crate::bridge::{AHEAD, Bridge, Context, Handled, Moment, Place, Pressed, Slow, unix_now};
use crate::proxy::{Opened, Proxies, ProxyFault};
use crate::share::Share;
use crate::slow::SlowLane;
use crate::stats::{Slot, Transport, Unanswered};
use crate::system::{self, Batch};
use left::Left;
use socket2::Socket;
use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// How long a thread sleeps at most before it looks whether it should stop. Only a safety net: [`UdpThread::stop`] wakes
/// it at once.
const WAKE: Duration = Duration::from_secs(1);
/// Every datagram of a batch is looked at ahead.
const _: () = assert!(system::BATCH <= AHEAD);
/// Pause after an error of the socket that is neither a signal nor a timeout, so that it cannot spin.
const PAUSE: Duration = Duration::from_millis(10);
/// Batches that are still answered after a stop: what waits in the queue, even if more keeps coming.
const LAST_BATCHES: usize = 64;

/// A running thread.
#[derive(Debug)]
pub(crate) struct UdpThread {
    socket: Arc<Socket>,
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl UdpThread {
    /// Starts a thread on a bound socket.
    ///
    /// # Errors
    /// Those of the operating system: socket options, or no more threads.
    pub(crate) fn start(
        name: String,
        socket: Socket,
        context: Arc<Context>,
        slow: Arc<SlowLane>,
    ) -> io::Result<Self> {
        let address = socket.local_addr()?.as_socket();
        if let Some(address) = address {
            system::forbid_fragments(&socket, address.is_ipv6())?;
            if address.ip().is_unspecified() {
                system::want_local_address(&socket, address.is_ipv6())?;
            }
        }
        socket.set_read_timeout(Some(WAKE))?;
        let socket = Arc::new(socket);
        let stopping = Arc::new(AtomicBool::new(false));
        let worker = Worker::new(context, slow, Arc::clone(&socket), Arc::clone(&stopping));
        let thread = Builder::new().name(name).spawn(move || worker.run())?;
        Ok(Self {
            socket,
            stopping,
            thread,
        })
    }

    /// Tells the thread to answer what waits and end. Does not wait for it.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        // Wakes the blocked receive. An unconnected socket reports ENOTCONN, and is shut down all the same.
        let _ = self.socket.shutdown(Shutdown::Read);
    }

    /// Waits for the end of the thread, after [`stop`](Self::stop).
    pub(crate) fn join(self) {
        if self.thread.join().is_err() {
            tracing::error!("a DNS thread ended by a panic");
        }
    }
}

struct Worker {
    context: Arc<Context>,
    /// Takes queries that may have to wait for a script.
    slow: Arc<SlowLane>,
    bridge: Bridge,
    /// For when too much comes.
    share: Share,
    slot: Arc<Slot>,
    socket: Arc<Socket>,
    stopping: Arc<AtomicBool>,
}

impl Worker {
    fn new(
        context: Arc<Context>,
        slow: Arc<SlowLane>,
        socket: Arc<Socket>,
        stopping: Arc<AtomicBool>,
    ) -> Self {
        Self {
            slot: context.stats.slot(),
            bridge: Bridge::new(&context, Transport::Udp),
            share: Share::default(),
            context,
            slow,
            socket,
            stopping,
        }
    }

    fn run(mut self) {
        let mut batch = Batch::new();
        let mut last_batches = LAST_BATCHES;
        let mut failing = false;
        loop {
            let stopping = self.stopping.load(Ordering::Acquire);
            if stopping {
                if last_batches == 0 {
                    return;
                }
                last_batches -= 1;
            }
            match self.turn(&mut batch, !stopping) {
                Ok(()) => failing = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) if stopping => return,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    // Said once for a row of failures.
                    if !std::mem::replace(&mut failing, true) {
                        tracing::error!(%error, "DNS datagrams cannot be received");
                    }
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Receives a batch and answers it; without `wait` what is there.
    fn turn(&mut self, batch: &mut Batch, wait: bool) -> io::Result<()> {
        let received = batch.receive(&self.socket, wait)?;
        self.answer(batch, received);
        Ok(())
    }

    fn answer(&mut self, batch: &mut Batch, received: usize) {
        let begin = Instant::now();
        let now = unix_now();
        let snapshot = self.context.cell.load();
        let moment = Moment {
            slot: &self.slot,
            snapshot: &snapshot,
            now,
            micros: self.context.micros(begin),
        };
        let proxies = self.context.proxies.as_ref();
        let opened = proxies.map(|proxies| open(proxies, batch, received));
        let messages = (0..received).map(|index| batch.payload(index));
        let mut ahead = self.bridge.look_ahead(moment, messages);
        // A whole batch: most likely more wait.
        let pressed = received == system::BATCH;
        let overloaded = self
            .share
            .batch(pressed, moment.micros, || system::queue(&self.socket));
        let mut answered = 0;
        for index in 0..received {
            let Some(datagram) = batch.datagram(index) else {
                continue;
            };
            let peer = datagram.peer.ip().to_canonical();
            let opened = match &opened {
                None => Opened::Message(peer),
                Some(all) => all.get(index).copied().unwrap_or(Opened::Not(ProxyFault::Bad)),
            };
            let client = match opened {
                Opened::Message(client) => client,
                Opened::Not(fault) => {
                    self.context.stats.proxy_refused(peer, fault, now);
                    if fault == ProxyFault::Missing {
                        let payload = datagram.buffer.get(..*datagram.length).unwrap_or_default();
                        self.bridge.refuse(moment, payload, peer, datagram.reply);
                    } else {
                        self.slot.unanswered(Unanswered::Proxy);
                    }
                    continue;
                }
            };
            let payload = datagram.buffer.get(..*datagram.length).unwrap_or_default();
            if pressed {
                let share = overloaded.then_some(&mut self.share);
                let message = Pressed {
                    index,
                    message: payload,
                    client,
                };
                if self
                    .bridge
                    .left_out(moment, &ahead, message, share, datagram.reply)
                {
                    answered += u64::from(!datagram.reply.is_empty());
                    continue;
                }
            }
            let handled = if datagram.oversize {
                let payload = datagram.buffer.get(..*datagram.length).unwrap_or_default();
                self.bridge.too_long(moment, payload, client, datagram.reply);
                Handled::Done
            } else {
                let place = Place {
                    buffer: datagram.buffer,
                    length: *datagram.length,
                };
                self.bridge
                    .answer_in_place(moment, &mut ahead, index, place, client, datagram.reply)
            };
            match handled {
                // Transfers go over streams.
                Handled::Done | Handled::Transfer => answered += u64::from(!datagram.reply.is_empty()),
                Handled::InPlace(length) => {
                    *datagram.in_place = length;
                    answered += 1;
                }
                Handled::Left(service) => {
                    let left = batch
                        .apart(index)
                        .map(|batch| Left::new(batch, client, Arc::clone(&self.socket), begin));
                    if !left.is_some_and(|left| self.slow.push(service, left))
                        && let Some(datagram) = batch.datagram(index)
                    {
                        let payload = datagram.buffer.get(..*datagram.length).unwrap_or_default();
                        self.bridge
                            .finish(moment, payload, client, Slow::Skip, datagram.reply);
                        answered += u64::from(!datagram.reply.is_empty());
                    }
                }
            }
        }
        self.bridge.count(&self.slot, &ahead);
        drop(snapshot);
        let refused = batch.send(&self.socket);
        if refused > 0 {
            self.slot.send_errors(refused);
        }
        self.slot.latency(answered, begin.elapsed());
    }
}

/// Takes the headers of proxies off the datagrams of a batch.
fn open(proxies: &Proxies, batch: &mut Batch, received: usize) -> [Opened; system::BATCH] {
    let mut all = [Opened::Not(ProxyFault::Bad); system::BATCH];
    for (index, opened) in all.iter_mut().enumerate().take(received) {
        if let Some(datagram) = batch.datagram(index) {
            let peer = datagram.peer.ip().to_canonical();
            *opened = proxies.open(peer, datagram.buffer, datagram.length);
        }
    }
    all
}

#[cfg(test)]
mod tests;
