//! Signed messages (TSIG, RFC 8945): who asks is checked, and the reply is signed with the same key.

use crate::wire::{HEADER, TsigRecord, code, rcode};
use gslb_engine::model::TsigAlgorithm;
use gslb_engine::snapshot::{Snapshot, TsigKey};
use ring::hmac;
use std::sync::Arc;

/// Errors in the TSIG record (RFC 8945 §3).
pub(crate) mod error {
    pub(crate) const BADSIG: u16 = 16;
    pub(crate) const BADKEY: u16 = 17;
    pub(crate) const BADTIME: u16 = 18;
    pub(crate) const BADTRUNC: u16 = 22;
}

/// Seconds by which clocks may differ from ours (RFC 8945 §10).
const FUDGE: u16 = 300;
/// Shortest MAC that is no malformed one, octets (RFC 8945 §5.2.2.1).
const MIN_MAC: usize = 10;

/// What signs the messages that follow one that was signed.
#[derive(Debug, Clone)]
pub(crate) struct Tsig {
    /// Name of the key, as the other side wrote it but in lower case.
    name: Box<[u8]>,
    algorithm: Box<[u8]>,
    /// Without a key the record tells an error and signs nothing.
    key: Option<Arc<TsigKey>>,
    /// MAC of the message before: the next is signed together with it.
    prior: Vec<u8>,
    /// A message was signed already: those behind it say less.
    continued: bool,
    original_id: u16,
    error: u16,
    /// Time of the query when that was wrong.
    time: Option<u64>,
}

fn hmac_key(key: &TsigKey) -> hmac::Key {
    let algorithm = match key.algorithm {
        TsigAlgorithm::HmacSha256 => hmac::HMAC_SHA256,
        TsigAlgorithm::HmacSha384 => hmac::HMAC_SHA384,
        TsigAlgorithm::HmacSha512 => hmac::HMAC_SHA512,
    };
    hmac::Key::new(algorithm, key.secret())
}

/// Wire form of an algorithm's name.
fn algorithm_name(algorithm: TsigAlgorithm) -> Box<[u8]> {
    let text = algorithm.as_str();
    let length = u8::try_from(text.len()).unwrap_or_default();
    [&[length], text.as_bytes(), &[0]].concat().into()
}

/// Whether two MACs are the same, in a time that does not tell where they differ.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |bits, (a, b)| bits | (a ^ b)) == 0
}

/// 48 bits of a time.
fn time_octets(time: u64) -> [u8; 6] {
    let [_, _, octets @ ..] = time.to_be_bytes();
    octets
}

/// Octets of a length in front of what has it.
fn prefixed(octets: &[u8]) -> Vec<u8> {
    let length = u16::try_from(octets.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes(), octets].concat()
}

/// The variables of a record (RFC 8945 §4.3.3); with `timers` alone those of a message that follows another (§5.3.1).
fn variables(name: &[u8], algorithm: &[u8], timers: ([u8; 6], u16), error: u16, other: &[u8]) -> Vec<u8> {
    let mut octets = name.to_vec();
    octets.extend_from_slice(&code::ANY.to_be_bytes());
    octets.extend_from_slice(&[0; 4]);
    octets.extend_from_slice(algorithm);
    octets.extend_from_slice(&timers.0);
    octets.extend_from_slice(&timers.1.to_be_bytes());
    octets.extend_from_slice(&error.to_be_bytes());
    octets.extend_from_slice(&prefixed(other));
    octets
}

/// The message in front of a TSIG record as it was before that was added.
fn unsigned(record: &TsigRecord<'_>) -> Vec<u8> {
    let mut message = record.before.to_vec();
    if let Some([i0, i1, .., a0, a1]) = message.first_chunk_mut::<HEADER>() {
        [*i0, *i1] = record.original_id.to_be_bytes();
        [*a0, *a1] = u16::from_be_bytes([*a0, *a1]).saturating_sub(1).to_be_bytes();
    }
    message
}

impl Tsig {
    /// Signs a request of ours with a key.
    pub(crate) fn request(key: &Arc<TsigKey>, id: u16) -> Self {
        Self {
            name: key.name.as_wire().into(),
            algorithm: algorithm_name(key.algorithm),
            key: Some(Arc::clone(key)),
            prior: Vec::new(),
            continued: false,
            original_id: id,
            error: 0,
            time: None,
        }
    }

