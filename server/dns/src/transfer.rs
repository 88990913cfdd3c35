//! Zones as a whole (AXFR, RFC 5936) and what has changed in them (IXFR, RFC 1995), message by message.
//!
//! A transfer is made as its client reads it: it holds one snapshot, some records ahead and nothing else, and each step
//! takes little time, so that other queries of the connection are answered between.

use crate::stats::DnsStats;
use crate::tsig::Tsig;
use crate::wire::{HEADER, Query, ReplyEdns, code, flag};
use crate::writer::Writer;
use gslb_engine::snapshot::{CompiledZone, Difference, Found, Snapshot, ZoneContents, ZoneRecord, is_newer};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Longest message of a stream.
const MAX_MESSAGE: usize = u16::MAX as usize;
/// Parts of the tree of names that one step looks through.
const PARTS: usize = 32;

/// Why a zone is not transferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There is no such zone here.
    NoZone,
    /// Whoever asks is no peer.
    NotAPeer,
    /// The zone is signed here, and the peer would not sign it.
    SignedOnline,
}

/// The zone of a name, if whoever asks may have it. `key` is the name of the key that the query is signed with.
pub(crate) fn authorise<'s>(
    snapshot: &'s Snapshot,
    name: &[u8],
    client: IpAddr,
    key: Option<&[u8]>,
) -> Result<&'s CompiledZone, (Refusal, Option<&'s CompiledZone>)> {
    let zone = match snapshot.find(name) {
        Found::Apex { zone, .. } | Found::Service { zone, .. } if *zone.wire == *name && !zone.synthetic => {
            zone
        }
        _ => return Err((Refusal::NoZone, None)),
    };
    let mut peers = zone.transfer.peers.iter().filter(|peer| peer.is(client, key));
    match (zone.signed.is_some(), peers.next()) {
        (_, None) => Err((Refusal::NotAPeer, Some(zone))),
        (true, Some(peer)) if !peer.signer && !peers.any(|peer| peer.signer) => {
            Err((Refusal::SignedOnline, Some(zone)))
        }
        _ => Ok(zone),
    }
}

/// What is sent.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// The zone as a whole.
    Whole,
    /// What leads from the serial that the client has to the one in force.
    Differences(Vec<Arc<Difference>>),
    /// The SOA alone: there is nothing newer.
    Current,
}

/// What an incremental transfer from a serial is.
pub(crate) fn since(snapshot: &Snapshot, zone: &CompiledZone, serial: u32) -> Body {
    if !is_newer(zone.serial, serial) {
        return Body::Current;
    }
    let differences = zone.id.and_then(|id| snapshot.since(id, serial));
    differences.map_or(Body::Whole, |differences| Body::Differences(differences.to_vec()))
}

/// A transfer that was granted.
#[derive(Debug)]
pub(crate) struct Granted {
    id: u16,
    flags: u16,
    question: Vec<u8>,
    /// The OPT record of each message.
    opt: Vec<u8>,
    tsig: Option<Tsig>,
    zone: gslb_engine::model::ZoneId,
    name: String,
    serial: u32,
    soa: ZoneRecord,
    body: Body,
    permit: Option<OwnedSemaphorePermit>,
}

