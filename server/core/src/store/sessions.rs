//! Tables of this node alone: log-in sessions, uses of tokens, log-ins.

use super::{Store, StoreError};
use gslb_engine::model::{SessionId, TokenId, UserId};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

/// A log-in session. What `data` holds is the caller's business.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct SessionRecord {
    /// Hash of the secret that the cookie carries.
    pub id: String,
    /// Content.
    pub data: Vec<u8>,
    /// Unix seconds after which the session is over.
    pub expiry: i64,
    /// Whose it is: the id of an account.
    pub user_id: Option<String>,
    /// Where the log-in came from.
    pub address: Option<String>,
    /// What the browser called itself.
    pub agent: Option<String>,
    /// Unix seconds of the log-in.
    pub created_at: i64,
    /// Unix seconds of the last request, to the minute.
    pub seen_at: i64,
}

/// What an id that may be shown has of the hash: 128 bits of it tell sessions apart, and open none.
const SHOWN: usize = 32;

impl SessionRecord {
    /// The id that may be shown.
    #[must_use]
    pub fn shown_id(&self) -> SessionId {
        shown_id(&self.id)
    }
}

/// The id of a session that may be shown, out of the hash of its secret.
#[must_use]
pub fn shown_id(hash: &str) -> SessionId {
    let id = hash.get(..SHOWN).and_then(|head| Uuid::try_parse(head).ok());
    SessionId(id.unwrap_or_default())
}

const COLUMNS: &str = "id, data, expiry, user_id, address, agent, created_at, seen_at";

impl Store {
    /// Makes a session; false when its id is taken.
    ///
    /// # Errors
    /// The database fails.
    pub async fn create_session(&self, session: &SessionRecord) -> Result<bool, StoreError> {
        let done = self.write_session(session, "ON CONFLICT DO NOTHING").await?;
        Ok(done == 1)
    }

    /// Makes or replaces a session.
    ///
    /// # Errors
    /// The database fails.
    pub async fn save_session(&self, session: &SessionRecord) -> Result<(), StoreError> {
        let replace = "ON CONFLICT (id) DO UPDATE SET
             data = ?2, expiry = ?3, user_id = ?4, address = ?5, agent = ?6, created_at = ?7, seen_at = ?8";
        self.write_session(session, replace).await?;
        Ok(())
    }

    async fn write_session(&self, session: &SessionRecord, conflict: &str) -> Result<u64, StoreError> {
        let sql =
            format!("INSERT INTO sessions ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) {conflict}");
        let done = sqlx::query(AssertSqlSafe(sql))
            .bind(&session.id)
            .bind(&session.data)
            .bind(session.expiry)
            .bind(&session.user_id)
            .bind(&session.address)
            .bind(&session.agent)
            .bind(session.created_at)
            .bind(session.seen_at)
            .execute(&self.writer)
            .await
            .map_err(StoreError::query("save a session"))?;
        Ok(done.rows_affected())
    }

    /// Notes that a session was used: it ends later.
    ///
    /// # Errors
    /// The database fails.
    pub async fn touch_session(&self, id: &str, seen_at: i64, expiry: i64) -> Result<(), StoreError> {
        sqlx::query("UPDATE sessions SET seen_at = ?2, expiry = ?3 WHERE id = ?1")
            .bind(id)
            .bind(seen_at)
            .bind(expiry)
            .execute(&self.writer)
            .await
            .map_err(StoreError::query("note the use of a session"))?;
        Ok(())
    }

    /// Sessions of an account that are not over at `now` (Unix seconds), the one used last first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn sessions_of(&self, user: UserId, now: i64) -> Result<Vec<SessionRecord>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM sessions WHERE user_id = ? AND expiry > ? ORDER BY seen_at DESC, id LIMIT 1000"
        );
        sqlx::query_as(AssertSqlSafe(sql))
            .bind(user.to_string())
            .bind(now)
            .fetch_all(&self.readers)
            .await
            .map_err(StoreError::query("list sessions"))
    }

    /// The session with an id that was shown.
    ///
    /// # Errors
    /// The database fails.
    pub async fn session_shown_as(
        &self,
        id: SessionId,
        now: i64,
    ) -> Result<Option<SessionRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM sessions WHERE id >= ?1 AND id < ?1 || 'g' AND expiry > ?2");
        sqlx::query_as(AssertSqlSafe(sql))
            .bind(id.0.simple().to_string())
            .bind(now)
            .fetch_optional(&self.readers)
            .await
            .map_err(StoreError::query("find a session"))
    }

    /// A session that is not over at `now` (Unix seconds).
    ///
    /// # Errors
    /// The database fails.
    pub async fn load_session(&self, id: &str, now: i64) -> Result<Option<SessionRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM sessions WHERE id = ? AND expiry > ?");
        sqlx::query_as(AssertSqlSafe(sql))
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
