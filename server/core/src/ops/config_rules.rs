//! What a document with a whole configuration must be like: each object by itself, and all of them together.

use super::config_file::Current;
use super::routing::ScriptVerdicts;
use super::{Ops, new_id, rules};
use crate::draft::{self, Draft, Proposal};
use crate::error::OpError;
use crate::store::Row;
use gslb_api_types::CONFIG_FORMAT;
use gslb_engine::model::{
    Actor, DomainName, ErrorCode, MemberId, Permission, Pool, PoolDraft, PoolId, RecordDraft, RecordId,
    RecordName, RecordSet, Service, ServiceDraft, ServiceId, Subject, Surroundings, ValidationError, Zone,
    ZoneDraft, ZoneId,
};
use gslb_engine::nearest::nearest;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::hash::Hash;
use uuid::Uuid;

/// What a document may say.
const SECTIONS: [&str; 7] = [
    "format", "hash", "tenant", "zones", "records", "pools", "services",
];

/// A configuration that is right by itself.
#[derive(Debug, Default)]
pub(super) struct Proposed {
    pub(super) zones: Vec<Zone>,
    pub(super) records: Vec<RecordSet>,
    pub(super) pools: Vec<Pool>,
    pub(super) services: Vec<Service>,
}

impl Proposed {
    /// Steps of all chains in a document, to be compiled ahead.
    pub(super) fn scripts_of(body: &Value) -> Vec<String> {
        let services = body.get("services").and_then(Value::as_array);
        let chains = services
            .into_iter()
            .flatten()
            .filter_map(|service| service.get("filterChain"));
        let steps = chains.filter_map(Value::as_array).flatten();
        steps
            .filter_map(|step| step.as_str().map(str::to_owned))
            .collect()
    }
}

/// Reads the items of a section one by one, and keeps what is wrong with each under its place.
struct Reader {
    body: Map<String, Value>,
    errors: Vec<ValidationError>,
}

impl Reader {
    fn new(body: Value) -> Result<Self, OpError> {
        let Value::Object(body) = body else {
            let message = "the document must be a mapping with `zones`, `records`, `pools`, `services`";
            return Err(OpError::invalid("", ErrorCode::Invalid, message));
        };
        let mut errors = Vec::new();
        for name in body.keys().filter(|name| !SECTIONS.contains(&name.as_str())) {
            let hint = nearest(name, SECTIONS)
                .map(|near| format!(" (did you mean `{near}`?)"))
                .unwrap_or_default();
            let message = format!("is no part of a configuration{hint}");
            errors.push(ValidationError::new(name.clone(), ErrorCode::Unknown, message));
        }
        if body.get("format").is_some_and(|format| *format != CONFIG_FORMAT) {
            let message = format!("is not {CONFIG_FORMAT}, which is the form that this version reads");
            errors.push(ValidationError::new("format", ErrorCode::Invalid, message));
        }
        Ok(Self { body, errors })
    }

