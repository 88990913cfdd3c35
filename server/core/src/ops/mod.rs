//! The use cases, each once: permission, tier, validation, rules across objects, change, commit.
//!
//! REST handlers, server functions of the console, the demo and the first start all come through here. A call that
//! writes returns after the change is applied and the routing snapshot that contains it is in force.

mod audit;
mod checks;
mod config_ends;
mod config_file;
mod config_rules;
mod dnssec;
mod hosts;
mod license;
mod load;
mod members;
mod passwords;
mod patch;
mod pools;
mod records;
mod roles;
mod rollover;
mod routing;
mod rules;
mod services;
mod sessions;
mod settings;
mod status;
mod tenants;
mod tokens;
mod tsig_keys;
mod users;
mod zone_files;
mod zones;

#[cfg(test)]
mod full_disk;

pub use passwords::{MAX_PASSWORD, MIN_PASSWORD, weakness};

use crate::clock::Clock;
use crate::config::Settings;
use crate::error::{OpError, Written};
use crate::events::EventBus;
use crate::license::LicenseStatus;
use crate::reconciler::Reconciler;
use crate::store::{Action, Audit, Change, Commit, ConfigLog, Document, Store, StoreError};
use arc_swap::ArcSwap;
use gslb_engine::model::{Actor, Permission, TenantId, Tier, Warning};
use gslb_engine::script::Scripts;
use gslb_engine::snapshot::SnapshotCell;
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};
use uuid::Uuid;

/// Which revision a write is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Whatever it is.
    Any,
    /// One of these.
    OneOf(Vec<u64>),
}

impl From<Option<u64>> for Expected {
    fn from(revision: Option<u64>) -> Self {
        revision.map_or(Self::Any, |revision| Self::OneOf(vec![revision]))
    }
}

/// What the use cases work on.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The database.
    pub store: Store,
    /// The log of changes.
    pub log: ConfigLog,
    /// Settings in force.
    pub settings: Arc<ArcSwap<Settings>>,
    /// Licence in force; written by the reconciler.
    pub license: Arc<ArcSwap<LicenseStatus>>,
    /// The one writer of the snapshot.
    pub reconciler: Reconciler,
    /// The stream of events.
    pub events: EventBus,
    /// The snapshot in force.
    pub snapshot: Arc<SnapshotCell>,
    /// Time of day.
    pub clock: Clock,
    /// Where script steps are compiled.
    pub scripts: Arc<dyn Scripts>,
}

/// The use cases.
#[derive(Debug)]
pub struct Ops {
    parts: Parts,
    /// Held from the reads that a change is based on until it is committed: on one node writes come one after the
    /// other anyway, and so two that do not expect a revision both succeed.
    writing: Mutex<()>,
}

/// What a change is, in the audit trail and the stream.
#[derive(Debug, Clone, Copy)]
enum Verb {
    Created,
    Updated,
    Deleted,
    Imported,
}

impl Verb {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Deleted => "deleted",
            Self::Imported => "imported",
        }
    }
}

impl Ops {
    /// Use cases over these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self {
            parts,
            writing: Mutex::new(()),
        }
    }

    /// Tier of the licence in force.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.parts.license.load().tier
    }

    /// The stream of events.
    #[must_use]
    pub fn events(&self) -> &EventBus {
        &self.parts.events
    }

    /// The database, for what is local to the node (sessions).
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.parts.store
    }

    fn settings(&self) -> Arc<Settings> {
        self.parts.settings.load_full()
    }

    async fn lock(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    /// Commits a change of `document` and waits until the snapshot with it is in force. What is as it was needs no
    /// change: it keeps its revision, and nothing is noted.
    async fn put<T>(
        &self,
        guard: MutexGuard<'_, ()>,
        actor: &Actor,
        before: Option<(Document, u64)>,
        document: Document,
        value: T,
        mut warnings: Vec<Warning>,
    ) -> Result<Written<T>, OpError> {
        if let Some((stored, revision)) = &before
            && *stored == document
        {
            return Ok(Written {
                value,
                revision: *revision,
                warnings,
            });
        }
        let verb = if before.is_some() {
            Verb::Updated
        } else {
            Verb::Created
        };
        let (before, expected) = before.unzip();
        let audit = self.audit_of(actor, verb, before.as_ref(), Some(&document));
        let tenant_id = owner(&document).unwrap_or(actor.tenant_id);
        let change = Change {
            tenant_id,
            expected,
            action: Action::Put(document),
            audit,
        };
        let commit = self.commit(guard, change).await?;
        warnings.extend(self.settle(&commit).await);
        Ok(Written {
            value,
            revision: commit.revision,
            warnings,
        })
    }

    async fn delete(
        &self,
        guard: MutexGuard<'_, ()>,
        actor: &Actor,
        document: Document,
        revision: u64,
    ) -> Result<(), OpError> {
        let audit = self.audit_of(actor, Verb::Deleted, Some(&document), None);
        let tenant_id = owner(&document).unwrap_or(actor.tenant_id);
        let change = Change {
            tenant_id,
            expected: Some(revision),
            action: Action::Delete(document),
            audit,
        };
        let commit = self.commit(guard, change).await?;
        self.settle(&commit).await;
        Ok(())
    }

    fn audit_of(
        &self,
        actor: &Actor,
        verb: Verb,
        before: Option<&Document>,
        after: Option<&Document>,
    ) -> Audit {
        Audit {
            actor: actor.clone(),
            time: self.parts.clock.now(),
            action: verb.as_str(),
            before: before.map(Document::to_audit),
            after: after.map(Document::to_audit),
        }
    }

    /// Commits, and hands the change to the reconciler before the next one can be committed: it sees them in order.
    async fn commit(&self, guard: MutexGuard<'_, ()>, change: Change) -> Result<Commit, OpError> {
        let commit = self.parts.log.commit(change).await?;
        self.parts.reconciler.changed(commit.clone());
        drop(guard);
        self.tell(&commit);
        Ok(commit)
    }

    /// As [`commit`](Self::commit), for changes of which all are made or none.
    async fn commit_all(
        &self,
        guard: MutexGuard<'_, ()>,
        changes: Vec<Change>,
    ) -> Result<Vec<Commit>, OpError> {
        let commits = self.parts.log.commit_all(changes).await?;
        for commit in &commits {
            self.parts.reconciler.changed(commit.clone());
        }
        drop(guard);
        for commit in &commits {
            self.tell(commit);
        }
        Ok(commits)
    }

    /// Tells the open consoles.
    fn tell(&self, commit: &Commit) {
        let document = commit.change.action.document();
        self.parts.events.publish(
            commit.change.tenant_id,
            gslb_api_types::EventKind::Change {
                object: document.kind().as_str().to_owned(),
                object_id: document.id().to_string(),
                name: document.name().into_owned(),
                action: commit.change.audit.action.to_owned(),
                actor: commit.change.audit.actor.name.clone(),
            },
        );
    }

    /// Waits for the snapshot. A change that does not compile is stored all the same; its author is told.
    async fn settle(&self, commit: &Commit) -> Option<Warning> {
        let error = self.parts.reconciler.settled(commit.revision).await?;
        Some(Warning {
            field: String::new(),
            message: format!("stored, but not in force: the routing snapshot does not compile ({error})"),
        })
    }
}

