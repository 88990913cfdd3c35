//! The whole configuration of a tenant as one document: written, compared, and taken over, all or nothing.

use super::config_rules::Proposed;
use super::{Expected, Ops, Verb, expect, require};
use crate::error::{OpError, Written};
use crate::store::{Action, Change, Document, Row};
use gslb_api_types::{
    CONFIG_FORMAT, ConfigChange, ConfigDocument, ConfigImportQuery, ConfigReport, PoolView,
};
use gslb_engine::model::{Actor, ErrorCode, Permission, Pool, RecordSet, Service, TenantId, Warning, Zone};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::fmt::Write as _;
use uuid::Uuid;

/// What a tenant has now, with the revisions.
#[derive(Debug, Default)]
pub(super) struct Current {
    pub(super) zones: Vec<Row<Zone>>,
    pub(super) records: Vec<Row<RecordSet>>,
    pub(super) pools: Vec<Row<Pool>>,
    pub(super) services: Vec<Row<Service>>,
    /// Ids of what others have.
    pub(super) foreign: HashSet<Uuid>,
}

/// What becomes of one object.
struct Step {
    /// As it is, with its revision; `None` when it is made.
    before: Option<(Document, u64)>,
    /// As it becomes; `None` when it goes.
    after: Option<Document>,
}

impl Step {
    fn gone(document: Document, revision: u64) -> Self {
        Self {
            before: Some((document, revision)),
            after: None,
        }
    }
}

/// The changes that lead from one configuration to another, in an order in which each finds what it needs.
#[derive(Default)]
struct Plan {
    steps: Vec<Step>,
    unchanged: u64,
}

impl Ops {
    /// The configuration of the tenant.
    ///
    /// # Errors
    /// [`OpError::Forbidden`].
    pub async fn export_config(&self, actor: &Actor) -> Result<ConfigDocument, OpError> {
        require(actor, Permission::ZonesRead)?;
        require(actor, Permission::PoolsRead)?;
        require(actor, Permission::ServicesRead)?;
        let all = self.parts.store.configuration().await?;
        let mine = actor.tenant_id;
        let mut document = ConfigDocument {
            format: CONFIG_FORMAT,
            hash: String::new(),
            tenant: self.tenant_name(mine).await?,
            zones: all
                .zones
                .into_iter()
                .filter(|zone| zone.tenant_id == mine)
                .collect(),
            records: all
                .records
                .into_iter()
                .filter(|set| set.tenant_id == mine)
                .collect(),
            pools: views(all.pools.iter().filter(|pool| pool.tenant_id == mine)),
            services: all.services.into_iter().filter(|s| s.tenant_id == mine).collect(),
        };
        document.hash = hash(&document)?;
        Ok(document)
    }

    /// The same as YAML.
    ///
    /// # Errors
    /// As for [`export_config`](Self::export_config).
    pub async fn export_config_text(&self, actor: &Actor) -> Result<String, OpError> {
        let document = self.export_config(actor).await?;
        serde_saphyr::to_string(&document).map_err(|error| OpError::internal(error.to_string()))
    }