    /// Checks a signed query. What comes back signs the reply, or tells in it what [is wrong](Self::error). `None`: the
    /// record is malformed.
    pub(crate) fn check(message: &[u8], at: usize, snapshot: &Snapshot, now: u64) -> Option<Self> {
        let record = TsigRecord::read(message, at)?;
        let mut tsig = Self {
            name: record.key.as_wire().into(),
            algorithm: record.algorithm.as_wire().into(),
            key: None,
            prior: Vec::new(),
            continued: false,
            original_id: record.original_id,
            error: error::BADKEY,
            time: None,
        };
        let Some(key) = snapshot.tsig_key(record.key.as_wire()) else {
            return Some(tsig);
        };
        let full = key.algorithm.length();
        if *algorithm_name(key.algorithm) != *record.algorithm.as_wire() {
            return Some(tsig);
        }
        if record.mac.len() > full || record.mac.len() < MIN_MAC.max(full / 2) {
            return None;
        }
        let variables = variables(
            record.key.as_wire(),
            record.algorithm.as_wire(),
            (time_octets(record.time), record.fudge),
            record.error,
            record.other,
        );
        let mut context = hmac::Context::with_key(&hmac_key(key));
        context.update(&unsigned(&record));
        context.update(&variables);
        let made = context.sign();
        if !same(
            made.as_ref().get(..record.mac.len()).unwrap_or_default(),
            record.mac,
        ) {
            tsig.error = error::BADSIG;
            return Some(tsig);
        }
        // From here on the other side is known to have the key, and is told with a signature (RFC 8945 §5.3.2).
        tsig.key = Some(Arc::clone(key));
        tsig.prior = record.mac.to_vec();
        tsig.error = if record.time.abs_diff(now) > record.fudge.into() {
            tsig.time = Some(record.time);
            error::BADTIME
        } else if record.mac.len() < full {
            error::BADTRUNC
        } else {
            0
        };
        Some(tsig)
    }

    /// Whether a message is the reply to the request that this has signed.
    pub(crate) fn answers(&self, reply: &[u8], at: usize, now: u64) -> bool {
        let (Some(record), Some(key)) = (TsigRecord::read(reply, at), &self.key) else {
            return false;
        };
        let mut context = hmac::Context::with_key(&hmac_key(key));
        context.update(&prefixed(&self.prior));
        context.update(&unsigned(&record));
        context.update(&variables(
            record.key.as_wire(),
            record.algorithm.as_wire(),
            (time_octets(record.time), record.fudge),
            record.error,
            record.other,
        ));
        *record.key.as_wire() == *self.name
            && *record.algorithm.as_wire() == *self.algorithm
            && same(context.sign().as_ref(), record.mac)
            && record.time.abs_diff(now) <= record.fudge.into()
            && record.error == 0
    }

    /// What is wrong with the query; 0 is nothing.
    pub(crate) fn error(&self) -> u16 {
        self.error
    }

    /// Name of the key that the other side has shown to have.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        (self.error == 0).then_some(&*self.name)
    }

    /// The reply code for what is wrong (RFC 8945 §5.2).
    pub(crate) fn rcode(&self) -> u16 {
        match self.error {
            0 => rcode::NOERROR,
            _ => rcode::NOTAUTH,
        }
    }

    /// Octets of the record.
    pub(crate) fn len(&self) -> usize {
        let mac = self.key.as_ref().map_or(0, |key| key.algorithm.length());
        // Type, class, TTL and length; time, fudge, length of the MAC, id, error, length of the rest, and that.
        self.name.len() + 10 + self.algorithm.len() + 16 + mac + 6
    }

    /// Signs a message: adds the record.
    pub(crate) fn sign(&mut self, now: u64, message: &mut Vec<u8>) {
        let time = time_octets(self.time.unwrap_or(now));
        let ours = time_octets(now);
        let other: &[u8] = if self.error == error::BADTIME { &ours } else { &[] };
        let mac = self.key.as_ref().map(|key| {
            let mut context = hmac::Context::with_key(&hmac_key(key));
            if !self.prior.is_empty() {
                context.update(&prefixed(&self.prior));
            }
            // Whatever id the message has got on its way here (RFC 8945 §4.3.2).
            context.update(&self.original_id.to_be_bytes());
            context.update(message.get(2..).unwrap_or_default());
            if self.continued {
                context.update(&time);
                context.update(&FUDGE.to_be_bytes());
            } else {
                let variables = variables(&self.name, &self.algorithm, (time, FUDGE), self.error, other);
                context.update(&variables);
            }
            context.sign().as_ref().to_vec()
        });
        let mac = mac.unwrap_or_default();
        let rdata = [
            &*self.algorithm,
            &time,
            &FUDGE.to_be_bytes(),
            &prefixed(&mac),
            &self.original_id.to_be_bytes(),
            &self.error.to_be_bytes(),
            &prefixed(other),
        ]
        .concat();
        message.extend_from_slice(&self.name);
        message.extend_from_slice(&code::TSIG.to_be_bytes());
        message.extend_from_slice(&code::ANY.to_be_bytes());
        message.extend_from_slice(&[0; 4]);
        message.extend_from_slice(&prefixed(&rdata));
        if let Some([.., high, low]) = message.first_chunk_mut::<HEADER>() {
            [*high, *low] = (u16::from_be_bytes([*high, *low]).saturating_add(1)).to_be_bytes();
        }
        self.prior = mac;
        self.continued = true;
    }
}
