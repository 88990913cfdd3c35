//! Builds a table out of networks in rising order, with no memory but the table's own.

use super::sorted::{Key, Ranges};
use super::{EMBEDS, NONE, SPLIT, Table};
use ipnet::{IpNet, Ipv6Net};

/// Collects networks for a [`Table`]: each family's in rising order, without overlap. What lies before the end of an
/// earlier network is left out.
#[derive(Debug)]
pub struct Builder {
    v4: Boundaries<u32>,
    v6: Boundaries<u128>,
    table: Table,
    /// The upper half of the /64 whose ranges go into the list of whole addresses just now.
    open: Option<u64>,
}

/// What begins where, merged as far as it goes.
#[derive(Debug)]
struct Boundaries<K> {
    /// The first address that no network has covered; `None` at the end.
    next: Option<K>,
    /// Value of the last range that is final.
    current: u32,
    /// A boundary that something may still take the place of.
    pending: Option<(K, u32)>,
}

impl<K: Key> Boundaries<K> {
    fn new() -> Self {
        Self {
            next: Some(K::ZERO),
            current: NONE,
            pending: None,
        }
    }

    /// Values from `start` on; gives the boundary that became final, if it is one.
    fn begin(&mut self, start: K, id: u32) -> Option<(K, u32)> {
        let before = match self.pending.replace((start, id)) {
            Some((earlier, _)) if earlier >= start => None,
            other => other,
        };
        self.settle(before)
    }

    fn settle(&mut self, boundary: Option<(K, u32)>) -> Option<(K, u32)> {
        let (start, id) = boundary.filter(|(_, id)| *id != self.current)?;
        self.current = id;
        Some((start, id))
    }

    fn end(&mut self) -> Option<(K, u32)> {
        let last = self.pending.take();
        self.settle(last)
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            v4: Boundaries::new(),
            v6: Boundaries::new(),
            table: Table {
                v4: Ranges::new(NONE),
                v6: Ranges::new(NONE),
                split: Ranges::new(NONE),
            },
            open: None,
        }
    }
}

impl Builder {
    /// Gives a network a value, a number below [`Table::LIMIT`]; a larger one counts as none.
    pub fn add(&mut self, network: IpNet, id: u32) {
        let id = if id < Table::LIMIT { id } else { NONE };
        match network {
            IpNet::V4(v4) => {
                let (first, last) = (v4.network().to_bits(), v4.broadcast().to_bits());
                if self.v4.next.is_none_or(|next| first < next) {
                    return;
                }
                self.begin_v4(first, id);
                self.v4.next = last.checked_add(1);
                if let Some(next) = self.v4.next {
                    self.begin_v4(next, NONE);
                }
            }
            IpNet::V6(v6) => self.add_v6(v6, id),
        }
    }

    /// A network whose prefix is followed by an IPv4 address, with the value that this has; at most 96 bits long.
    pub fn embed(&mut self, network: Ipv6Net) {
        let length = u32::from(network.prefix_len());
        if length <= 96 {
            self.add_v6(network, EMBEDS + length);
        }
    }

    fn add_v6(&mut self, network: Ipv6Net, id: u32) {
        let (first, last) = (network.network().to_bits(), network.broadcast().to_bits());
        if self.v6.next.is_none_or(|next| first < next) {
            return;
        }
        self.begin_v6(first, id);
        self.v6.next = last.checked_add(1);
        if let Some(next) = self.v6.next {
            self.begin_v6(next, NONE);
        }
    }

    /// Values from an IPv4 address on, until the next boundary. Addresses must not fall; of two values for the same
    /// address the later one counts. Not to be mixed with [`add`](Self::add).
    pub(super) fn begin_v4(&mut self, start: u32, id: u32) {
        if let Some((start, id)) = self.v4.begin(start, id) {
            self.table.v4.append(start, id);
        }
    }

    /// As [`begin_v4`](Self::begin_v4).
    pub(super) fn begin_v6(&mut self, start: u128, id: u32) {
        let before = self.v6.current;
        if let Some((start, id)) = self.v6.begin(start, id) {
            self.place_v6(start, id, before);
        }
    }

    /// A final boundary, with the value that ends there.
    fn place_v6(&mut self, start: u128, id: u32, before: u32) {
        let (high, low) = ((start >> 64) as u64, start as u64);
        let table = &mut self.table;
        // Behind a /64 with ranges of its own goes on what was there at its end.
        if let Some(after) = self
            .open
            .filter(|open| *open != high)
            .and_then(|o| o.checked_add(1))
        {
            table.v6.append(after, before);
            self.open = None;
        }
        if low == 0 {
            table.v6.append(high, id);
            return;
        }
        if self.open.is_none() {
            table.v6.append(high, SPLIT);
            table.split.append(start & !u128::from(u64::MAX), before);
            self.open = Some(high);
        }
        table.split.append(start, id);
    }

    /// The table.
    #[must_use]
    pub fn finish(mut self) -> Table {
        if let Some((start, id)) = self.v4.end() {
            self.table.v4.append(start, id);
        }
        let before = self.v6.current;
        if let Some((start, id)) = self.v6.end() {
            self.place_v6(start, id, before);
        }
        if let Some(after) = self.open.and_then(|open| open.checked_add(1)) {
            self.table.v6.append(after, self.v6.current);
        }
        self.table.v4.close();
        self.table.v6.close();
        self.table.split.close();
        self.table
    }
}
