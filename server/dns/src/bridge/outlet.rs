//! What leaves: whether a client may have its reply, and how that is counted.

use super::{Bridge, Moment, Reply};
use crate::cookie::Checked;
use crate::rate::{Kind, Verdict};
use crate::wire::{ErrorReply, Extras, Query, rcode};
use std::net::IpAddr;

impl Bridge {
    /// Lets a reply out, or not, and counts it.
    pub(super) fn deliver(
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        reply: Reply,
        cookie: Option<&Checked>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) {
        if let Reply::Encoded { kind, .. } = reply {
            let limited = &mut self.limited;
            let verdict = self
                .policy
                .judge(self.transport, client, cookie, kind, moment.micros, limited);
            if verdict != Verdict::Send {
                self.hold_back(moment, verdict, kind, query, client, out);
                return;
            }
        }
        self.sent(moment, query, reply, client, out);
    }

    /// Counts a reply that goes out.
    pub(super) fn sent(
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        reply: Reply,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) {
        match reply {
            Reply::Encoded {
                rcode,
                kind,
                truncated,
            } => {
                if truncated {
                    moment.slot.truncated();
                }
                if kind == Kind::NoData {
                    moment.slot.no_data();
                }
                moment.slot.response(self.transport, rcode);
            }
            Reply::Left(_) | Reply::Transfer => self.fail(moment, query, client, out),
        }
    }

    /// Answers with less than was asked for, or not at all.
    pub(super) fn hold_back(
        &mut self,
        moment: Moment<'_>,
        verdict: Verdict,
        kind: Kind,
        query: &Query<'_>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) {
        moment.slot.rate_limited(verdict);
        if verdict == Verdict::Drop {
            out.clear();
            return;
        }
        if kind == Kind::Error {
            // That is as short as it gets.
            moment.slot.response(self.transport, rcode::REFUSED);
            return;
        }
        self.shorten(moment, query, client, out);
    }

    /// Answers so that a true client asks again in a way that is under no limit.
    pub(super) fn shorten(
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) {
        let with_cookie = query.edns.is_some_and(|edns| edns.cookie.is_some());
        let error = if with_cookie {
            // With the fresh one that goes back there is no limit (RFC 7873 §5.2.3, §5.2.4).
            query.error(rcode::BADCOOKIE)
        } else {
            moment.slot.truncated();
            ErrorReply {
                truncated: true,
                ..query.error(rcode::NOERROR)
            }
        };
        self.put(moment, &error, client, out);
    }

    /// Answers with a response code, if the client may have it.
    pub(super) fn reject(
        &mut self,
        moment: Moment<'_>,
        mut error: ErrorReply<'_>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) {
        let cookie = self.policy.check(error.cookie.as_ref(), client, moment.now);
        if let (Some(option), Some(checked)) = (&error.cookie, &cookie)
            && error.rcode == rcode::NOERROR
            && option.has_server
            && !checked.valid
        {
            // The client wants to know whether its cookie is good (RFC 7873 §5.4).
            error.rcode = rcode::BADCOOKIE;
        }
        let limited = &mut self.limited;
        let verdict = self.policy.judge(
            self.transport,
            client,
            cookie.as_ref(),
            Kind::Error,
            moment.micros,
            limited,
        );
        if verdict != Verdict::Send {
            moment.slot.rate_limited(verdict);
        }
        if verdict == Verdict::Drop {
            out.clear();
        } else {
            self.put(moment, &error, client, out);
        }
    }

    pub(super) fn fail(&self, moment: Moment<'_>, query: &Query<'_>, client: IpAddr, out: &mut Vec<u8>) {
        self.put(moment, &query.error(rcode::SERVFAIL), client, out);
    }

    /// Writes and counts.
    pub(super) fn put(&self, moment: Moment<'_>, error: &ErrorReply<'_>, client: IpAddr, out: &mut Vec<u8>) {
        let cookie = self.policy.check(error.cookie.as_ref(), client, moment.now);
        error.write(cookie.map(|checked| checked.reply), out);
        moment.slot.response(self.transport, error.rcode);
    }
}

impl<'p> Query<'p> {
    /// What is to be added to the reply.
    pub(super) fn extras(&self) -> Extras {
        self.edns.map_or(Extras::NONE, |edns| edns.extras)
    }

    /// The reply that is only a response code.
    pub(super) fn error(&self, rcode: u16) -> ErrorReply<'p> {
        ErrorReply {
            id: self.id,
            flags: self.flags,
            rcode,
            question: self.question,
            edns: self.edns.is_some(),
            subnet: self.edns.and_then(|edns| edns.subnet),
            cookie: self.edns.and_then(|edns| edns.cookie),
            extras: self.extras(),
            truncated: false,
            tsig: self.tsig,
        }
    }
}
