//! What the reconciler compiles from, kept in memory and updated change by change.

use super::keys::KeyRing;
use super::objects::Objects;
use super::serials::{grow_above, grow_around, grow_for_pool, grow_zone};
use super::touched::Touched;
use super::{Inputs, Message};
use crate::clock::Clock;
use crate::config::Settings;
use crate::events::EventBus;
use crate::geo::GeoSet;
use crate::license::{self, LicenseState, LicenseStatus};
use crate::mapfile;
use crate::store::{Action, Change, Document, Store, StoreError, TsigKeyRecord, ZoneRecords};
use crate::tsig;
use arc_swap::ArcSwap;
use gslb_api_types::EventKind;
use gslb_engine::environment::{Environment, MapRule};
use gslb_engine::model::{RecordSet, TenantId, ValidationError};
use gslb_engine::script::Scripts;
use gslb_engine::snapshot::{Configuration, Slots, Snapshot};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// State of the reconciler.
#[derive(Debug)]
pub(super) struct State {
    objects: Objects,
    revision: u64,
    slots: Slots,
    settings: Arc<Settings>,
    geo: GeoSet,
    map: Arc<[MapRule]>,
    stored_license: Option<String>,
    license_file: Option<String>,
    license: Arc<ArcSwap<LicenseStatus>>,
    events: EventBus,
    clock: Clock,
    scripts: Arc<dyn Scripts>,
    keys: KeyRing,
    tsig_keys: Vec<TsigKeyRecord>,
    /// Seeds name hashes and starts of round-robin; the same for every snapshot of this process.
    entropy: u64,
    errors: FileErrors,
    /// Services whose chain the licence does not allow.
    fallback: usize,
    /// What the snapshot in force does not have yet.
    touched: Touched,
}

/// The latest problem of each file, if it has one.
#[derive(Debug, Default)]
struct FileErrors {
    country: Option<String>,
    place: Option<String>,
    asn: Option<String>,
    map: Option<String>,
    license: Option<String>,
}

impl State {
    pub(super) async fn load(inputs: &Inputs) -> Result<Self, StoreError> {
        let store: &Store = &inputs.store;
        let stored = store.configuration().await?;
        let stored_license = store.license().await?.map(|row| row.value.text);
        let mut seed = [0; 8];
        if getrandom::fill(&mut seed).is_err() {
            tracing::warn!("no randomness: the hash of names is not seeded");
        }
        Ok(Self {
            objects: Objects::new(Configuration {
                zones: stored.zones,
                pools: stored.pools,
                services: stored.services,
                records: stored.records,
            }),
            revision: stored.revision,
            slots: Slots::new(),
            settings: Arc::clone(&inputs.settings),
            geo: GeoSet::default(),
            map: Arc::new([]),
            stored_license,
            license_file: None,
            license: Arc::clone(&inputs.license),
            events: inputs.events.clone(),
            clock: inputs.clock.clone(),
            scripts: Arc::clone(&inputs.scripts),
            keys: KeyRing::new(stored.keys),
            tsig_keys: stored.tsig_keys,
            entropy: u64::from_ne_bytes(seed),
            errors: FileErrors::default(),
            fallback: 0,
            touched: Touched::everything(),
        })
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) fn key_errors(&self) -> Vec<String> {
        self.keys.errors()
    }

    pub(super) fn file_errors(&self) -> Vec<String> {
        let FileErrors {
            country,
            place,
            asn,
            map,
            license,
        } = &self.errors;
        [country, place, asn, map, license]
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }

    /// Takes messages in; says whether the snapshot must be compiled anew. Without messages: looks at the time.
    pub(super) fn take(&mut self, messages: Vec<Message>) -> bool {
        let mut dirty = false;
        for message in messages {
            dirty |= match message {
                Message::Changed(commit) if commit.revision <= self.revision => false,
                Message::Changed(commit) => {
                    self.revision = commit.revision;
                    self.change(&commit.change)
                }
                Message::Settings(settings) => {
                    self.settings = settings;
                    self.keys.read_files_again();
                    self.touched = Touched::everything();
                    self.read_files(|_| true);
                    true
                }
                Message::Files(files) => {
                    self.touched = Touched::everything();
                    self.read_files(|path| files.iter().any(|file| file == path));
                    true
                }
                Message::Everything => {
                    self.touched = Touched::everything();
                    self.read_files(|_| true);
                    true
                }
            };
        }
        let judged = self.judge_license();
        if judged {
            self.touched = Touched::everything();
        }
        judged | dirty
    }

