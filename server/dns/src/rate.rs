//! Response rate limiting: how many replies of one kind a client network may get in a second over UDP.
//!
//! Who forges the address of a victim makes a server send what the victim has not asked for. Beyond the limit some
//! replies are left out, and some say "truncated": a true client then comes over TCP, or with a cookie, and is served
//! without limit.

use crate::buckets::{Buckets, SECOND, network};
use crate::settings::RateLimit;
use std::net::IpAddr;

/// Sets of the table: half a megabyte.
const SETS: usize = 1 << 13;

/// What a reply says, as far as limits go: each kind has a limit of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Records.
    Answer,
    /// The name has none of this type.
    NoData,
    /// There is no such name.
    NoName,
    /// Any other code.
    Error,
}

/// Kinds of replies.
const KINDS: u64 = 4;
/// Beside the kinds of replies: queries, whatever they get, and replies that only say "truncated" to queries that were not
/// looked at.
const QUERIES: u8 = 16;
const SLIPS: u8 = 17;

/// What to do with a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Send,
    /// Say "truncated" instead.
    Slip,
    Drop,
}

/// The limit, shared by all threads.
#[derive(Debug)]
pub(crate) struct ResponseRate {
    /// Microseconds between two replies at the full rate.
    interval: u64,
    slip: u32,
    bits_v4: u8,
    bits_v6: u8,
    buckets: Buckets,
}

impl ResponseRate {
    /// `None`: nothing is limited.
    pub(crate) fn new(limit: &RateLimit) -> Option<Self> {
        if limit.responses_per_second == 0 {
            return None;
        }
        Some(Self {
            interval: (SECOND / u64::from(limit.responses_per_second)).max(1),
            slip: limit.slip,
            bits_v4: limit.ipv4_prefix.min(32),
            bits_v6: limit.ipv6_prefix.min(128),
            buckets: Buckets::new(SETS),
        })
    }

    /// Decides about one reply. `now` is in microseconds since any moment; `limited` counts what this thread has limited.
    pub(crate) fn judge(&self, ip: IpAddr, kind: Kind, now: u64, limited: &mut u32) -> Verdict {
        if self
            .buckets
            .admit(self.hash(ip, kind as u8), now, self.interval, SECOND)
        {
            return Verdict::Send;
        }
        *limited = limited.wrapping_add(1);
        if self.slip > 0 && limited.is_multiple_of(self.slip) {
            Verdict::Slip
        } else {
            Verdict::Drop
        }
    }

    /// Decides about a query before it is looked at. Beyond so many queries as all kinds of replies together are allowed,
    /// some limit is reached, and the rest is work for next to nothing. Some are told "truncated" all the same, but no
    /// more than the limit.
    pub(crate) fn judge_query(&self, ip: IpAddr, now: u64, limited: &mut u32) -> Verdict {
        if self.buckets.admit(
            self.hash(ip, QUERIES),
            now,
            (self.interval / KINDS).max(1),
            SECOND,
        ) {
            return Verdict::Send;
        }
        *limited = limited.wrapping_add(1);
        let slips = self.slip > 0
            && limited.is_multiple_of(self.slip)
            && self
                .buckets
                .admit(self.hash(ip, SLIPS), now, self.interval, SECOND);
        if slips { Verdict::Slip } else { Verdict::Drop }
    }

