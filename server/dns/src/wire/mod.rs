//! The wire format of a query, read without allocation and without trust.
//!
//! A query is read here before anything else sees it, because the checks that decide about FORMERR, NOTIMP and BADVERS
//! need more than a general parser keeps: the exact octets of a client subnet, a second OPT record, a question that can
//! still be echoed when the rest of the message is broken.

mod added;
mod edns;
mod name;
mod padding;
mod query;
mod reply;
mod tsig;

pub(crate) use added::add_keepalive;
use edns::ClientSubnetOption;
pub(crate) use edns::{EdnsQuery, Extras};
pub(crate) use name::{MAX_NAME, skip};
pub(crate) use padding::pad;
pub(crate) use query::{Query, Rejection, parse};
pub(crate) use reply::{Ede, ErrorReply, ReplyEdns};
pub(crate) use tsig::TsigRecord;

/// Octets of the header (RFC 1035 §4.1.1).
pub(crate) const HEADER: usize = 12;
/// Largest UDP message without EDNS (RFC 1035 §4.2.1), and the smallest payload size that counts (RFC 6891 §6.2.3).
pub(crate) const PLAIN_PAYLOAD: u16 = 512;
/// Payload size that is advertised and never exceeded over UDP: what fits every path without fragments.
pub(crate) const MAX_PAYLOAD: u16 = 1232;

/// Response codes in use, with their extended values (RFC 6895 §2.3).
pub(crate) mod rcode {
    pub(crate) const NOERROR: u16 = 0;
    pub(crate) const FORMERR: u16 = 1;
    pub(crate) const SERVFAIL: u16 = 2;
    pub(crate) const NXDOMAIN: u16 = 3;
    pub(crate) const NOTIMP: u16 = 4;
    pub(crate) const REFUSED: u16 = 5;
    pub(crate) const NOTAUTH: u16 = 9;
    pub(crate) const BADVERS: u16 = 16;
    pub(crate) const BADCOOKIE: u16 = 23;
}

/// Record types and classes that the server treats specially.
pub(crate) mod code {
    pub(crate) const A: u16 = 1;
    pub(crate) const NS: u16 = 2;
    pub(crate) const CNAME: u16 = 5;
    pub(crate) const SOA: u16 = 6;
    pub(crate) const PTR: u16 = 12;
    pub(crate) const HINFO: u16 = 13;
    pub(crate) const MX: u16 = 15;
    pub(crate) const AAAA: u16 = 28;
    pub(crate) const SRV: u16 = 33;
    pub(crate) const OPT: u16 = 41;
    pub(crate) const DS: u16 = 43;
    pub(crate) const RRSIG: u16 = 46;
    pub(crate) const NSEC: u16 = 47;
    pub(crate) const SVCB: u16 = 64;
    pub(crate) const HTTPS: u16 = 65;
    /// Stands for "no such name" in an NSEC record; nothing has it (RFC 9824 §2).
    pub(crate) const NXNAME: u16 = 128;
    pub(crate) const TSIG: u16 = 250;
    pub(crate) const IXFR: u16 = 251;
    pub(crate) const AXFR: u16 = 252;
    pub(crate) const ANY: u16 = 255;
    pub(crate) const CLASS_IN: u16 = 1;

    /// Whether no record can have a type, and this server does nothing else with it: type 0, and the types of transient data
    /// and of questions (RFC 6895 §3.1) that are not implemented, MAILA and MAILB among them.
    pub(crate) const fn is_meta(rtype: u16) -> bool {
        !matches!(rtype, NXNAME | IXFR | AXFR | ANY) && matches!(rtype, 0 | OPT | NXNAME..=ANY)
    }
}

/// Header flags (RFC 1035 §4.1.1; AD and CD by RFC 4035 §3).
pub(crate) mod flag {
    pub(crate) const QR: u16 = 0x8000;
    pub(crate) const OPCODE: u16 = 0x7800;
    pub(crate) const NOTIFY: u16 = 4 << 11;
    pub(crate) const AA: u16 = 0x0400;
    pub(crate) const TC: u16 = 0x0200;
    pub(crate) const RD: u16 = 0x0100;
}

/// Reads octets from the front of a message; every read is checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'p> {
    packet: &'p [u8],
    at: usize,
}

impl<'p> Reader<'p> {
    pub(crate) const fn new(packet: &'p [u8], at: usize) -> Self {
        Self { packet, at }
    }

    /// Offset of the next octet.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        let octet = *self.packet.get(self.at)?;
        self.at += 1;
        Some(octet)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes([self.u8()?, self.u8()?]))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes([
            self.u8()?,
            self.u8()?,
            self.u8()?,
            self.u8()?,
        ]))
    }

    pub(crate) fn take(&mut self, length: usize) -> Option<&'p [u8]> {
        let taken = self.packet.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }
}
