//! Pools.

use super::{Expected, Ops, expect, new_id, patch, require, rules};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Listing, Row};
use gslb_api_types::{ListQuery, Page, PoolSummary, Stored};
use gslb_engine::model::{
    Actor, Endpoint, ErrorCode, Member, MemberDraft, MemberId, Permission, Pool, PoolDraft, PoolId,
    ValidationError, Warning,
};
use std::collections::HashMap;
use tokio::sync::MutexGuard;

impl Ops {
    /// One page of the tenant's pools.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a bad cursor or sort field.
    pub async fn list_pools(&self, actor: &Actor, query: &ListQuery) -> Result<Page<Stored<Pool>>, OpError> {
        require(actor, Permission::PoolsRead)?;
        Ok(self.page(actor, &Listing::NAMED, query).await?.map(Stored::from))
    }

    /// As [`list_pools`](Self::list_pools), with the health of the members counted.
    ///
    /// # Errors
    /// As for [`list_pools`](Self::list_pools).
    pub async fn pool_summaries(
        &self,
        actor: &Actor,
        query: &ListQuery,
    ) -> Result<Page<PoolSummary>, OpError> {
        let page = self.list_pools(actor, query).await?;
        let shown: Vec<_> = page.items.iter().map(|row| row.value.id).collect();
        let services: HashMap<PoolId, u32> = self
            .parts
            .store
            .services_by_pool(&shown)
            .await?
            .into_iter()
            .collect();
        let snapshot = self.parts.snapshot.load_full();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(page.map(|row| {
            let pool = row.value;
            let enabled = count(pool.members.iter().filter(|m| m.enabled).count());
            let healthy = snapshot
                .pool(pool.id)
                .map_or(enabled, gslb_engine::snapshot::CompiledPool::healthy);
            PoolSummary {
                id: pool.id,
                revision: row.revision,
                members: count(pool.members.len()),
                healthy,
                down: enabled.saturating_sub(healthy),
                min_healthy: pool.min_healthy,
                check: pool.health_check.as_ref().map(|c| c.kind.name().to_owned()),
                services: services.get(&pool.id).copied().unwrap_or_default(),
                name: pool.name,
            }
        }))
    }