/// The tenant that owns a document; the licence belongs to the installation.
fn owner(document: &Document) -> Option<TenantId> {
    match document {
        Document::Zone(zone) => Some(zone.tenant_id),
        Document::Pool(pool) => Some(pool.tenant_id),
        Document::Service(service) => Some(service.tenant_id),
        Document::Record(set) => Some(set.tenant_id),
        Document::Dnssec(keys) => Some(keys.tenant_id),
        Document::TsigKey(key) => Some(key.tenant_id),
        Document::User(user) => Some(user.tenant_id),
        Document::Role(role) => Some(role.tenant_id),
        Document::Token(token) => Some(token.tenant_id),
        // A tenant owns itself: what happens to it is no business of the others.
        Document::Tenant(tenant) => Some(tenant.id),
        Document::License(_) => None,
    }
}

/// Refuses an actor without a permission.
fn require(actor: &Actor, permission: Permission) -> Result<(), OpError> {
    if actor.may(permission) {
        Ok(())
    } else {
        Err(OpError::Forbidden(permission))
    }
}

/// Refuses a write that expects another revision than the object has.
fn expect(expected: impl Into<Expected>, current: u64) -> Result<(), OpError> {
    match expected.into() {
        Expected::OneOf(revisions) if !revisions.contains(&current) => Err(OpError::Stale { current }),
        Expected::OneOf(_) | Expected::Any => Ok(()),
    }
}

/// A new id: sortable by time.
fn new_id() -> Uuid {
    Uuid::now_v7()
}

impl From<StoreError> for OpError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Revision {
                kind,
                current: Some(_),
            } => Self::conflict(
                "",
                format!("another write to this {kind} came first; read it again"),
            ),
            StoreError::Revision { kind, current: None } => {
                Self::conflict("", format!("this {kind} was deleted by another write"))
            }
            StoreError::Rule { rule } => Self::conflict(field_of(&rule), format!("taken or in use ({rule})")),
            StoreError::Cursor => Self::invalid(
                "cursor",
                gslb_engine::model::ErrorCode::Invalid,
                "this cursor does not come from this list; begin without one",
            ),
            StoreError::Query { ref source, .. } if code_of(source) == Some(BUSY) => {
                Self::Unavailable("the database is locked by another program".to_owned())
            }
            StoreError::Query { ref source, .. } if code_of(source) == Some(FULL) => {
                Self::DiskFull(Box::new(error))
            }
            other => Self::internal(other),
        }
    }
}

/// The field that a broken constraint is about: `UNIQUE constraint failed: pools.tenant_id, pools.name`.
fn field_of(rule: &str) -> &'static str {
    match rule {
        _ if rule.contains("claims.domain") => "domain",
        _ if rule.contains(".name") => "name",
        _ if rule.contains("members.id") => "members",
        _ => "",
    }
}

/// SQLITE_BUSY.
const BUSY: u32 = 5;
/// SQLITE_FULL.
const FULL: u32 = 13;

/// The primary result code of SQLite: extended codes have it in their low byte.
fn code_of(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|code| code & 0xff)
}
