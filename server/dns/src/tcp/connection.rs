//! One connection: messages with a length in front (RFC 1035 §4.2.2), pipelined (RFC 7766 §6.2.1.1).
//!
//! Queries are answered as they are read, one by one, by one task. Answers collect in a buffer while whole queries are
//! there: a pipeline of a hundred queries is one write. No answer waits for anything but the processor, unless the query
//! needs a script that takes milliseconds: then a thread that may wait takes it, and the connection goes on when it is
//! done.

use super::TcpService;
use crate::bridge::{Bridge, Context, Handled, Slow, unix_now};
use crate::slow::Job;
use crate::stats::{Slot, Transport};
use gslb_engine::model::ServiceId;
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{timeout, timeout_at};

/// Octets read at a time.
const CHUNK: usize = 4096;
/// Octets of answers after which they are written, before more queries are answered: a client that does not read gets no
/// more work done for it.
const OUTPUT: usize = 64 * 1024;

impl TcpService {
    /// Serves a connection until the client closes it, it idles too long, or the server stops.
    pub(super) async fn serve(&self, mut stream: TcpStream, peer: SocketAddr) {
        // Errors of one connection are the client's affair: it has gone away.
        let _ = self.converse(&mut stream, peer).await;
        let _ = stream.shutdown().await;
    }

    async fn converse(&self, stream: &mut TcpStream, peer: SocketAddr) -> io::Result<()> {
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
        stream: &mut TcpStream,
        peer: SocketAddr,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> io::Result<()> {
        // The runtime's own attempt to read looks at what its last poll told it, which may be older than a query that lies
        // in the socket: the socket itself is asked, through a second handle. It does not block, as its first one does not.
        let socket = std::net::TcpStream::from(stream.as_fd().try_clone_to_owned()?);
        let mut chunk = [0; CHUNK];
        loop {
            match (&socket).read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    input.extend_from_slice(chunk.get(..count).unwrap_or_default());
                    self.answer_all(stream, peer, input, output).await?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Answers all whole messages of `input` and removes them. Returns whether there was an answer.
    async fn answer_all(
        &self,
        stream: &mut TcpStream,
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
                answers += self.answer_slowly(service, message.to_vec(), peer, output).await;
                taken += length;
            }
            done += taken;
            if !output.is_empty() {
                timeout(self.idle, stream.write_all(output)).await??;
                output.clear();
                self.slot.latency(answers, begin.elapsed());
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
        let snapshot = self.context.cell.load();
        let now = unix_now();
        while let Some((message, length)) = frame(input.get(taken..).unwrap_or_default()) {
            if output.len() >= OUTPUT {
                break;
            }
            let bridge = bridge.get_or_insert_with(|| self.context.lend(Transport::Tcp));
            let handled = bridge.answer(&self.slot, &snapshot, now, message, peer, &mut reply);
            if let Handled::Left(service) = handled {
                left = Some(service);
                break;
            }
            answers += add(output, &reply);
            taken += length;
        }
        if let Some(bridge) = bridge {
            self.context.give_back(bridge);
        }
        Progress { taken, answers, left }
    }

    /// Answers a message that was left, by a thread that may wait. Returns the number of answers.
    async fn answer_slowly(
        &self,
        service: ServiceId,
        message: Vec<u8>,
        peer: SocketAddr,
        output: &mut Vec<u8>,
    ) -> u64 {
        let (done, reply) = oneshot::channel();
        let left = Left {
            message: message.clone(),
            peer,
            done,
        };
        let reply = if self.slow.push(service, Box::new(left)) {
            // Nothing comes back from a defect.
            reply.await.unwrap_or_default()
        } else {
            finish(&self.context, &self.slot, &message, peer, Slow::Skip)
        };
        add(output, &reply)
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

/// A message for a thread that may wait.
struct Left {
    message: Vec<u8>,
    peer: SocketAddr,
    done: oneshot::Sender<Vec<u8>>,
}

impl Job for Left {
    fn work(self: Box<Self>, context: &Context, slot: &Slot) {
        let reply = finish(context, slot, &self.message, self.peer, Slow::Wait);
        // The connection may have been closed meanwhile.
        let _ = self.done.send(reply);
    }
}

fn finish(context: &Context, slot: &Slot, message: &[u8], peer: SocketAddr, slow: Slow) -> Vec<u8> {
    let mut reply = Vec::new();
    let mut bridge = context.lend(Transport::Tcp);
    bridge.finish(
        slot,
        &context.cell.load(),
        unix_now(),
        message,
        peer,
        slow,
        &mut reply,
    );
    context.give_back(bridge);
    reply
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