    fn hash(&self, ip: IpAddr, what: u8) -> u64 {
        self.buckets.hash((network(ip, self.bits_v4, self.bits_v6), what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::{TIME, WAYS};

    fn rate(responses_per_second: u32, slip: u32) -> ResponseRate {
        ResponseRate::new(&RateLimit {
            responses_per_second,
            slip,
            ..RateLimit::default()
        })
        .unwrap()
    }

    fn sent(rate: &ResponseRate, ip: &str, kind: Kind, now: u64, tries: usize) -> usize {
        let ip = ip.parse().unwrap();
        let judge = |_: &usize| rate.judge(ip, kind, now, &mut 0) == Verdict::Send;
        (0..tries).filter(judge).count()
    }

    #[test]
    fn a_network_gets_as_many_a_second_as_the_limit_says() {
        let rate = rate(10, 0);
        assert_eq!(sent(&rate, "192.0.2.1", Kind::Answer, SECOND, 100), 10);
        assert_eq!(sent(&rate, "192.0.2.99", Kind::Answer, SECOND, 100), 0, "one /24");
        assert_eq!(sent(&rate, "192.0.3.1", Kind::Answer, SECOND, 100), 10, "another");
        assert_eq!(
            sent(&rate, "192.0.2.1", Kind::NoName, SECOND, 100),
            10,
            "another kind"
        );
        assert_eq!(sent(&rate, "192.0.2.1", Kind::Answer, SECOND * 3 / 2, 100), 5);
        // However quiet it was, one second's worth.
        assert_eq!(sent(&rate, "192.0.2.1", Kind::Answer, SECOND * 1000, 100), 10);
    }

    #[test]
    fn ipv6_networks_are_56_bits() {
        let rate = rate(10, 0);
        assert_eq!(sent(&rate, "2001:db8:0:1::1", Kind::Answer, 0, 100), 10);
        assert_eq!(sent(&rate, "2001:db8:0:ff::", Kind::Answer, 0, 100), 0);
        assert_eq!(sent(&rate, "2001:db8:0:100::", Kind::Answer, 0, 100), 10);
    }

    #[test]
    fn the_clock_may_run_over() {
        let rate = rate(10, 0);
        assert_eq!(sent(&rate, "192.0.2.1", Kind::Answer, TIME - 10, 100), 10);
        assert_eq!(sent(&rate, "192.0.2.1", Kind::Answer, TIME + SECOND / 2, 100), 5);
    }

    #[test]
    fn every_second_one_slips() {
        let rate = rate(1, 2);
        let mut limited = 0;
        let ip = "192.0.2.1".parse().unwrap();
        let verdicts: Vec<_> = (0..5)
            .map(|_| rate.judge(ip, Kind::Answer, 0, &mut limited))
            .collect();
        use Verdict::{Drop, Send, Slip};
        assert_eq!(verdicts, [Send, Drop, Slip, Drop, Slip]);
    }

    #[test]
    fn queries_are_as_many_as_replies_of_all_kinds_and_slips_no_more_than_the_limit() {
        let rate = rate(10, 2);
        let ip = "192.0.2.1".parse().unwrap();
        let mut limited = 0;
        let mut verdicts = [0; 3];
        for _ in 0..1000 {
            verdicts[rate.judge_query(ip, SECOND, &mut limited) as usize] += 1;
        }
        assert_eq!(verdicts, [40, 10, 950]);
        // Replies have their own limits.
        assert_eq!(sent(&rate, "192.0.2.1", Kind::Answer, SECOND, 100), 10);
        assert_eq!(
            rate.judge_query("192.0.3.1".parse().unwrap(), SECOND, &mut limited),
            Verdict::Send
        );
    }

    #[test]
    fn a_full_table_forgets_the_quietest() {
        let rate = rate(10, 0);
        assert_eq!(sent(&rate, "192.0.2.1", Kind::Answer, 0, 100), 10);
        // Twice as many networks as there are places, each of which asks once.
        for n in 0..(2 * SETS * WAYS) as u32 {
            let ip = IpAddr::V4((0x0b00_0000 + (n << 8)).into());
            assert_eq!(rate.judge(ip, Kind::Answer, 0, &mut 0), Verdict::Send);
        }
        assert_eq!(
            sent(&rate, "192.0.2.1", Kind::Answer, 0, 100),
            0,
            "the loudest is remembered"
        );
    }

    #[test]
    fn no_limit_is_none() {
        assert!(ResponseRate::new(&RateLimit::default()).is_none());
    }
}
