//! The registry of live slots, kept by the one writer of snapshots.

use crate::hash::mix;
use crate::model::{MemberId, ServiceId};
use crate::slots::{MemberSlot, ServiceSlot};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Slots by the id of their member or service: a new snapshot takes over the slots of what it still contains, so that
/// unchanged members keep health, round-trip time and counters.
#[derive(Debug, Default)]
pub struct Slots {
    members: HashMap<MemberId, Arc<MemberSlot>>,
    services: HashMap<ServiceId, Arc<ServiceSlot>>,
}

impl Slots {
    /// No slots.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for the slots of so many services.
    pub(super) fn reserve(&mut self, services: usize) {
        self.services
            .reserve(services.saturating_sub(self.services.len()));
    }

    /// The slot of a member, made on the first call.
    pub fn member(&mut self, id: MemberId) -> Arc<MemberSlot> {
        Arc::clone(
            self.members
                .entry(id)
                .or_insert_with(|| Arc::new(MemberSlot::new(id))),
        )
    }

    /// Takes over the slot of a member from elsewhere.
    pub(crate) fn adopt(&mut self, slot: &Arc<MemberSlot>) {
        self.members.insert(slot.member_id, Arc::clone(slot));
    }

    /// The slot of a service, made on the first call; `entropy` says where its round-robin begins.
    pub fn service(&mut self, id: ServiceId, entropy: u64) -> Arc<ServiceSlot> {
        let slot = self.services.entry(id).or_insert_with(|| {
            let (high, low) = id.0.as_u64_pair();
            // 16 bits are enough for any pool, and keep the division by the number of candidates short.
            Arc::new(ServiceSlot::new(id, mix(entropy ^ mix(high ^ low)) & 0xffff))
        });
        Arc::clone(slot)
    }

    /// The slot of a member that has one.
    #[must_use]
    pub fn existing_member(&self, id: MemberId) -> Option<&Arc<MemberSlot>> {
        self.members.get(&id)
    }

    /// The slot of a service that has one.
    #[must_use]
    pub fn existing_service(&self, id: ServiceId) -> Option<&Arc<ServiceSlot>> {
        self.services.get(&id)
    }

    /// Drops the slots of all others. Snapshots that still use them keep them alive.
    pub fn retain(&mut self, members: &HashSet<MemberId>, services: &HashSet<ServiceId>) {
        self.members.retain(|id, _| members.contains(id));
        self.services.retain(|id, _| services.contains(id));
    }

    /// Drops the slot of one member.
    pub fn remove_member(&mut self, id: MemberId) {
        self.members.remove(&id);
    }

    /// Drops the slot of one service.
    pub fn remove_service(&mut self, id: ServiceId) {
        self.services.remove(&id);
    }

    /// Number of member and of service slots.
    #[must_use]
    pub fn len(&self) -> (usize, usize) {
        (self.members.len(), self.services.len())
    }

    /// Whether there is no slot at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.services.is_empty()
    }
}
