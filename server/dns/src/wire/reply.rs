//! Parts of a reply that are written by hand: replies that are only a response code, and the OPT record.

use super::edns::{OPTION_CLIENT_SUBNET, OPTION_COOKIE, OPTION_EDE, OPTION_NSID};
use super::{ClientSubnetOption, Extras, MAX_PAYLOAD, code, flag};
use crate::cookie::{CookieOption, WholeCookie};

/// A reply that consists of a response code: header, question, OPT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ErrorReply<'p> {
    /// Id of the query.
    pub(crate) id: u16,
    /// Flags of the query.
    pub(crate) flags: u16,
    /// Response code, extended ones included.
    pub(crate) rcode: u16,
    /// The question, if it could be read.
    pub(crate) question: &'p [u8],
    /// Whether the query had an OPT record.
    pub(crate) edns: bool,
    /// Its client subnet, if that could be read: it comes back with scope 0 (RFC 7871 §7.2.1, §7.2.2).
    pub(crate) subnet: Option<ClientSubnetOption>,
    /// Its cookie, if that could be read: a fresh one of ours goes back with it.
    pub(crate) cookie: Option<CookieOption>,
    /// What is to be added when it is written.
    pub(crate) extras: Extras,
    /// Says that the true reply has to be asked for over TCP.
    pub(crate) truncated: bool,
    /// Where in the query its TSIG record is, if there is one.
    pub(crate) tsig: Option<usize>,
}

impl<'p> ErrorReply<'p> {
    pub(super) const fn new(id: u16, flags: u16, rcode: u16) -> Self {
        Self {
            id,
            flags,
            rcode,
            question: &[],
            edns: false,
            subnet: None,
            cookie: None,
            extras: Extras::NONE,
            truncated: false,
            tsig: None,
        }
    }

    /// Writes the message over `out`, with this cookie.
    pub(crate) fn write(&self, cookie: Option<WholeCookie>, out: &mut Vec<u8>) {
        // Of the query's flags the opcode and RD come back, nothing else: not AD, CD or Z.
        let mut flags = flag::QR | self.flags & (flag::OPCODE | flag::RD) | self.rcode & 0xf;
        if self.truncated {
            flags |= flag::TC;
        }
        out.clear();
        for field in [
            self.id,
            flags,
            u16::from(!self.question.is_empty()),
            0,
            0,
            u16::from(self.edns),
        ] {
            out.extend_from_slice(&field.to_be_bytes());
        }
        out.extend_from_slice(self.question);
        if self.edns {
            let edns = ReplyEdns {
                subnet: self.subnet.map(|subnet| (subnet, 0)),
                cookie,
                ..ReplyEdns::default()
            };
            edns.write(self.rcode, out);
        }
    }
}

/// Extended DNS errors (RFC 8914). No registered code says what most of these say, so that they go out as 0, "Other Error",
/// with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ede {
    /// No member can answer and there is no fallback.
    AllMembersDown,
    /// The fallback answers.
    FallbackUsed,
    /// Fewer healthy members than the pool's minimum.
    BelowMinHealthy,
    /// The chain needs a licence that is not there: round-robin answers.
    Unlicensed,
    /// A script of the chain failed, and its step kept all candidates.
    ScriptFailedOpen,
    /// Nothing can have the type asked for (RFC 9824 §3.5).
    InvalidQueryType,
    /// The type stands for something to be done, and this server does not do it.
    MetaType,
    /// The zone is not for whoever wants to transfer it.
    NotAPeer,
    /// The zone is signed while it answers: what is transferred could not be signed.
    SignedOnline,
    /// A zone goes over a stream.
    TransferOverStream,
    /// As many transfers are on their way as may be.
    TooManyTransfers,
}

impl Ede {
    /// INFO-CODE.
    pub(crate) const fn info_code(self) -> u16 {
        match self {
            Self::InvalidQueryType => 30,
            // Prohibited (RFC 8914 §4.19).
            Self::NotAPeer | Self::SignedOnline => 18,
            // Not Supported (RFC 8914 §4.22).
            Self::TransferOverStream | Self::MetaType => 21,
            _ => 0,
        }
    }

    /// EXTRA-TEXT.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::AllMembersDown => "all members down",
            Self::FallbackUsed => "fallback used",
            Self::BelowMinHealthy => "below minHealthy",
            Self::Unlicensed => "licence fallback: round-robin",
            Self::ScriptFailedOpen => "script failed open",
            Self::InvalidQueryType => "NXNAME cannot be asked for",
            Self::MetaType => "this type is none of data",
            Self::NotAPeer => "not a peer of this zone",
            Self::SignedOnline => "the zone is signed online",
            Self::TransferOverStream => "transfers go over TCP, TLS or QUIC",
            Self::TooManyTransfers => "too many transfers",
        }
    }
}

/// Octets of an OPT record before its options: root name, type, class, TTL, length.
const FIXED: usize = 11;

