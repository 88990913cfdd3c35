//! One sorted list of ranges over numbers of one width, with an index of its densest part.

use std::fmt;

/// Number of index slots: 2¹⁶.
const SLOTS: usize = 1 << 16;
/// Fewer ranges than this need no index: a binary search over them stays in the nearest cache.
const WORTH_AN_INDEX: usize = 1024;

/// An address, or the part of one that ranges are kept for.
pub(super) trait Key: Copy + Ord + fmt::Debug {
    /// Where the indexed part begins.
    const INDEX_FROM: Self;
    /// The lowest number.
    const ZERO: Self;

    /// Slot of the index for a number that is not below [`INDEX_FROM`](Self::INDEX_FROM); above the indexed part, any
    /// number from [`SLOTS`] on.
    fn slot(self) -> usize;

    /// Length of the shortest prefix around this number that leaves out `other`, a different one.
    fn apart(self, other: Self) -> u8;

    /// The number before; of the lowest, itself.
    fn before(self) -> Self;
}

/// A number below 256.
fn small(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

impl Key for u32 {
    const INDEX_FROM: Self = 0;
    const ZERO: Self = 0;

    #[inline]
    fn slot(self) -> usize {
        (self >> 16) as usize
    }

    #[inline]
    fn apart(self, other: Self) -> u8 {
        small((self ^ other).leading_zeros() + 1)
    }

    #[inline]
    fn before(self) -> Self {
        self.saturating_sub(1)
    }
}

/// The upper half of an IPv6 address.
impl Key for u64 {
    // Global unicast is 2000::/3 (RFC 4291 §2.4); the three bits that all of it shares need no place in the index.
    const INDEX_FROM: Self = 0x2000 << 48;
    const ZERO: Self = 0;

    #[inline]
    fn slot(self) -> usize {
        (self.wrapping_sub(Self::INDEX_FROM) >> 45) as usize
    }

    #[inline]
    fn apart(self, other: Self) -> u8 {
        small((self ^ other).leading_zeros() + 1)
    }

    #[inline]
    fn before(self) -> Self {
        self.saturating_sub(1)
    }
}

/// A whole IPv6 address. Few ranges need one: there is no index.
impl Key for u128 {
    const INDEX_FROM: Self = Self::MAX;
    const ZERO: Self = 0;

    #[inline]
    fn slot(self) -> usize {
        SLOTS
    }

    #[inline]
    fn apart(self, other: Self) -> u8 {
        small((self ^ other).leading_zeros() + 1)
    }

    #[inline]
    fn before(self) -> Self {
        self.saturating_sub(1)
    }
}

/// Values of ranges. Few databases have many different ones, and what is half as large stays twice as long in a cache.
enum Ids {
    /// Numbers below [`RESERVED`](Self::RESERVED) as they are, and the highest 256 by their last 16 bits.
    Short(Vec<u16>),
    Long(Vec<u32>),
}

impl Ids {
    /// First of the short numbers that stand for the highest long ones.
    const RESERVED: u16 = 0xff00;

    fn short(id: u32) -> Option<u16> {
        let low = u16::try_from(id & 0xffff).ok()?;
        let same = id == u32::from(low) && low < Self::RESERVED;
        let high = id >= 0xffff_0000 && low >= Self::RESERVED;
        (same || high).then_some(low)
    }

    #[inline]
    fn get(&self, position: usize) -> Option<u32> {
        match self {
            Self::Short(ids) => ids.get(position).map(|id| match u32::from(*id) {
                id if id >= Self::RESERVED.into() => id | 0xffff_0000,
                id => id,
            }),
            Self::Long(ids) => ids.get(position).copied(),
        }
    }

    /// For a list that is complete.
    fn shorten(&mut self) {
        if let Self::Long(ids) = self {
            match ids.iter().map(|id| Self::short(*id)).collect() {
                Some(short) => *self = Self::Short(short),
                None => ids.shrink_to_fit(),
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Short(ids) => ids.capacity() * size_of::<u16>(),
            Self::Long(ids) => ids.capacity() * size_of::<u32>(),
        }
    }
}

/// Range `i` begins at `starts[i]`, ends before `starts[i + 1]`, and has the value `ids[i]`. The first begins at 0.
pub(super) struct Ranges<K> {
    starts: Vec<K>,
    ids: Ids,
    /// For each slot, and one behind the last, the number of ranges that begin before it; empty without an index.
    index: Vec<u32>,
}

impl<K: Key> Ranges<K> {
    /// One range with everything in it.
    pub(super) fn new(id: u32) -> Self {
        Self {
            starts: vec![K::ZERO],
            ids: Ids::Long(vec![id]),
            index: Vec::new(),
        }
    }

    /// Begins a range, before [`close`](Self::close); starts must rise, and one that does not changes the value of the last range.
    pub(super) fn append(&mut self, start: K, id: u32) {
        if self.starts.last().is_some_and(|last| *last >= start) {
            self.set_last(id);
            return;
        }
        if let Ids::Long(ids) = &mut self.ids {
            self.starts.push(start);
            ids.push(id);
        }
    }

    /// Changes the value of the last range.
    pub(super) fn set_last(&mut self, id: u32) {
        if let Ids::Long(ids) = &mut self.ids
            && let Some(last) = ids.last_mut()
        {
            *last = id;
        }
    }

    /// Nothing will be added any more: gives back spare memory and builds the index.
    pub(super) fn close(&mut self) {
        self.starts.shrink_to_fit();
        self.ids.shorten();
        if self.starts.len() < WORTH_AN_INDEX || K::INDEX_FROM.slot() >= SLOTS {
            return;
        }
        self.index = Vec::with_capacity(SLOTS + 1);
        let mut position = self.starts.partition_point(|start| *start < K::INDEX_FROM);
        for slot in 0..=SLOTS {
            let rest = self.starts.get(position..).unwrap_or_default();
            position += rest.iter().take_while(|start| start.slot() < slot).count();
            self.index.push(u32::try_from(position).unwrap_or(u32::MAX));
        }
    }

    /// Number of ranges.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Heap memory, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<K>() + self.ids.bytes() + self.index.capacity() * size_of::<u32>()
    }

    /// Between which positions the range of a number begins.
    #[inline]
    fn bounds(&self, number: K) -> (usize, usize) {
        let all = self.starts.len();
        if self.index.is_empty() {
            return (0, all);
        }
        let at = |slot: usize| self.index.get(slot).map_or(all, |position| *position as usize);
        if number < K::INDEX_FROM {
            return (0, at(0));
        }
        let slot = number.slot().min(SLOTS);
        (at(slot), at(slot + 1))
    }

    /// Reads where [`find`](Self::find) will read, for nothing but to have it in the cache.
    #[inline]
    pub(super) fn approach(&self, number: K) -> u64 {
        let (from, to) = self.bounds(number);
        let middle = from.midpoint(to);
        let after = self.starts.get(middle).is_some_and(|start| *start > number);
        u64::from(after) ^ u64::from(self.ids.get(middle).unwrap_or_default())
    }

    /// Value of the range around a number, and the length of the shortest prefix around the number inside it.
    #[inline]
    pub(super) fn find(&self, number: K) -> (u32, u8) {
        let (from, to) = self.bounds(number);
        let within = self.starts.get(from..to).unwrap_or_default();
        let next = from + within.partition_point(|start| *start <= number);
        let position = next.saturating_sub(1);
        let id = self.ids.get(position).unwrap_or(super::NONE);
        // The prefix must leave out the number before the range and the one behind it.
        let low = match self.starts.get(position) {
            Some(start) if *start > K::ZERO => number.apart(start.before()),
            _ => 0,
        };
        let high = self.starts.get(next).map_or(0, |end| number.apart(*end));
        (id, low.max(high))
    }
}

impl<K> fmt::Debug for Ranges<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ranges")
            .field("len", &self.starts.len())
            .finish_non_exhaustive()
    }
}
