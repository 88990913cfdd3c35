//! Signed zones.

use super::{Expected, Ops, expect, require};
use crate::dnssec;
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, KeysRecord, Row};
use gslb_api_types::{DnssecDraft, DnssecMode, DnssecView, Stored};
use gslb_dnssec::Algorithm;
use gslb_engine::model::{Actor, ErrorCode, Permission, ValidationError, ZoneId};

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
        Ok(Stored {
            value: dnssec::view(&zone.name, &row.value).map_err(OpError::internal)?,
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
        let (mode, algorithm) = draft
            .checked(validate(&draft.draft), Vec::new())
            .map_err(OpError::Invalid)?;
        let stored = self.stored_keys(actor, zone.id).await?;
        // A revision that is expected of keys that are not there is as stale as another one.
        expect(expected, stored.as_ref().map_or(0, |row| row.revision))?;
        let (record, before) = match stored {
            None => (
                dnssec::generate(&zone, mode, algorithm).map_err(OpError::internal)?,
                None,
            ),
            Some(row) if (row.value.mode, row.value.algorithm) == (mode, algorithm.number()) => {
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
        let view = dnssec::view(&zone.name, &record).map_err(OpError::internal)?;
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

    async fn stored_keys(&self, actor: &Actor, zone: ZoneId) -> Result<Option<Row<KeysRecord>>, OpError> {
        Ok(self.parts.store.get(actor.tenant_id, zone.0).await?)
    }
}

fn validate(draft: &DnssecDraft) -> Result<(DnssecMode, Algorithm), Vec<ValidationError>> {
    let mut errors = Vec::new();
    let mode = match draft.mode.as_deref() {
        None | Some("csk") => DnssecMode::Csk,
        Some("ksk-zsk") => DnssecMode::KskZsk,
        Some(other) => {
            errors.push(ValidationError::new(
                "mode",
                ErrorCode::Invalid,
                format!("`{other}` is neither `csk` nor `ksk-zsk`"),
            ));
            DnssecMode::Csk
        }
    };
    let number = draft.algorithm.unwrap_or_else(|| Algorithm::P256.number().into());
    let algorithm = u8::try_from(number).ok().and_then(Algorithm::from_number);
    if algorithm.is_none() {
        errors.push(ValidationError::new(
            "algorithm",
            ErrorCode::Invalid,
            format!("{number} is neither 13 (ECDSA P-256) nor 15 (Ed25519)"),
        ));
    }
    match algorithm {
        Some(algorithm) if errors.is_empty() => Ok((mode, algorithm)),
        _ => Err(errors),
    }
}
