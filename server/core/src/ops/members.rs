//! Members of a pool: parts of its document, addressed on their own.

use super::audit::check_list;
use super::{Expected, Ops, new_id, patch, require, rules};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Listing, StoreError, limit_of};
use gslb_api_types::{ListQuery, Page, Stored};
use gslb_engine::model::{
    Actor, ErrorCode, MAX_MEMBERS, Member, MemberDraft, MemberId, Permission, Pool, PoolDraft, PoolId,
    ValidationError,
};

impl Ops {
    /// The members of a pool in their order, with the pool's revision.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn list_members(&self, actor: &Actor, pool: PoolId) -> Result<Stored<Vec<Member>>, OpError> {
        let stored = self.get_pool(actor, pool).await?;
        Ok(Stored {
            value: stored.value.members,
            revision: stored.revision,
            warnings: Vec::new(),
        })
    }

    /// One page of the members of a pool in their order, with the pool's revision.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`]; [`OpError::Invalid`] for a bad cursor, and for any `sort`.
    pub async fn member_page(
        &self,
        actor: &Actor,
        pool: PoolId,
        query: &ListQuery,
    ) -> Result<Stored<Page<Member>>, OpError> {
        check_list(&Listing::ORDERED, query)?;
        let stored = self.list_members(actor, pool).await?;
        let mut members = stored.value;
        if let Some(text) = query.search.as_deref().map(str::trim).filter(|s| !s.is_empty()) {
            let text = text.to_lowercase();
            members.retain(|m| {
                m.endpoint.to_string().contains(&text) || m.region.as_str().to_lowercase().contains(&text)
            });
        }
        let total = members.len() as u64;
        if let Some(cursor) = query.cursor.as_deref().filter(|c| !c.is_empty()) {
            let last = cursor.parse().ok().map(MemberId);
            let place = members.iter().position(|m| Some(m.id) == last);
            let place = place.ok_or_else(|| OpError::from(StoreError::Cursor))?;
            members.drain(..=place);
        }
        let limit = limit_of(query) as usize;
        let more = members.len() > limit;
        members.truncate(limit);
        let next_cursor = members.last().filter(|_| more).map(|m| m.id.to_string());
        let page = Page {
            items: members,
            next_cursor,
            total,
        };
        Ok(Stored {
            value: page,
            revision: stored.revision,
            warnings: Vec::new(),
        })
    }

    /// One member with its pool, and the pool's revision.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn get_member(&self, actor: &Actor, id: MemberId) -> Result<(PoolId, Stored<Member>), OpError> {
        require(actor, Permission::PoolsRead)?;
        let pool_id = self.pool_of(actor, id).await?;
        let stored = self.stored_pool(actor, pool_id).await?;
        let member = stored.value.members.into_iter().find(|m| m.id == id);
        let value = member.ok_or_else(|| OpError::not_found("member", id))?;
        Ok((
            pool_id,
            Stored {
                value,
                revision: stored.revision,
                warnings: Vec::new(),
            },
        ))
    }

    /// Adds a member at the end of a pool.
    ///
    /// # Errors
    /// [`OpError::Invalid`] with every problem, by field of the member; [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn create_member(
        &self,
        actor: &Actor,
        pool: PoolId,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<MemberDraft>>,
    ) -> Result<Written<Member>, OpError> {
        require(actor, Permission::PoolsWrite)?;
        let mut draft = draft.into();
        if draft.draft.id.take().is_some() {
            draft.problems.push(ValidationError::new(
                "id",
                ErrorCode::Invalid,
                "the id of a new member is made by the server",
            ));
        }
        let (guard, stored) = self.pool_to_change(actor, pool, expected).await?;
        let mut drafts = PoolDraft::from(&stored.value).members.unwrap_or_default();
        if drafts.len() >= MAX_MEMBERS {
            return Err(OpError::invalid(
                "",
                ErrorCode::OutOfRange,
                format!("the pool has {MAX_MEMBERS} members, which is the limit"),
            ));
        }
        let index = drafts.len();
        // A new member with the address of an old one is a duplicate, not the old one again: it gets its own id.
        let id = MemberId(new_id());
        checked(&draft, id)?;
        drafts.push(draft.draft);
        self.write_members(guard, actor, stored, drafts, index, id).await
    }

    /// Replaces a member. Its identity (health, round-trip times) stays.
    ///
    /// # Errors
    /// As for [`create_member`](Self::create_member).
    pub async fn replace_member(
        &self,
        actor: &Actor,
        id: MemberId,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<MemberDraft>>,
    ) -> Result<Written<Member>, OpError> {
        require(actor, Permission::PoolsWrite)?;
        let draft = draft.into();
        self.change_member(actor, id, expected, |_| Ok(draft)).await
    }

    /// Changes some fields of a member (RFC 7396).
    ///
    /// # Errors
    /// As for [`create_member`](Self::create_member).
    pub async fn patch_member(
        &self,
        actor: &Actor,
        id: MemberId,
        expected: impl Into<Expected>,
        patch: &serde_json::Value,
    ) -> Result<Written<Member>, OpError> {
        require(actor, Permission::PoolsWrite)?;
        self.change_member(actor, id, expected, |stored| patch::apply(stored, patch))
            .await
    }

    /// Removes a member.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn delete_member(
        &self,
        actor: &Actor,
        id: MemberId,
        expected: impl Into<Expected>,
    ) -> Result<(), OpError> {
        require(actor, Permission::PoolsWrite)?;
        let pool = self.pool_of(actor, id).await?;
        let (guard, stored) = self.pool_to_change(actor, pool, expected).await?;
        let mut draft = PoolDraft::from(&stored.value);
        let before = stored.value.members.len();
        let members = draft.members.get_or_insert_default();
        members.retain(|m| m.id != Some(id));
        if members.len() == before {
            return Err(OpError::not_found("member", id));
        }
        self.write_pool(guard, actor, stored, (&draft).into()).await?;
        Ok(())
    }

    /// Replaces the whole set of members at once: all of it or nothing.
    ///
    /// # Errors
    /// [`OpError::Invalid`] with every problem, by field (`members[2].port`); [`OpError::NotFound`],
    /// [`OpError::Stale`].
    pub async fn put_members(
        &self,
        actor: &Actor,
        pool: PoolId,
        expected: impl Into<Expected>,
        drafts: impl Into<Proposal<Vec<MemberDraft>>>,
    ) -> Result<Written<Vec<Member>>, OpError> {
        require(actor, Permission::PoolsWrite)?;
        let (guard, stored) = self.pool_to_change(actor, pool, expected).await?;
        let Proposal { draft, mut problems } = drafts.into();
        for problem in &mut problems {
            problem.field = format!("members{}", problem.field);
        }
        let draft = Proposal {
            draft: PoolDraft {
                members: Some(draft),
                ..PoolDraft::from(&stored.value)
            },
            problems,
        };
        let Written {
            value,
            revision,
            warnings,
        } = self.write_pool(guard, actor, stored, draft).await?;
        Ok(Written {
            value: value.members,
            revision,
            warnings,
        })
    }

    /// The pool of a member, if it is the actor's.
    async fn pool_of(&self, actor: &Actor, id: MemberId) -> Result<PoolId, OpError> {
        let missing = || OpError::not_found("member", id);
        let pool = self.parts.store.pool_of_member(id).await?.ok_or_else(missing)?;
        match self.parts.store.get::<Pool>(actor.tenant_id, pool.0).await? {
            Some(_) => Ok(pool),
            None => Err(missing()),
        }
    }

    async fn change_member(
        &self,
        actor: &Actor,
        id: MemberId,
        expected: impl Into<Expected>,
        change: impl FnOnce(&MemberDraft) -> Result<Proposal<MemberDraft>, OpError>,
    ) -> Result<Written<Member>, OpError> {
        let pool = self.pool_of(actor, id).await?;
        let (guard, stored) = self.pool_to_change(actor, pool, expected).await?;
        let mut drafts = PoolDraft::from(&stored.value).members.unwrap_or_default();
        let index = drafts.iter().position(|m| m.id == Some(id));
        let place = index.and_then(|index| Some((index, drafts.get_mut(index)?)));
        let Some((index, place)) = place else {
            return Err(OpError::not_found("member", id));
        };
        let mut draft = change(place)?;
        if draft.draft.id.replace(id).is_some_and(|other| other != id) {
            draft.problems.push(ValidationError::new(
                "id",
                ErrorCode::Conflict,
                "the id of a member cannot change",
            ));
        }
        checked(&draft, id)?;
        *place = draft.draft;
        self.write_members(guard, actor, stored, drafts, index, id).await
    }

    /// Writes a pool of which one member is new or changed; problems are told in that member's own fields.
    async fn write_members(
        &self,
        guard: tokio::sync::MutexGuard<'_, ()>,
        actor: &Actor,
        stored: crate::store::Row<Pool>,
        drafts: Vec<MemberDraft>,
        index: usize,
        id: MemberId,
    ) -> Result<Written<Member>, OpError> {
        let draft = PoolDraft {
            members: Some(drafts),
            ..PoolDraft::from(&stored.value)
        };
        let prefix = format!("members[{index}].");
        let written = self
            .write_pool(guard, actor, stored, (&draft).into())
            .await
            .map_err(|error| match error {
                OpError::Invalid(mut errors) => {
                    for error in &mut errors {
                        if let Some(field) = error.field.strip_prefix(&prefix) {
                            error.field = field.to_owned();
                        }
                    }
                    OpError::Invalid(errors)
                }
                other => other,
            })?;
        let Written {
            value,
            revision,
            mut warnings,
        } = written;
        for warning in &mut warnings {
            if let Some(field) = warning.field.strip_prefix(&prefix) {
                warning.field = field.to_owned();
            }
        }
        let member = value.members.into_iter().nth(index);
        let value = member.ok_or_else(|| OpError::not_found("member", id))?;
        Ok(Written {
            value,
            revision,
            warnings,
        })
    }
}

fn checked(draft: &Proposal<MemberDraft>, id: MemberId) -> Result<(), OpError> {
    let rules = rules::member(&draft.draft);
    draft
        .checked(draft.draft.validate(id), rules)
        .map_err(OpError::Invalid)?;
    Ok(())
}
