//! Tables of this node alone: log-in sessions, uses of tokens, log-ins.

use super::{Store, StoreError};
use gslb_engine::model::{TokenId, UserId};

/// A log-in session. What `data` holds is the caller's business.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct SessionRecord {
    /// Id, a secret: the cookie carries it.
    pub id: String,
    /// Content.
    pub data: Vec<u8>,
    /// Unix seconds after which the session is over.
    pub expiry: i64,
}

impl Store {
    /// Makes a session; false when its id is taken.
    ///
    /// # Errors
    /// The database fails.
    pub async fn create_session(&self, session: &SessionRecord) -> Result<bool, StoreError> {
        let done =
            sqlx::query("INSERT INTO sessions (id, data, expiry) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
                .bind(&session.id)
                .bind(&session.data)
                .bind(session.expiry)
                .execute(&self.writer)
                .await
                .map_err(StoreError::query("make a session"))?;
        Ok(done.rows_affected() == 1)
    }

    /// Makes or replaces a session.
    ///
    /// # Errors
    /// The database fails.
    pub async fn save_session(&self, session: &SessionRecord) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO sessions (id, data, expiry) VALUES (?1, ?2, ?3)
             ON CONFLICT (id) DO UPDATE SET data = ?2, expiry = ?3",
        )
        .bind(&session.id)
        .bind(&session.data)
        .bind(session.expiry)
        .execute(&self.writer)
        .await
        .map_err(StoreError::query("save a session"))?;
        Ok(())
    }

    /// A session that is not over at `now` (Unix seconds).
    ///
    /// # Errors
    /// The database fails.
    pub async fn load_session(&self, id: &str, now: i64) -> Result<Option<SessionRecord>, StoreError> {
        sqlx::query_as("SELECT id, data, expiry FROM sessions WHERE id = ? AND expiry > ?")
            .bind(id)
            .bind(now)
            .fetch_optional(&self.readers)
            .await
            .map_err(StoreError::query("load a session"))
    }

    /// Ends a session.
    ///
    /// # Errors
    /// The database fails.
    pub async fn delete_session(&self, id: &str) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM sessions WHERE id = ?")
            .bind(id)
            .execute(&self.writer)
            .await
            .map_err(StoreError::query("delete a session"))?;
        Ok(())
    }

    /// Removes sessions that are over at `now` (Unix seconds); says how many.
    ///
    /// # Errors
    /// The database fails.
    pub async fn cleanup_sessions(&self, now: i64) -> Result<u64, StoreError> {
        let done = sqlx::query("DELETE FROM sessions WHERE expiry <= ?")
            .bind(now)
            .execute(&self.writer)
            .await
            .map_err(StoreError::query("clean up sessions"))?;
        Ok(done.rows_affected())
    }

    /// Notes that a token was used, Unix milliseconds.
    ///
    /// # Errors
    /// The database fails.
    pub async fn note_token_use(&self, token: TokenId, time: i64) -> Result<(), StoreError> {
        // The token may have been deleted since: then there is nothing to note.
        sqlx::query(
            "INSERT INTO token_uses (token_id, time) SELECT id, ?2 FROM tokens WHERE id = ?1
             ON CONFLICT (token_id) DO UPDATE SET time = ?2",
        )
        .bind(token.to_string())
        .bind(time)
        .execute(&self.writer)
        .await
        .map_err(StoreError::query("note the use of a token"))?;
        Ok(())
    }

    /// When a token was used last, Unix milliseconds.
    ///
    /// # Errors
    /// The database fails.
    pub async fn last_token_use(&self, token: TokenId) -> Result<Option<i64>, StoreError> {
        sqlx::query_scalar("SELECT time FROM token_uses WHERE token_id = ?")
            .bind(token.to_string())
            .fetch_optional(&self.readers)
            .await
            .map_err(StoreError::query("read the last use of a token"))
    }

    /// Notes a log-in, Unix milliseconds.
    ///
    /// # Errors
    /// The database fails.
    pub async fn note_login(&self, user: UserId, time: i64) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO logins (user_id, time) SELECT id, ?2 FROM users WHERE id = ?1
             ON CONFLICT (user_id) DO UPDATE SET time = ?2",
        )
        .bind(user.to_string())
        .bind(time)
        .execute(&self.writer)
        .await
        .map_err(StoreError::query("note a log-in"))?;
        Ok(())
    }

    /// When a user logged in last, Unix milliseconds.
    ///
    /// # Errors
    /// The database fails.
    pub async fn last_login(&self, user: UserId) -> Result<Option<i64>, StoreError> {
        sqlx::query_scalar("SELECT time FROM logins WHERE user_id = ?")
            .bind(user.to_string())
            .fetch_optional(&self.readers)
            .await
            .map_err(StoreError::query("read the last log-in"))
    }
}
