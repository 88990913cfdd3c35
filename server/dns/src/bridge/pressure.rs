//! When more comes than can be answered, who sends most of it is left out first.
//!
//! A receive queue that is full loses datagrams of everybody alike, so that the time for each counts. A limit of replies
//! saves none: the reply has to be decided on before it is known to be one too many. So when whole batches come, which
//! means that the queue does not become empty, two things leave out queries that are not looked at: networks that have used
//! up their limit of replies many times over, where there is one, and, once the queue is filling up all the same, networks
//! that have had their [share](crate::share). Valid cookies are, as ever, under no limit.

use super::plain::{Ahead, Row};
use super::policy::{Policy, is_valid};
use super::{Bridge, Moment};
use crate::cookie::CookieOption;
use crate::rate::{Kind, Verdict};
use crate::share::{Share, Shed};
use crate::stats::Unanswered;
use crate::wire::parse;
use gslb_engine::snapshot::{Found, Snapshot};
use std::net::IpAddr;

/// A message that came with too many others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pressed<'p> {
    /// Its place among those that were looked at ahead.
    pub(crate) index: usize,
    pub(crate) message: &'p [u8],
    /// Its transport source, IPv4 as such.
    pub(crate) client: IpAddr,
}

impl Bridge {
    /// Whether a message is done with, without an answer, or with one that
    /// only says "truncated". `share` is for when the thread is overloaded.
    pub(crate) fn left_out(
        &mut self,
        moment: Moment<'_>,
        ahead: &Ahead<'_>,
        pressed: Pressed<'_>,
        share: Option<&mut Share>,
        out: &mut Vec<u8>,
    ) -> bool {
        let Pressed {
            index,
            message,
            client,
        } = pressed;
        let verdict = {
            let (policy, row) = (&self.policy, self.rows.get(index));
            let has_cookie = || has_cookie(policy, row, message, client, moment.now);
            policy.judge_query(client, moment.micros, &mut self.limited, has_cookie)
        };
        if verdict != Verdict::Send {
            // Most are not even read.
            match (verdict == Verdict::Slip).then(|| parse(message)) {
                Some(Ok(query)) => self.hold_back(moment, verdict, Kind::Answer, &query, client, out),
                _ => moment.slot.rate_limited(Verdict::Drop),
            }
            return true;
        }
        let Some(share) = share else {
            return false;
        };
        let has_cookie = || has_cookie(&self.policy, self.rows.get(index), message, client, moment.now);
        let reason = match share.judge(client, moment.micros) {
            Shed::No if !share.is_scarce() || self.asks_for_something(moment.snapshot, ahead, pressed) => {
                return false;
            }
            Shed::No if share.is_lucky() => return false,
            _ if has_cookie() => return false,
            Shed::No => Unanswered::Scarce,
            Shed::Slip => match parse(message) {
                Ok(query) => {
                    self.shorten(moment, &query, client, out);
                    return true;
                }
                Err(_) => Unanswered::Share,
            },
            Shed::Share => Unanswered::Share,
        };
        moment.slot.unanswered(reason);
        true
    }

    /// Whether a message is a query for a name that exists.
    fn asks_for_something(
        &self,
        snapshot: &Snapshot,
        ahead: &Ahead<'_>,
        Pressed { index, message, .. }: Pressed<'_>,
    ) -> bool {
        let exists = |name: &[u8]| !matches!(snapshot.find(name), Found::Missing(_) | Found::Outside);
        match self.rows.get(index).and_then(Row::question) {
            Some(question) => ahead.has_found(index) || exists(question.name),
            None => parse(message).is_ok_and(|query| exists(query.name.as_wire())),
        }
    }
}

/// Whether a message has a valid cookie.
fn has_cookie(policy: &Policy, row: Option<&Row>, message: &[u8], client: IpAddr, now: u64) -> bool {
    let check = |option: Option<CookieOption>| is_valid(policy.check(option.as_ref(), client, now).as_ref());
    match row.and_then(|row| row.plain.as_ref()) {
        Some(plain) => check(plain.edns.and_then(|edns| edns.cookie)),
        None => parse(message).is_ok_and(|query| check(query.edns.and_then(|edns| edns.cookie))),
    }
}