    /// One pool.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn get_pool(&self, actor: &Actor, id: PoolId) -> Result<Stored<Pool>, OpError> {
        require(actor, Permission::PoolsRead)?;
        Ok(self.stored_pool(actor, id).await?.into())
    }

    /// Makes a pool, with members and check if the draft has them.
    ///
    /// # Errors
    /// [`OpError::Invalid`] with every problem, [`OpError::Conflict`] when the name is taken.
    pub async fn create_pool(
        &self,
        actor: &Actor,
        draft: impl Into<Proposal<PoolDraft>>,
    ) -> Result<Written<Pool>, OpError> {
        require(actor, Permission::PoolsWrite)?;
        let guard = self.lock().await;
        let pool = self
            .checked_pool(actor, PoolId(new_id()), &[], draft.into())
            .await?;
        let warnings = self.pool_warnings(&pool);
        self.put(guard, actor, None, Document::Pool(pool.clone()), pool, warnings)
            .await
    }

    /// Replaces a pool. Absent `members` leave them as they are.
    ///
    /// # Errors
    /// As for [`create_pool`](Self::create_pool); [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn replace_pool(
        &self,
        actor: &Actor,
        id: PoolId,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<PoolDraft>>,
    ) -> Result<Written<Pool>, OpError> {
        require(actor, Permission::PoolsWrite)?;
        let (guard, stored) = self.pool_to_change(actor, id, expected).await?;
        let mut draft = draft.into();
        if draft.draft.members.is_none() {
            draft.draft.members = PoolDraft::from(&stored.value).members;
        }
        self.write_pool(guard, actor, stored, draft).await
    }

    /// Changes some fields of a pool (RFC 7396).
    ///
    /// # Errors
    /// As for [`replace_pool`](Self::replace_pool).
    pub async fn patch_pool(
        &self,
        actor: &Actor,
        id: PoolId,
        expected: impl Into<Expected>,
        patch: &serde_json::Value,
    ) -> Result<Written<Pool>, OpError> {
        require(actor, Permission::PoolsWrite)?;
        let (guard, stored) = self.pool_to_change(actor, id, expected).await?;
        let mut draft = patch::apply(&PoolDraft::from(&stored.value), patch)?;
        if let (Some(check), Some(patch)) = (&mut draft.draft.health_check, patch.get("healthCheck")) {
            rules::follow_type(check, patch);
        }
        self.write_pool(guard, actor, stored, draft).await
    }

    /// Deletes a pool. One that services use is never deleted. One with members is deleted with them and its check
    /// when `cascade` is set, and else refused.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`], [`OpError::Conflict`] as above.
    pub async fn delete_pool(
        &self,
        actor: &Actor,
        id: PoolId,
        expected: impl Into<Expected>,
        cascade: bool,
    ) -> Result<(), OpError> {
        require(actor, Permission::PoolsWrite)?;
        let (guard, stored) = self.pool_to_change(actor, id, expected).await?;
        let name = &stored.value.name;
        let users = self.parts.store.services_of_pool(id).await?;
        if !users.is_empty() {
            let names: Vec<_> = users
                .iter()
                .take(5)
                .map(|s| format!("`{}`", s.value.name))
                .collect();
            let more = users.len().saturating_sub(names.len());
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            let message = format!("the pool `{name}` is used by {}{more}", names.join(", "));
            return Err(OpError::conflict("", message));
        }
        let members = stored.value.members.len();
        if members > 0 && !cascade {
            let message = format!("the pool `{name}` has {members} members; delete it with `cascade=true`");
            return Err(OpError::conflict("", message));
        }
        self.delete(guard, actor, Document::Pool(stored.value), stored.revision)
            .await
    }

    /// A pool as it would be with what a draft has of `members` and `minHealthy`. Nothing is changed.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Invalid`] with every problem.
    pub async fn pool_as_proposed(
        &self,
        actor: &Actor,
        id: PoolId,
        draft: Option<&PoolDraft>,
    ) -> Result<Pool, OpError> {
        let stored = self.get_pool(actor, id).await?.value;
        let Some(PoolDraft {
            min_healthy, members, ..
        }) = draft
        else {
            return Ok(stored);
        };
        let mut whole = PoolDraft::from(&stored);
        whole.min_healthy = min_healthy.or(whole.min_healthy);
        if let Some(members) = members {
            whole.members = Some(members.clone());
        }
        self.checked_pool(actor, id, &stored.members, Proposal::from(&whole))
            .await
    }

    pub(super) async fn stored_pool(&self, actor: &Actor, id: PoolId) -> Result<Row<Pool>, OpError> {
        let row = self.parts.store.get(actor.tenant_id, id.0).await?;
        row.ok_or_else(|| OpError::not_found("pool", id))
    }

    /// Takes the write lock and reads the pool that a change is based on.
    pub(super) async fn pool_to_change(
        &self,
        actor: &Actor,
        id: PoolId,
        expected: impl Into<Expected>,
    ) -> Result<(MutexGuard<'_, ()>, Row<Pool>), OpError> {
        let guard = self.lock().await;
        let stored = self.stored_pool(actor, id).await?;
        expect(expected, stored.revision)?;
        Ok((guard, stored))
    }

    pub(super) async fn write_pool(
        &self,
        guard: MutexGuard<'_, ()>,
        actor: &Actor,
        stored: Row<Pool>,
        draft: Proposal<PoolDraft>,
    ) -> Result<Written<Pool>, OpError> {
        let pool = self
            .checked_pool(actor, stored.value.id, &stored.value.members, draft)
            .await?;
        self.check_names(actor, &stored.value, &pool).await?;
        let warnings = self.pool_warnings(&pool);
        let before = Some((Document::Pool(stored.value), stored.revision));
        self.put(guard, actor, before, Document::Pool(pool.clone()), pool, warnings)
            .await
    }

    /// Validates a draft against the members that the pool has now, and the name against other pools.
    async fn checked_pool(
        &self,
        actor: &Actor,
        id: PoolId,
        members: &[Member],
        mut proposal: Proposal<PoolDraft>,
    ) -> Result<Pool, OpError> {
        let draft = &mut proposal.draft;
        let strangers = keep_identities(members, draft.members.as_deref_mut().unwrap_or_default());
        let mut found = rules::pool(draft);
        found.extend(strangers);
        let validated = draft.validate(id, actor.tenant_id, || MemberId(new_id()));
        let name = draft.name.as_deref().map(str::trim).unwrap_or_default();
        let holder = self.parts.store.id_by_name::<Pool>(actor.tenant_id, name).await?;
        let collision = holder.is_some_and(|holder| holder != id.0).then(|| {
            ValidationError::new("name", ErrorCode::Conflict, format!("the name `{name}` is taken"))
        });
        match (proposal.checked(validated, found), collision) {
            (Ok(pool), None) => Ok(pool),
            (Ok(_), Some(collision)) => Err(OpError::Conflict(vec![collision])),
            (Err(mut errors), collision) => {
                errors.extend(collision);
                Err(OpError::Invalid(errors))
            }
        }
    }
}

/// Gives each draft without an id that of the member with its address or host name, so that a rewritten set keeps health and
/// round-trip times. An id that no member of the pool has is an error: ids are made here, not outside.
fn keep_identities(members: &[Member], drafts: &mut [MemberDraft]) -> Vec<ValidationError> {
    let by_endpoint: HashMap<&Endpoint, MemberId> = members.iter().map(|m| (&m.endpoint, m.id)).collect();
    let mut errors = Vec::new();
    let taken: Vec<MemberId> = drafts.iter().filter_map(|d| d.id).collect();
    for (index, draft) in drafts.iter_mut().enumerate() {
        match draft.id {
            Some(id) if !members.iter().any(|m| m.id == id) => errors.push(ValidationError::new(
                format!("members[{index}].id"),
                ErrorCode::NotFound,
                format!("`{id}` is no member of this pool; leave the id out for a new member"),
            )),
            Some(_) => {}
            None => {
                // What is wrong with it is told when the whole is validated.
                draft.id = draft
                    .endpoint()
                    .ok()
                    .and_then(|endpoint| by_endpoint.get(&endpoint).copied())
                    .filter(|id| !taken.contains(id));
            }
        }
    }
    errors
}

impl Ops {
    /// What is probably not meant.
    fn pool_warnings(&self, pool: &Pool) -> Vec<Warning> {
        let snapshot = self.parts.snapshot.load();
        let mut warnings = pool.region_warnings(|| snapshot.named_regions());
        let enabled = pool.members.iter().filter(|m| m.enabled).count();
        if pool.min_healthy as usize > enabled {
            warnings.push(Warning {
                field: "minHealthy".to_owned(),
                message: format!(
                    "{} healthy members are asked for and {enabled} enabled ones are there: the pool cannot answer",
                    pool.min_healthy
                ),
            });
        }
        warnings
    }
}
