//! Writes records with compressed names (RFC 1035 §4.1.4).

use crate::wire::code;
use gslb_engine::snapshot::{CompiledSet, ZoneRecord};

/// Most places that names can point to: more would cost time for little.
const MAX_PLACES: usize = 64;
/// Pointers have 14 bits.
const MAX_OFFSET: usize = 0x3fff;
/// Most pointers that one name of a message is followed through.
const MAX_JUMPS: u8 = 128;

/// Appends to a message.
#[derive(Debug)]
pub(crate) struct Writer<'o> {
    out: &'o mut Vec<u8>,
    /// Where labels begin that other names can point to.
    places: [u16; MAX_PLACES],
    used: usize,
}

/// The name at the front of `wire` without its first label; nothing behind the root.
fn shorter(wire: &[u8]) -> &[u8] {
    let length = wire.first().map_or(0, |length| usize::from(*length));
    wire.get(length + 1..).unwrap_or_default()
}

impl<'o> Writer<'o> {
    /// Behind a question whose name begins at `question`; its labels can be pointed to.
    pub(crate) fn new(out: &'o mut Vec<u8>, question: usize) -> Self {
        let mut writer = Self {
            out,
            places: [0; MAX_PLACES],
            used: 0,
        };
        let mut at = question;
        while let Some(length) = writer.out.get(at).copied().filter(|length| *length > 0) {
            writer.remember(at);
            at += 1 + usize::from(length);
        }
        writer
    }

