//! A whole query, or the reason why it is none.

use super::edns::EdnsQuery;
use super::name::{LowerName, skip};
use super::{ErrorReply, HEADER, Reader, code, flag, rcode};
use crate::proxy::is_header;

/// A query that can be answered: opcode QUERY, one question, at most one OPT record of version 0.
#[derive(Clone, Copy)]
pub(crate) struct Query<'p> {
    /// The whole message.
    pub(crate) message: &'p [u8],
    /// Message id.
    pub(crate) id: u16,
    /// Header flags.
    pub(crate) flags: u16,
    /// The question as it came: name, type, class.
    pub(crate) question: &'p [u8],
    /// The name in lower case.
    pub(crate) name: LowerName,
    /// Type asked for.
    pub(crate) qtype: u16,
    /// Class asked for.
    pub(crate) qclass: u16,
    /// OPT, if there was one.
    pub(crate) edns: Option<EdnsQuery>,
    /// Where in the message its TSIG record is, if there is one.
    pub(crate) tsig: Option<usize>,
}

impl Query<'_> {
    /// The serial that whoever asks for an incremental transfer has: that of the SOA in the authority section
    /// (RFC 1995 §3).
    pub(crate) fn known_serial(&self) -> Option<u32> {
        let mut reader = Reader::new(self.message, 6);
        let (answers, authorities) = (reader.u16()?, reader.u16()?);
        if answers != 0 || authorities != 1 {
            return None;
        }
        let mut reader = Reader::new(self.message, HEADER + self.question.len());
        skip(&mut reader)?;
        let (rtype, _class, _ttl, length) = (reader.u16()?, reader.u16()?, reader.u32()?, reader.u16()?);
        let end = reader.at() + usize::from(length);
        if rtype != code::SOA {
            return None;
        }
        skip(&mut reader)?;
        skip(&mut reader)?;
        let serial = reader.u32()?;
        reader.take(16)?;
        (reader.at() == end).then_some(serial)
    }
}

/// Why a message is not answered as a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rejection<'p> {
    /// Say nothing: shorter than a header, or itself a response (answering those would let two servers talk for ever).
    Drop,
    /// Say which rule was broken.
    Answer(ErrorReply<'p>),
}

/// Reads a message.
///
/// # Errors
/// What to do instead of answering: see [`Rejection`].
pub(crate) fn parse(packet: &[u8]) -> Result<Query<'_>, Rejection<'_>> {
    let mut reader = Reader::new(packet, 0);
    let mut field = || reader.u16().ok_or(Rejection::Drop);
    let (id, flags) = (field()?, field()?);
    let (questions, answers, authorities, additionals) = (field()?, field()?, field()?, field()?);
    if flags & flag::QR != 0 {
        return Err(Rejection::Drop);
    }
    let mut error = ErrorReply::new(id, flags, rcode::FORMERR);
    let asked = Question::read(packet, questions);
    if let Some(question) = &asked {
        error.question = question.octets;
    }
    let mut tsig = None;
    let edns = asked.as_ref().map_or(Edns::Broken, |question| {
        let counts = [answers, authorities, additionals];
        Edns::find(packet, question.end, counts, &mut tsig)
    });
    error.tsig = tsig;
    error.edns = edns != Edns::Absent && edns != Edns::Broken;
    if let Edns::Present(edns) = &edns {
        error.subnet = edns.subnet;
        error.cookie = edns.cookie;
        error.extras = edns.extras;
    }
    if flags & flag::OPCODE != 0 {
        // Other opcodes may put other things where a query has its question: what could be read is echoed.
        return Err(Rejection::Answer(ErrorReply {
            // The header of a proxy that is not trusted reads like one of them.
            rcode: if is_header(packet) {
                rcode::FORMERR
            } else {
                rcode::NOTIMP
            },
            ..error
        }));
    }
    if questions == 0
        && let Edns::Present(edns) = &edns
        && edns.version == 0
        && edns.cookie.is_some()
    {
        // A cookie is asked for and nothing else (RFC 7873 §5.4).
        return Err(Rejection::Answer(ErrorReply {
            rcode: rcode::NOERROR,
            ..error
        }));
    }
    let (Some(question), Some(name)) = (asked, asked.and_then(|q| q.name)) else {
        return Err(Rejection::Answer(error));
    };
    let edns = match edns {
        Edns::Absent => None,
        Edns::Present(edns) if edns.version != 0 => {
            return Err(Rejection::Answer(ErrorReply {
                rcode: rcode::BADVERS,
                ..error
            }));
        }
        Edns::Present(edns) => Some(edns),
        Edns::Broken | Edns::Malformed => return Err(Rejection::Answer(error)),
    };
    Ok(Query {
        message: packet,
        tsig,
        id,
        flags,
        question: question.octets,
        name,
        qtype: question.qtype,
        qclass: question.qclass,
        edns,
    })
}

