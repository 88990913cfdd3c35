//! Replies: the raw header, and the records as hickory-proto reads them.

use hickory_proto::op::Message;
use hickory_proto::rr::{RData, Record};
use std::net::IpAddr;

/// A reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub raw: Vec<u8>,
    pub message: Message,
    /// OPT: payload, extended response code, version, flags, options.
    pub opt: Option<ReplyOpt>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyOpt {
    pub payload: u16,
    pub extended: u8,
    pub version: u8,
    pub flags: u16,
    pub options: Vec<(u16, Vec<u8>)>,
}

impl Reply {
    pub fn new(raw: Vec<u8>) -> Self {
        let (opt, start) = find_opt(&raw).map_or((None, raw.len()), |(opt, start)| (Some(opt), start));
        // OPT comes last. It is read by hand, because hickory hides some errors in it and sees others where are none.
        let mut rest = raw[..start].to_vec();
        rest[11] -= u8::from(opt.is_some());
        let message = Message::from_vec(&rest).unwrap_or_else(|e| panic!("{e}: {raw:02x?}"));
        Self { raw, message, opt }
    }

    pub fn field(&self, index: usize) -> u16 {
        u16::from_be_bytes([self.raw[2 * index], self.raw[2 * index + 1]])
    }

    pub fn id(&self) -> u16 {
        self.field(0)
    }

    pub fn flags(&self) -> u16 {
        self.field(1)
    }

    /// Response code with its extension.
    pub fn rcode(&self) -> u16 {
        self.flags() & 0xf | u16::from(self.opt.as_ref().map_or(0, |opt| opt.extended)) << 4
    }

    pub fn aa(&self) -> bool {
        self.flags() & 0x0400 != 0
    }

    pub fn tc(&self) -> bool {
        self.flags() & 0x0200 != 0
    }

    /// Octets of the question section.
    pub fn question(&self) -> &[u8] {
        let end = question_end(&self.raw);
        &self.raw[12..end]
    }

    pub fn answers(&self) -> &[Record] {
        &self.message.answers
    }

    pub fn addresses(&self) -> Vec<IpAddr> {
        self.answers()
            .iter()
            .filter_map(|record| record.data.ip_addr())
            .collect()
    }

    /// The one SOA of the authority section: owner, TTL.
    pub fn negative_soa(&self) -> Option<(String, u32)> {
        match &self.message.authorities[..] {
            [soa] if matches!(soa.data, RData::SOA(_)) => Some((soa.name.to_ascii(), soa.ttl)),
            _ => None,
        }
    }

    /// The records of a section as `name type ttl data`, in order.
    fn shown(records: &[Record]) -> Vec<String> {
        records
            .iter()
            .map(|record| {
                let rtype = record.record_type();
                format!(
                    "{} {rtype} {} {}",
                    record.name.to_ascii(),
                    record.ttl,
                    record.data
                )
            })
            .collect()
    }

    pub fn shown_answers(&self) -> Vec<String> {
        Self::shown(&self.message.answers)
    }

    pub fn shown_authorities(&self) -> Vec<String> {
        Self::shown(&self.message.authorities)
    }

    pub fn shown_additionals(&self) -> Vec<String> {
        Self::shown(&self.message.additionals)
    }

    pub fn option(&self, code: u16) -> Option<&[u8]> {
        let options = &self.opt.as_ref()?.options;
        options
            .iter()
            .find(|(c, _)| *c == code)
            .map(|(_, data)| &data[..])
    }

    /// Scope of the echoed client subnet.
    pub fn scope(&self) -> Option<u8> {
        self.option(super::ask::ECS).map(|data| data[3])
    }

    /// Texts of the extended errors.
    pub fn ede(&self) -> Vec<String> {
        let options = self.opt.iter().flat_map(|opt| &opt.options);
        options
            .filter(|(code, _)| *code == super::ask::EDE)
            .map(|(_, data)| {
                // Registered codes speak for themselves.
                assert!([[0, 0], [0, 30]].contains(&[data[0], data[1]]));
                String::from_utf8(data[2..].to_vec()).unwrap()
            })
            .collect()
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

fn question_end(raw: &[u8]) -> usize {
    let count = u16::from_be_bytes([raw[4], raw[5]]);
    (0..count).fold(12, |at, _| skip_name(raw, at) + 4)
}

/// The OPT record and its offset.
fn find_opt(raw: &[u8]) -> Option<(ReplyOpt, usize)> {
    let u16_at = |at: usize| u16::from_be_bytes([raw[at], raw[at + 1]]);
    let mut at = question_end(raw);
    let mut found = None;
    for _ in 0..u16_at(6) + u16_at(8) + u16_at(10) {
        let (start, root) = (at, raw[at] == 0);
        assert!(found.is_none(), "OPT is the last record");
        at = skip_name(raw, at);
        let length = usize::from(u16_at(at + 8));
        if u16_at(at) == super::ask::OPT {
            assert!(root, "OPT belongs to the root");
            let mut options = Vec::new();
            let mut option = at + 10;
            while option < at + 10 + length {
                let size = usize::from(u16_at(option + 2));
                options.push((u16_at(option), raw[option + 4..option + 4 + size].to_vec()));
                option += 4 + size;
            }
            let (payload, extended, version) = (u16_at(at + 2), raw[at + 4], raw[at + 5]);
            found = Some((
                ReplyOpt {
                    payload,
                    extended,
                    version,
                    flags: u16_at(at + 6),
                    options,
                },
                start,
            ));
        }
        at += 10 + length;
    }
    assert_eq!(at, raw.len(), "no octets behind the last record");
    found
}
