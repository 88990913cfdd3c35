//! Walks the search tree of an MMDB file (MaxMind DB file format 2.0, "Binary Search Tree Section") from the lowest
//! address to the highest.
//!
//! The library's own iterator leaves the aliases of the IPv4 part out without telling where they are, and takes networks
//! for aliases when a file has one record for all of IPv4. It also follows a tree as far as its branches reach, which in
//! a crafted file is for ever.

use maxminddb::{MaxMindDbError, Metadata};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What the walk comes upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// A network with a record: first address, prefix length, and what tells the record from others.
    Network(IpAddr, u8, usize),
    /// An IPv6 network in which the prefix is followed by an IPv4 address, and the record is that one's.
    Embeds(Ipv6Addr, u8),
}

/// A tree in its file.
pub(super) struct Tree<'a> {
    bytes: &'a [u8],
    nodes: usize,
    record_bits: u16,
    is_v6: bool,
}

/// A node or leaf that the walk has still to look at.
struct Step {
    record: usize,
    address: u128,
    depth: u8,
}

fn damaged(message: &str) -> MaxMindDbError {
    MaxMindDbError::invalid_database(message)
}

impl<'a> Tree<'a> {
    pub(super) fn new(bytes: &'a [u8], metadata: &Metadata) -> Self {
        Self {
            bytes,
            nodes: usize::try_from(metadata.node_count).unwrap_or(usize::MAX),
            record_bits: metadata.record_size,
            is_v6: metadata.ip_version == 6,
        }
    }

    /// Both records of a node.
    fn node(&self, index: usize) -> Option<[usize; 2]> {
        let size = usize::from(self.record_bits) / 4;
        let at = index.checked_mul(size)?;
        let node = self.bytes.get(at..at.checked_add(size)?)?;
        let number = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all << 8 | usize::from(*byte));
        match (self.record_bits, node) {
            (28, [left @ .., middle, r2, r1, r0]) => Some([
                usize::from(middle >> 4) << 24 | number(left),
                usize::from(middle & 15) << 24 | number(&[*r2, *r1, *r0]),
            ]),
            (24 | 32, _) => {
                let (left, right) = node.split_at(size / 2);
                Some([number(left), number(right)])
            }
            _ => None,
        }
    }

    /// Where the IPv4 part begins, when it is a node of its own.
    fn ipv4_root(&self) -> Result<Option<usize>, MaxMindDbError> {
        let mut record = 0;
        for _ in 0..96 {
            if record >= self.nodes {
                return Ok(None);
            }
            [record, _] = self.node(record).ok_or_else(|| damaged("the tree is cut off"))?;
        }
        Ok((record < self.nodes).then_some(record))
    }

    /// Tells every network, in rising order: those of IPv4 first.
    pub(super) fn walk<E: From<MaxMindDbError>>(
        &self,
        mut tell: impl FnMut(Found) -> Result<(), E>,
    ) -> Result<(), E> {
        let width = if self.is_v6 { 128 } else { 32 };
        let ipv4_root = if self.is_v6 { self.ipv4_root()? } else { None };
        // In a sound file each node has one parent, or a few where equal parts are shared.
        let mut left = self.nodes.saturating_mul(4);
        let mut steps = vec![Step {
            record: 0,
            address: 0,
            depth: 0,
        }];
        while let Some(Step {
            record,
            address,
            depth,
        }) = steps.pop()
        {
            if record == self.nodes {
                continue;
            }
            if record > self.nodes {
                tell(self.network(address, depth, record))?;
                continue;
            }
            if Some(record) == ipv4_root && depth <= 96 {
                tell(Found::Embeds(address.into(), depth))?;
                if address != 0 || depth != 96 {
                    continue;
                }
            }
            left = left
                .checked_sub(1)
                .filter(|_| depth < width)
                .ok_or_else(|| damaged("nodes of the tree lead back to earlier ones"))?;
            let [zero, one] = self.node(record).ok_or_else(|| damaged("the tree is cut off"))?;
            let next = |record, bit: u128| Step {
                record,
                address: address | bit << (width - 1 - depth),
                depth: depth + 1,
            };
            steps.extend([next(one, 1), next(zero, 0)]);
        }
        Ok(())
    }

    fn network(&self, address: u128, depth: u8, record: usize) -> Found {
        let v4 = u32::try_from(address).ok().map(Ipv4Addr::from_bits);
        match v4 {
            Some(v4) if !self.is_v6 => Found::Network(v4.into(), depth, record),
            Some(v4) if depth > 96 => Found::Network(v4.into(), depth - 96, record),
            _ => Found::Network(Ipv6Addr::from_bits(address).into(), depth, record),
        }
    }
}