/// The OPT record of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReplyEdns<'a> {
    /// DO of the query (RFC 3225 §3).
    pub(crate) dnssec_ok: bool,
    /// CO of the query (RFC 9824 §5.1).
    pub(crate) compact_ok: bool,
    /// The query's client subnet and the scope of the answer.
    pub(crate) subnet: Option<(ClientSubnetOption, u8)>,
    /// Extended errors.
    pub(crate) ede: [Option<Ede>; 2],
    /// The client's cookie and ours.
    pub(crate) cookie: Option<WholeCookie>,
    /// Server identifier.
    pub(crate) nsid: Option<&'a [u8]>,
}

impl ReplyEdns<'_> {
    /// Calls `option` with code and data of each option, in order.
    pub(crate) fn for_each_option(&self, mut option: impl FnMut(u16, &[&[u8]])) {
        if let Some(nsid) = self.nsid {
            option(OPTION_NSID, &[nsid]);
        }
        if let Some((subnet, scope)) = self.subnet {
            let (octets, length) = subnet.address_octets();
            let lengths = [subnet.subnet.source, scope];
            option(
                OPTION_CLIENT_SUBNET,
                &[
                    &subnet.family.to_be_bytes(),
                    &lengths,
                    octets.get(..length).unwrap_or_default(),
                ],
            );
        }
        if let Some(cookie) = &self.cookie {
            option(OPTION_COOKIE, &[cookie]);
        }
        for ede in self.ede.into_iter().flatten() {
            option(
                OPTION_EDE,
                &[&ede.info_code().to_be_bytes(), ede.text().as_bytes()],
            );
        }
    }

    /// Octets of the record.
    pub(crate) fn len(&self) -> usize {
        let nsid = self.nsid.map_or(0, |nsid| 4 + nsid.len());
        let subnet = self.subnet.map_or(0, |(subnet, _)| 8 + subnet.address_length());
        let cookie = self.cookie.map_or(0, |cookie| 4 + cookie.len());
        let ede = |ede: &Ede| 6 + ede.text().len();
        FIXED + nsid + subnet + cookie + self.ede.iter().flatten().map(ede).sum::<usize>()
    }

    /// Whether it says nothing but what most queries ask for: what [`write_short`](Self::write_short) can write.
    pub(crate) const fn is_short(&self) -> bool {
        self.nsid.is_none() && matches!(self.ede, [None, None])
    }

    /// As [`write`](Self::write) with the code NOERROR, for a record that [is short](Self::is_short), into room of
    /// exactly its length. `None`: it does not fit.
    #[inline]
    pub(crate) fn write_short(&self, room: &mut [u8]) -> Option<()> {
        let (fixed, options) = room.split_first_chunk_mut::<FIXED>()?;
        let [_, code] = code::OPT.to_be_bytes();
        let [p0, p1] = MAX_PAYLOAD.to_be_bytes();
        let [l0, l1] = u16::try_from(options.len()).ok()?.to_be_bytes();
        *fixed = [0, 0, code, p0, p1, 0, 0, self.flags(), 0, l0, l1];
        let mut options = options;
        if let Some((subnet, scope)) = self.subnet {
            let (head, rest) = options.split_first_chunk_mut::<8>()?;
            let [_, code] = OPTION_CLIENT_SUBNET.to_be_bytes();
            let [f0, f1] = subnet.family.to_be_bytes();
            let (octets, length) = subnet.address_octets();
            let size = u8::try_from(4 + length).ok()?;
            *head = [0, code, 0, size, f0, f1, subnet.subnet.source, scope];
            let (address, rest) = rest.split_at_mut_checked(length)?;
            address.copy_from_slice(octets.get(..length)?);
            options = rest;
        }
        if let Some(cookie) = &self.cookie {
            let (head, rest) = options.split_first_chunk_mut::<4>()?;
            let [_, code] = OPTION_COOKIE.to_be_bytes();
            *head = [0, code, 0, u8::try_from(cookie.len()).ok()?];
            *rest.first_chunk_mut()? = *cookie;
        }
        Some(())
    }

    /// The upper octet of the flags: DO and CO.
    const fn flags(&self) -> u8 {
        (self.dnssec_ok as u8) << 7 | (self.compact_ok as u8) << 6
    }

    /// Appends the record. The caller counts it in ARCOUNT.
    pub(crate) fn write(&self, rcode: u16, out: &mut Vec<u8>) {
        let [_, extended] = (rcode >> 4).to_be_bytes();
        out.push(0);
        for field in [code::OPT, MAX_PAYLOAD] {
            out.extend_from_slice(&field.to_be_bytes());
        }
        out.extend_from_slice(&[extended, 0, self.flags(), 0]);
        // Options are short by construction: the identifier is limited when the server starts.
        let size = |length: usize| u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes();
        out.extend_from_slice(&size(self.len() - FIXED));
        self.for_each_option(|option, parts| {
            out.extend_from_slice(&option.to_be_bytes());
            out.extend_from_slice(&size(parts.iter().map(|p| p.len()).sum()));
            for part in parts {
                out.extend_from_slice(part);
            }
        });
    }
}
