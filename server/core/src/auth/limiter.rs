//! Limits log-in attempts.
//!
//! Failures count per account and address together, and per address over all accounts. Never per account alone:
//! then anyone could lock the owner out. IPv6 addresses count by their /64, which one customer has.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use time::OffsetDateTime;

/// Failures of one account from one address before it has to wait.
const FREE: u32 = 5;
/// Failures of one address over all accounts before it has to wait.
const FREE_ADDRESS: u32 = 30;
/// First wait, seconds; doubles with each further failure.
const FIRST_WAIT: i64 = 2;
/// Longest wait, seconds.
const LONGEST_WAIT: i64 = 300;
/// Failures are forgotten after this long without another, seconds.
const FORGET: i64 = 900;
/// Most entries; beyond them the oldest are forgotten first.
const MAX_ENTRIES: usize = 20_000;

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Account(String, IpAddr),
    Address(IpAddr),
}

impl Key {
    fn free(&self) -> u32 {
        match self {
            Self::Account(..) => FREE,
            Self::Address(_) => FREE_ADDRESS,
        }
    }
}

/// The counters.
#[derive(Debug, Default)]
pub(super) struct Limiter {
    failures: Mutex<HashMap<Key, Failures>>,
}

fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

fn keys(account: &str, from: IpAddr) -> [Key; 2] {
    let from = network(from);
    // A name of any length must not cost memory: 64 characters are the limit of accounts.
    let account = account.chars().take(64).collect::<String>().to_lowercase();
    [Key::Account(account, from), Key::Address(from)]
}

impl Limiter {
    /// How long this account must wait from this address; `None` when it may try. The attempt is counted as failed
    /// at once, so that many at the same time do not slip through; [`succeeded`](Self::succeeded) takes it back.
    pub(super) fn attempt(&self, account: &str, from: IpAddr, now: OffsetDateTime) -> Option<Duration> {
        let now = now.unix_timestamp();
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = keys(account, from);
        let wait = keys
            .iter()
            .filter_map(|key| wait(key, failures.get(key)?, now))
            .max();
        if wait.is_some() {
            return wait;
        }
        if failures.len() >= MAX_ENTRIES {
            forget(&mut failures, now);
        }
        for key in keys {
            let entry = failures.entry(key).or_insert(Failures { count: 0, last: now });
            if now - entry.last > FORGET {
                entry.count = 0;
            }
            entry.count = entry.count.saturating_add(1);
            entry.last = now;
        }
        None
    }

    /// The attempt was right: the account's failures from here are forgotten, and one of the address.
    pub(super) fn succeeded(&self, account: &str, from: IpAddr) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let [account, address] = keys(account, from);
        failures.remove(&account);
        if let Some(entry) = failures.get_mut(&address) {
            entry.count = entry.count.saturating_sub(1);
        }
    }
}

fn wait(key: &Key, failures: &Failures, now: i64) -> Option<Duration> {
    let over = failures.count.checked_sub(key.free())?;
    if now - failures.last > FORGET {
        return None;
    }
    let seconds = FIRST_WAIT
        .checked_shl(over.min(16))
        .unwrap_or(LONGEST_WAIT)
        .min(LONGEST_WAIT);
    let left = failures.last + seconds - now;
    u64::try_from(left)
        .ok()
        .filter(|left| *left > 0)
        .map(Duration::from_secs)
}

fn forget(failures: &mut HashMap<Key, Failures>, now: i64) {
    failures.retain(|_, entry| now - entry.last <= FORGET);
    if failures.len() < MAX_ENTRIES {
        return;
    }
    let mut times: Vec<i64> = failures.values().map(|entry| entry.last).collect();
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or(now);
    failures.retain(|_, entry| entry.last > middle);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(1_800_000_000 + seconds).unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn failures_make_one_wait_longer_and_longer_but_not_elsewhere() {
        let limiter = Limiter::default();
        for _ in 0..FREE {
            assert_eq!(limiter.attempt("admin", ip("192.0.2.1"), at(0)), None);
        }
        assert_eq!(
            limiter.attempt("admin", ip("192.0.2.1"), at(0)),
            Some(Duration::from_secs(2))
        );
        assert_eq!(
            limiter.attempt("ADMIN", ip("::ffff:192.0.2.1"), at(1)),
            Some(Duration::from_secs(1))
        );
        // The owner elsewhere, and another account here, are not locked out.
        assert_eq!(limiter.attempt("admin", ip("198.51.100.1"), at(0)), None);
        assert_eq!(limiter.attempt("other", ip("192.0.2.1"), at(0)), None);
        assert_eq!(limiter.attempt("admin", ip("192.0.2.1"), at(2)), None);
        assert_eq!(
            limiter.attempt("admin", ip("192.0.2.1"), at(2)),
            Some(Duration::from_secs(4))
        );
        assert_eq!(
            limiter.attempt("admin", ip("192.0.2.1"), at(2 + FORGET + 1)),
            None
        );
    }

    #[test]
    fn success_clears_the_account() {
        let limiter = Limiter::default();
        for _ in 0..50 {
            assert_eq!(limiter.attempt("admin", ip("192.0.2.1"), at(0)), None);
            limiter.succeeded("admin", ip("192.0.2.1"));
        }
    }

    #[test]
    fn one_address_cannot_try_every_account() {
        let limiter = Limiter::default();
        for n in 0..FREE_ADDRESS {
            assert_eq!(
                limiter.attempt(&format!("user{n}"), ip("2001:db8::1"), at(0)),
                None
            );
        }
        assert!(limiter.attempt("user99", ip("2001:db8::ffff"), at(0)).is_some());
        assert_eq!(limiter.attempt("user99", ip("2001:db8:0:1::1"), at(0)), None);
    }

    #[test]
    fn memory_is_bounded() {
        let limiter = Limiter::default();
        for n in 0..u32::try_from(MAX_ENTRIES).unwrap() {
            let from = IpAddr::from((0x0a00_0000 + n).to_be_bytes());
            limiter.attempt("admin", from, at(i64::from(n) / 100));
        }
        assert!(limiter.failures.lock().unwrap().len() <= MAX_ENTRIES + 2);
    }
}
