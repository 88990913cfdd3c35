//! Signed zones.

use super::{Expected, Ops, expect, require};
use crate::dnssec;
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, KeysRecord, Row};
use gslb_api_types::{DnssecDraft, DnssecMode, DnssecView, Stored};
use gslb_dnssec::Algorithm;
use gslb_engine::model::{Actor, ErrorCode, Permission, ValidationError, ZoneId};
use std::path::Path;

/// Keys that are stored, or in files, and cannot be read: for the operator to mend, and for this server to say.
pub(super) fn unreadable(error: &dnssec::ZoneKeyError) -> OpError {
    OpError::Unavailable(format!("the keys of the zone cannot be read: {error}"))
}

impl Ops {
    /// How a zone is signed: its public keys and the DS.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::NotFound`] for a zone that is not there, or not signed.
    pub async fn get_dnssec(&self, actor: &Actor, zone: ZoneId) -> Result<Stored<DnssecView>, OpError> {
        require(actor, Permission::ZonesRead)?;
        let zone = self.stored_zone(actor, zone).await?.value;
        let row = self.stored_keys(actor, zone.id).await?;
        let row = row.ok_or_else(|| OpError::not_found("dnssec", zone.id))?;
        let lifetimes = self.lifetimes(&zone).await?;
        let view = dnssec::view(&zone.name, &row.value, &self.key_folder(), lifetimes);
        Ok(Stored {
            value: view.map_err(|error| unreadable(&error))?,
            revision: row.revision,
            warnings: Vec::new(),
        })
    }

    /// Signs a zone with new keys, which stay: the same request again changes nothing, and other keys would cut off
    /// everybody who has the DS of these.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`]; [`OpError::Invalid`] with every problem;
    /// [`OpError::Conflict`] when the zone is signed in another way.
    pub async fn put_dnssec(
        &self,
        actor: &Actor,
        zone: ZoneId,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<DnssecDraft>>,
    ) -> Result<Written<DnssecView>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let zone = self.stored_zone(actor, zone).await?.value;
        let draft = draft.into();
        let wanted = draft
            .checked(validate(&draft.draft, &self.key_folder()), Vec::new())
            .map_err(OpError::Invalid)?;
        let Wanted {
            mode,
            algorithm,
            files,
        } = wanted;
        let stored = self.stored_keys(actor, zone.id).await?;
        // A revision that is expected of keys that are not there is as stale as another one.
        expect(expected, stored.as_ref().map_or(0, |row| row.revision))?;
        let (record, before) = match stored {
            None => (
                dnssec::generate(&zone, mode, algorithm, files.clone()).map_err(OpError::internal)?,
                None,
            ),
            Some(row)
                if (row.value.mode, row.value.algorithm) == (mode, algorithm.number())
                    && [&row.value.ksk_file, &row.value.zsk_file] == files.each_ref() =>
            {
                let before = (Document::Dnssec(row.value.clone()), row.revision);
                (row.value, Some(before))
            }
            Some(_) => {
                return Err(OpError::conflict(
                    "",
                    "the zone is signed in another way; take its DS out of the zone above, wait until that has \
                     expired everywhere, and delete the keys first",
                ));
            }
        };
        let lifetimes = self.lifetimes(&zone).await?;
        let view = dnssec::view(&zone.name, &record, &self.key_folder(), lifetimes);
        let view = view.map_err(|error| unreadable(&error))?;
        self.put(guard, actor, before, Document::Dnssec(record), view, Vec::new())
            .await
    }

    /// Signs a zone no longer, and deletes its keys.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn delete_dnssec(
        &self,
        actor: &Actor,
        zone: ZoneId,
        expected: impl Into<Expected>,
    ) -> Result<(), OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let zone = self.stored_zone(actor, zone).await?.value;
        let row = self.stored_keys(actor, zone.id).await?;
        let row = row.ok_or_else(|| OpError::not_found("dnssec", zone.id))?;
        expect(expected, row.revision)?;
        self.delete(guard, actor, Document::Dnssec(row.value), row.revision)
            .await
    }

    pub(super) async fn stored_keys(
        &self,
        actor: &Actor,
        zone: ZoneId,
    ) -> Result<Option<Row<KeysRecord>>, OpError> {
        Ok(self.parts.store.get(actor.tenant_id, zone.0).await?)
    }
}

/// How a zone is to be signed.
#[derive(Debug)]
struct Wanted {
    mode: DnssecMode,
    algorithm: Algorithm,
    /// Of the key that signs the key set, or everything, and of the other.
    files: [Option<String>; 2],
}

fn validate(draft: &DnssecDraft, folder: &Path) -> Result<Wanted, Vec<ValidationError>> {
    let mut errors = Vec::new();
    let mut wrong = |field: &str, message: String| {
        errors.push(ValidationError::new(field, ErrorCode::Invalid, message));
    };
    let mode = match draft.mode.as_deref() {
        None | Some("csk") => DnssecMode::Csk,
        Some("ksk-zsk") => DnssecMode::KskZsk,
        Some(other) => {
            wrong("mode", format!("`{other}` is neither `csk` nor `ksk-zsk`"));
            DnssecMode::Csk
        }
    };
    let given = |file: &Option<String>| file.clone().filter(|file| !file.is_empty());
    let files = [given(&draft.ksk_file), given(&draft.zsk_file)];
    let mut algorithm = draft.algorithm.map(|number| {
        let known = u8::try_from(number).ok().and_then(Algorithm::from_number);
        known.ok_or(number)
    });
    if let Some(Err(number)) = algorithm {
        wrong(
            "algorithm",
            format!("{number} is neither 13 (ECDSA P-256) nor 15 (Ed25519)"),
        );
    }
    if mode == DnssecMode::Csk && given(&draft.zsk_file).is_some() {
        wrong(
            "zskFile",
            "the zone has one key for all: its file is `kskFile`".to_owned(),
        );
    }
    let mut first: Option<Vec<u8>> = None;
    for (field, file) in ["kskFile", "zskFile"].into_iter().zip(&files) {
        let Some(file) = file else { continue };
        match dnssec::from_file(folder, file) {
            Err(error) => wrong(field, error.to_string()),
            Ok(key) if first.as_deref() == Some(key.public()) => wrong(
                field,
                format!("`{file}` has the same key as `kskFile`: with one key for all, the mode is `csk`"),
            ),
            Ok(key) => {
                first = Some(key.public().to_vec());
                let found = key.algorithm();
                // The first key says what the others must be, unless the request does.
                if let Ok(wanted) = *algorithm.get_or_insert(Ok(found))
                    && wanted != found
                {
                    let (found, wanted) = (found.number(), wanted.number());
                    wrong(
                        field,
                        format!(
                            "`{file}` has a key of algorithm {found}, and the zone is to be signed with {wanted}"
                        ),
                    );
                }
            }
        }
    }
    match algorithm.unwrap_or(Ok(Algorithm::P256)) {
        Ok(algorithm) if errors.is_empty() => Ok(Wanted {
            mode,
            algorithm,
            files,
        }),
        _ => Err(errors),
    }
}
