//! A fair share for every network, when datagrams come faster than a thread can take them.
//!
//! A receive queue that is full loses datagrams of everybody alike. What a thread leaves out itself costs it a fraction of
//! an answer, so that it can choose. While the queue of its socket is filling up although every batch is full, networks
//! get a limit of queries a second, the same for all, and as high as the thread can bear: it is halved until the queue
//! empties, and doubled again, and lifted, when that lasts. Who asks little never notices.
//!
//! Forged sources are many networks that each ask little. If the lowest limit does not help, questions for names that do
//! not exist, and what is no question, go unanswered too, but for a few.

use crate::buckets::{Buckets, SECOND, network};
use std::net::IpAddr;

/// Sets of the table: an eighth of a megabyte a thread, once it was overloaded.
const SETS: usize = 1 << 11;
/// Full batches in a row between two looks at the queue.
const LOOK: u32 = 8;
/// Microseconds between two datagrams of a network: first, and at most. A thread answers some 500,000 a second, so that even one
/// network alone loses little at first, and no
/// network gets less than a thousand.
const LOOSEST: u64 = 4;
const TIGHTEST: u64 = 1024;
/// Microseconds until a tighter limit is seen to help.
const PATIENCE: u64 = 10_000;
/// Microseconds without an overload after which the limit is loosened.
const CALM: u64 = 5 * SECOND;
/// What a network saves up, microseconds.
const DEPTH: u64 = SECOND / 20;
/// Bits of networks.
const V4: u8 = 24;
const V6: u8 = 56;
/// Of what is left out, one in so many is told "truncated", so that a true client among others comes over TCP, ...
const SLIP: u32 = 16;
/// ... and no more of one network than one in so many microseconds.
const SLIP_INTERVAL: u64 = 10_000;
/// Of the questions for nothing, one in so many is answered.
const FEW: u32 = 16;

/// The receive queue of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Queue {
    /// Octets that wait, as the kernel counts them.
    pub(crate) waiting: u32,
    /// As many are lost from here on.
    pub(crate) size: u32,
    /// Datagrams lost since the socket was made; may run over.
    pub(crate) lost: u32,
}

/// What to do with a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shed {
    /// Answer it.
    No,
    /// Its network has had its share: leave it out.
    Share,
    /// The same, but say "truncated".
    Slip,
}

/// The limit in force.
#[derive(Debug)]
struct Limit {
    /// Microseconds between two datagrams of a network.
    interval: u64,
    /// When it was last changed, or needed.
    since: u64,
    /// The tightest limit was not enough.
    scarce: bool,
    buckets: Buckets,
}

/// The shares of one thread.
#[derive(Debug, Default)]
pub(crate) struct Share {
    /// Full batches in a row.
    full: u32,
    lost: u32,
    limit: Option<Limit>,
    counted: u32,
}

impl Share {
    /// Takes note of a batch at `now`, microseconds since any moment. `true`: some of its datagrams may have to be left
    /// out, which is up to [`judge`](Self::judge).
    pub(crate) fn batch(&mut self, full: bool, now: u64, queue: impl FnOnce() -> Option<Queue>) -> bool {
        if full {
            self.full = self.full.wrapping_add(1);
            if self.full.is_multiple_of(LOOK)
                && let Some(queue) = queue()
            {
                let lost = queue.lost.wrapping_sub(self.lost) > 0;
                self.lost = queue.lost;
                // Losses of before this row of full batches say nothing about it.
                let lost = lost && self.full > LOOK;
                if lost || queue.waiting > queue.size / 2 {
                    self.tighten(now);
                }
            }
        } else {
            self.full = 0;
        }
        if let Some(limit) = &mut self.limit
            && now.saturating_sub(limit.since) > CALM
        {
            limit.since = now;
            limit.scarce = false;
            limit.interval /= 2;
            if limit.interval < LOOSEST {
                self.limit = None;
            }
        }
        full && self.limit.is_some()
    }

    fn tighten(&mut self, now: u64) {
        let limit = self.limit.get_or_insert_with(|| Limit {
            interval: LOOSEST / 2,
            since: 0,
            scarce: false,
            buckets: Buckets::new(SETS),
        });
        if limit.interval < LOOSEST || now.saturating_sub(limit.since) >= PATIENCE {
            limit.scarce = limit.interval >= TIGHTEST;
            limit.interval = (limit.interval * 2).min(TIGHTEST);
            limit.since = now;
        }
    }

    /// Decides about a datagram of a client.
    pub(crate) fn judge(&mut self, client: IpAddr, now: u64) -> Shed {
        let Some(limit) = &self.limit else {
            return Shed::No;
        };
        let network = network(client, V4, V6);
        let hash = limit.buckets.hash(network);
        if limit.buckets.admit(hash, now, limit.interval, DEPTH) {
            return Shed::No;
        }
        self.counted = self.counted.wrapping_add(1);
        let slips = self.counted.is_multiple_of(SLIP) && {
            let hash = limit.buckets.hash((network, ()));
            limit.buckets.admit(!hash, now, SLIP_INTERVAL, DEPTH)
        };
        if slips { Shed::Slip } else { Shed::Share }
    }

