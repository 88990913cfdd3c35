//! Limits log-in attempts.
//!
//! Failures count per account and address together, per address over all accounts, and per account over all
//! addresses. The last one only slows: whoever guesses from many addresses gets a try every now and then, and so does
//! the owner. A browser that has logged in before shows a mark of that (`Auth::device_mark`), and is counted on its own:
//! what strangers do, at whatever address, never keeps it out. IPv6 addresses count by their /64, which one customer
//! has.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use time::OffsetDateTime;

/// Failures of one account from one address before it has to wait.
const FREE: u32 = 5;
/// Failures of one address over all accounts before it has to wait.
const FREE_ADDRESS: u32 = 30;
/// Failures of one account from all addresses before strangers have to wait.
const FREE_ACCOUNT: u32 = 40;
/// First wait, seconds; doubles with each further failure.
const FIRST_WAIT: i64 = 2;
/// Longest wait, seconds: an owner without a mark, behind the address of an attacker, gets a try this often.
const LONGEST_WAIT: i64 = 60;
/// Longest wait of an account over all addresses, seconds.
const LONGEST_ACCOUNT_WAIT: i64 = 15;
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
    /// An account from one address.
    Account(String, IpAddr),
    /// One address, whatever the account.
    Address(IpAddr),
    /// An account from wherever.
    Everywhere(String),
    /// A browser that has logged in to the account before.
    Device(String),
}

impl Key {
    fn free(&self) -> u32 {
        match self {
            Self::Account(..) | Self::Device(_) => FREE,
            Self::Address(_) => FREE_ADDRESS,
            Self::Everywhere(_) => FREE_ACCOUNT,
        }
    }

    fn longest(&self) -> i64 {
        match self {
            Self::Everywhere(_) => LONGEST_ACCOUNT_WAIT,
            Self::Account(..) | Self::Device(_) | Self::Address(_) => LONGEST_WAIT,
        }
    }
}

/// Who tries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Who<'a> {
    /// Name of the account, as it was typed.
    pub(super) account: &'a str,
    /// Where from.
    pub(super) from: IpAddr,
    /// The mark of an earlier log-in to this account, once it was found to be good.
    pub(super) device: Option<&'a str>,
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

fn keys(who: Who<'_>) -> Vec<Key> {
    if let Some(device) = who.device {
        return vec![Key::Device(device.to_owned())];
    }
    let from = network(who.from);
    // A name of any length must not cost memory: 64 characters are the limit of accounts.
    let account = who.account.chars().take(64).collect::<String>().to_lowercase();
    vec![
        Key::Account(account.clone(), from),
        Key::Address(from),
        Key::Everywhere(account),
    ]
}