impl Granted {
    /// Answers this query. `None`: the zone is none that can be transferred.
    pub(crate) fn new(
        query: &Query<'_>,
        edns: Option<&ReplyEdns<'_>>,
        zone: &CompiledZone,
        body: Body,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Option<Self> {
        let mut opt = Vec::new();
        if let Some(edns) = edns {
            edns.write(0, &mut opt);
        }
        Some(Self {
            id: query.id,
            flags: flag::QR | flag::AA | query.flags & flag::RD,
            question: query.question.to_vec(),
            opt,
            tsig: None,
            zone: zone.id?,
            name: zone.name.to_string(),
            serial: zone.serial,
            soa: zone.soa_record()?,
            body,
            permit,
        })
    }

    /// The same with signed messages.
    pub(crate) fn signed(self, tsig: Option<Tsig>) -> Self {
        Self { tsig, ..self }
    }

    /// Begins. `None`: the snapshot is another one than the transfer was granted on.
    pub(crate) fn begin(self, snapshot: &Arc<Snapshot>, stats: &Arc<DnsStats>) -> Option<Transfer> {
        let source = match self.body {
            Body::Whole => Source::Whole(snapshot.contents(self.zone)?),
            Body::Differences(ref list) => Source::Differences(list.clone().into()),
            Body::Current => Source::Nothing,
        };
        let report = Report {
            zone: self.name.clone(),
            serial: self.serial,
            differences: matches!(self.body, Body::Differences(_)),
            signed: self.tsig.is_some(),
            octets: 0,
            messages: 0,
            done: false,
            stats: Arc::clone(stats),
        };
        let mut transfer = Transfer::new(self.head(source), self.tsig, self.permit);
        transfer.report = Some(report);
        Some(transfer)
    }

    /// The whole transfer in one message over UDP, unless it is longer than `limit`. The zone as a whole never is tried.
    pub(crate) fn at_once(&self, limit: usize, out: &mut Vec<u8>) -> bool {
        let source = match &self.body {
            Body::Whole => return false,
            Body::Differences(list) => Source::Differences(list.clone().into()),
            Body::Current => Source::Nothing,
        };
        let mut transfer = Transfer::new(self.head(source), None, None);
        transfer.limit = limit;
        while !transfer.look_ahead() {}
        let Step::Message(message) = transfer.message(0) else {
            return false;
        };
        let whole = transfer.ended && transfer.ahead.is_empty();
        if whole {
            *out = message;
        }
        whole
    }

    fn head(&self, source: Source) -> Head {
        Head {
            id: self.id,
            flags: self.flags,
            question: self.question.clone(),
            opt: self.opt.clone(),
            soa: self.soa.clone(),
            source,
        }
    }
}

#[derive(Debug)]
enum Source {
    Whole(ZoneContents),
    Differences(VecDeque<Arc<Difference>>),
    Nothing,
}

/// What all messages have, and where records come from.
#[derive(Debug)]
struct Head {
    id: u16,
    flags: u16,
    question: Vec<u8>,
    opt: Vec<u8>,
    soa: ZoneRecord,
    source: Source,
}

/// What a step of a transfer brings.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing yet: another step is needed.
    More,
    /// A message.
    Message(Vec<u8>),
    /// All was sent.
    End,
    /// A record is longer than any message: the transfer cannot go on.
    Broken,
}

/// What the log says about a transfer, when it is over.
#[derive(Debug)]
struct Report {
    zone: String,
    serial: u32,
    differences: bool,
    signed: bool,
    /// Of all messages that were made.
    octets: u64,
    messages: u64,
    /// All was sent.
    done: bool,
    stats: Arc<DnsStats>,
}

impl Drop for Report {
    fn drop(&mut self) {
        let Self {
            zone,
            serial,
            differences,
            signed,
            octets,
            messages,
            done,
            stats,
        } = &*self;
        if *done {
            tracing::info!(
                zone,
                serial,
                differences,
                signed,
                octets,
                messages,
                "a zone was transferred"
            );
        } else {
            stats.transfer_broken();
            tracing::warn!(
                zone,
                serial,
                differences,
                signed,
                octets,
                messages,
                "a transfer of a zone was broken off: its connection has ended, or did not take it any more"
            );
        }
    }
}

/// A transfer on its way.
#[derive(Debug)]
pub(crate) struct Transfer {
    head: Head,
    tsig: Option<Tsig>,
    /// Records to be sent.
    ahead: VecDeque<ZoneRecord>,
    /// Their octets without compression.
    octets: usize,
    /// The last record is among them.
    ended: bool,
    /// Longest message.
    limit: usize,
    messages: u64,
    /// Of transfers over streams.
    report: Option<Report>,
    /// One of the transfers that may be on their way.
    _permit: Option<OwnedSemaphorePermit>,
}