    fn change(&mut self, change: &Change) -> bool {
        let (objects, touched) = (&mut self.objects, &mut self.touched);
        match change.action.document() {
            Document::Zone(zone) => touched.zone(zone.id),
            Document::Pool(pool) => touched.pool(pool.id),
            Document::Service(service) => touched.service(service.id),
            Document::Record(set) => touched.name(set.zone_id, &set.name),
            // The keys belong to what every zone is compiled with.
            Document::Dnssec(_) | Document::TsigKey(_) => *touched = Touched::everything(),
            Document::User(_)
            | Document::Role(_)
            | Document::Token(_)
            | Document::Tenant(_)
            | Document::License(_) => {}
        }
        match &change.action {
            Action::Put(Document::Zone(zone)) => {
                let old = objects.put_zone(zone.clone()).map(|old| old.name);
                if old.as_ref() != Some(&zone.name) {
                    grow_above(objects, touched, zone.name.as_str());
                    if let Some(old) = old {
                        grow_above(objects, touched, old.as_str());
                    }
                }
            }
            Action::Delete(Document::Zone(zone)) => {
                for set in objects.remove_zone(zone.id) {
                    touched.name(set.zone_id, &set.name);
                }
                grow_above(objects, touched, zone.name.as_str());
                self.keys.remove(zone.id);
            }
            Action::Put(Document::Dnssec(keys)) => {
                self.keys.put(keys.clone());
                grow_zone(objects, touched, keys.zone_id);
            }
            Action::Delete(Document::Dnssec(keys)) => {
                self.keys.remove(keys.zone_id);
                grow_zone(objects, touched, keys.zone_id);
            }
            Action::Put(Document::Record(set)) => {
                put_record(objects, touched, set);
                grow_zone(objects, touched, set.zone_id);
            }
            Action::Delete(Document::Record(set)) => {
                objects.remove_record(set.id);
                grow_zone(objects, touched, set.zone_id);
            }
            Action::Records(ZoneRecords {
                zone,
                put: sets,
                removed,
            }) => {
                if let Document::Zone(zone) = zone {
                    objects.put_zone(zone.clone());
                }
                for set in removed {
                    if let Some(old) = objects.remove_record(set.id) {
                        touched.name(old.zone_id, &old.name);
                    }
                }
                for set in sets {
                    touched.name(set.zone_id, &set.name);
                    put_record(objects, touched, set);
                }
            }
            Action::Put(Document::Pool(pool)) => {
                let old = objects.put_pool(pool.clone());
                if old.is_some_and(|old| old.transferred() != pool.transferred()) {
                    grow_for_pool(objects, touched, pool.id);
                }
            }
            Action::Delete(Document::Pool(pool)) => objects.remove_pool(pool.id),
            Action::Put(Document::Service(service)) => {
                let old = objects.put_service(service.clone()).map(|old| old.domain);
                grow_around(objects, touched, service.domain.as_str());
                if let Some(old) = old.filter(|old| *old != service.domain) {
                    grow_around(objects, touched, old.as_str());
                }
            }
            Action::Delete(Document::Service(service)) => {
                grow_around(objects, touched, service.domain.as_str());
                objects.remove_service(service.id);
            }
            Action::Put(Document::TsigKey(key)) => {
                self.tsig_keys.retain(|known| known.id != key.id);
                self.tsig_keys.push(key.clone());
            }
            Action::Delete(Document::TsigKey(key)) => self.tsig_keys.retain(|known| known.id != key.id),
            Action::Put(Document::License(license)) => {
                self.stored_license = Some(license.text.clone());
                return false;
            }
            Action::Delete(Document::License(_)) => {
                self.stored_license = None;
                return false;
            }
            Action::Put(Document::User(_) | Document::Role(_) | Document::Token(_) | Document::Tenant(_))
            | Action::Delete(
                Document::User(_) | Document::Role(_) | Document::Token(_) | Document::Tenant(_),
            ) => return false,
        }
        true
    }

    /// Reads those of the configured files that `wanted` picks. One that cannot be used leaves what was there.
    fn read_files(&mut self, wanted: impl Fn(&Path) -> bool) {
        let latency = &self.settings.latency;
        let pick = |path: &Option<PathBuf>| path.as_deref().is_none_or(&wanted);
        let country = latency
            .geoip_db_path
            .clone()
            .or_else(|| latency.city_db_path.clone());
        if pick(&country) {
            self.errors.country = told(self.geo.set_country(country.as_deref()));
        }
        // A country database knows continents and countries, though no places inside them.
        let place = latency
            .city_db_path
            .clone()
            .or_else(|| latency.geoip_db_path.clone());
        if pick(&place) {
            let result = self.geo.set_place(place.as_deref());
            // Of one file that cannot be used once is enough to say.
            self.errors.place = match (place == country, &self.errors.country) {
                (true, Some(_)) => None,
                _ => told(result),
            };
        }
        let asn = latency.asn_db_path.clone();
        if pick(&asn) {
            self.errors.asn = told(self.geo.set_asn(asn.as_deref()));
        }
        let map = self.settings.routing.map_file.clone();
        if pick(&map) {
            self.errors.map = match map.as_deref().map(mapfile::load).transpose() {
                Ok(rules) => {
                    self.map = rules.unwrap_or_default().into();
                    None
                }
                Err(error) => told(Err::<(), _>(error)),
            };
        }
        let file = self.settings.license.file.clone();
        if pick(&file) {
            self.errors.license = match file.as_deref().map(license::read).transpose() {
                Ok(text) => {
                    self.license_file = text;
                    None
                }
                Err(error) => told(Err::<(), _>(error)),
            };
        }
    }

