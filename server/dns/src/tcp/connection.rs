//! One connection: messages with a length in front (RFC 1035 §4.2.2), pipelined (RFC 7766 §6.2.1.1), over TCP or TLS.
//!
//! Queries are answered as they are read, one by one, by one task. Answers collect in a buffer while whole queries are
//! there: a pipeline of a hundred queries is one write. No answer waits for anything but the processor, unless the query
//! needs a script that takes milliseconds: then a thread that may wait takes it, its answer comes when it is done, and those
//! behind it do not wait for it. Nor do they wait for the transfer of a zone: its messages go out one by one while there is
//! nothing to read.

use super::TcpService;
use super::limits::Permit;
use crate::bridge::{Bridge, Handled, Moment, unix_now};
use crate::proxy::is_header;
use crate::stats::Unanswered;
use crate::transfer::{Step, Transfer};
use gslb_engine::model::ServiceId;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::{JoinError, JoinSet, yield_now};
use tokio::time::{timeout, timeout_at};

/// Octets read at a time.
const CHUNK: usize = 4096;
/// Octets of answers after which they are written, before more queries are answered: a client that does not read gets no
/// more work done for it.
const OUTPUT: usize = 64 * 1024;

/// Queries of one connection that may be with threads which wait.
const SLOW: usize = 32;
/// What has arrived before the stop is read for so long.
const SETTLE: Duration = Duration::from_millis(10);

/// What a connection reads and writes.
pub(super) trait Stream: AsyncRead + AsyncWrite {}
impl<T: AsyncRead + AsyncWrite> Stream for T {}

impl TcpService {
    /// Serves a connection until the client closes it, it idles too long, or the server stops.
    pub(super) async fn serve(&self, stream: impl Stream + Unpin, peer: SocketAddr, permit: &Permit) {
        let mut conversation = Conversation {
            service: self,
            permit,
            stream,
            peer,
            input: Vec::with_capacity(CHUNK),
            output: Vec::new(),
            slow: JoinSet::new(),
            transfers: VecDeque::new(),
        };
        // Errors of one connection are the client's affair: it has gone away.
        let _ = conversation.run().await;
        let _ = conversation.stream.shutdown().await;
    }
}

/// A connection and what is on its way there.
struct Conversation<'a, S> {
    service: &'a TcpService,
    permit: &'a Permit,
    stream: S,
    peer: SocketAddr,
    /// Read, and not answered yet.
    input: Vec<u8>,
    /// Answers to be written.
    output: Vec<u8>,
    /// Queries that threads have which may wait. Their answers follow when they are done (RFC 7766 §6.2.1.1).
    slow: JoinSet<Vec<u8>>,
    /// Zones that are being sent, one after the other.
    transfers: VecDeque<Transfer>,
}