impl Transfer {
    fn new(head: Head, tsig: Option<Tsig>, permit: Option<OwnedSemaphorePermit>) -> Self {
        let soa = head.soa.clone();
        let octets = soa.octets();
        Self {
            // Nothing newer: the SOA is first and last (RFC 1995 §4).
            ended: matches!(head.source, Source::Nothing),
            head,
            tsig,
            ahead: VecDeque::from([soa]),
            octets,
            limit: MAX_MESSAGE,
            messages: 0,
            report: None,
            _permit: permit,
        }
    }

    /// Does a bit of work. `now` is Unix time, seconds.
    pub(crate) fn step(&mut self, now: u64) -> Step {
        if !self.look_ahead() {
            return Step::More;
        }
        if self.ahead.is_empty() {
            if let Some(report) = &mut self.report {
                report.done = true;
            }
            return Step::End;
        }
        self.message(now)
    }

    /// Takes records from the source until there are enough for a message. True when there are, or no more come.
    fn look_ahead(&mut self) -> bool {
        let mut records = Vec::new();
        for _ in 0..PARTS {
            if self.ended || self.octets >= self.limit {
                return true;
            }
            let more = match &mut self.head.source {
                Source::Whole(contents) => contents.next_part(&mut records),
                Source::Differences(list) => match list.pop_front() {
                    Some(difference) => {
                        records.push(difference.before.clone());
                        records.extend_from_slice(&difference.removed);
                        records.push(difference.after.clone());
                        records.extend_from_slice(&difference.added);
                        true
                    }
                    None => false,
                },
                Source::Nothing => false,
            };
            if !more {
                records.push(self.head.soa.clone());
                self.ended = true;
            }
            self.octets += records.iter().map(ZoneRecord::octets).sum::<usize>();
            self.ahead.extend(records.drain(..));
        }
        self.ended || self.octets >= self.limit
    }

    /// Writes a message with as many records as there is room for.
    fn message(&mut self, now: u64) -> Step {
        let Head {
            id,
            flags,
            question,
            opt,
            ..
        } = &self.head;
        let reserved = opt.len() + self.tsig.as_ref().map_or(0, Tsig::len);
        let room = self.limit.saturating_sub(reserved);
        let mut out = vec![0; HEADER];
        // Messages behind the first need no question (RFC 5936 §2.2.1).
        let first = self.messages == 0;
        if first {
            out.extend_from_slice(question);
        }
        let mut writer = Writer::new(&mut out, HEADER);
        let mut count: u16 = 0;
        while let Some(record) = self.ahead.front() {
            if !writer.record_within(record, room) {
                break;
            }
            self.octets = self.octets.saturating_sub(record.octets());
            self.ahead.pop_front();
            count += 1;
        }
        if count == 0 {
            return Step::Broken;
        }
        out.extend_from_slice(opt);
        let fields = [*id, *flags, first.into(), count, 0, u16::from(!opt.is_empty())];
        for (to, from) in out
            .iter_mut()
            .zip(fields.iter().flat_map(|field| field.to_be_bytes()))
        {
            *to = from;
        }
        if let Some(tsig) = &mut self.tsig {
            tsig.sign(now, &mut out);
        }
        self.messages += 1;
        if let Some(report) = &mut self.report {
            report.messages = self.messages;
            report.octets += u64::try_from(out.len()).unwrap_or_default();
        }
        Step::Message(out)
    }
}

/// Whether a query asks for a zone as a whole, or for what has changed in it.
pub(crate) fn is_transfer(query: &Query<'_>) -> bool {
    query.qclass == code::CLASS_IN && matches!(query.qtype, code::AXFR | code::IXFR)
}
