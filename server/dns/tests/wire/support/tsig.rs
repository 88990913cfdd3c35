//! Signed messages, put together and taken apart by another hand than the server's.

use super::ask::wire;
use ring::hmac;
use std::time::{SystemTime, UNIX_EPOCH};

/// A shared key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    pub secret: &'static [u8],
    /// Bits of the hash.
    pub bits: u16,
}

/// What a TSIG record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub name: Vec<u8>,
    pub algorithm: Vec<u8>,
    pub time: u64,
    pub fudge: u16,
    pub mac: Vec<u8>,
    pub original_id: u16,
    pub error: u16,
    pub other: Vec<u8>,
}

pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

impl Key {
    fn hmac(&self, parts: &[&[u8]]) -> Vec<u8> {
        let algorithm = match self.bits {
            256 => hmac::HMAC_SHA256,
            384 => hmac::HMAC_SHA384,
            _ => hmac::HMAC_SHA512,
        };
        hmac::sign(&hmac::Key::new(algorithm, self.secret), &parts.concat())
            .as_ref()
            .to_vec()
    }

    pub fn algorithm(&self) -> Vec<u8> {
        wire(&format!("hmac-sha{}.", self.bits))
    }

    /// The record that signs a message at a time.
    pub fn record(&self, message: &[u8], time: u64) -> Record {
        let mut record = Record {
            name: wire(self.name),
            algorithm: self.algorithm(),
            time,
            fudge: 300,
            mac: Vec::new(),
            original_id: u16::from_be_bytes([message[0], message[1]]),
            error: 0,
            other: Vec::new(),
        };
        record.mac = self.hmac(&[message, &record.variables()]);
        record
    }

    /// A signed message, and its MAC.
    pub fn sign(&self, message: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let record = self.record(message, now());
        (record.append(message), record.mac)
    }

    /// Takes a reply apart and checks its signature; `prior` is the MAC of the message before, `first` whether that was
    /// the query.
    pub fn open(&self, reply: &[u8], prior: &[u8], first: bool) -> (Vec<u8>, Record) {
        let (message, record) = split(reply);
        let record = record.unwrap_or_else(|| panic!("a signed reply: {reply:02x?}"));
        let length = u16::try_from(prior.len()).unwrap().to_be_bytes();
        let signed = if first {
            record.variables()
        } else {
            record.timers()
        };
        let expected = self.hmac(&[&length, prior, &message, &signed]);
        assert_eq!(record.mac, expected, "the signature of {record:?}");
        assert_eq!(record.name, wire(self.name));
        (message, record)
    }
}

impl Record {
    fn timers(&self) -> Vec<u8> {
        [&self.time.to_be_bytes()[2..], &self.fudge.to_be_bytes()].concat()
    }

    fn variables(&self) -> Vec<u8> {
        let other = u16::try_from(self.other.len()).unwrap().to_be_bytes();
        [
            &self.name.to_ascii_lowercase()[..],
            &[0, 255, 0, 0, 0, 0],
            &self.algorithm,
            &self.timers(),
            &self.error.to_be_bytes(),
            &other,
            &self.other,
        ]
        .concat()
    }

    /// The message with this record behind it.
    pub fn append(&self, message: &[u8]) -> Vec<u8> {
        let size = |octets: &[u8]| u16::try_from(octets.len()).unwrap().to_be_bytes();
        let rdata = [
            &self.algorithm[..],
            &self.timers(),
            &size(&self.mac),
            &self.mac,
            &self.original_id.to_be_bytes(),
            &self.error.to_be_bytes(),
            &size(&self.other),
            &self.other,
        ]
        .concat();
        let mut out = [
            message,
            &self.name,
            &[0, 250, 0, 255, 0, 0, 0, 0],
            &size(&rdata),
            &rdata,
        ]
        .concat();
        out[11] += 1;
        out
    }
}

fn skip_name(raw: &[u8], mut at: usize) -> usize {
    loop {
        match raw[at] {
            0 => return at + 1,
            pointer if pointer >= 0xc0 => return at + 2,
            length => at += 1 + usize::from(length),
        }
    }
}

/// A message without its TSIG record, and that.
pub fn split(raw: &[u8]) -> (Vec<u8>, Option<Record>) {
    let u16_at = |at: usize| u16::from_be_bytes([raw[at], raw[at + 1]]);
    let mut at = (0..u16_at(4)).fold(12, |at, _| skip_name(raw, at) + 4);
    let mut last = at;
    for _ in 0..u16_at(6) + u16_at(8) + u16_at(10) {
        last = at;
        at = skip_name(raw, at);
        at += 10 + usize::from(u16_at(at + 8));
    }
    assert_eq!(at, raw.len(), "no octets behind the last record");
    if at == last {
        return (raw.to_vec(), None);
    }
    let end = skip_name(raw, last);
    if u16_at(end) != 250 {
        return (raw.to_vec(), None);
    }
    assert_eq!(raw[end + 2..end + 8], [0, 255, 0, 0, 0, 0]);
    let algorithm = end + 10;
    let rest = skip_name(raw, algorithm);
    let mac = rest + 10 + usize::from(u16_at(rest + 8));
    let high = u64::from(u16_at(rest)) << 32;
    let record = Record {
        name: raw[last..end].to_vec(),
        algorithm: raw[algorithm..rest].to_vec(),
        time: high | u64::from(u16_at(rest + 2)) << 16 | u64::from(u16_at(rest + 4)),
        fudge: u16_at(rest + 6),
        mac: raw[rest + 10..mac].to_vec(),
        original_id: u16_at(mac),
        error: u16_at(mac + 2),
        other: raw[mac + 6..].to_vec(),
    };
    assert_eq!(usize::from(u16_at(mac + 4)), record.other.len());
    let mut message = raw[..last].to_vec();
    message[11] -= 1;
    (message, Some(record))
}