    /// Whether only what exists is to be answered.
    pub(crate) fn is_scarce(&self) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.scarce)
    }

    /// Whether a question for nothing is one of the few that are answered all the same.
    pub(crate) fn is_lucky(&mut self) -> bool {
        self.counted = self.counted.wrapping_add(1);
        self.counted.is_multiple_of(FEW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Queue = Queue {
        waiting: 900,
        size: 1000,
        lost: 0,
    };
    const SHORT: Queue = Queue { waiting: 100, ..FULL };

    /// Full batches until the queue is looked at once.
    fn look(share: &mut Share, now: u64, queue: Queue) {
        for _ in 0..LOOK {
            share.batch(true, now, || Some(queue));
        }
    }

    fn admitted(share: &mut Share, client: &str, now: u64, tries: usize) -> usize {
        let client = client.parse().unwrap();
        (0..tries)
            .filter(|_| share.judge(client, now) == Shed::No)
            .count()
    }

    #[test]
    fn a_busy_thread_that_keeps_up_limits_nobody() {
        let mut share = Share::default();
        for now in 0..1000 {
            look(&mut share, now, SHORT);
        }
        assert!(!share.batch(true, 1001, || Some(SHORT)));
        assert_eq!(admitted(&mut share, "192.0.2.1", 1001, 100_000), 100_000);
    }

    #[test]
    fn nothing_is_limited_where_the_queue_cannot_be_seen() {
        let mut share = Share::default();
        assert!((0..1000).all(|now| !share.batch(true, now, || None)));
    }

    #[test]
    fn the_loud_are_limited_and_the_others_are_not() {
        let mut share = Share::default();
        look(&mut share, 0, FULL);
        assert!(share.batch(true, 1, || Some(FULL)));
        let first = admitted(&mut share, "192.0.2.1", 1, 100_000);
        assert_eq!(first as u64, DEPTH / LOOSEST);
        assert_eq!(admitted(&mut share, "192.0.2.200", 1, 100), 0, "one /24");
        assert_eq!(admitted(&mut share, "192.0.3.1", 1, 100), 100, "another");
        assert_eq!(admitted(&mut share, "2001:db8:0:1::1", 1, 100), 100);
        // What is not full needs no choice.
        assert!(!share.batch(false, 2, || Some(FULL)));
    }

    #[test]
    fn the_limit_is_halved_as_long_as_it_does_not_help_and_at_last_only_what_exists_counts() {
        let mut share = Share::default();
        let mut now = 0;
        let mut halvings = 0;
        while !share.is_scarce() {
            look(&mut share, now, FULL);
            // Not before it could help.
            look(&mut share, now + 1, FULL);
            now += PATIENCE;
            halvings += 1;
            assert!(halvings < 100);
        }
        assert_eq!(1 << (halvings - 2), TIGHTEST / LOOSEST);
        let floor = admitted(&mut share, "192.0.2.1", now, 100_000);
        assert_eq!(floor as u64, DEPTH / TIGHTEST);
        let lucky = (0..FEW * 10).filter(|_| share.is_lucky()).count();
        assert_eq!(lucky, 10);
    }

    #[test]
    fn losses_count_as_an_overload_if_they_are_new() {
        let mut share = Share::default();
        let lost = |lost| Queue { lost, ..SHORT };
        look(&mut share, 0, lost(5));
        look(&mut share, 1, lost(5));
        assert!(!share.batch(true, 2, || None), "lost before");
        let mut share = Share::default();
        look(&mut share, 0, lost(5));
        look(&mut share, 1, lost(6));
        assert!(share.batch(true, 2, || None));
    }

    #[test]
    fn in_calm_the_limit_is_loosened_and_lifted() {
        let mut share = Share::default();
        look(&mut share, 0, FULL);
        look(&mut share, PATIENCE, FULL);
        let mut now = PATIENCE;
        let mut steps = 0;
        while share.limit.is_some() {
            now += CALM + 1;
            share.batch(false, now, || None);
            steps += 1;
            assert!(steps < 100);
        }
        assert_eq!(steps, 2);
    }

    #[test]
    fn some_of_the_loud_are_told_to_come_over_tcp() {
        let mut share = Share::default();
        look(&mut share, 0, FULL);
        let client = "192.0.2.1".parse().unwrap();
        let mut verdicts = [0; 3];
        for _ in 0..100_000 {
            verdicts[share.judge(client, 5) as usize] += 1;
        }
        assert_eq!(verdicts[2], (DEPTH / SLIP_INTERVAL) as usize);
        assert_eq!(verdicts.iter().sum::<usize>(), 100_000);
    }
}