    /// Compares a document with what is there, and with `apply` takes it over: what it has not goes. The revision of the
    /// answer is that of the whole database, and a write that expects another is refused.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::LicenseRequired`]; [`OpError::Invalid`] and [`OpError::Conflict`] with every
    /// problem; [`OpError::Stale`].
    pub async fn import_config(
        &self,
        actor: &Actor,
        text: &str,
        query: ConfigImportQuery,
        expected: impl Into<Expected>,
    ) -> Result<Written<ConfigReport>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        require(actor, Permission::PoolsWrite)?;
        require(actor, Permission::ServicesWrite)?;
        let text = text.to_owned();
        // A large one takes long to read, and others are to be answered meanwhile.
        let read = tokio::task::spawn_blocking(move || read(&text)).await;
        let body = read.map_err(OpError::internal)??;
        let tenant = self.tenant_name(actor.tenant_id).await?;
        check_tenant(&body, &tenant, query)?;
        let written = body.get("hash").and_then(Value::as_str).map(str::to_owned);
        let expected = expected.into();
        let scripts = self.compile_scripts(actor, &Proposed::scripts_of(&body)).await;
        let guard = self.lock().await;
        let revision = self.parts.store.revision().await?;
        expect(expected, revision)?;
        let current = self.current(actor).await?;
        let proposed = self.proposed(actor, body, &current, &scripts).await?;
        self.check_ends(actor, &current, &proposed).await?;
        let plan = Plan::between(&current, &proposed);
        let mut after = ConfigDocument {
            format: CONFIG_FORMAT,
            hash: String::new(),
            tenant: tenant.clone(),
            zones: proposed.zones,
            records: proposed.records,
            pools: views(proposed.pools.iter()),
            services: proposed.services,
        };
        after.hash = hash(&after)?;
        let mut report = ConfigReport {
            applied: query.apply,
            tenant,
            hash: after.hash,
            changes: plan.steps.iter().filter_map(told).collect(),
            unchanged: plan.unchanged,
            warnings: Vec::new(),
        };
        if written.is_some_and(|written| written != report.hash) {
            report.warnings.push(Warning {
                field: "hash".to_owned(),
                message:
                    "is not that of what follows: the document was changed, or cut off, since it was written"
                        .to_owned(),
            });
        }
        if !query.apply || plan.steps.is_empty() {
            return Ok(Written {
                value: report,
                revision,
                warnings: Vec::new(),
            });
        }
        let changes = plan
            .steps
            .into_iter()
            .filter_map(|step| self.change(actor, step))
            .collect();
        let commits = self.commit_all(guard, changes).await?;
        let last = commits.last();
        if let Some(last) = last {
            report.warnings.extend(self.settle(last).await);
        }
        Ok(Written {
            value: report,
            revision: last.map_or(revision, |last| last.revision),
            warnings: Vec::new(),
        })
    }

    async fn current(&self, actor: &Actor) -> Result<Current, OpError> {
        let store = &self.parts.store;
        let mine = actor.tenant_id;
        let mut current = Current {
            zones: store.all().await?,
            records: store.all().await?,
            pools: store.all().await?,
            services: store.all().await?,
            foreign: HashSet::new(),
        };
        let is_foreign = |tenant: TenantId| tenant != mine;
        let foreign = &mut current.foreign;
        for row in current.zones.iter().filter(|row| is_foreign(row.value.tenant_id)) {
            foreign.insert(row.value.id.0);
        }
        for row in current
            .records
            .iter()
            .filter(|row| is_foreign(row.value.tenant_id))
        {
            foreign.insert(row.value.id.0);
        }
        for row in current.pools.iter().filter(|row| is_foreign(row.value.tenant_id)) {
            foreign.insert(row.value.id.0);
            foreign.extend(row.value.members.iter().map(|member| member.id.0));
        }
        for row in current
            .services
            .iter()
            .filter(|row| is_foreign(row.value.tenant_id))
        {
            foreign.insert(row.value.id.0);
        }
        current.zones.retain(|row| row.value.tenant_id == mine);
        current.records.retain(|row| row.value.tenant_id == mine);
        current.pools.retain(|row| row.value.tenant_id == mine);
        current.services.retain(|row| row.value.tenant_id == mine);
        Ok(current)
    }

    /// The change that a step is; none for what neither was nor will be.
    fn change(&self, actor: &Actor, step: Step) -> Option<Change> {
        let (before, expected) = step.before.unzip();
        let audit = self.audit_of(actor, Verb::Imported, before.as_ref(), step.after.as_ref());
        let action = match (before, step.after) {
            (_, Some(after)) => Action::Put(after),
            (Some(before), None) => Action::Delete(before),
            (None, None) => return None,
        };
        Some(Change {
            tenant_id: actor.tenant_id,
            expected,
            action,
            audit,
        })
    }
}

impl Plan {
    /// What goes makes room first, services before what they stand on; then comes what is new or different, pools before
    /// the services that use them, and last go the pools that no service uses any more.
    fn between(current: &Current, proposed: &Proposed) -> Self {
        let mut plan = Self::default();
        plan.deletes(&current.services, &proposed.services, |s| s.id, Document::Service);
        let zones: Vec<_> = proposed.zones.iter().map(|zone| zone.id).collect();
        // The records of a zone that goes go with it.
        for row in &current.records {
            let set = &row.value;
            if zones.contains(&set.zone_id) && !proposed.records.iter().any(|other| other.id == set.id) {
                plan.steps
                    .push(Step::gone(Document::Record(set.clone()), row.revision));
            }
        }
        plan.deletes(&current.zones, &proposed.zones, |zone| zone.id, Document::Zone);
        let same_zone = |old: &Zone, new: &Zone| {
            Zone {
                serial: new.serial,
                ..old.clone()
            } == *new
        };
        plan.puts(
            &current.zones,
            &proposed.zones,
            |zone| zone.id,
            same_zone,
            Document::Zone,
        );
        let same = |old: &Pool, new: &Pool| old == new;
        plan.puts(
            &current.pools,
            &proposed.pools,
            |pool| pool.id,
            same,
            Document::Pool,
        );
        let same = |old: &Service, new: &Service| old == new;
        plan.puts(
            &current.services,
            &proposed.services,
            |s| s.id,
            same,
            Document::Service,
        );
        let same = |old: &RecordSet, new: &RecordSet| old == new;
        plan.puts(
            &current.records,
            &proposed.records,
            |set| set.id,
            same,
            Document::Record,
        );
        plan.deletes(&current.pools, &proposed.pools, |pool| pool.id, Document::Pool);
        plan
    }

