//! One connection: messages with a length in front (RFC 1035 §4.2.2), pipelined (RFC 7766 §6.2.1.1), over TCP or TLS.
//!
//! Queries are answered as they are read, one by one, by one task. Answers collect in a buffer while whole queries are
//! there: a pipeline of a hundred queries is one write. No answer waits for anything but the processor, unless the query
//! needs a script that takes milliseconds: then a thread that may wait takes it, and the connection goes on when it is
//! done.

use super::TcpService;
use crate::bridge::{Bridge, Handled, unix_now};
use gslb_engine::model::ServiceId;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{timeout, timeout_at};

/// Octets read at a time.
const CHUNK: usize = 4096;
/// Octets of answers after which they are written, before more queries are answered: a client that does not read gets no
/// more work done for it.
const OUTPUT: usize = 64 * 1024;

/// What has arrived before the stop is read for so long.
const SETTLE: Duration = Duration::from_millis(10);

/// What a connection reads and writes.
pub(super) trait Stream: AsyncRead + AsyncWrite {}
impl<T: AsyncRead + AsyncWrite> Stream for T {}

impl TcpService {
    /// Serves a connection until the client closes it, it idles too long, or the server stops.
    pub(super) async fn serve(&self, mut stream: impl Stream + Unpin, peer: SocketAddr) {
        // Errors of one connection are the client's affair: it has gone away.
        let _ = self.converse(&mut stream, peer).await;
        let _ = stream.shutdown().await;
    }

    async fn converse(&self, stream: &mut (impl Stream + Unpin), peer: SocketAddr) -> io::Result<()> {
        let mut input = Vec::with_capacity(CHUNK);
        let mut output = Vec::new();
        // A whole query moves the deadline, single octets do not: slow senders cannot hold a connection open.
        let mut deadline = tokio::time::Instant::now() + self.idle;
        loop {
            input.reserve(CHUNK);
            let read = tokio::select! {
                biased;
                () = self.stop.cancelled() => return self.finish(stream, peer, &mut input, &mut output).await,
                read = timeout_at(deadline, stream.read_buf(&mut input)) => read??,
            };
            if self.answer_all(stream, peer, &mut input, &mut output).await? {
                deadline = tokio::time::Instant::now() + self.idle;
            }
            // The client may have closed its side only: its answers are written by now.
            if read == 0 {
                return Ok(());
            }
        }
    }

    /// Answers what has arrived before the stop.
    async fn finish(
        &self,
        stream: &mut (impl Stream + Unpin),
        peer: SocketAddr,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> io::Result<()> {
        loop {
            input.reserve(CHUNK);
            // A first attempt to read looks at what the runtime's last poll told it, which may be older than a query that
            // lies in the socket. A timer cannot end before sockets have been polled once more.
            match timeout(SETTLE, stream.read_buf(input)).await {
                Err(_) | Ok(Ok(0)) => return Ok(()),
                Ok(read) => read?,
            };
            self.answer_all(stream, peer, input, output).await?;
        }
    }

    /// Answers all whole messages of `input` and removes them. Returns whether there was an answer.
    async fn answer_all(
        &self,
        stream: &mut (impl Stream + Unpin),
        peer: SocketAddr,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let mut answered = false;
        let mut done = 0;
        loop {
            let begin = Instant::now();
            let some = self.answer_some(peer, input.get(done..).unwrap_or_default(), output);
            let Progress {
                mut taken,
                mut answers,
                left,
            } = some;
            if let Some(service) = left
                && let Some((message, length)) = frame(input.get(done + taken..).unwrap_or_default())
            {
                answers += add(output, &self.messages.wait(service, message, peer).await);
                taken += length;
            }
            done += taken;
            if !output.is_empty() {
                let write = async {
                    stream.write_all(output).await?;
                    // TLS may keep some of it.
                    stream.flush().await
                };
                timeout(self.idle, write).await??;
                output.clear();
                self.messages.slot().latency(answers, begin.elapsed());
                answered = true;
            }
            if taken == 0 {
                break;
            }
        }
        input.drain(..done);
        // One long message must not hold its memory for as long as the connection lives.
        if input.len() < CHUNK && input.capacity() > 4 * CHUNK {
            input.shrink_to(CHUNK);
        }
        Ok(answered)
    }

    /// Answers whole messages until the output is full, or until one takes longer than this task may wait.
    fn answer_some(&self, peer: SocketAddr, input: &[u8], output: &mut Vec<u8>) -> Progress {
        let mut bridge: Option<Bridge> = None;
        let mut reply = Vec::new();
        let (mut taken, mut answers, mut left) = (0, 0, None);
        let context = self.messages.context();
        let snapshot = context.cell.load();
        let now = unix_now();
        while let Some((message, length)) = frame(input.get(taken..).unwrap_or_default()) {
            if output.len() >= OUTPUT {
                break;
            }
            let bridge = bridge.get_or_insert_with(|| context.lend(self.messages.transport()));
            let handled = bridge.answer(self.messages.slot(), &snapshot, now, message, peer, &mut reply);
            if let Handled::Left(service) = handled {
                left = Some(service);
                break;
            }
            answers += add(output, &reply);
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
