//! The fast path: a query in its plainest form is answered inside its own buffer.
//!
//! Nearly every datagram is the same: one question for an address, at most an OPT record behind it, and the answer is
//! one address. Such a message is read in one pass, and the reply grows behind the question that stays where it is.
//! Whatever is not of this form, or gets another reply than addresses, goes the way of all messages. Only reading and
//! writing differ; the decision is made by the same code, and a test compares the octets of both ways.

use crate::decide::Addresses;
use crate::wire::{EdnsQuery, HEADER, MAX_NAME, PLAIN_PAYLOAD, ReplyEdns, code, flag};
use std::net::IpAddr;

/// A question for addresses, with at most an OPT record behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain {
    /// Octets of the name.
    name_length: usize,
    /// A or AAAA.
    pub(crate) qtype: u16,
    /// OPT, if there was one.
    pub(crate) edns: Option<EdnsQuery>,
    /// Offset behind the question.
    question_end: usize,
}

impl Plain {
    /// Reads a message; `None`: it is not of this form, and may be anything. The name goes into `room`, in lower
    /// case.
    #[inline]
    pub(crate) fn read(message: &[u8], room: &mut [u8; MAX_NAME]) -> Option<Self> {
        let header: &[u8; HEADER] = message.first_chunk()?;
        let [_, _, high, _, counts @ ..] = header;
        // A query of opcode QUERY. One question, no record but an OPT.
        let [0, 1, 0, 0, 0, 0, 0, additionals @ (0 | 1)] = counts else {
            return None;
        };
        if high & 0xf8 != 0 {
            return None;
        }
        let mut at = HEADER;
        loop {
            let size = *message.get(at)?;
            at += 1;
            match size {
                0 => break,
                1..64 => at += usize::from(size),
                _ => return None,
            }
        }
        let asked = message.get(HEADER..at)?;
        let name = room.get_mut(..asked.len())?;
        fold_case(asked, name);
        let rest = message.get(at..)?;
        let ([0, kind @ (1 | 28), 0, 1], rest) = rest.split_first_chunk()? else {
            return None;
        };
        at += 4;
        let edns = match (additionals, rest.is_empty()) {
            (0, true) => None,
            // Octets behind the message change nothing, but are rare.
            (0, false) => return None,
            _ => Some(read_opt(rest, at)?),
        };
        Some(Self {
            name_length: asked.len(),
            qtype: u16::from(*kind),
            edns,
            question_end: at,
        })
    }

    /// The question, whose name is in `room`.
    #[inline]
    pub(crate) fn question<'q>(&'q self, room: &'q [u8; MAX_NAME]) -> Addresses<'q> {
        Addresses {
            name: room.get(..self.name_length).unwrap_or_default(),
            qtype: self.qtype,
            edns: self.edns.as_ref(),
        }
    }

    /// Writes the reply with these addresses over the message in `buffer`, and returns its length. `None`: it does not
    /// fit into `most` octets or what the client can take, or there is something to say that is rare; the message is as it was.
    #[inline]
    pub(crate) fn reply(
        &self,
        buffer: &mut [u8],
        most: u16,
        ttl: u32,
        addresses: &[IpAddr],
        edns: Option<&ReplyEdns<'_>>,
    ) -> Option<usize> {
        let record = if self.qtype == code::A { 16 } else { 28 };
        let records_end = self.question_end + record * addresses.len();
        let length = records_end + edns.map_or(0, ReplyEdns::len);
        let limit = self.edns.map_or(PLAIN_PAYLOAD, |edns| edns.payload.min(most));
        if length > usize::from(limit) || edns.is_some_and(|edns| !edns.is_short()) {
            return None;
        }
        let reply = buffer.get_mut(..length)?;
        let [_, _, flags_high, flags_low, counts @ ..] = reply.first_chunk_mut::<HEADER>()?;
        // Of the query's flags RD comes back, nothing else.
        let [rd, _] = flag::RD.to_be_bytes();
        let [set, _] = (flag::QR | flag::AA).to_be_bytes();
        *flags_high = set | *flags_high & rd;
        *flags_low = 0;
        let [high, low] = u16::try_from(addresses.len()).ok()?.to_be_bytes();
        *counts = [0, 1, high, low, 0, 0, 0, u8::from(edns.is_some())];
        let mut rest = reply.get_mut(self.question_end..)?;
        let [t0, t1, t2, t3] = ttl.to_be_bytes();
        for address in addresses {
            match address {
                IpAddr::V4(v4) => {
                    let (to, after) = rest.split_first_chunk_mut::<16>()?;
                    let [a, b, c, d] = v4.octets();
                    *to = [0xc0, 12, 0, 1, 0, 1, t0, t1, t2, t3, 0, 4, a, b, c, d];
                    rest = after;
                }
                IpAddr::V6(v6) => {
                    let (to, after) = rest.split_first_chunk_mut::<12>()?;
                    *to = [0xc0, 12, 0, 28, 0, 1, t0, t1, t2, t3, 0, 16];
                    let (to, after) = after.split_first_chunk_mut::<16>()?;
                    *to = v6.octets();
                    rest = after;
                }
            }
        }
        if let Some(edns) = edns {
            edns.write_short(rest)?;
        }
        Some(length)
    }
}

/// Writes a name in lower case to `to`, which has its length. Lengths of labels are no letters, so that all octets are
/// folded alike: eight at a time, and the last eight once more, where they overlap.
#[inline]
fn fold_case(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
        *to = fold_eight(*from);
    }
    if let (Some(from), Some(to)) = (from.last_chunk(), to.last_chunk_mut()) {
        *to = fold_eight(*from);
    } else {
        for (to, from) in to.iter_mut().zip(from) {
            *to = from.to_ascii_lowercase();
        }
    }
}

/// Eight octets, their letters A to Z in lower case.
#[inline]
fn fold_eight(octets: [u8; 8]) -> [u8; 8] {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const TOP: u64 = 0x80 * EACH;
    let octets = u64::from_ne_bytes(octets);
    // No sum of seven bits and these carries into the next octet; the top bit says which side of the letter it is on.
    let low = octets & !TOP;
    let from_a = low + (0x80 - 0x41) * EACH;
    let past_z = low + (0x80 - 0x5b) * EACH;
    let capital = from_a & !past_z & !octets & TOP;
    // The bit that makes it small is two places below the top.
    (octets | capital >> 2).to_ne_bytes()
}

/// Reads an OPT record that is all of `rest`, which is at `offset` in the message.
#[inline]
fn read_opt(rest: &[u8], offset: usize) -> Option<EdnsQuery> {
    let ([0, 0, 41, p0, p1, t0, t1, t2, t3, l0, l1], options) = rest.split_first_chunk::<11>()? else {
        return None;
    };
    let payload = u16::from_be_bytes([*p0, *p1]);
    let mut edns = EdnsQuery::new(payload, u32::from_be_bytes([*t0, *t1, *t2, *t3]));
    let whole = options.len() == usize::from(u16::from_be_bytes([*l0, *l1]));
    if !whole || edns.version != 0 {
        return None;
    }
    edns.read_options(options, offset + 11)?;
    Some(edns)
}
