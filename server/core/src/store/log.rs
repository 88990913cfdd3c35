//! The configuration log: gives each change its place and has it applied.
//!
//! Alone, the log is the SQLite transaction itself. What a cluster adds comes in here, behind the same two calls.

use super::change::Change;
use super::{Store, StoreError};
use std::sync::Arc;

/// A change in its place in the order of all changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its revision: greater than that of every change before.
    pub revision: u64,
    /// The change.
    pub change: Arc<Change>,
}

/// Orders changes and applies them to the local database.
#[derive(Debug, Clone)]
pub struct ConfigLog {
    store: Store,
}

impl ConfigLog {
    /// The log of a node that stands alone.
    #[must_use]
    pub fn alone(store: Store) -> Self {
        Self { store }
    }

    /// Puts a change into the order and applies it: rows, claim, audit row and revision in one transaction.
    ///
    /// # Errors
    /// [`StoreError::Revision`] when the aggregate has another revision than expected, [`StoreError::Rule`] when a
    /// unique or foreign key forbids it; nothing is stored then.
    pub async fn commit(&self, change: Change) -> Result<Commit, StoreError> {
        let change = Arc::new(change);
        let revision = self.store.apply_next(&change).await?;
        Ok(Commit { revision, change })
    }

    /// Puts changes into the order one behind the other, and applies all of them or none.
    ///
    /// # Errors
    /// As for [`commit`](Self::commit), for the first one that cannot be applied.
    pub async fn commit_all(&self, changes: Vec<Change>) -> Result<Vec<Commit>, StoreError> {
        let changes: Vec<Arc<Change>> = changes.into_iter().map(Arc::new).collect();
        let last = self.store.apply_all(&changes).await?;
        let first = last.saturating_sub(u64::try_from(changes.len()).unwrap_or_default());
        let revisions = first + 1..;
        Ok(revisions
            .zip(changes)
            .map(|(revision, change)| Commit { revision, change })
            .collect())
    }

    /// Applies a change that was ordered elsewhere. A revision that was applied before is passed over, so that the
    /// same change may arrive twice.
    ///
    /// # Errors
    /// As for [`commit`](Self::commit).
    pub async fn apply(&self, commit: &Commit) -> Result<bool, StoreError> {
        self.store.apply_at(commit.revision, &commit.change).await
    }
}
