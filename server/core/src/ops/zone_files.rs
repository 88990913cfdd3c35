//! Zones as zone files: import with a report of what it changes, and export.

use super::records::inner;
use super::{Expected, Ops, Verb, expect, new_id, require};
use crate::error::{OpError, Written};
use crate::store::{Action, Audit, Change, Document, Row, ZoneRecords};
use gslb_api_types::{ImportMode, ImportQuery, ImportReport, RecordChange};
use gslb_engine::model::{
    Actor, DomainName, ErrorCode, FileSet, Permission, RecordDraft, RecordId, RecordName, RecordSet,
    RecordType, Subject, Surroundings, ValidationError, Zone, ZoneFile, ZoneId, write_zone_file,
};
use serde_json::json;
use std::collections::HashMap;

/// What an import does to a zone.
struct Plan {
    zone: Zone,
    put: Vec<RecordSet>,
    removed: Vec<RecordSet>,
    /// All records that the zone has afterwards.
    after: Vec<RecordSet>,
    report: ImportReport,
}

/// Whether a serial comes after another (RFC 1982 §3.2).
const fn is_after(serial: u32, other: u32) -> bool {
    let ahead = serial.wrapping_sub(other);
    ahead != 0 && ahead < 1 << 31
}

impl Ops {
    /// A zone and its file.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn export_zone(&self, actor: &Actor, id: ZoneId) -> Result<(Zone, String), OpError> {
        require(actor, Permission::ZonesRead)?;
        let zone = self.stored_zone(actor, id).await?.value;
        let rows = self.parts.store.records_of_zone(id).await?;
        let services = self.services_in(&zone).await?;
        let text = write_zone_file(&zone, rows.iter().map(|row| &row.value), &services);
        Ok((zone, text))
    }

    /// Takes over a zone file, all of it or nothing.
    ///
    /// # Errors
    /// [`OpError::Invalid`] with every problem by line, [`OpError::Conflict`] with every collision,
    /// [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn import_zone(
        &self,
        actor: &Actor,
        id: ZoneId,
        expected: impl Into<Expected>,
        text: &str,
        query: ImportQuery,
    ) -> Result<Written<ImportReport>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let stored = self.stored_zone(actor, id).await?;
        expect(expected, stored.revision)?;
        let file = ZoneFile::parse(text, &stored.value).map_err(OpError::Invalid)?;
        let rows = self.parts.store.records_of_zone(id).await?;
        let lines: HashMap<(RecordName, RecordType), usize> = file
            .sets
            .iter()
            .map(|set| ((set.name.clone(), set.rtype), set.line))
            .collect();
        let plan = plan(&stored.value, &rows, file, query);
        self.check_import(&plan, &lines).await?;
        let unchanged = plan.put.is_empty() && plan.removed.is_empty() && plan.zone == stored.value;
        if query.dry_run || unchanged {
            return Ok(Written {
                value: plan.report,
                revision: stored.revision,
                warnings: Vec::new(),
            });
        }
        let report = &plan.report;
        let audit = Audit {
            actor: actor.clone(),
            time: self.parts.clock.now(),
            action: Verb::Imported.as_str(),
            before: Some(json!({
                "zone": report.zone_before,
                "changed": report.changed.iter().map(|change| &change.before).collect::<Vec<_>>(),
                "removed": report.removed,
            })),
            after: Some(json!({
                "zone": report.zone_after,
                "changed": report.changed.iter().map(|change| &change.after).collect::<Vec<_>>(),
                "added": report.added,
            })),
        };
        let change = Change {
            tenant_id: stored.value.tenant_id,
            expected: Some(stored.revision),
            action: Action::Records(ZoneRecords {
                zone: Document::Zone(plan.zone),
                put: plan.put,
                removed: plan.removed,
            }),
            audit,
        };
        let commit = self.commit(guard, change).await?;
        let warnings = self.settle(&commit).await.into_iter().collect();
        Ok(Written {
            value: plan.report,
            revision: commit.revision,
            warnings,
        })
    }

    /// Domains of the services that live in a zone, and not in one below it.
    async fn services_in(&self, zone: &Zone) -> Result<Vec<DomainName>, OpError> {
        let store = &self.parts.store;
        let zones = store.zones_below(zone.name.as_str()).await?;
        let mut services = store.domains_below(zone.name.as_str()).await?;
        let below: Vec<&DomainName> = zones.iter().filter(|inner| **inner != zone.name).collect();
        services.retain(|domain| !below.iter().any(|inner| domain.is_within(inner)));
        services.sort();
        Ok(services)
    }

    /// The rules between all records that the zone would have, and what is around them.
    async fn check_import(
        &self,
        plan: &Plan,
        lines: &HashMap<(RecordName, RecordType), usize>,
    ) -> Result<(), OpError> {
        let store = &self.parts.store;
        let zone = &plan.zone;
        let services = store.domains_below(zone.name.as_str()).await?;
        let around = Surroundings {
            aliases: self.aliases_among(&services).await?,
            apex: Some(RecordName::from(&zone.name)),
            records: plan.after.iter().collect(),
            services: services.iter().map(RecordName::from).collect(),
            zones: inner(&store.zones_below(zone.name.as_str()).await?, &zone.name),
        };
        let field = |set: &RecordSet| {
            let line = lines.get(&(set.name.clone(), set.rtype));
            line.map(|line| format!("line {line}")).unwrap_or_default()
        };
        let mut problems: Vec<ValidationError> = around
            .problems()
            .into_iter()
            .map(|problem| {
                let field = match problem.subject {
                    Subject::Record(set) => field(set),
                    Subject::Service(_) | Subject::Zone(_) => String::new(),
                };
                ValidationError::new(field, ErrorCode::Conflict, problem.message)
            })
            .collect();
        let aliases: Vec<&RecordSet> = plan
            .put
            .iter()
            .filter(|set| set.rtype == RecordType::CNAME)
            .collect();
        if problems.is_empty() && !aliases.is_empty() {
            problems = self.endless(zone, &aliases, &around, &plan.removed).await?;
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(OpError::Conflict(problems)),
        }
    }
}

