//! A list in rows that are shared between snapshots: a new snapshot copies the list of rows (pointers) and, of the items,
//! only the rows it changes.

use std::sync::Arc;

/// Items of a row, as a power of two.
const ROW: u32 = 8;

/// The list. Places are `u32`, to be kept by a million others.
#[derive(Debug, Clone)]
pub(crate) struct Rows<T>(Vec<Arc<Vec<T>>>);

impl<T: Clone> Rows<T> {
    /// No items.
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// The item at a place.
    #[inline]
    pub(crate) fn get(&self, place: u32) -> Option<&T> {
        let row = self.0.get((place >> ROW) as usize)?;
        row.get((place & ((1 << ROW) - 1)) as usize)
    }

    /// The item at a place, for changing; its row is copied first if another snapshot shares it.
    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        let row = self.0.get_mut((place >> ROW) as usize)?;
        Arc::make_mut(row).get_mut((place & ((1 << ROW) - 1)) as usize)
    }

    /// Adds an item at the end. Returns its place.
    pub(crate) fn push(&mut self, item: T) -> u32 {
        match self.0.last_mut().filter(|row| row.len() < 1 << ROW) {
            Some(row) => Arc::make_mut(row).push(item),
            None => {
                let mut row = Vec::with_capacity(1 << ROW);
                row.push(item);
                self.0.push(Arc::new(row));
            }
        }
        u32::try_from(self.len() - 1).unwrap_or(u32::MAX)
    }

    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        match self.0.split_last() {
            Some((last, full)) => (full.len() << ROW) + last.len(),
            None => 0,
        }
    }

    /// Every item with its place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(self.0.iter().flat_map(|row| row.iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_shares_every_row_that_is_not_changed() {
        let mut list = Rows::new();
        for n in 0..1000_u32 {
            assert_eq!(list.push(n), n);
        }
        let mut copy = list.clone();
        *copy.get_mut(300).unwrap() = 7;
        assert_eq!(copy.push(1), 1000);
        assert_eq!((list.len(), copy.len()), (1000, 1001));
        assert_eq!((list.get(300), copy.get(300)), (Some(&300), Some(&7)));
        assert_eq!((list.get(1000), copy.get(1001)), (None, None));
        let shared = list.0.iter().zip(&copy.0).filter(|(a, b)| Arc::ptr_eq(a, b));
        assert_eq!((list.0.len(), shared.count()), (4, 2));
        assert!(list.iter().all(|(place, n)| place == *n));
    }
}