    /// The message.
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }

    fn remember(&mut self, at: usize) {
        if let (Ok(offset), Some(place)) = (u16::try_from(at), self.places.get_mut(self.used))
            && at <= MAX_OFFSET
        {
            *place = offset;
            self.used += 1;
        }
    }

    /// Whether the name at an offset of the message is this one, whatever the case of its letters.
    fn is_at(&self, mut at: usize, mut name: &[u8]) -> bool {
        let mut jumps = 0;
        loop {
            let Some(length) = self.out.get(at).copied() else {
                return false;
            };
            if length >= 0xc0 {
                let Some(low) = self.out.get(at + 1).copied().filter(|_| jumps < MAX_JUMPS) else {
                    return false;
                };
                at = usize::from(u16::from_be_bytes([length & 0x3f, low]));
                jumps += 1;
                continue;
            }
            let end = 1 + usize::from(length);
            let (Some(there), Some(label)) = (self.out.get(at..at + end), name.get(..end)) else {
                return false;
            };
            // Octets that count are no letters.
            if !there.eq_ignore_ascii_case(label) {
                return false;
            }
            if length == 0 {
                return true;
            }
            at += end;
            name = name.get(end..).unwrap_or_default();
        }
    }

    /// Where a name is in the message already.
    fn find(&self, name: &[u8]) -> Option<u16> {
        let places = self.places.get(..self.used)?;
        places.iter().copied().find(|at| self.is_at((*at).into(), name))
    }

    /// Writes a name, as far as it is new.
    fn name(&mut self, name: &[u8]) {
        let mut rest = name;
        while let Some(length) = rest.first().copied().filter(|length| *length > 0) {
            if let Some(at) = self.find(rest) {
                self.out.extend_from_slice(&(0xc000 | at).to_be_bytes());
                return;
            }
            self.remember(self.out.len());
            self.out
                .extend_from_slice(rest.get(..=usize::from(length)).unwrap_or_default());
            rest = shorter(rest);
        }
        self.out.push(0);
    }

    /// Writes an owner name into `owner`: a pointer when the name is in the message already.
    pub(crate) fn pointer(&mut self, name: &[u8], owner: &mut Vec<u8>) {
        match self.find(name) {
            Some(at) => owner.extend_from_slice(&(0xc000 | at).to_be_bytes()),
            None => owner.extend_from_slice(name),
        }
    }

    /// Writes one record. `data` is uncompressed.
    pub(crate) fn record(&mut self, owner: &[u8], rtype: u16, ttl: u32, data: &[u8]) {
        self.name(owner);
        self.out.extend_from_slice(&rtype.to_be_bytes());
        self.out.extend_from_slice(&code::CLASS_IN.to_be_bytes());
        self.out.extend_from_slice(&ttl.to_be_bytes());
        let at = self.out.len();
        self.out.extend_from_slice(&[0, 0]);
        self.data(rtype, data);
        // Stored data is at most 65,535 octets long, and compression makes it shorter.
        let length = u16::try_from(self.out.len() - at - 2).unwrap_or(u16::MAX);
        for (to, from) in self.out.iter_mut().skip(at).zip(length.to_be_bytes()) {
            *to = from;
        }
    }

    /// Writes one record unless the message would be longer than `room`. False when it was not written.
    pub(crate) fn record_within(&mut self, record: &ZoneRecord, room: usize) -> bool {
        let before = (self.out.len(), self.used);
        self.record(&record.owner, record.rtype, record.ttl, record.data.as_wire());
        let fits = self.out.len() <= room;
        if !fits {
            self.out.truncate(before.0);
            self.used = before.1;
        }
        fits
    }

    /// Compresses the names in data of the types of RFC 1035, whose form everybody knows (RFC 3597 §4).
    fn data(&mut self, rtype: u16, data: &[u8]) {
        let (before, names) = match rtype {
            code::NS | code::CNAME | code::PTR => (0, 1),
            code::MX => (2, 1),
            code::SOA => (0, 2),
            _ => (data.len(), 0),
        };
        let (head, mut rest) = data.split_at_checked(before).unwrap_or((data, &[]));
        self.out.extend_from_slice(head);
        for _ in 0..names {
            self.name(rest);
            while rest.first().is_some_and(|length| *length > 0) {
                rest = shorter(rest);
            }
            rest = rest.get(1..).unwrap_or_default();
        }
        self.out.extend_from_slice(rest);
    }

    /// Writes a set. Returns the number of its records.
    pub(crate) fn set(&mut self, owner: &[u8], set: &CompiledSet) -> u16 {
        let mut count = 0;
        for data in &set.data {
            self.record(owner, set.rtype, set.ttl, data.as_wire());
            count += 1;
        }
        count
    }

    /// Writes a set unless the message would be longer than `room`.
    pub(crate) fn set_within(&mut self, owner: &[u8], set: &CompiledSet, room: usize) -> u16 {
        let before = (self.out.len(), self.used);
        let count = self.set(owner, set);
        if self.out.len() <= room {
            return count;
        }
        self.out.truncate(before.0);
        self.used = before.1;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message with a question for this name and nothing else.
    fn question(name: &[u8]) -> Vec<u8> {
        let mut out = vec![0; 12];
        out.extend_from_slice(name);
        out.extend_from_slice(&[0, 1, 0, 1]);
        out
    }

    #[test]
    fn names_point_to_the_question_whatever_its_case() {
        let mut out = question(b"\x03wWw\x04TeSt\0");
        let mut writer = Writer::new(&mut out, 12);
        writer.record(b"\x03www\x04test\0", code::CNAME, 5, b"\x01a\x04test\0");
        writer.record(b"\x01a\x04test\0", code::MX, 5, b"\0\x0a\x04mail\x01a\x04test\0");
        writer.record(b"\0", code::SOA, 5, b"\x04test\0\x01a\x04test\0abcd");
        writer.record(b"\x04test\0", code::SRV, 5, b"\0\0\0\0\0\0\x04test\0");
        let expected = [
            &b"\xc0\x0c\0\x05\0\x01\0\0\0\x05\0\x04\x01a\xc0\x10"[..],
            b"\xc0\x26\0\x0f\0\x01\0\0\0\x05\0\x09\0\x0a\x04mail\xc0\x26",
            b"\0\0\x06\0\x01\0\0\0\x05\0\x08\xc0\x10\xc0\x26abcd",
            b"\xc0\x10\0\x21\0\x01\0\0\0\x05\0\x0c\0\0\0\0\0\0\x04test\0",
        ];
        assert_eq!(out[26..], expected.concat());
    }

    #[test]
    fn many_names_stay_within_the_table() {
        let mut out = question(b"\x04test\0");
        let mut writer = Writer::new(&mut out, 12);
        for n in 0..2000 {
            let mut data = format!("\x04{n:04}\x04test").into_bytes();
            data.push(0);
            writer.record(b"\x04test\0", code::NS, 5, &data);
        }
        assert_eq!(writer.used, MAX_PLACES);
        assert!(out.len() > MAX_OFFSET);
        assert_eq!(out[out.len() - 7..], *b"\x041999\xc0\x0c");
    }
}