    fn items(&mut self, section: &str) -> Vec<Value> {
        match self.body.remove(section) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.errors.push(ValidationError::new(
                    section,
                    ErrorCode::Invalid,
                    "must be a list",
                ));
                Vec::new()
            }
        }
    }

    /// The draft of an item; the id is kept, and one without has that of what is there with its name, or a new one.
    fn draft<D: Draft>(
        &mut self,
        place: &str,
        item: Value,
        named: impl Fn(&str) -> Option<Uuid>,
    ) -> Option<(Uuid, Proposal<D>)> {
        let id = match item.get("id").map(Value::as_str) {
            None => item
                .get("name")
                .and_then(Value::as_str)
                .and_then(named)
                .unwrap_or_else(new_id),
            Some(text) => match text.and_then(|text| Uuid::parse_str(text).ok()) {
                Some(id) => id,
                None => {
                    self.wrong(
                        place,
                        vec![ValidationError::new("id", ErrorCode::Invalid, "is no id")],
                    );
                    return None;
                }
            },
        };
        match draft::read(item) {
            Ok(proposal) => Some((id, proposal)),
            Err(problems) => {
                self.wrong(place, problems);
                None
            }
        }
    }

    fn take<T>(&mut self, place: &str, result: Result<T, Vec<ValidationError>>) -> Option<T> {
        result.map_err(|errors| self.wrong(place, errors)).ok()
    }

    fn wrong(&mut self, place: &str, errors: Vec<ValidationError>) {
        self.errors.extend(errors.into_iter().map(|error| {
            let field = match error.field.as_str() {
                "" => place.to_owned(),
                field => format!("{place}.{field}"),
            };
            ValidationError::new(field, error.code, error.message)
        }));
    }

    fn conflict(&mut self, field: String, message: String) {
        self.errors
            .push(ValidationError::new(field, ErrorCode::Conflict, message));
    }

    fn unique<'a, T: 'a, K: Hash + Eq>(
        &mut self,
        section: &str,
        field: &str,
        items: &'a [T],
        key: impl Fn(&'a T) -> K,
    ) {
        let mut seen = HashSet::new();
        for (index, item) in items.iter().enumerate() {
            if !seen.insert(key(item)) {
                let message = "stands in the document twice".to_owned();
                self.conflict(format!("{section}[{index}].{field}"), message);
            }
        }
    }
}

impl Ops {
    /// Reads a document and checks it against itself, the tenant's rights and what others have.
    pub(super) async fn proposed(
        &self,
        actor: &Actor,
        body: Value,
        current: &Current,
        scripts: &ScriptVerdicts,
    ) -> Result<Proposed, OpError> {
        let mut reader = Reader::new(body)?;
        let mut proposed = Proposed::default();
        for (index, item) in reader.items("zones").into_iter().enumerate() {
            let place = format!("zones[{index}]");
            let serial = item.get("serial").and_then(Value::as_u64);
            let Some((id, proposal)) = reader.draft::<ZoneDraft>(&place, item, |name| {
                let name = DomainName::parse("name", name).ok()?;
                let row = current.zones.iter().find(|row| row.value.name == name)?;
                Some(row.value.id.0)
            }) else {
                continue;
            };
            let id = ZoneId(id);
            let old = current.zones.iter().find(|row| row.value.id == id);
            let serial = serial.and_then(|serial| u32::try_from(serial).ok()).unwrap_or(1);
            // A serial never goes back.
            let serial = old.map_or(serial, |old| old.value.serial.wrapping_add(1));
            let validated = proposal.draft.validate(id, actor.tenant_id, serial);
            let checked = proposal.checked(validated, rules::zone(&proposal.draft));
            if let Some(zone) = reader.take(&place, checked) {
                let missing = self.unknown_keys(actor, &zone).await?;
                reader.wrong(&place, missing);
                proposed.zones.push(zone);
            }
        }
        for (index, item) in reader.items("pools").into_iter().enumerate() {
            let place = format!("pools[{index}]");
            let Some((id, proposal)) = reader.draft::<PoolDraft>(&place, item, |name| {
                let row = current.pools.iter().find(|row| row.value.name == name)?;
                Some(row.value.id.0)
            }) else {
                continue;
            };
            let validated = proposal
                .draft
                .validate(PoolId(id), actor.tenant_id, || MemberId(new_id()));
            let checked = proposal.checked(validated, rules::pool(&proposal.draft));
            proposed.pools.extend(reader.take(&place, checked));
        }
        for (index, item) in reader.items("services").into_iter().enumerate() {
            let place = format!("services[{index}]");
            let Some((id, proposal)) = reader.draft::<ServiceDraft>(&place, item, |name| {
                let row = current.services.iter().find(|row| row.value.name == name)?;
                Some(row.value.id.0)
            }) else {
                continue;
            };
            let id = ServiceId(id);
            let stored = current.services.iter().find(|row| row.value.id == id);
            let stored = stored.map(|row| &row.value);
            self.gate(actor, &proposal.draft, stored)?;
            let validated = proposal
                .draft
                .validate(id, actor.tenant_id, self.default_algorithm());
            let checked = proposal.checked(validated, rules::service(&proposal.draft));
            let chain = proposal.draft.filter_chain.as_deref().unwrap_or_default();
            reader.wrong(&place, scripts.errors("filterChain", chain, stored));
            if let Some(service) = reader.take(&place, checked) {
                if !proposed.pools.iter().any(|pool| pool.id == service.pool_id) {
                    let message = format!("there is no pool `{}` in the document", service.pool_id);
                    let missing = ValidationError::new("poolId", ErrorCode::NotFound, message);
                    reader.wrong(&place, vec![missing]);
                }
                proposed.services.push(service);
            }
        }
        for (index, item) in reader.items("records").into_iter().enumerate() {
            let place = format!("records[{index}]");
            let zone = item
                .get("zoneId")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            let Some((id, proposal)) = reader.draft::<RecordDraft>(&place, item, |_| None) else {
                continue;
            };
            let Some(zone) = proposed.zones.iter().find(|known| known.id.to_string() == zone) else {
                let message = format!("there is no zone `{zone}` in the document");
                let missing = ValidationError::new("zoneId", ErrorCode::NotFound, message);
                reader.wrong(&place, vec![missing]);
                continue;
            };
            let validated = proposal.draft.validate(RecordId(id), zone);
            let checked = proposal.checked(validated, Vec::new());
            proposed.records.extend(reader.take(&place, checked));
        }
        not_others(&mut reader, current, &proposed);
        self.check_together(actor, &mut reader, &proposed).await?;
        if reader.errors.is_empty() {
            Ok(proposed)
        } else if reader
            .errors
            .iter()
            .all(|error| error.code == ErrorCode::Conflict)
        {
            Err(OpError::Conflict(reader.errors))
        } else {
            Err(OpError::Invalid(reader.errors))
        }
    }

