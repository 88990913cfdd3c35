//! Queries that are signed (TSIG) or padded, and transfers of zones, for which that is mostly done.

use super::{Bridge, Moment, Reply};
use crate::cookie::Checked;
use crate::decide::{Answer, Plan};
use crate::encode::udp_limit;
use crate::rate::Kind;
use crate::stats::Transport;
use crate::transfer::{Body, Granted, Refusal, authorise, since};
use crate::tsig::Tsig;
use crate::wire::{Ede, Extras, Query, add_keepalive, code, pad, rcode};
use gslb_engine::snapshot::CompiledZone;
use std::net::IpAddr;
use std::sync::Arc;

impl Bridge {
    /// Checks the signature of a query, if it has one; the reply is signed with the same key.
    ///
    /// # Errors
    /// The response code for what is wrong with it.
    pub(super) fn verify(
        &mut self,
        moment: Moment<'_>,
        message: &[u8],
        at: Option<usize>,
    ) -> Result<(), u16> {
        self.tsig = None;
        let Some(at) = at else { return Ok(()) };
        let Some(tsig) = Tsig::check(message, at, moment.snapshot, moment.now) else {
            return Err(rcode::FORMERR);
        };
        let (error, code) = (tsig.error(), tsig.rcode());
        self.tsig = Some(tsig);
        if error == 0 {
            return Ok(());
        }
        self.stats.tsig_error();
        Err(code)
    }

    /// Does to a reply what comes last: tells for how long a connection may be idle (RFC 7828 §3.3.2), pads, as the query
    /// was (RFC 7830 §4), and signs.
    pub(super) fn seal(&mut self, moment: Moment<'_>, extras: Extras, out: &mut Vec<u8>) {
        let later = self.reserved().into();
        if extras.keepalive && matches!(self.transport, Transport::Tcp | Transport::Tls) {
            add_keepalive(out, self.policy.idle(), later);
        }
        if extras.padding && self.transport.is_encrypted() {
            pad(out, later);
        }
        self.sign(moment, out);
    }

    /// Signs a reply, if there is one and the query was signed.
    fn sign(&mut self, moment: Moment<'_>, out: &mut Vec<u8>) {
        if let Some(mut tsig) = self.tsig.take()
            && !out.is_empty()
        {
            tsig.sign(moment.now, out);
        }
    }

    /// Octets that the signature of the reply will need.
    pub(super) fn reserved(&self) -> u16 {
        let length = self.tsig.as_ref().map_or(0, Tsig::len);
        u16::try_from(length).unwrap_or(u16::MAX)
    }

    /// What was granted, after [`Handled::Transfer`](super::Handled::Transfer).
    pub(crate) fn take_transfer(&mut self) -> Option<Box<Granted>> {
        self.granted.take()
    }

    /// Answers a query for a zone.
    pub(super) fn transfer(
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        cookie: Option<&Checked>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) -> Reply {
        let key = self.tsig.as_ref().and_then(Tsig::key);
        let incremental = query.qtype == code::IXFR;
        let zone = match authorise(moment.snapshot, query.name.as_wire(), client, key) {
            Ok(zone) => zone,
            Err((refusal, zone)) => {
                self.tell(moment, refusal, zone, client);
                let plan = match refusal {
                    Refusal::NoZone => Plan::error(rcode::NOTAUTH),
                    Refusal::NotAPeer => refused(Ede::NotAPeer),
                    Refusal::SignedOnline => refused(Ede::SignedOnline),
                };
                return self.write(moment, query, &plan, cookie, out);
            }
        };
        let body = match (incremental, query.known_serial()) {
            (false, _) => Body::Whole,
            (true, Some(serial)) => since(moment.snapshot, zone, serial),
            (true, None) => return self.write(moment, query, &Plan::error(rcode::FORMERR), cookie, out),
        };
        let stream = matches!(self.transport, Transport::Tcp | Transport::Tls | Transport::Quic);
        if matches!(body, Body::Current) || incremental && self.transport == Transport::Udp {
            return self.small(moment, query, cookie, zone, body, out);
        }
        if !stream {
            return self.write(moment, query, &refused(Ede::TransferOverStream), cookie, out);
        }
        let Ok(permit) = Arc::clone(&self.transfers).try_acquire_owned() else {
            let plan = Plan {
                ede: [Some(Ede::TooManyTransfers), None],
                ..Plan::error(rcode::SERVFAIL)
            };
            return self.write(moment, query, &plan, cookie, out);
        };
        let edns = query.edns.as_ref().map(|edns| self.policy.edns(edns, cookie, 0));
        let differences = matches!(body, Body::Differences(_));
        let Some(granted) = Granted::new(query, edns.as_ref(), zone, body, Some(permit)) else {
            return self.write(moment, query, &Plan::error(rcode::SERVFAIL), cookie, out);
        };
        tracing::debug!(zone = %zone.name, serial = zone.serial, differences, %client, "a transfer of a zone begins");
        self.stats.transfer(differences);
        moment.slot.response(self.transport, rcode::NOERROR);
        self.granted = Some(Box::new(granted.signed(self.tsig.take())));
        Reply::Transfer
    }

    /// An incremental transfer in one message: what has changed if that fits, else the SOA, which says that there is
    /// something newer (RFC 1995 §2).
    fn small(
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        cookie: Option<&Checked>,
        zone: &CompiledZone,
        body: Body,
        out: &mut Vec<u8>,
    ) -> Reply {
        if let Body::Differences(_) = body {
            let edns = query.edns.as_ref().map(|edns| self.policy.edns(edns, cookie, 0));
            let limit = udp_limit(query).min(self.policy.most_over_udp(cookie));
            let limit = limit.saturating_sub(self.reserved());
            let granted = Granted::new(query, edns.as_ref(), zone, body, None);
            if granted.is_some_and(|granted| granted.at_once(limit.into(), out)) {
                self.stats.transfer(true);
                return Reply::Encoded {
                    rcode: rcode::NOERROR,
                    kind: Kind::Answer,
                    truncated: false,
                };
            }
        }
        let plan = Plan::positive(zone, Answer::Set(&zone.soa_set));
        self.write(moment, query, &plan, cookie, out)
    }

    /// Counts a refusal, and tells the operator once a minute: who it was stands below.
    fn tell(&self, moment: Moment<'_>, refusal: Refusal, zone: Option<&CompiledZone>, client: IpAddr) {
        let due = self.stats.transfer_refused(moment.now);
        let zone = zone.map(|zone| zone.name.as_str());
        let signed = self.tsig.is_some();
        if due {
            tracing::warn!(zone, ?refusal, signed, "a transfer of a zone was refused");
        }
        tracing::debug!(zone, ?refusal, signed, %client, "a transfer of a zone was refused");
    }
}

fn refused(ede: Ede) -> Plan<'static> {
    Plan {
        ede: [Some(ede), None],
        ..Plan::error(rcode::REFUSED)
    }
}
