//! A map in shards that are shared between snapshots.
//!
//! A new snapshot copies the list of shards (pointers) and, of the entries, only the shards it changes: one change
//! among a million services copies a few hundred entries. Keys are part of the entries.

use hashbrown::HashTable;
use std::sync::Arc;

/// Shards of a map at most.
const MOST_SHARDS: usize = 4096;
/// Entries of a shard, on average, at which there come to be twice as many. Less would scatter a small map over memory,
/// more would make every change copy more.
const FULL: usize = 512;

/// An entry: knows the hash of its key, so that a shard can grow or be copied without hashing again.
pub(crate) trait Entry: Clone {
    /// Hash of the key.
    fn hash(&self) -> u64;
}

/// The map.
#[derive(Debug, Clone)]
pub(crate) struct Shards<T> {
    /// As many as a power of two, so that bits of a hash pick one.
    shards: Box<[Arc<HashTable<T>>]>,
    len: usize,
}

impl<T: Entry> Shards<T> {
    /// No entries, in one shard.
    pub(crate) fn new() -> Self {
        Self {
            shards: Box::from([Arc::default()]),
            len: 0,
        }
    }

    /// No entries, with room for so many.
    pub(crate) fn for_many(entries: usize) -> Self {
        let mut shards = 1;
        while entries >= shards * FULL && shards < MOST_SHARDS {
            shards *= 2;
        }
        let shard = || Arc::new(HashTable::with_capacity(entries / shards));
        Self {
            shards: std::iter::repeat_with(shard).take(shards).collect(),
            len: 0,
        }
    }

    /// The shard of a hash, by bits of its upper half: the table itself uses the lower bits and the top 7.
    #[inline]
    pub(crate) fn index(&self, hash: u64) -> usize {
        (hash >> 40) as usize & (self.shards.len() - 1)
    }

    /// Twice as many shards.
    fn grow(&mut self) {
        let mut shards: Vec<HashTable<T>> = Vec::new();
        shards.resize_with(self.shards.len() * 2, HashTable::new);
        let old = std::mem::take(&mut self.shards);
        for shard in old {
            for entry in Arc::unwrap_or_clone(shard) {
                let hash = entry.hash();
                let place = (hash >> 40) as usize & (shards.len() - 1);
                if let Some(shard) = shards.get_mut(place) {
                    shard.insert_unique(hash, entry, T::hash);
                }
            }
        }
        self.shards = shards.into_iter().map(Arc::new).collect();
    }

    /// The entry with this hash for which `is_it` holds.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_it: impl FnMut(&T) -> bool) -> Option<&T> {
        self.shards.get(self.index(hash))?.find(hash, is_it)
    }

    /// Reads what [`find`](Self::find) will read first, for nothing but to have it in the cache.
    #[inline]
    pub(crate) fn approach(&self, hash: u64) -> usize {
        self.shards.get(self.index(hash)).map_or(0, |shard| shard.len())
    }

    /// The entry, for changing; its shard is copied first if another snapshot shares it.
    pub(crate) fn find_mut(&mut self, hash: u64, is_it: impl FnMut(&T) -> bool) -> Option<&mut T> {
        let index = self.index(hash);
        Arc::make_mut(self.shards.get_mut(index)?).find_mut(hash, is_it)
    }

    /// Adds an entry whose key is not there yet.
    pub(crate) fn insert(&mut self, entry: T) {
        let hash = entry.hash();
        if self.len >= self.shards.len() * FULL && self.shards.len() < MOST_SHARDS {
            self.grow();
        }
        let index = self.index(hash);
        if let Some(shard) = self.shards.get_mut(index) {
            Arc::make_mut(shard).insert_unique(hash, entry, T::hash);
            self.len += 1;
        }
    }

    /// Takes an entry out.
    pub(crate) fn remove(&mut self, hash: u64, is_it: impl FnMut(&T) -> bool) -> Option<T> {
        let index = self.index(hash);
        let shard = Arc::make_mut(self.shards.get_mut(index)?);
        let (entry, _) = shard.find_entry(hash, is_it).ok()?.remove();
        self.len -= 1;
        Some(entry)
    }

    /// Every entry, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.shards.iter().flat_map(|shard| shard.iter())
    }

    /// Number of shards.
    pub(crate) fn count(&self) -> usize {
        self.shards.len()
    }

    /// The entries that would be in a shard if there were `of` of them, a power of two that is no less than there are; in
    /// no particular order. Two maps of different sizes are compared so.
    pub(crate) fn part(&self, index: usize, of: usize) -> impl Iterator<Item = &T> {
        let shard = self.shards.get(index & (self.shards.len() - 1));
        let entries = shard.into_iter().flat_map(|shard| shard.iter());
        entries.filter(move |entry| (entry.hash() >> 40) as usize & (of - 1) == index)
    }

    /// Whether a shard is shared with another map of the same size.
    pub(crate) fn shares(&self, other: &Self, index: usize) -> bool {
        match (self.shards.get(index), other.shards.get(index)) {
            (Some(one), Some(two)) => self.count() == other.count() && Arc::ptr_eq(one, two),
            _ => false,
        }
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[derive(Clone, Debug, PartialEq)]
    struct Number(u64);

    impl Entry for Number {
        fn hash(&self) -> u64 {
            mix(self.0)
        }
    }

    #[test]
    fn a_copy_shares_every_shard_that_is_not_changed() {
        let mut map = Shards::new();
        for n in 0..20_000 {
            map.insert(Number(n));
        }
        let mut copy = map.clone();
        assert_eq!(copy.remove(mix(7), |n| n.0 == 7), Some(Number(7)));
        copy.insert(Number(50_000));
        assert_eq!((map.len(), copy.len()), (20_000, 20_000));
        assert!(map.find(mix(7), |n| n.0 == 7).is_some());
        assert!(copy.find(mix(7), |n| n.0 == 7).is_none());
        assert!(copy.find(mix(50_000), |n| n.0 == 50_000).is_some());
        let shared = map
            .shards
            .iter()
            .zip(&copy.shards)
            .filter(|(a, b)| Arc::ptr_eq(a, b))
            .count();
        assert_eq!(copy.shards.len(), 64);
        assert!(shared >= 62, "{shared}");
        assert_eq!(map.iter().count(), 20_000);
    }
}
