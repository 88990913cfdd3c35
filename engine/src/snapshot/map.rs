//! The map file's rules, compiled to sorted ranges without overlap.
//!
//! A look-up finds the longest matching prefix by one binary search, and tells the shortest prefix around the client
//! that contains no rule with other targets: the scope of an answer that depended on it.

use crate::environment::MapRule;
use crate::geo::Located;
use crate::snapshot::pool::{CompiledMember, region_hash};
use ipnet::IpNet;
use std::net::IpAddr;

/// What a rule prefers: one group of members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// The member with this address.
    Address(IpAddr),
    /// Members of this region; the hash of the text first.
    Region(u64, Box<str>),
}

impl Target {
    fn parse(text: &str) -> Self {
        match text.parse::<IpAddr>() {
            Ok(ip) => Self::Address(ip.to_canonical()),
            Err(_) => Self::Region(region_hash(text), text.into()),
        }
    }

    /// Whether a member belongs to the group.
    #[inline]
    pub(crate) fn holds(&self, member: &CompiledMember) -> bool {
        match self {
            Self::Address(ip) => member.ip == Some(*ip),
            Self::Region(hash, text) => {
                member.region_hash == *hash && member.stored.region.as_str() == &**text
            }
        }
    }

    /// The rule's text.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Address(ip) => ip.to_string(),
            Self::Region(_, text) => text.to_string(),
        }
    }
}

/// Index of no rule.
const NONE: u32 = u32::MAX;

/// One family's ranges: range `i` begins at `starts[i]` and ends before the next.
#[derive(Debug)]
struct Ranges {
    starts: Vec<u128>,
    targets: Vec<u32>,
}

impl Ranges {
    /// `nets`: first and last address with the index of the target list, no two nets equal.
    fn new(mut nets: Vec<(u128, u128, u32)>, last_address: u128) -> Self {
        // Outer nets first: an inner one then cuts its part out of the one that is open.
        nets.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        let mut ranges = Self {
            starts: vec![0],
            targets: vec![NONE],
        };
        let mut open: Vec<(u128, u32)> = Vec::new();
        let close = |ranges: &mut Self, open: &mut Vec<(u128, u32)>, before: Option<u128>| {
            while let Some(&(last, _)) = open.last().filter(|(last, _)| before.is_none_or(|b| *last < b)) {
                open.pop();
                if last < last_address {
                    ranges.push(last + 1, open.last().map_or(NONE, |(_, target)| *target));
                }
            }
        };
        for (first, last, target) in nets {
            close(&mut ranges, &mut open, Some(first));
            ranges.push(first, target);
            open.push((last, target));
        }
        close(&mut ranges, &mut open, None);
        ranges
    }

    fn push(&mut self, start: u128, target: u32) {
        if self.starts.last() == Some(&start) {
            self.starts.pop();
            self.targets.pop();
        }
        // Neighbours with the same targets are one range.
        if self.targets.last() != Some(&target) {
            self.starts.push(start);
            self.targets.push(target);
        }
    }

    /// The target list of an address, and the length of the shortest prefix around it inside one range; `bits` is
    /// the width of the family.
    #[inline]
    fn find(&self, address: u128, bits: u32) -> (u32, u8) {
        let next = self.starts.partition_point(|start| *start <= address);
        let target = next
            .checked_sub(1)
            .and_then(|i| self.targets.get(i))
            .copied()
            .unwrap_or(NONE);
        let start = next
            .checked_sub(1)
            .and_then(|i| self.starts.get(i))
            .copied()
            .unwrap_or(0);
        // The block must leave out the address before the range and the one behind it.
        let apart = |other: u128| bits.saturating_sub(127 - (address ^ other).leading_zeros());
        let low = if start == 0 { 0 } else { apart(start - 1) };
        let high = self.starts.get(next).map_or(0, |end| apart(*end));
        (target, u8::try_from(low.max(high)).unwrap_or(u8::MAX))
    }
}

/// The compiled rules.
#[derive(Debug)]
pub(crate) struct CompiledMap {
    v4: Ranges,
    v6: Ranges,
    targets: Vec<Box<[Target]>>,
}

