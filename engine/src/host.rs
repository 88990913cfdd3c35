//! What a member that is a host name leads to: live state, written by whoever asks resolvers and read by queries.

use crate::query::Family;
use std::net::IpAddr;

/// TTL of addresses that could not be asked for again in time, seconds (RFC 8767 §5).
pub const STALE_TTL: u32 = 30;

/// Why the last look-up of a host name failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookupFailure {
    /// Since when every look-up has failed, Unix seconds.
    pub since: u64,
    /// What happened, for people.
    pub message: String,
}

/// The addresses of a host name, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostAddresses {
    /// Sorted, IPv4 before IPv6, each once.
    addresses: Box<[IpAddr]>,
    /// Where the addresses of IPv6 begin.
    v6_from: usize,
    /// How long they may be kept, seconds.
    ttl: u32,
    /// When they were last answered, Unix seconds; 0 is never.
    pub resolved_at: u64,
    /// Set while look-ups fail: the addresses are then the last that were good.
    pub failure: Option<LookupFailure>,
}

impl HostAddresses {
    /// What was answered at `resolved_at` (Unix seconds), good for `ttl` seconds.
    #[must_use]
    pub fn new(mut addresses: Vec<IpAddr>, ttl: u32, resolved_at: u64) -> Self {
        addresses.sort_unstable();
        addresses.dedup();
        Self {
            v6_from: addresses.partition_point(IpAddr::is_ipv4),
            addresses: addresses.into(),
            ttl,
            resolved_at,
            failure: None,
        }
    }

    /// The same addresses after a look-up that failed.
    #[must_use]
    pub fn failed(&self, at: u64, message: String) -> Self {
        let since = self.failure.as_ref().map_or(at, |failure| failure.since);
        Self {
            failure: Some(LookupFailure { since, message }),
            ..self.clone()
        }
    }

    /// Every address.
    #[must_use]
    pub fn all(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// The addresses of one family.
    #[must_use]
    pub fn of(&self, family: Family) -> &[IpAddr] {
        let (v4, v6) = self.addresses.split_at_checked(self.v6_from).unwrap_or_default();
        match family {
            Family::V4 => v4,
            Family::V6 => v6,
        }
    }

    /// Whether the last answer was that there are none. Before the first answer nothing is known.
    #[must_use]
    pub fn leads_nowhere(&self) -> bool {
        self.addresses.is_empty() && self.resolved_at > 0
    }

    /// TTL that an answer with them may have, seconds.
    #[must_use]
    pub fn ttl(&self) -> u32 {
        match self.failure {
            Some(_) => self.ttl.min(STALE_TTL),
            None => self.ttl,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_sorted_by_family_and_outlive_failures() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let (a, b, c) = (ip("2001:db8::1"), ip("192.0.2.2"), ip("192.0.2.1"));
        let good = HostAddresses::new(vec![a, b, c, b], 300, 1000);
        assert_eq!(good.of(Family::V4), [c, b]);
        assert_eq!(good.of(Family::V6), [a]);
        assert_eq!(good.ttl(), 300);
        let stale = good
            .failed(1100, "SERVFAIL".to_owned())
            .failed(1200, "timeout".to_owned());
        assert_eq!((stale.all(), stale.ttl()), (good.all(), STALE_TTL));
        assert_eq!(stale.resolved_at, 1000);
        let failure = stale.failure.unwrap();
        assert_eq!((failure.since, &*failure.message), (1100, "timeout"));
        assert!(HostAddresses::default().of(Family::V6).is_empty());
    }
}
