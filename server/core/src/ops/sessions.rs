//! Log-in sessions: looking at them, and ending them. They are local to the node, and no part of the configuration.

use super::{Ops, require};
use crate::error::OpError;
use crate::store::SessionRecord;
use gslb_api_types::OpenSession;
use gslb_engine::model::{Actor, ActorKind, Permission, SessionId, UserId};

impl Ops {
    /// Sessions of an account, the one used last first; without one, the actor's own.
    ///
    /// # Errors
    /// [`OpError::NoAccount`] when a token asks for its own; [`OpError::Forbidden`] and [`OpError::NotFound`] about
    /// those of others.
    pub async fn list_sessions(
        &self,
        actor: &Actor,
        user: Option<UserId>,
    ) -> Result<Vec<OpenSession>, OpError> {
        let id = match (user, actor.kind) {
            (Some(id), ActorKind::User(own)) if id == own => id,
            (Some(id), _) => {
                require(actor, Permission::UsersRead)?;
                self.stored_user(actor, id).await?.value.id
            }
            (None, ActorKind::User(own)) => own,
            (None, _) => return Err(OpError::NoAccount),
        };
        let Some(user) = self.parts.store.user_by_id(id.0).await? else {
            return Err(OpError::not_found("user", id));
        };
        let now = self.parts.clock.now().unix_timestamp();
        let sessions = self.parts.store.sessions_of(id, now).await?;
        Ok(sessions
            .into_iter()
            .map(|session| open(session, id, &user.value.name))
            .collect())
    }

    /// Ends a session: one's own, or that of an account which may not do more than the actor.
    ///
    /// # Errors
    /// [`OpError::NotFound`] also for those of other tenants; [`OpError::Forbidden`].
    pub async fn end_session(&self, actor: &Actor, id: SessionId) -> Result<(), OpError> {
        let own = match actor.kind {
            ActorKind::User(own) => Some(own),
            _ => None,
        };
        if own.is_none() {
            require(actor, Permission::UsersWrite)?;
        }
        let now = self.parts.clock.now().unix_timestamp();
        let gone = || OpError::not_found("session", id);
        let session = self.parts.store.session_shown_as(id, now).await?;
        let session = session.ok_or_else(gone)?;
        let holder: Option<UserId> = session.user_id.as_deref().and_then(|text| text.parse().ok());
        let holder = holder.ok_or_else(gone)?;
        if own != Some(holder) {
            // Of those of others, nobody without the permission learns even that they are there.
            require(actor, Permission::UsersWrite).map_err(|_| gone())?;
            let user = self
                .stored_user(actor, holder)
                .await
                .map_err(|error| match error {
                    OpError::NotFound { .. } => gone(),
                    other => other,
                })?;
            self.check_rank(actor, &user.value).await?;
            tracing::info!(by = %actor.name, of = %user.value.name, "a session was ended");
        }
        Ok(self.parts.store.delete_session(&session.id).await?)
    }
}

fn seconds(time: i64) -> u64 {
    u64::try_from(time).unwrap_or_default()
}

fn open(session: SessionRecord, user_id: UserId, user: &str) -> OpenSession {
    OpenSession {
        id: session.shown_id(),
        user_id,
        user: user.to_owned(),
        from: session.address,
        agent: session.agent,
        since: seconds(session.created_at),
        last_seen: seconds(session.seen_at),
        // Only who keeps the cookie knows.
        current: false,
    }
}
