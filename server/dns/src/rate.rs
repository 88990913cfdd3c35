//! Response rate limiting: how many replies of one kind a client network may get in a second over UDP.
//!
//! Who forges the address of a victim makes a server send what the victim has not asked for. Beyond the limit some
//! replies are left out, and some say "truncated": a true client then comes over TCP, or with a cookie, and is served
//! without limit. The table has a fixed size and no lock; when it is full, the network that is quietest gives way.

use crate::settings::RateLimit;
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Places of a set, which is a cache line.
const WAYS: usize = 8;
/// Sets: half a megabyte.
const SETS: usize = 1 << 13;
/// Bits of an entry that are a time; the others tell whose it is.
const TIME_BITS: u32 = 40;
const TIME: u64 = (1 << TIME_BITS) - 1;
/// Microseconds of a second: as much is saved up at most.
const SECOND: u64 = 1_000_000;

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

/// Eight entries: 24 bits of a hash, and when the network will have its whole second's worth again, microseconds.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Set([AtomicU64; WAYS]);

/// The limit, shared by all threads.
#[derive(Debug)]
pub(crate) struct ResponseRate {
    /// Microseconds between two replies at the full rate.
    interval: u64,
    slip: u32,
    bits_v4: u8,
    bits_v6: u8,
    hasher: RandomState,
    sets: Box<[Set]>,
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
            hasher: RandomState::new(),
            sets: std::iter::repeat_with(Set::default).take(SETS).collect(),
        })
    }

    /// Decides about one reply. `now` is in microseconds since any moment; `limited` counts what this thread has limited.
    pub(crate) fn judge(&self, ip: IpAddr, kind: Kind, now: u64, limited: &mut u32) -> Verdict {
        if self.admit(self.hash(ip, kind as u8), now, self.interval) {
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
        if self.admit(self.hash(ip, QUERIES), now, (self.interval / KINDS).max(1)) {
            return Verdict::Send;
        }
        *limited = limited.wrapping_add(1);
        let slips = self.slip > 0
            && limited.is_multiple_of(self.slip)
            && self.admit(self.hash(ip, SLIPS), now, self.interval);
        if slips { Verdict::Slip } else { Verdict::Drop }
    }

    fn hash(&self, ip: IpAddr, what: u8) -> u64 {
        let network = match ip {
            IpAddr::V4(v4) => u128::from(v4.to_bits() & mask(self.bits_v4, 32) as u32) | 1 << 127,
            IpAddr::V6(v6) => v6.to_bits() & mask(self.bits_v6, 128),
        };
        self.hasher.hash_one((network, what))
    }

    /// Takes one reply's worth from a network, if it has one (the generic cell rate algorithm).
    fn admit(&self, hash: u64, now: u64, interval: u64) -> bool {
        let now = now & TIME;
        let Some(Set(entries)) = self.sets.get(hash as usize % SETS) else {
            return true;
        };
        let tag = hash & !TIME;
        // How far the time of an entry lies ahead; what has passed is nothing.
        let ahead = |entry: u64| {
            let ahead = (entry & TIME).wrapping_sub(now) & TIME;
            if ahead > TIME / 2 { 0 } else { ahead }
        };
        let mut quietest = (u64::MAX, None);
        for place in entries {
            let entry = place.load(Ordering::Relaxed);
            if entry & !TIME == tag {
                let next = ahead(entry) + interval;
                if next > SECOND.max(interval) {
                    return false;
                }
                // Two threads at once: one reply more than the limit is no harm.
                place.store(tag | ((now + next) & TIME), Ordering::Relaxed);
                return true;
            }
            if ahead(entry) < quietest.0 {
                quietest = (ahead(entry), Some(place));
            }
        }
        if let (_, Some(place)) = quietest {
            place.store(tag | ((now + interval) & TIME), Ordering::Relaxed);
        }
        true
    }
}

/// The upper `bits` of `of`.
fn mask(bits: u8, of: u8) -> u128 {
    let all = u128::MAX >> (128 - u32::from(of));
    all.checked_shl(u32::from(of - bits)).unwrap_or(0) & all
}

#[cfg(test)]
mod tests {
    use super::*;

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
