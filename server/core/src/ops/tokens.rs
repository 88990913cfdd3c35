//! API tokens.

use super::{Ops, new_id, require};
use crate::auth::secret::{new_token, token_hash};
use crate::clock::from_millis;
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Listing, Row, TokenRecord};
use gslb_api_types::{ListQuery, Page, TokenCreated, TokenDraft, TokenView};
use gslb_engine::model::{Actor, ErrorCode, Permission, TokenId, ValidationError};
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
    pub async fn list_tokens(&self, actor: &Actor, query: &ListQuery) -> Result<Page<TokenView>, OpError> {
        require(actor, Permission::TokensRead)?;
        let page: Page<Row<TokenRecord>> = self.page(actor, &Listing::NAMED, query).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for row in page.items {
            let used = self.parts.store.last_token_use(row.value.id).await?;
            items.push(view(row.value, row.created_at, used));
        }
        Ok(Page {
            items,
            next_cursor: page.next_cursor,
            total: page.total,
        })
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
        let mut permissions = Vec::new();
        for (index, text) in draft.permissions.iter().flatten().enumerate() {
            let field = format!("permissions[{index}]");
            match Permission::parse(text) {
                None => errors.push(ValidationError::new(
                    field,
                    ErrorCode::Unknown,
                    format!("unknown permission `{text}`"),
                )),
                Some(permission) if !actor.may(permission) => errors.push(ValidationError::new(
                    field,
                    ErrorCode::Conflict,
                    format!("`{permission}` cannot be given: you do not have it"),
                )),
                Some(permission) if permissions.contains(&permission) => {}
                Some(permission) => permissions.push(permission),
            }
        }
        if draft.permissions.as_ref().is_none_or(Vec::is_empty) {
            errors.push(ValidationError::new(
                "permissions",
                ErrorCode::Required,
                "at least one permission must be given",
            ));
        }
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
        let record = TokenRecord {
            id: TokenId(new_id()),
            tenant_id: actor.tenant_id,
            name,
            hash: token_hash(&secret),
            hint: secret.chars().take(9).collect(),
            permissions,
            expires_at,
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
            token: view(record.clone(), now, None),
            secret,
        };
        self.put(guard, actor, None, Document::Token(record), created, Vec::new())
            .await
    }

    /// Deletes a token: it is refused from then on.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn delete_token(&self, actor: &Actor, id: TokenId) -> Result<(), OpError> {
        require(actor, Permission::TokensWrite)?;
        let guard = self.lock().await;
        let row: Option<Row<TokenRecord>> = self.parts.store.get(actor.tenant_id, id.0).await?;
        let row = row.ok_or_else(|| OpError::not_found("token", id))?;
        self.delete(guard, actor, Document::Token(row.value), row.revision)
            .await
    }
}

fn view(record: TokenRecord, created_at: OffsetDateTime, last_used: Option<i64>) -> TokenView {
    TokenView {
        id: record.id,
        tenant_id: record.tenant_id,
        name: record.name,
        permissions: record.permissions,
        created_at: seconds(created_at),
        expires_at: record.expires_at.map(seconds),
        // To the minute (see `Auth::actor_of_token`), which may have begun before the token was made.
        last_used_at: last_used.map(|ms| seconds(from_millis(ms).max(created_at))),
    }
}
