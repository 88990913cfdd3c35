//! Other keys for a signed zone, without a moment in which somebody cannot validate it (RFC 6781 §4.1, RFC 7583).
//!
//! A key that signs records is published before it signs, one that a DS names signs the key set together with the old one
//! until the DS has changed. Each step waits until no cache has what it would contradict, unless it is forced.

use super::{Expected, Ops, expect, require};
use crate::clock::to_millis;
use crate::dnssec::{self, Lifetimes};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, KeysRecord, OtherKey, Row};
use gslb_api_types::{DnssecKeyDraft, DnssecMode, DnssecView, KeyRole, KeyState};
use gslb_dnssec::Algorithm;
use gslb_engine::model::{Actor, ErrorCode, Permission, ValidationError, Zone, ZoneId};
use std::path::PathBuf;

impl Ops {
    /// The folder of the database, where files of keys are.
    pub(super) fn key_folder(&self) -> PathBuf {
        let path = self.parts.settings.load().database.path.clone();
        path.parent().map(PathBuf::from).unwrap_or_default()
    }

    /// How long caches hold things of a zone.
    pub(super) async fn lifetimes(&self, zone: &Zone) -> Result<Lifetimes, OpError> {
        let stored = self.parts.store.records_of_zone(zone.id).await?;
        let stored = stored.iter().map(|row| row.value.ttl);
        let snapshot = self.parts.snapshot.load_full();
        let services = snapshot
            .services()
            .filter(|service| service.domain.is_within(&zone.name))
            .map(|service| service.ttl);
        let records = stored.chain(services).max().unwrap_or_default();
        Ok(Lifetimes {
            keys: zone.soa.ttl,
            records: records.max(zone.soa.ttl).max(zone.ns_ttl).max(zone.soa.minimum),
        })
    }

    fn now_millis(&self) -> u64 {
        u64::try_from(to_millis(self.parts.clock.now())).unwrap_or_default()
    }

