//! The wanted set, sorted by probe: the part of a change that needs no lock.

use crate::target::{ProbeKey, Target};
use gslb_engine::slots::MemberSlot;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Targets by the probe that serves them.
#[derive(Default)]
pub(crate) struct Wanted {
    /// In the order of their first appearance.
    pub(crate) groups: Vec<(ProbeKey, Vec<Target>)>,
    /// Slots of members that are not checked.
    pub(crate) unchecked: Vec<Arc<MemberSlot>>,
}

impl From<Vec<Target>> for Wanted {
    /// Of two targets with one member id the first counts.
    fn from(targets: Vec<Target>) -> Self {
        let mut seen = HashSet::with_capacity(targets.len());
        let mut places = HashMap::with_capacity(targets.len());
        let mut wanted = Self::default();
        for mut target in targets {
            if !seen.insert(target.member_id) {
                continue;
            }
            let Some(check) = target.check.take() else {
                wanted.unchecked.push(target.slot);
                continue;
            };
            let key = ProbeKey::new(target.address, check);
            let place = *places.entry(key.clone()).or_insert(wanted.groups.len());
            match wanted.groups.get_mut(place) {
                Some((_, members)) => members.push(target),
                None => wanted.groups.push((key, vec![target])),
            }
        }
        wanted
    }
}