    async fn check_together(
        &self,
        actor: &Actor,
        reader: &mut Reader,
        proposed: &Proposed,
    ) -> Result<(), OpError> {
        reader.unique("zones", "id", &proposed.zones, |zone| zone.id);
        reader.unique("zones", "name", &proposed.zones, |zone| &zone.name);
        reader.unique("records", "id", &proposed.records, |set| set.id);
        reader.unique("pools", "id", &proposed.pools, |pool| pool.id);
        reader.unique("pools", "name", &proposed.pools, |pool| &pool.name);
        reader.unique("services", "id", &proposed.services, |service| service.id);
        reader.unique("services", "name", &proposed.services, |service| &service.name);
        reader.unique("services", "domain", &proposed.services, |service| {
            &service.domain
        });
        let mut members = HashSet::new();
        for (index, pool) in proposed.pools.iter().enumerate() {
            if pool.members.iter().any(|member| !members.insert(member.id)) {
                let message = "a member with this id stands in the document twice".to_owned();
                reader.conflict(format!("pools[{index}].members"), message);
            }
        }
        let mut others: Vec<Row<Zone>> = self.parts.store.all().await?;
        others.retain(|row| row.value.tenant_id != actor.tenant_id);
        let is_others = |name: &DomainName| closest(name, &others, &proposed.zones);
        for (index, zone) in proposed.zones.iter().enumerate() {
            let field = || format!("zones[{index}].name");
            if others.iter().any(|row| row.value.name == zone.name) {
                reader.conflict(
                    field(),
                    format!("the zone `{}` is taken: it is not yours", zone.name),
                );
            } else if !actor.may(Permission::TenantsWrite)
                && let Some((_, above)) = zone.name.as_str().split_once('.')
                && DomainName::parse("name", above).is_ok_and(|above| is_others(&above))
            {
                let message = format!("the zone `{}` lies in a zone that is not yours", zone.name);
                reader.conflict(field(), message);
            }
        }
        for (index, service) in proposed.services.iter().enumerate() {
            let field = || format!("services[{index}].domain");
            let domain = &service.domain;
            let holder = self.parts.store.holder(domain.as_str()).await?;
            if holder.is_some_and(|(tenant, _)| tenant != actor.tenant_id) {
                reader.conflict(
                    field(),
                    format!("the domain `{domain}` is taken: it is not yours"),
                );
            } else if is_others(domain) {
                let message = format!("the domain `{domain}` lies in a zone that is not yours");
                reader.conflict(field(), message);
            }
        }
        records(reader, proposed);
        Ok(())
    }
}