    /// Looks which licence is in force now; says whether that changes what is compiled.
    fn judge_license(&mut self) -> bool {
        let keys = self.settings.license.public_keys.keys();
        let now = self.clock.now();
        let key = self
            .settings
            .license
            .key
            .as_ref()
            .map(|key| key.expose().to_owned());
        let configured = key.or_else(|| self.license_file.clone());
        // A stored licence goes before a configured one as long as it is good: it was put there later, by hand.
        let stored = self
            .stored_license
            .as_deref()
            .map(|text| license::evaluate(Some(text), &keys, now));
        let status = match stored {
            Some(status) if status.state == LicenseState::Valid || configured.is_none() => status,
            _ => license::evaluate(configured.as_deref(), &keys, now),
        };
        let old = self.license.load_full();
        if *old == status {
            return false;
        }
        let changed = old.tier != status.tier;
        if status.state == LicenseState::Valid {
            tracing::info!(tier = %status.tier, "{}", status.message);
        } else {
            tracing::warn!(tier = %status.tier, "{}", status.message);
        }
        let event = EventKind::License {
            tier: status.tier,
            reason: status.message.clone(),
        };
        // In force before it is told: whoever hears of it sees it.
        self.license.store(Arc::new(status));
        if changed {
            self.events.publish(TenantId::DEFAULT, event);
        }
        changed
    }

    /// Compiles what has changed since `base`, the snapshot in force: the rest is shared with it.
    pub(super) fn compile(&mut self, base: &Snapshot) -> Result<Snapshot, String> {
        // Until this one is in force, the next must not build on `base` with less than everything.
        let touched = std::mem::replace(&mut self.touched, Touched::everything());
        let part = match touched.changes(&self.objects) {
            Some(changes) => base
                .with_changes(&changes, &mut self.slots, self.entropy)
                .map_err(|e| told_all(&e))?,
            None => None,
        };
        let snapshot = match part {
            Some(snapshot) => snapshot,
            None => self.compile_everything()?.following(base),
        };
        self.touched = Touched::default();
        self.tell_fallback(&snapshot);
        Ok(snapshot)
    }

    fn compile_everything(&mut self) -> Result<Snapshot, String> {
        let folder = self.settings.database.path.parent().unwrap_or(Path::new(""));
        let keys = self.keys.of(&self.objects.all().zones, folder);
        let environment = Environment {
            geo: Arc::new(self.geo.clone()),
            map: Arc::clone(&self.map),
            signals: self.settings.signal_settings(),
            latency: self.settings.latency_settings(),
            tier: self.license.load().tier,
            scripts: Arc::clone(&self.scripts),
            keys: Arc::new(keys),
            tsig: Arc::new(self.tsig_keys.iter().filter_map(tsig::key).collect()),
        };
        Snapshot::compile(self.objects.all(), &environment, &mut self.slots, self.entropy)
            .map_err(|e| told_all(&e))
    }

    /// Says when services begin or end to answer by round-robin for want of a licence.
    fn tell_fallback(&mut self, snapshot: &Snapshot) {
        let tier = snapshot.tier();
        let fallback = snapshot.held_back();
        if fallback == self.fallback {
            return;
        }
        self.fallback = fallback;
        match fallback {
            0 => tracing::info!("every service answers by its own chain again"),
            _ => tracing::warn!(
                services = fallback,
                %tier,
                "services answer by round-robin: the licence in force does not allow their chains"
            ),
        }
    }
}

fn told_all(errors: &[ValidationError]) -> String {
    errors
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ")
}

fn told<T>(result: Result<T, impl std::error::Error>) -> Option<String> {
    let error = result.err()?.to_string();
    tracing::error!(%error, "what was loaded before stays in use");
    Some(error)
}

/// Puts a record set in, also under another name than before.
fn put_record(objects: &mut Objects, touched: &mut Touched, set: &RecordSet) {
    if let Some(old) = objects.put_record(set.clone()) {
        touched.name(old.zone_id, &old.name);
    }
}
