//! The load of members, pushed from outside for `shed-load`: live state, no configuration. It is neither stored nor
//! audited, and ends with the daemon.

use super::{Ops, require};
use crate::draft::Proposal;
use crate::error::OpError;
use gslb_api_types::LoadDraft;
use gslb_engine::model::{Actor, ErrorCode, MAX_LOAD, MemberId, Permission, PoolId, ValidationError};
use gslb_engine::slots::MemberSlot;
use std::sync::Arc;

/// Longest time that a load may count, seconds: a week.
const MAX_TTL: i64 = 7 * 24 * 3600;

impl Ops {
    /// Sets the load of a member, for as long as it says or until the next.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`]; [`OpError::Invalid`] for a value or time that is none.
    pub fn set_load(
        &self,
        actor: &Actor,
        pool: PoolId,
        member: MemberId,
        draft: impl Into<Proposal<LoadDraft>>,
    ) -> Result<(), OpError> {
        require(actor, Permission::PoolsWrite)?;
        let proposal = draft.into();
        let draft = proposal.draft;
        let mut errors = Vec::new();
        let mut wrong = |field: &str, code, message: String| {
            errors.push(ValidationError::new(field, code, message));
        };
        match draft.value {
            None => wrong("value", ErrorCode::Required, "must be a number".to_owned()),
            Some(value) if !(0.0..=MAX_LOAD).contains(&value) => wrong(
                "value",
                ErrorCode::OutOfRange,
                format!("{value} is not between 0 and {MAX_LOAD}"),
            ),
            Some(_) => {}
        }
        if let Some(ttl) = draft.ttl.filter(|ttl| !(1..=MAX_TTL).contains(ttl)) {
            wrong(
                "ttl",
                ErrorCode::OutOfRange,
                format!("{ttl} is not between 1 and {MAX_TTL} seconds"),
            );
        }
        let errors = proposal.with(errors);
        if !errors.is_empty() {
            return Err(OpError::Invalid(errors));
        }
        let slot = self.slot_of(actor, pool, member)?;
        let now = self.parts.clock.now().unix_timestamp();
        let until = draft
            .ttl
            .map(|ttl| u64::try_from(now.saturating_add(ttl)).unwrap_or(0));
        slot.set_load(draft.value, until);
        Ok(())
    }

    /// Forgets the load of a member.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub fn clear_load(&self, actor: &Actor, pool: PoolId, member: MemberId) -> Result<(), OpError> {
        require(actor, Permission::PoolsWrite)?;
        self.slot_of(actor, pool, member)?.set_load(None, None);
        Ok(())
    }

    /// The live state of a member of the actor's. From the snapshot: loads come often, and the database knows nothing
    /// that is needed here.
    fn slot_of(&self, actor: &Actor, pool: PoolId, member: MemberId) -> Result<Arc<MemberSlot>, OpError> {
        let snapshot = self.parts.snapshot.load();
        let found = snapshot.pool(pool).filter(|p| p.tenant_id == actor.tenant_id);
        let found = found.ok_or_else(|| OpError::not_found("pool", pool))?;
        let mut members = found.members.iter();
        let member = members
            .find(|m| m.stored.id == member)
            .ok_or_else(|| OpError::not_found("member", member))?;
        Ok(Arc::clone(&member.slot))
    }
}
