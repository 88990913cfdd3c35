//! API tokens.

use super::roles::checked_permissions;
use super::{Expected, Ops, expect, new_id, require};
use crate::auth::secret::{new_token, token_hash};
use crate::clock::from_millis;
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Listing, Row, TokenRecord};
use gslb_api_types::{ListQuery, Page, Stored, TokenCreated, TokenDraft, TokenView};
use gslb_engine::model::{Actor, ActorKind, ErrorCode, Permission, TokenId, UserId, ValidationError};
use time::{Duration, OffsetDateTime};

/// Longest life of a token that has one, days.
const MAX_DAYS: i64 = 3650;

fn seconds(time: OffsetDateTime) -> u64 {
    u64::try_from(time.unix_timestamp()).unwrap_or_default()
}

impl Ops {
    /// One page of the tenant's tokens, without their secrets.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a bad cursor.
    pub async fn list_tokens(
        &self,
        actor: &Actor,
        query: &ListQuery,
    ) -> Result<Page<Stored<TokenView>>, OpError> {
        require(actor, Permission::TokensRead)?;
        let page: Page<Row<TokenRecord>> = self.page(actor, &Listing::NAMED, query).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for row in page.items {
            items.push(self.shown_token(row).await?);
        }
        Ok(Page {
            items,
            next_cursor: page.next_cursor,
            total: page.total,
        })
    }

    /// One token, without its secret.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn get_token(&self, actor: &Actor, id: TokenId) -> Result<Stored<TokenView>, OpError> {
        require(actor, Permission::TokensRead)?;
        let row = self.stored_token(actor, id).await?;
        self.shown_token(row).await
    }

    /// Makes a token. Its secret is in the answer, and nowhere else ever after.
    ///
    /// # Errors
    /// [`OpError::Invalid`] with every problem, also for permissions that the actor does not have;
    /// [`OpError::Conflict`] when the name is taken.
    pub async fn create_token(
        &self,
        actor: &Actor,
        draft: impl Into<Proposal<TokenDraft>>,
    ) -> Result<Written<TokenCreated>, OpError> {
        require(actor, Permission::TokensWrite)?;
        let proposal = draft.into();
        let draft = &proposal.draft;
        let mut errors = Vec::new();
        let name = super::users::checked_name(&mut errors, draft.name.as_deref());
        let permissions = checked_permissions(&mut errors, actor, draft.permissions.as_deref());
        let now = self.parts.clock.now();
        let expires_at = draft.expires_in_days.and_then(|days| {
            if (1..=MAX_DAYS).contains(&days) {
                now.checked_add(Duration::days(days))
            } else {
                errors.push(ValidationError::new(
                    "expiresInDays",
                    ErrorCode::OutOfRange,
                    format!("{days} is not between 1 and {MAX_DAYS}"),
                ));
                None
            }
        });
        let errors = proposal.with(errors);
        if !errors.is_empty() {
            return Err(OpError::Invalid(errors));
        }
        let secret = new_token().map_err(OpError::internal)?;
        let owner = self.account_behind(actor).await?;
        let record = TokenRecord {
            id: TokenId(new_id()),
            tenant_id: actor.tenant_id,
            name,
            hash: token_hash(&secret),
            hint: secret.chars().take(9).collect(),
            permissions,
            expires_at,
            owner,
        };
        let guard = self.lock().await;
        if self
            .parts
            .store
            .id_by_name::<TokenRecord>(actor.tenant_id, &record.name)
            .await?
            .is_some()
        {
            return Err(OpError::conflict(
                "name",
                format!("the name `{}` is taken", record.name),
            ));
        }
        let created = TokenCreated {
            token: view(record.clone(), self.owner_name(owner).await?, now, None),
            secret,
        };
        self.put(guard, actor, None, Document::Token(record), created, Vec::new())
            .await
    }

    /// Deletes a token: it is refused from then on.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn delete_token(
        &self,
        actor: &Actor,
        id: TokenId,
        expected: impl Into<Expected>,
    ) -> Result<(), OpError> {
        require(actor, Permission::TokensWrite)?;
        let guard = self.lock().await;
        let row = self.stored_token(actor, id).await?;
        expect(expected, row.revision)?;
        self.delete(guard, actor, Document::Token(row.value), row.revision)
            .await
    }

    async fn stored_token(&self, actor: &Actor, id: TokenId) -> Result<Row<TokenRecord>, OpError> {
        let row = self.parts.store.get(actor.tenant_id, id.0).await?;
        row.ok_or_else(|| OpError::not_found("token", id))
    }

    /// The account that a caller's rights come from in the end: a token made with a token has the same behind it.
    async fn account_behind(&self, actor: &Actor) -> Result<Option<UserId>, OpError> {
        match actor.kind {
            ActorKind::User(id) => Ok(Some(id)),
            ActorKind::Token(id) => {
                let row = self.parts.store.token_by_id(id).await?;
                Ok(row.and_then(|row| row.value.owner))
            }
            ActorKind::Bootstrap | ActorKind::System => Ok(None),
        }
    }

    async fn owner_name(&self, owner: Option<UserId>) -> Result<Option<String>, OpError> {
        let Some(id) = owner else {
            return Ok(None);
        };
        let row = self.parts.store.user_by_id(id.0).await?;
        Ok(Some(row.map_or_else(|| id.to_string(), |row| row.value.name)))
    }

    async fn shown_token(&self, row: Row<TokenRecord>) -> Result<Stored<TokenView>, OpError> {
        let used = self.parts.store.last_token_use(row.value.id).await?;
        let owner = self.owner_name(row.value.owner).await?;
        Ok(Stored {
            value: view(row.value, owner, row.created_at, used),
            revision: row.revision,
            warnings: Vec::new(),
        })
    }
}

fn view(
    record: TokenRecord,
    owner: Option<String>,
    created_at: OffsetDateTime,
    last_used: Option<i64>,
) -> TokenView {
    TokenView {
        id: record.id,
        tenant_id: record.tenant_id,
        name: record.name,
        hint: record.hint,
        permissions: record.permissions,
        owner,
        created_at: seconds(created_at),
        expires_at: record.expires_at.map(seconds),
        // To the minute (see `Auth::actor_of_token`), which may have begun before the token was made.
        last_used_at: last_used.map(|ms| seconds(from_millis(ms).max(created_at))),
    }
}