impl Limiter {
    /// How long this one must wait; `None` when it may try. The attempt is counted as failed at once, so that many at
    /// the same time do not slip through; [`succeeded`](Self::succeeded) takes it back.
    pub(super) fn attempt(&self, who: Who<'_>, now: OffsetDateTime) -> Option<Duration> {
        let now = now.unix_timestamp();
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = keys(who);
        let wait = keys
            .iter()
            .filter_map(|key| wait(key, failures.get(key)?, now))
            .max();
        if wait.is_some() {
            return wait;
        }
        if failures.len() + keys.len() > MAX_ENTRIES {
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

    /// The attempt was right: the failures of this account from here, or of this browser, are forgotten. Others' are
    /// not: of those only this attempt is taken back.
    pub(super) fn succeeded(&self, who: Who<'_>) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        for key in keys(who) {
            if matches!(key, Key::Account(..) | Key::Device(_)) {
                failures.remove(&key);
            } else if let Some(entry) = failures.get_mut(&key) {
                entry.count = entry.count.saturating_sub(1);
            }
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
        .min(key.longest());
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

    fn who<'a>(account: &'a str, from: &str) -> Who<'a> {
        Who {
            account,
            from: from.parse().unwrap(),
            device: None,
        }
    }

    #[test]
    fn failures_make_one_wait_longer_and_longer_but_not_elsewhere() {
        let limiter = Limiter::default();
        for _ in 0..FREE {
            assert_eq!(limiter.attempt(who("admin", "192.0.2.1"), at(0)), None);
        }
        assert_eq!(
            limiter.attempt(who("admin", "192.0.2.1"), at(0)),
            Some(Duration::from_secs(2))
        );
        assert_eq!(
            limiter.attempt(who("ADMIN", "::ffff:192.0.2.1"), at(1)),
            Some(Duration::from_secs(1))
        );
        // The owner elsewhere, and another account here, are not locked out.
        assert_eq!(limiter.attempt(who("admin", "198.51.100.1"), at(0)), None);
        assert_eq!(limiter.attempt(who("other", "192.0.2.1"), at(0)), None);
        assert_eq!(limiter.attempt(who("admin", "192.0.2.1"), at(2)), None);
        assert_eq!(
            limiter.attempt(who("admin", "192.0.2.1"), at(2)),
            Some(Duration::from_secs(4))
        );
        assert_eq!(
            limiter.attempt(who("admin", "192.0.2.1"), at(2 + FORGET + 1)),
            None
        );
    }

    #[test]
    fn success_clears_the_account() {
        let limiter = Limiter::default();
        for _ in 0..100 {
            assert_eq!(limiter.attempt(who("admin", "192.0.2.1"), at(0)), None);
            limiter.succeeded(who("admin", "192.0.2.1"));
        }
    }

    #[test]
    fn one_address_cannot_try_every_account() {
        let limiter = Limiter::default();
        for n in 0..FREE_ADDRESS {
            assert_eq!(
                limiter.attempt(who(&format!("user{n}"), "2001:db8::1"), at(0)),
                None
            );
        }
        assert!(limiter.attempt(who("user99", "2001:db8::ffff"), at(0)).is_some());
        assert_eq!(limiter.attempt(who("user99", "2001:db8:0:1::1"), at(0)), None);
    }

    #[test]
    fn many_addresses_are_slowed_and_the_owner_gets_in() {
        let limiter = Limiter::default();
        let mut admitted = 0;
        // A thousand addresses, one attempt each, ten a second.
        for n in 0..1000_u32 {
            let from = format!("203.0.{}.{}", n / 250, n % 250);
            admitted += u32::from(
                limiter
                    .attempt(who("admin", &from), at(i64::from(n / 10)))
                    .is_none(),
            );
        }
        assert!(
            (FREE_ACCOUNT..FREE_ACCOUNT + 12).contains(&admitted),
            "{admitted} of 1000 guesses were looked at"
        );
        // A browser of the owner is not concerned, not even at an address that the attacker has used.
        let owner = Who {
            device: Some("mark"),
            ..who("admin", "203.0.0.1")
        };
        assert_eq!(limiter.attempt(owner, at(100)), None);
        limiter.succeeded(owner);
        // Without a mark it is a matter of seconds, not of giving up.
        let wait = limiter.attempt(who("admin", "198.51.100.1"), at(100));
        let longest = u64::try_from(LONGEST_ACCOUNT_WAIT).unwrap();
        assert!(wait.is_none_or(|wait| wait.as_secs() <= longest), "{wait:?}");
        assert_eq!(
            limiter.attempt(who("admin", "198.51.100.1"), at(100 + LONGEST_ACCOUNT_WAIT)),
            None
        );
        // A stolen mark is no free way either.
        for _ in 0..FREE {
            assert_eq!(limiter.attempt(owner, at(200)), None);
        }
        assert!(limiter.attempt(owner, at(200)).is_some());
    }

    #[test]
    fn memory_is_bounded() {
        let limiter = Limiter::default();
        for n in 0..u32::try_from(MAX_ENTRIES).unwrap() {
            let from = IpAddr::from((0x0a00_0000 + n).to_be_bytes());
            let name = format!("user{n}");
            let who = Who {
                account: &name,
                from,
                device: None,
            };
            limiter.attempt(who, at(i64::from(n) / 100));
        }
        assert!(limiter.failures.lock().unwrap().len() <= MAX_ENTRIES + 3);
    }
}
