//! The database: SQLite in WAL mode, one writer connection and a pool of readers.
//!
//! Configuration tables are written by [`ConfigLog`] alone, one [`Change`] at a time. Tables local to the node
//! (sessions, events, uses of tokens) have their own small modules.

mod accounts;
mod apply;
mod audit;
mod change;
mod events;
mod list;
mod log;
mod read;
mod records;
mod serials;
mod sessions;
mod signals;
mod zone_records;

pub use accounts::{RoleRecord, RoleRef, TenantRecord, TokenRecord, UserRecord};
pub use audit::AuditFilter;
pub use change::{Action, Audit, Change, Document, ObjectKind, ZoneRecords};
pub(crate) use list::{Listing, limit_of};
pub use log::{Commit, ConfigLog};
pub use read::{Aggregate, Configuration};
pub use records::{KeysRecord, LicenseRecord, OtherKey, Row, TsigKeyRecord};
pub(crate) use serials::closest;
pub use sessions::{SessionRecord, shown_id};

use sqlx::migrate::Migrator;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    Sqlite, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// Another daemon has the database open.
    #[error("the database {path} is in use by another gslbd")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be made, locked, or kept to its owner.
    #[error("cannot prepare {path}")]
    File {
        /// The file.
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
    /// Gives up a connection whose transaction failed in the database itself. SQLite ends a transaction on its own when
    /// the disk is full or cannot be read; sqlx would go on counting it as open, and could never begin another.
    fn leave(&self, connection: &mut PoolConnection<Sqlite>) {
        if matches!(self, Self::Query { .. }) {
            connection.close_on_drop();
        }
    }

    fn query(context: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| Self::Query { context, source }
    }
}

/// The open database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    /// Held as long as the database is open: two daemons on one file would not see each other's changes.
    lock: Arc<Mutex<Option<File>>>,
    writer: SqlitePool,
    readers: SqlitePool,
}

#[cfg(test)]
impl Store {
    /// Lets the file grow by so many pages and no more, as a full disk does; `None` lifts the limit.
    pub(crate) async fn leave_pages(&self, pages: Option<i64>) {
        let now: i64 = sqlx::query_scalar("PRAGMA page_count")
            .fetch_one(&self.writer)
            .await
            .unwrap();
        let most = pages.map_or(1_000_000_000, |more| now + more).to_string();
        // For the connection there is, and for those that take its place.
        let options = (*self.writer.connect_options()).clone();
        self.writer
            .set_connect_options(options.pragma("max_page_count", most.clone()));
        sqlx::query(sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {most}")))
            .execute(&self.writer)
            .await
            .unwrap();
    }
}

impl Store {
    /// The one connection that writes.
    async fn writer(&self) -> Result<PoolConnection<Sqlite>, StoreError> {
        self.writer
            .acquire()
            .await
            .map_err(StoreError::query("get the writer"))
    }

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
        let lock = lock(path)?;
        restrict(path)?;
        let store = Self::connect(path, Some(lock), true).await?;
        MIGRATIONS.run(&store.writer).await?;
        Ok(store)
    }

    /// Opens the file of a daemon that may be running, or not: nothing is made, and tables are brought up to date only
    /// when nobody else has the file. SQLite lets two processes write in turns.
    ///
    /// # Errors
    /// There is no database, or it cannot be opened.
    pub async fn open_beside(path: &Path) -> Result<Self, StoreError> {
        std::fs::metadata(path).map_err(|source| StoreError::File {
            path: path.to_owned(),
            source,
        })?;
        match Self::open(path).await {
            Err(StoreError::InUse { .. }) => Self::connect(path, None, false).await,
            other => other,
        }
    }

    async fn connect(path: &Path, lock: Option<File>, make: bool) -> Result<Self, StoreError> {
        let open = |source| StoreError::Open {
            path: path.to_owned(),
            source,
        };
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(make)
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
        let readers = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(options.create_if_missing(false).read_only(true))
            .await
            .map_err(open)?;
        Ok(Self {
            lock: Arc::new(Mutex::new(lock)),
            writer,
            readers,
        })
    }

    /// Closes every connection, so that the write-ahead log is folded into the file.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
        // Another daemon may have the file from here on.
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
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

/// Locks the file beside the database for this process. It is not the database itself: SQLite has locks of its own there.
fn lock(path: &Path) -> Result<File, StoreError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    let failed = |source| StoreError::File {
        path: name.clone(),
        source,
    };
    let file = owners(OpenOptions::new().write(true).create(true).truncate(false))
        .open(&name)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Keeps the database to its owner: it holds password and token hashes. SQLite gives the files beside it (the
/// write-ahead log and its index) the mode that the database has when they are made, so it must be right before.
fn restrict(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::File {
        path: path.to_owned(),
        source,
    };
    owners(OpenOptions::new().write(true).create(true).truncate(false))
        .open(path)
        .map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for ending in ["", "-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            let name = PathBuf::from(name);
            if name.exists() {
                std::fs::set_permissions(&name, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
            }
        }
    }
    Ok(())
}

/// A file that is made for its owner alone.
fn owners(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