    /// Makes a key and publishes it beside the others of its role.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`]; [`OpError::Invalid`] for a role that the zone has
    /// not; [`OpError::Conflict`] while a roll-over of the role is under way, or its key is in a file.
    pub async fn add_key(
        &self,
        actor: &Actor,
        zone: ZoneId,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<DnssecKeyDraft>>,
    ) -> Result<Written<DnssecView>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let (zone, row) = self.signed_zone(actor, zone, expected).await?;
        let draft = draft.into();
        let role = draft
            .checked(role(&draft.draft, row.value.mode), Vec::new())
            .map_err(OpError::Invalid)?;
        let file = match role {
            KeyRole::Ksk | KeyRole::Csk => &row.value.ksk_file,
            KeyRole::Zsk => &row.value.zsk_file,
        };
        if let Some(file) = file {
            let message = format!("this key is in the file `{file}`: it cannot be rolled over here");
            return Err(OpError::conflict("role", message));
        }
        if row.value.others.iter().any(|key| key.role == role) {
            return Err(OpError::conflict(
                "role",
                "a roll-over of this role is under way: activate or remove the other key first",
            ));
        }
        let algorithm = Algorithm::from_number(row.value.algorithm).unwrap_or(Algorithm::P256);
        let taken = dnssec::tags(&zone.name, &row.value, &self.key_folder()).map_err(OpError::internal)?;
        let mut key = OtherKey {
            role,
            state: KeyState::Published,
            since: self.now_millis(),
            key: String::new(),
        };
        // Keys are called by their tags, and one key in some thousands has that of another.
        loop {
            key.key = dnssec::made(algorithm).map_err(OpError::internal)?;
            if !taken.contains(&dnssec::other(&key).map_err(OpError::internal)?.tag) {
                break;
            }
        }
        let mut record = row.value.clone();
        record.others.push(key);
        self.write_keys(guard, actor, &zone, row, record).await
    }

    /// Lets a published key sign, and retires the one that did.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`]; [`OpError::Conflict`] for a key that is active or
    /// retired, and before the time when that is safe, unless `force` is set.
    pub async fn activate_key(
        &self,
        actor: &Actor,
        zone: ZoneId,
        tag: &str,
        expected: impl Into<Expected>,
        force: bool,
    ) -> Result<Written<DnssecView>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let (zone, row, at) = self
            .waiting_key(actor, zone, tag, expected, "is active already")
            .await?;
        let mut record = row.value.clone();
        let Some(key) = record.others.get_mut(at) else {
            return Err(OpError::not_found("key", tag));
        };
        if key.state != KeyState::Published {
            return Err(OpError::conflict("", "only a published key can be activated"));
        }
        self.allow(&zone, key, force).await?;
        let old = match key.role {
            KeyRole::Ksk | KeyRole::Csk => Some(&mut record.ksk),
            KeyRole::Zsk => record.zsk.as_mut(),
        };
        let Some(old) = old else {
            return Err(OpError::not_found("key", tag));
        };
        std::mem::swap(old, &mut key.key);
        key.state = KeyState::Retired;
        key.since = self.now_millis();
        self.write_keys(guard, actor, &zone, row, record).await
    }

    /// Removes a key that does not sign any more, or does not yet.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`]; [`OpError::Conflict`] for an active key, and for a
    /// retired one before the time when that is safe, unless `force` is set.
    pub async fn remove_key(
        &self,
        actor: &Actor,
        zone: ZoneId,
        tag: &str,
        expected: impl Into<Expected>,
        force: bool,
    ) -> Result<Written<DnssecView>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let active = "is active: activate another one in its place first";
        let (zone, row, at) = self.waiting_key(actor, zone, tag, expected, active).await?;
        let mut record = row.value.clone();
        let key = record.others.remove(at);
        // Nothing was ever signed with a published ZSK, and no DS is to name a published KSK yet.
        if key.state == KeyState::Retired {
            self.allow(&zone, &key, force).await?;
        }
        self.write_keys(guard, actor, &zone, row, record).await
    }

    async fn signed_zone(
        &self,
        actor: &Actor,
        zone: ZoneId,
        expected: impl Into<Expected>,
    ) -> Result<(Zone, Row<KeysRecord>), OpError> {
        let zone = self.stored_zone(actor, zone).await?.value;
        let row = self.stored_keys(actor, zone.id).await?;
        let row = row.ok_or_else(|| OpError::not_found("dnssec", zone.id))?;
        expect(expected, row.revision)?;
        Ok((zone, row))
    }

    /// The keys of a zone, and where among those that do not sign the one with this tag is.
    ///
    /// # Errors
    /// [`OpError::Conflict`] for a key that does sign, which `active` says something about.
    async fn waiting_key(
        &self,
        actor: &Actor,
        zone: ZoneId,
        tag: &str,
        expected: impl Into<Expected>,
        active: &str,
    ) -> Result<(Zone, Row<KeysRecord>, usize), OpError> {
        let (zone, row) = self.signed_zone(actor, zone, expected).await?;
        let missing = || OpError::not_found("key", format!("{tag} of zone {}", zone.id));
        let number = tag.parse().map_err(|_| missing())?;
        if let Some(at) = place(&row.value, number) {
            return Ok((zone, row, at));
        }
        let tags = dnssec::tags(&zone.name, &row.value, &self.key_folder());
        match tags {
            Ok(tags) if tags.contains(&number) => {
                Err(OpError::conflict("", format!("the key {number} {active}")))
            }
            _ => Err(missing()),
        }
    }

    /// Refuses a step that comes too early.
    async fn allow(&self, zone: &Zone, key: &OtherKey, force: bool) -> Result<(), OpError> {
        let safe = dnssec::safe_at(key, self.lifetimes(zone).await?);
        let wait = safe.saturating_sub(self.now_millis()).div_ceil(1000);
        if force || wait == 0 {
            return Ok(());
        }
        let why = match key.state {
            KeyState::Retired => "caches may still have what it has signed, or its DS",
            KeyState::Published | KeyState::Active => "caches may still have the key set without it",
        };
        let message =
            format!("too early: {why}; safe in {wait} s, or with `force=true` for those who accept failures");
        Err(OpError::conflict("", message))
    }

    async fn write_keys(
        &self,
        guard: tokio::sync::MutexGuard<'_, ()>,
        actor: &Actor,
        zone: &Zone,
        row: Row<KeysRecord>,
        record: KeysRecord,
    ) -> Result<Written<DnssecView>, OpError> {
        let lifetimes = self.lifetimes(zone).await?;
        let view = dnssec::view(&zone.name, &record, &self.key_folder(), lifetimes)
            .map_err(|error| super::dnssec::unreadable(&error))?;
        let before = Some((Document::Dnssec(row.value), row.revision));
        self.put(guard, actor, before, Document::Dnssec(record), view, Vec::new())
            .await
    }
}

/// Where the key with this tag is among those that do not sign.
fn place(record: &KeysRecord, tag: u16) -> Option<usize> {
    let has_tag = |key: &OtherKey| dnssec::other(key).is_ok_and(|key| key.tag == tag);
    record.others.iter().position(has_tag)
}

fn role(draft: &DnssecKeyDraft, mode: DnssecMode) -> Result<KeyRole, Vec<ValidationError>> {
    let invalid = |message: String| Err(vec![ValidationError::new("role", ErrorCode::Invalid, message)]);
    match (mode, draft.role.as_deref()) {
        (DnssecMode::Csk, None | Some("csk")) => Ok(KeyRole::Csk),
        (DnssecMode::Csk, Some(_)) => invalid("the zone has one key for all: `csk`".to_owned()),
        (DnssecMode::KskZsk, Some("ksk")) => Ok(KeyRole::Ksk),
        (DnssecMode::KskZsk, Some("zsk")) => Ok(KeyRole::Zsk),
        (DnssecMode::KskZsk, _) => invalid("the zone has two keys: `ksk` or `zsk`".to_owned()),
    }
}