impl CompiledMap {
    pub(crate) fn new(rules: &[MapRule]) -> Self {
        let mut targets: Vec<Box<[Target]>> = Vec::new();
        let mut known = std::collections::HashMap::new();
        let mut v4 = Vec::new();
        let mut v6 = Vec::new();
        for rule in rules {
            let index = *known.entry(&rule.targets).or_insert_with(|| {
                targets.push(rule.targets.iter().map(|text| Target::parse(text)).collect());
                u32::try_from(targets.len() - 1).unwrap_or(NONE)
            });
            match rule.network {
                IpNet::V4(net) => {
                    v4.push((
                        u32::from(net.network()).into(),
                        u32::from(net.broadcast()).into(),
                        index,
                    ));
                }
                IpNet::V6(net) => v6.push((net.network().into(), net.broadcast().into(), index)),
            }
        }
        Self {
            v4: Ranges::new(v4, u32::MAX.into()),
            v6: Ranges::new(v6, u128::MAX),
            targets,
        }
    }

    /// Whether there are no rules.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The groups that the longest matching rule names for an address.
    pub(crate) fn find(&self, ip: IpAddr) -> Located<&[Target]> {
        let (index, prefix) = match ip {
            IpAddr::V4(v4) => self.v4.find(u32::from(v4).into(), 32),
            IpAddr::V6(v6) => self.v6.find(v6.into(), 128),
        };
        Located {
            value: self.targets.get(index as usize).map(|list| &**list),
            prefix,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(rules: &[(&str, &str)]) -> CompiledMap {
        let rules: Vec<_> = rules
            .iter()
            .map(|(net, target)| MapRule {
                network: net.parse().unwrap(),
                targets: target.split(',').map(str::to_owned).collect(),
            })
            .collect();
        CompiledMap::new(&rules)
    }

    fn look(map: &CompiledMap, ip: &str) -> (Option<String>, u8) {
        let found = map.find(ip.parse().unwrap());
        (
            found
                .value
                .map(|list| list.iter().map(Target::text).collect::<Vec<_>>().join(",")),
            found.prefix,
        )
    }

    #[test]
    fn the_longest_prefix_wins_and_the_scope_leaves_out_nested_rules() {
        let map = map(&[
            ("198.51.0.0/16", "eu"),
            ("198.51.100.0/24", "us"),
            ("198.51.100.128/25", "ap"),
            ("198.51.100.255/32", "x,y"),
            ("2001:db8::/32", "eu"),
        ]);
        assert_eq!(look(&map, "198.51.1.1"), (Some("eu".into()), 18));
        assert_eq!(look(&map, "198.51.200.1"), (Some("eu".into()), 17));
        assert_eq!(look(&map, "198.51.100.1"), (Some("us".into()), 25));
        assert_eq!(look(&map, "198.51.100.129"), (Some("ap".into()), 26));
        assert_eq!(look(&map, "198.51.100.254"), (Some("ap".into()), 32));
        assert_eq!(look(&map, "198.51.100.255"), (Some("x,y".into()), 32));
        assert_eq!(look(&map, "198.51.101.0"), (Some("eu".into()), 24));
        assert_eq!(look(&map, "198.52.0.0"), (None, 14));
        assert_eq!(look(&map, "0.0.0.0"), (None, 1));
        assert_eq!(look(&map, "2001:db8:ffff::"), (Some("eu".into()), 32));
        assert_eq!(look(&map, "::"), (None, 3));
    }

    #[test]
    fn whole_address_space_and_neighbours_with_equal_targets_need_no_bits() {
        let all = map(&[("0.0.0.0/0", "a"), ("::/0", "b")]);
        assert_eq!(look(&all, "255.255.255.255"), (Some("a".into()), 0));
        assert_eq!(look(&all, "ffff::"), (Some("b".into()), 0));
        let halves = map(&[("0.0.0.0/1", "a"), ("128.0.0.0/1", "a")]);
        assert_eq!(look(&halves, "1.2.3.4"), (Some("a".into()), 0));
        let inside = map(&[("10.0.0.0/8", "a"), ("10.1.0.0/16", "a")]);
        assert_eq!(look(&inside, "10.1.0.1"), (Some("a".into()), 8));
        assert_eq!(look(&map(&[]), "10.1.0.1"), (None, 0));
    }
}