impl<S: Stream + Unpin> Conversation<'_, S> {
    async fn run(&mut self) -> io::Result<()> {
        let idle = self.service.idle;
        // A whole query moves the deadline, single octets do not: slow senders cannot hold a connection open.
        let mut deadline = tokio::time::Instant::now() + idle;
        let mut begun = false;
        loop {
            self.input.reserve(CHUNK);
            let read = tokio::select! {
                biased;
                () = self.service.stop.cancelled() => {
                    self.read_the_rest().await?;
                    return self.end().await;
                }
                Some(done) = self.slow.join_next() => {
                    self.take_slow(done).await?;
                    deadline = tokio::time::Instant::now() + idle;
                    continue;
                }
                read = timeout_at(deadline, self.stream.read_buf(&mut self.input)) => read??,
                // Last: what has arrived is answered first.
                () = yield_now(), if !self.transfers.is_empty() => {
                    self.send_zone().await?;
                    deadline = tokio::time::Instant::now() + idle;
                    continue;
                }
            };
            if !begun && is_header(&self.input) {
                // From whom none is taken. As the length of a message it would be waited for.
                self.service.messages.slot().unanswered(Unanswered::NoQuery);
                return Ok(());
            }
            if self.answer_all().await? {
                begun = true;
                self.permit.asked();
                deadline = tokio::time::Instant::now() + idle;
            }
            // The client may have closed its side only: its answers are written by now, or by the end.
            if read == 0 {
                return self.end().await;
            }
        }
    }

    /// Answers what has arrived before the stop.
    async fn read_the_rest(&mut self) -> io::Result<()> {
        loop {
            self.input.reserve(CHUNK);
            // A first attempt to read looks at what the runtime's last poll told it, which may be older than a query that
            // lies in the socket. A timer cannot end before sockets have been polled once more.
            match timeout(SETTLE, self.stream.read_buf(&mut self.input)).await {
                Err(_) | Ok(Ok(0)) => return Ok(()),
                Ok(read) => read?,
            };
            self.answer_all().await?;
        }
    }

    /// Waits for the answers that are still being made.
    async fn end(&mut self) -> io::Result<()> {
        while let Some(done) = self.slow.join_next().await {
            self.take_slow(done).await?;
        }
        while !self.transfers.is_empty() {
            self.send_zone().await?;
            yield_now().await;
        }
        Ok(())
    }

    /// Sends a bit of the zone that is due.
    async fn send_zone(&mut self) -> io::Result<()> {
        let step = match self.transfers.front_mut() {
            Some(transfer) => transfer.step(unix_now()),
            None => return Ok(()),
        };
        match step {
            Step::More => Ok(()),
            Step::Message(message) => {
                add(&mut self.output, &message);
                self.write().await
            }
            Step::End => {
                self.transfers.pop_front();
                Ok(())
            }
            Step::Broken => {
                tracing::error!("a zone has a record that no message can hold: it cannot be transferred");
                Err(io::ErrorKind::InvalidData.into())
            }
        }
    }

    async fn take_slow(&mut self, done: Result<Vec<u8>, JoinError>) -> io::Result<()> {
        // Nothing comes back from a defect.
        add(&mut self.output, &done.unwrap_or_default());
        self.write().await
    }

    async fn write(&mut self) -> io::Result<()> {
        if self.output.is_empty() {
            return Ok(());
        }
        let write = async {
            self.stream.write_all(&self.output).await?;
            // TLS may keep some of it.
            self.stream.flush().await
        };
        timeout(self.service.idle, write).await??;
        self.output.clear();
        Ok(())
    }

    /// Answers all whole messages of the input and removes them. Returns whether there was one.
    async fn answer_all(&mut self) -> io::Result<bool> {
        let mut answered = false;
        let mut done = 0;
        loop {
            let begin = Instant::now();
            let some = self.answer_some(done);
            let Progress {
                mut taken,
                answers,
                left,
            } = some;
            if let Some(service) = left
                && let Some((message, length)) = frame(self.input.get(done + taken..).unwrap_or_default())
            {
                let (messages, message, peer) = (self.service.messages.clone(), message.to_vec(), self.peer);
                taken += length;
                if self.slow.len() >= SLOW
                    && let Some(done) = self.slow.join_next().await
                {
                    self.take_slow(done).await?;
                }
                self.slow
                    .spawn(async move { messages.finish(service, &message, peer).await });
            }
            done += taken;
            self.write().await?;
            if answers > 0 {
                self.service.messages.slot().latency(answers, begin.elapsed());
            }
            if taken == 0 {
                break;
            }
            answered = true;
        }
        self.input.drain(..done);
        // One long message must not hold its memory for as long as the connection lives.
        if self.input.len() < CHUNK && self.input.capacity() > 4 * CHUNK {
            self.input.shrink_to(CHUNK);
        }
        Ok(answered)
    }

    /// Answers whole messages from `done` on until the output is full, or until one takes longer than this task may wait.
    fn answer_some(&mut self, done: usize) -> Progress {
        let input = self.input.get(done..).unwrap_or_default();
        let mut bridge: Option<Bridge> = None;
        let mut reply = Vec::new();
        let (mut taken, mut answers, mut left) = (0, 0, None);
        let messages = &self.service.messages;
        let context = messages.context();
        let snapshot = context.cell.load();
        let moment = Moment::of_stream(messages.slot(), &snapshot);
        let client = self.peer.ip().to_canonical();
        while let Some((message, length)) = frame(input.get(taken..).unwrap_or_default()) {
            if self.output.len() >= OUTPUT {
                break;
            }
            let bridge = bridge.get_or_insert_with(|| context.lend(messages.transport()));
            let handled = bridge.answer(moment, message, client, &mut reply);
            match handled {
                Handled::Left(service) => {
                    left = Some(service);
                    break;
                }
                Handled::Transfer => {
                    let granted = bridge.take_transfer();
                    let transfer = granted.and_then(|granted| granted.begin(&snapshot, &context.stats));
                    self.transfers.extend(transfer);
                }
                Handled::Done | Handled::InPlace(_) => {}
            }
            answers += add(&mut self.output, &reply);
            taken += length;
        }
        if let Some(bridge) = bridge {
            context.give_back(bridge);
        }
        Progress { taken, answers, left }
    }
}

/// What became of some messages.
struct Progress {
    /// Octets of those that are done.
    taken: usize,
    answers: u64,
    /// The message behind them is left, counted and admitted, for a thread that may wait: it asks for this service.
    left: Option<ServiceId>,
}

/// Adds a reply, if there is one, with its length in front. Returns how many were added.
fn add(output: &mut Vec<u8>, reply: &[u8]) -> u64 {
    match u16::try_from(reply.len()) {
        Ok(size) if size > 0 => {
            output.extend_from_slice(&size.to_be_bytes());
            output.extend_from_slice(reply);
            1
        }
        _ => 0,
    }
}

/// The first whole message of `input` and the octets it takes with its length.
fn frame(input: &[u8]) -> Option<(&[u8], usize)> {
    let (length, rest) = input.split_first_chunk::<2>()?;
    let length = usize::from(u16::from_be_bytes(*length));
    Some((rest.get(..length)?, 2 + length))
}