/// The question section.
#[derive(Clone, Copy)]
struct Question<'p> {
    /// The name, if there is exactly one question.
    name: Option<LowerName>,
    qtype: u16,
    qclass: u16,
    /// What a reply echoes: the section if it holds exactly one question, else nothing.
    octets: &'p [u8],
    /// Offset of the next section.
    end: usize,
}

impl<'p> Question<'p> {
    fn read(packet: &'p [u8], count: u16) -> Option<Self> {
        let mut reader = Reader::new(packet, HEADER);
        let mut question = Self {
            name: None,
            qtype: 0,
            qclass: 0,
            octets: &[],
            end: HEADER,
        };
        // Only one question can be answered (RFC 9619 §4), but the OPT record behind others is still looked for. Each
        // question takes at least 5 octets, so that the loop ends with the message, whatever the count says.
        for _ in 0..count {
            question.name = Some(LowerName::read(&mut reader)?);
            question.qtype = reader.u16()?;
            question.qclass = reader.u16()?;
        }
        question.end = reader.at();
        if count == 1 {
            question.octets = packet.get(HEADER..question.end)?;
        } else {
            question.name = None;
        }
        Some(question)
    }
}

/// What was found where the OPT record belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edns {
    Absent,
    Present(EdnsQuery),
    /// There is an OPT record, but a second one or a malformed option too.
    Malformed,
    /// The sections cannot be walked, or have an OPT record outside of the additional section.
    Broken,
}

impl Edns {
    /// Looks through the records behind the question. `tsig` becomes the offset of the TSIG record, if there is one.
    fn find(packet: &[u8], offset: usize, counts: [u16; 3], tsig: &mut Option<usize>) -> Self {
        Self::walk(packet, offset, counts, tsig).unwrap_or(Self::Broken)
    }

    fn walk(
        packet: &[u8],
        offset: usize,
        [answers, authorities, additionals]: [u16; 3],
        tsig: &mut Option<usize>,
    ) -> Option<Self> {
        let mut reader = Reader::new(packet, offset);
        let mut found = Self::Absent;
        let before = u32::from(answers) + u32::from(authorities);
        let all = before + u32::from(additionals);
        for index in 0..all {
            let start = reader.at();
            let root = skip(&mut reader)?;
            let (rtype, class, ttl, length) = (reader.u16()?, reader.u16()?, reader.u32()?, reader.u16()?);
            let at = reader.at();
            let rdata = match reader.take(length.into()) {
                Some(rdata) => rdata,
                // The length of an OPT record that points past the end still tells that the client speaks EDNS.
                None if rtype == code::OPT && root && index >= before => return Some(Self::Malformed),
                None => return None,
            };
            if rtype == code::TSIG {
                // It signs what is in front of it, and must be the end (RFC 8945 §5.1).
                if index < before || index + 1 != all {
                    return None;
                }
                *tsig = Some(start);
            }
            if rtype != code::OPT {
                continue;
            }
            if index < before || !root {
                return None;
            }
            if found != Self::Absent {
                return Some(Self::Malformed);
            }
            let plain = EdnsQuery::new(class, ttl);
            let mut edns = plain;
            found = if edns.read_options(rdata, at).is_some() {
                Self::Present(edns)
            } else if plain.version != 0 {
                // The options of another version may have another format.
                Self::Present(plain)
            } else {
                Self::Malformed
            };
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests;