    fn deletes<T: Clone, I: PartialEq>(
        &mut self,
        current: &[Row<T>],
        proposed: &[T],
        id: impl Fn(&T) -> I,
        document: impl Fn(T) -> Document,
    ) {
        for row in current {
            if !proposed.iter().any(|new| id(new) == id(&row.value)) {
                self.steps
                    .push(Step::gone(document(row.value.clone()), row.revision));
            }
        }
    }

    fn puts<T: Clone, I: PartialEq>(
        &mut self,
        current: &[Row<T>],
        proposed: &[T],
        id: impl Fn(&T) -> I,
        same: impl Fn(&T, &T) -> bool,
        document: impl Fn(T) -> Document,
    ) {
        for new in proposed {
            match current.iter().find(|row| id(&row.value) == id(new)) {
                Some(row) if same(&row.value, new) => self.unchanged += 1,
                old => {
                    let before = old.map(|row| (document(row.value.clone()), row.revision));
                    let after = Some(document(new.clone()));
                    self.steps.push(Step { before, after });
                }
            }
        }
    }
}

/// Reads a document. What the library says to programmers is left out of what it says of the text.
fn read(text: &str) -> Result<Value, OpError> {
    serde_saphyr::from_str(text).map_err(|error| {
        let told = error.to_string();
        let first = told
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default()
            .trim_start_matches("error: ");
        let first = [", set ", "; use ", ", use "]
            .iter()
            .filter_map(|hint| first.find(hint))
            .min()
            .and_then(|end| first.get(..end))
            .unwrap_or(first);
        let message = match first.split_once("budget breached: ") {
            Some((place, _)) => format!("{place}it is too large or too deep from here on"),
            None => first.to_owned(),
        };
        OpError::invalid(
            "",
            ErrorCode::Invalid,
            format!("the document cannot be read: {message}"),
        )
    })
}

/// Refuses what another tenant has written, unless told to take it over.
fn check_tenant(body: &Value, own: &str, query: ConfigImportQuery) -> Result<(), OpError> {
    match body.get("tenant") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(name)) if query.any_tenant || name == own => Ok(()),
        Some(Value::String(name)) => {
            let message = format!(
                "the document is of the tenant `{name}`, and you are acting in `{own}`; pick the other one, or send \
                 `anyTenant=true` to take it over here"
            );
            Err(OpError::conflict("tenant", message))
        }
        Some(_) => Err(OpError::invalid(
            "tenant",
            ErrorCode::Invalid,
            "must be the name of a tenant",
        )),
    }
}

/// Pools in the form of the API, which is the one that can be read back.
fn views<'a>(pools: impl Iterator<Item = &'a Pool>) -> Vec<PoolView> {
    pools.map(PoolView::from).collect()
}

fn told(step: &Step) -> Option<ConfigChange> {
    let before = step.before.as_ref().map(|(document, _)| document);
    let (verb, document) = match (before, &step.after) {
        (None, Some(after)) => (Verb::Created, after),
        (Some(_), Some(after)) => (Verb::Updated, after),
        (Some(before), None) => (Verb::Deleted, before),
        (None, None) => return None,
    };
    Some(ConfigChange {
        action: verb.as_str().to_owned(),
        object: document.kind().as_str().to_owned(),
        id: document.id().to_string(),
        name: document.name().into_owned(),
        before: before.map(Document::to_audit),
        after: step.after.as_ref().map(Document::to_audit),
    })
}

/// SHA-256 over what answers depend on: the same for the same configuration, in whatever tenant and after whatever
/// number of changes.
fn hash(document: &ConfigDocument) -> Result<String, OpError> {
    let mut digest = Sha256::new();
    section(&mut digest, "zones", &document.zones)?;
    section(&mut digest, "records", &document.records)?;
    section(&mut digest, "pools", &document.pools)?;
    section(&mut digest, "services", &document.services)?;
    let mut text = String::with_capacity(64);
    for byte in digest.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

fn section<T: Serialize>(digest: &mut Sha256, name: &str, items: &[T]) -> Result<(), OpError> {
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        let mut value = serde_json::to_value(item).map_err(OpError::internal)?;
        let id = value
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        if let Some(object) = value.as_object_mut() {
            object.remove("tenantId");
            object.remove("serial");
        }
        let mut text = String::new();
        canonical(&value, &mut text);
        texts.push((id, text));
    }
    texts.sort();
    digest.update(name.as_bytes());
    for (_, text) in texts {
        digest.update(b"\n");
        digest.update(text.as_bytes());
    }
    digest.update(b"\n");
    Ok(())
}

/// JSON with the fields of each object in order: what a map of another build sorts otherwise is the same text.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (name, value) in fields {
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}
