//! One name of the tree, as a query finds it in memory.

use crate::snapshot::records::NodeRecords;
use crate::snapshot::service::CompiledService;
use crate::snapshot::shards::Entry;
use crate::snapshot::zone::CompiledZone;
use std::ops::Deref;
use std::sync::Arc;

/// The zone of a name. Stored zones by their place in a list, so that a new serial of a zone with a million names
/// changes one place.
#[derive(Debug, Clone)]
pub(crate) enum ZoneOf {
    Stored(u32),
    Synthetic(Arc<CompiledZone>),
}

/// What a name holds.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub(super) service: Option<Arc<CompiledService>>,
    pub(super) records: Option<Arc<NodeRecords>>,
}

impl Node {
    pub(super) fn is_empty(&self) -> bool {
        self.service.is_none() && self.records.is_none()
    }
}

/// Octets that lie near what they belong to, unless they are many.
const NEAR: usize = 62;

/// A name in wire form. It is compared for every query: nearly all names are short enough to lie beside what they hold,
/// rather than elsewhere in memory, which would have to be waited for.
#[derive(Debug, Clone)]
pub(super) enum Wire {
    Near { length: u8, octets: [u8; NEAR] },
    Far(Arc<[u8]>),
}

impl Wire {
    pub(super) fn new(wire: &Arc<[u8]>) -> Self {
        let mut octets = [0; NEAR];
        match (octets.get_mut(..wire.len()), u8::try_from(wire.len())) {
            (Some(near), Ok(length)) => {
                near.copy_from_slice(wire);
                Self::Near { length, octets }
            }
            _ => Self::Far(Arc::clone(wire)),
        }
    }

    /// To be held by others.
    pub(super) fn shared(&self) -> Arc<[u8]> {
        match self {
            Self::Near { .. } => Arc::from(&**self),
            Self::Far(wire) => Arc::clone(wire),
        }
    }
}

impl Deref for Wire {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Near { length, octets } => octets.get(..usize::from(*length)).unwrap_or_default(),
            Self::Far(wire) => wire,
        }
    }
}

/// A name that exists: two cache lines side by side.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Name {
    pub(super) hash: u64,
    pub(super) node: Node,
    pub(super) zone: ZoneOf,
    /// What `*` directly below this name holds.
    pub(super) wildcard: Node,
    /// Names directly below that exist.
    pub(super) children: u32,
    pub(super) apex: bool,
    /// Whether `*` directly below this name exists, be it without data.
    pub(super) has_wildcard: bool,
    pub(super) wire: Wire,
}

impl Name {
    /// A name without anything.
    pub(super) fn new(wire: &Arc<[u8]>, hash: u64, zone: ZoneOf) -> Self {
        Self {
            hash,
            node: Node::default(),
            zone,
            wildcard: Node::default(),
            children: 0,
            apex: false,
            has_wildcard: false,
            wire: Wire::new(wire),
        }
    }
}

impl Entry for Name {
    fn hash(&self) -> u64 {
        self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_names_are_what_they_were_and_two_cache_lines_hold_one() {
        // On other machines pointers are shorter.
        assert!(size_of::<Name>() <= 128, "{}", size_of::<Name>());
        for length in [1, 2, NEAR - 1, NEAR, NEAR + 1, 255] {
            let octets: Arc<[u8]> = (0..length).map(|octet| octet as u8).collect();
            let wire = Wire::new(&octets);
            assert_eq!(&*wire, &*octets);
            assert_eq!(wire.shared(), octets);
            assert_eq!(matches!(wire, Wire::Near { .. }), length <= NEAR);
        }
    }
}
