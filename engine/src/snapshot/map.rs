//! The map file's rules, compiled to sorted ranges without overlap.
//!
//! A look-up finds the longest matching prefix by one binary search, and tells the shortest prefix around the client
//! that contains no rule with other targets: the scope of an answer that depended on it.

use crate::environment::MapRule;
use crate::geo::Located;
use crate::ranges::Table;
use crate::snapshot::pool::{CompiledMember, region_hash};
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

/// The compiled rules.
#[derive(Debug)]
pub(crate) struct CompiledMap {
    table: Table,
    targets: Vec<Box<[Target]>>,
}

impl CompiledMap {
    pub(crate) fn new<'rules>(rules: &'rules [MapRule]) -> Self {
        let mut targets: Vec<Box<[Target]>> = Vec::new();
        let mut known = std::collections::HashMap::new();
        let mut index_of = |rule: &'rules MapRule| {
            *known.entry(&rule.targets).or_insert_with(|| {
                targets.push(rule.targets.iter().map(|text| Target::parse(text)).collect());
                u32::try_from(targets.len() - 1).unwrap_or(Table::LIMIT)
            })
        };
        let table = Table::nested(rules.iter().map(|rule| (rule.network, index_of(rule))));
        Self { table, targets }
    }

    /// Whether there are no rules.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The groups that the longest matching rule names for an address.
    pub(crate) fn find(&self, ip: IpAddr) -> Located<&[Target]> {
        let (index, prefix) = self.table.find(ip);
        Located {
            value: index
                .and_then(|index| self.targets.get(index as usize))
                .map(|list| &**list),
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