/// The set that a file's set becomes.
fn record(set: &FileSet, id: RecordId, zone: &Zone) -> RecordSet {
    RecordSet {
        id,
        tenant_id: zone.tenant_id,
        zone_id: zone.id,
        name: set.name.clone(),
        rtype: set.rtype,
        ttl: set.ttl,
        data: set.data.iter().map(|data| data.to_text(set.rtype)).collect(),
    }
}

/// Compares a file with what is stored.
fn plan(stored: &Zone, rows: &[Row<RecordSet>], file: ZoneFile, query: ImportQuery) -> Plan {
    let mut known: HashMap<(&RecordName, RecordType), &RecordSet> = rows
        .iter()
        .map(|row| ((&row.value.name, row.value.rtype), &row.value))
        .collect();
    let mut report = ImportReport {
        dry_run: query.dry_run,
        zone_before: None,
        zone_after: None,
        added: Vec::new(),
        changed: Vec::new(),
        removed: Vec::new(),
        unchanged: 0,
        left_out: file
            .left_out
            .iter()
            .map(|(line, rtype)| format!("line {line}: {rtype} is made by whoever signs the zone"))
            .collect(),
    };
    let (mut put, mut after) = (Vec::new(), Vec::new());
    for set in &file.sets {
        let old = known.remove(&(&set.name, set.rtype));
        let new = record(set, old.map_or_else(|| RecordId(new_id()), |old| old.id), stored);
        match old {
            Some(old) if old.same_as(&new) => {
                report.unchanged += 1;
                after.push(old.clone());
                continue;
            }
            Some(old) => report.changed.push(RecordChange {
                before: RecordDraft::from(old),
                after: RecordDraft::from(&new),
            }),
            None => report.added.push(RecordDraft::from(&new)),
        }
        after.push(new.clone());
        put.push(new);
    }
    let mut rest: Vec<RecordSet> = known.into_values().cloned().collect();
    rest.sort_by_key(|set| (set.name.sort_key(), set.rtype));
    let removed = match query.mode {
        ImportMode::Replace => rest,
        ImportMode::Merge => {
            after.extend(rest);
            Vec::new()
        }
    };
    report.removed = removed.iter().map(RecordDraft::from).collect();

    let mut zone = stored.clone();
    let mut serial = stored.serial;
    if let Some((soa, wanted)) = file.soa {
        zone.soa = soa;
        serial = wanted;
    }
    if let Some((servers, ttl)) = file.name_servers {
        let same = servers.len() == zone.name_servers.len()
            && servers.iter().all(|server| zone.name_servers.contains(server));
        if !same {
            zone.name_servers = servers;
        }
        zone.ns_ttl = ttl;
    }
    let fields = zone != *stored;
    let ahead = is_after(serial, stored.serial);
    if fields || ahead || !put.is_empty() || !removed.is_empty() {
        let next = stored.serial.wrapping_add(1);
        zone.serial = if ahead { serial } else { next };
    }
    if fields || ahead {
        report.zone_before = Some(stored.clone());
        report.zone_after = Some(zone.clone());
    }
    Plan {
        zone,
        put,
        removed,
        after,
        report,
    }
}
