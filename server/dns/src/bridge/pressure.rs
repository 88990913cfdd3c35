//! When more comes than can be answered, who sends most of it is left out first.
//!
//! A receive queue that is full loses datagrams of everybody alike, so that the time for each counts. A limit of replies
//! saves none: the reply has to be decided on before it is known to be one too many. So when whole batches come, which
//! means that the queue does not become empty, networks that have used up their limits many times over are not looked at.
//! Valid cookies are, as ever, under no limit.

use super::policy::is_valid;
use super::{Bridge, Moment};
use crate::cookie::CookieOption;
use crate::rate::{Kind, Verdict};
use crate::wire::parse;
use std::net::IpAddr;

impl Bridge {
    /// Whether the message at `index` of those that were looked at ahead is done with, without an answer, or with one that
    /// only says "truncated".
    pub(crate) fn left_out(
        &mut self,
        moment: Moment<'_>,
        index: usize,
        message: &[u8],
        client: IpAddr,
        out: &mut Vec<u8>,
    ) -> bool {
        let policy = &self.policy;
        let plain = self.rows.get(index).and_then(|row| row.plain.as_ref());
        let verdict = policy.judge_query(client, moment.micros, &mut self.limited, || {
            let check = |option: Option<CookieOption>| {
                is_valid(policy.check(option.as_ref(), client, moment.now).as_ref())
            };
            match plain {
                Some(plain) => check(plain.edns.and_then(|edns| edns.cookie)),
                None => parse(message).is_ok_and(|query| check(query.edns.and_then(|edns| edns.cookie))),
            }
        });
        if verdict == Verdict::Send {
            return false;
        }
        // Most are not even read.
        match (verdict == Verdict::Slip).then(|| parse(message)) {
            Some(Ok(query)) => self.hold_back(moment, verdict, Kind::Answer, &query, client, out),
            _ => moment.slot.rate_limited(Verdict::Drop),
        }
        true
    }
}