/// What has the id of something else would take its place.
fn not_others(reader: &mut Reader, current: &Current, proposed: &Proposed) {
    let mut check = |section: &str, ids: Vec<Uuid>| {
        for (index, id) in ids.into_iter().enumerate() {
            if current.foreign.contains(&id) {
                let message = format!("`{id}` is the id of something that is not yours; take another");
                reader.conflict(format!("{section}[{index}].id"), message);
            }
        }
    };
    check("zones", proposed.zones.iter().map(|zone| zone.id.0).collect());
    check("records", proposed.records.iter().map(|set| set.id.0).collect());
    check("pools", proposed.pools.iter().map(|pool| pool.id.0).collect());
    check(
        "services",
        proposed.services.iter().map(|service| service.id.0).collect(),
    );
    for (index, pool) in proposed.pools.iter().enumerate() {
        // The old one goes last, when no service uses it any more: two would have the name meanwhile.
        let same = current.pools.iter().find(|row| row.value.name == pool.name);
        if let Some(old) = same.filter(|row| row.value.id != pool.id)
            && !proposed.pools.iter().any(|other| other.id == old.value.id)
        {
            let message = format!(
                "is the name of the pool `{}`: give this one its id, or none",
                old.value.id
            );
            reader.conflict(format!("pools[{index}].name"), message);
        }
        let mut members = pool.members.iter().enumerate();
        if let Some((member, _)) = members.find(|(_, member)| current.foreign.contains(&member.id.0)) {
            let message = "is the id of something that is not yours; take another".to_owned();
            reader.conflict(format!("pools[{index}].members[{member}].id"), message);
        }
    }
}

/// Whether the closest zone around a name is one of the others'.
fn closest(name: &DomainName, others: &[Row<Zone>], own: &[Zone]) -> bool {
    let depth = |zone: &Zone| name.is_within(&zone.name).then(|| zone.name.as_str().len());
    let theirs = others.iter().filter_map(|row| depth(&row.value)).max();
    let ours = own.iter().filter_map(depth).max();
    theirs > ours
}

/// The rules between the records of each zone, the services in it and the zones below.
fn records(reader: &mut Reader, proposed: &Proposed) {
    for zone in &proposed.zones {
        let below: Vec<&Zone> = proposed
            .zones
            .iter()
            .filter(|inner| inner.id != zone.id && inner.name.is_within(&zone.name))
            .collect();
        let services: Vec<&Service> = proposed
            .services
            .iter()
            .filter(|service| service.domain.is_within(&zone.name))
            .collect();
        let is_alias = |service: &&&Service| {
            let pool = proposed.pools.iter().find(|pool| pool.id == service.pool_id);
            !service.flatten && pool.is_some_and(Pool::is_by_name)
        };
        let around = Surroundings {
            aliases: services
                .iter()
                .filter(is_alias)
                .map(|service| RecordName::from(&service.domain))
                .collect(),
            apex: Some(RecordName::from(&zone.name)),
            records: proposed
                .records
                .iter()
                .filter(|set| set.zone_id == zone.id)
                .collect(),
            services: services
                .iter()
                .map(|service| RecordName::from(&service.domain))
                .collect(),
            zones: below.iter().map(|inner| RecordName::from(&inner.name)).collect(),
        };
        for problem in around.problems() {
            let field = match problem.subject {
                Subject::Record(set) => {
                    let index = proposed.records.iter().position(|other| other.id == set.id);
                    index.map_or_else(|| "records".to_owned(), |index| format!("records[{index}]"))
                }
                Subject::Service(_) | Subject::Zone(_) => "services".to_owned(),
            };
            reader.conflict(field, problem.message);
        }
    }
}
