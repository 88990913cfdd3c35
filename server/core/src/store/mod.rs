//! The database: SQLite in WAL mode, one writer connection and a pool of readers.
//!
//! Configuration tables are written by [`ConfigLog`] alone, one [`Change`] at a time. Tables local to the node
//! (sessions, events, uses of tokens) have their own small modules.

mod apply;
mod audit;
mod change;
mod events;
mod list;
mod log;
mod read;
mod records;
mod sessions;

pub use audit::AuditFilter;
pub use change::{Action, Audit, Change, Document, ObjectKind};
pub(crate) use list::Listing;
pub use log::{Commit, ConfigLog};
pub use read::{Aggregate, Configuration};
pub use records::{LicenseRecord, Row, TokenRecord, UserRecord};
pub use sessions::SessionRecord;

use sqlx::migrate::Migrator;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations");

/// How the database can fail.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder of the file cannot be made.
    #[error("cannot create the folder {path}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file cannot be opened as a database.
    #[error("cannot open the database {path}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: sqlx::Error,
    },
    /// The tables cannot be brought to the form that this version needs.
    #[error("cannot migrate the database")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// A statement failed.
    #[error("database: {context}")]
    Query {
        /// What was being done.
        context: &'static str,
        /// Why it failed.
        #[source]
        source: sqlx::Error,
    },
    /// A stored document does not fit its type.
    #[error("the stored {kind} `{id}` cannot be read")]
    Document {
        /// Kind of object.
        kind: &'static str,
        /// Its id.
        id: String,
        /// What does not fit.
        #[source]
        source: serde_json::Error,
    },
    /// The object has another revision than the change expects.
    #[error("the {kind} has revision {current:?}, not the expected one")]
    Revision {
        /// Kind of object.
        kind: &'static str,
        /// Its revision now; `None` when it does not exist.
        current: Option<u64>,
    },
    /// A unique or foreign key forbids the change.
    #[error("the change breaks a rule between objects: {rule}")]
    Rule {
        /// The constraint as SQLite names it.
        rule: String,
    },
    /// A listing cursor that this server did not make.
    #[error("the cursor is not valid")]
    Cursor,
}

impl StoreError {
    fn query(context: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| Self::Query { context, source }
    }
}

/// The open database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    writer: SqlitePool,
    readers: SqlitePool,
}

impl Store {
    /// Opens (or makes) the database file and brings its tables up to date.
    ///
    /// # Errors
    /// The folder cannot be made, the file is no database, a migration fails.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|source| StoreError::Folder {
                path: folder.to_owned(),
                source,
            })?;
        }
        let open = |source| StoreError::Open {
            path: path.to_owned(),
            source,
        };
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // An acknowledged change survives a power cut; changes are rare enough to pay for it.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5));
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options.clone())
            .await
            .map_err(open)?;
        MIGRATIONS.run(&writer).await?;
        restrict(path);
        let readers = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(options.create_if_missing(false).read_only(true))
            .await
            .map_err(open)?;
        Ok(Self { writer, readers })
    }

    /// Closes every connection, so that the write-ahead log is folded into the file.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    /// Revision of the last change that was applied here.
    ///
    /// # Errors
    /// The database fails.
    pub async fn revision(&self) -> Result<u64, StoreError> {
        let text: String = sqlx::query_scalar("SELECT value FROM meta WHERE key = 'revision'")
            .fetch_one(&self.readers)
            .await
            .map_err(StoreError::query("read the revision"))?;
        Ok(text.parse().unwrap_or_default())
    }
}

/// The file holds password and token hashes: nobody but its owner needs to read it.
#[cfg(unix)]
fn restrict(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if let Err(error) = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)) {
        tracing::warn!(path = %path.display(), %error, "cannot restrict the database file to its owner");
    }
}

#[cfg(not(unix))]
fn restrict(_: &Path) {}
