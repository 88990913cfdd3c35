//! Networks inside each other, of which the longest around an address counts.

use super::{Builder, NONE, Table};
use ipnet::IpNet;

/// First and last address of a network, and its value.
type Net = (u128, u128, u32);

impl Table {
    /// From networks in any order, nested or not, no two of them equal: an address has the value of the longest around
    /// it. Values are numbers below [`Table::LIMIT`]; a larger one counts as none.
    #[must_use]
    pub fn nested(networks: impl IntoIterator<Item = (IpNet, u32)>) -> Self {
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for (network, id) in networks {
            let id = if id < Self::LIMIT { id } else { NONE };
            match network {
                IpNet::V4(net) => v4.push((
                    net.network().to_bits().into(),
                    net.broadcast().to_bits().into(),
                    id,
                )),
                IpNet::V6(net) => v6.push((net.network().to_bits(), net.broadcast().to_bits(), id)),
            }
        }
        let mut builder = Builder::default();
        flatten(v4, |start, id| {
            // Behind the last IPv4 address nothing begins.
            if let Ok(start) = u32::try_from(start) {
                builder.begin_v4(start, id);
            }
        });
        flatten(v6, |start, id| builder.begin_v6(start, id));
        builder.finish()
    }
}

/// Cuts networks into pieces, and tells in rising order from where on which value holds.
fn flatten(mut nets: Vec<Net>, mut from: impl FnMut(u128, u32)) {
    // Outer nets first: an inner one then cuts its part out of the one that is open.
    nets.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut open: Vec<(u128, u32)> = Vec::new();
    for (first, last, id) in nets {
        close(&mut open, Some(first), &mut from);
        from(first, id);
        open.push((last, id));
    }
    close(&mut open, None, &mut from);
}

/// Ends the nets that end before an address, or all; behind each, the one around it goes on.
fn close(open: &mut Vec<(u128, u32)>, before: Option<u128>, from: &mut impl FnMut(u128, u32)) {
    while let Some((last, _)) = open.pop_if(|(last, _)| before.is_none_or(|before| *last < before)) {
        if let Some(next) = last.checked_add(1) {
            from(next, open.last().map_or(NONE, |(_, id)| *id));
        }
    }
}
