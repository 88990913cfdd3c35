//! Keys of signed messages (TSIG).

use super::{Expected, Ops, expect, new_id, require};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use crate::store::{Document, Listing, Row, TsigKeyRecord};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gslb_api_types::{ListQuery, Page, Stored, TsigKeyCreated, TsigKeyDraft, TsigKeyView};
use gslb_engine::model::{
    Actor, ErrorCode, Permission, RecordName, TsigAlgorithm, TsigKeyId, ValidationError, Zone, key_name,
};

/// Octets of a secret: shorter ones could be guessed, longer ones add nothing.
const SECRET: std::ops::RangeInclusive<usize> = 16..=256;

impl Ops {
    /// One page of the tenant's keys, without their secrets.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a bad cursor or sort field.
    pub async fn list_tsig_keys(
        &self,
        actor: &Actor,
        query: &ListQuery,
    ) -> Result<Page<Stored<TsigKeyView>>, OpError> {
        require(actor, Permission::ZonesRead)?;
        let page: Page<Row<TsigKeyRecord>> = self.page(actor, &Listing::NAMED, query).await?;
        Ok(page.map(shown))
    }

    /// One key, without its secret.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn get_tsig_key(&self, actor: &Actor, id: TsigKeyId) -> Result<Stored<TsigKeyView>, OpError> {
        require(actor, Permission::ZonesRead)?;
        Ok(shown(self.stored_tsig_key(actor, id).await?))
    }

    /// Makes a key. Its secret is in the answer, and nowhere else ever after.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] with every problem; [`OpError::Conflict`] when the name is taken.
    pub async fn create_tsig_key(
        &self,
        actor: &Actor,
        draft: impl Into<Proposal<TsigKeyDraft>>,
    ) -> Result<Written<TsigKeyCreated>, OpError> {
        require(actor, Permission::ZonesWrite)?;
        let proposal = draft.into();
        let (name, algorithm, secret) = proposal
            .checked(validate(&proposal.draft), Vec::new())
            .map_err(OpError::Invalid)?;
        let secret = match secret {
            Some(secret) => secret,
            None => {
                let mut octets = vec![0; algorithm.length()];
                getrandom::fill(&mut octets).map_err(OpError::internal)?;
                octets
            }
        };
        let secret = STANDARD.encode(secret);
        let guard = self.lock().await;
        if let Some(holder) = self.parts.store.tsig_key_by_name(&name.to_string()).await? {
            let whose = if holder.value.tenant_id == actor.tenant_id {
                ""
            } else {
                ": it is not yours"
            };
            return Err(OpError::conflict(
                "name",
                format!("the name `{name}` is taken{whose}"),
            ));
        }
        let record = TsigKeyRecord {
            id: TsigKeyId(new_id()),
            tenant_id: actor.tenant_id,
            name,
            algorithm,
            secret: secret.clone(),
        };
        let created = TsigKeyCreated {
            key: view(&record),
            secret,
        };
        self.put(guard, actor, None, Document::TsigKey(record), created, Vec::new())
            .await
    }

    /// Deletes a key that no zone names.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`], [`OpError::Stale`]; [`OpError::Conflict`] while a zone names it.
    pub async fn delete_tsig_key(
        &self,
        actor: &Actor,
        id: TsigKeyId,
        expected: impl Into<Expected>,
    ) -> Result<(), OpError> {
        require(actor, Permission::ZonesWrite)?;
        let guard = self.lock().await;
        let row = self.stored_tsig_key(actor, id).await?;
        expect(expected, row.revision)?;
        let zones = self.parts.store.all::<Zone>().await?;
        let used = zones.iter().find(|zone| {
            zone.value
                .transfer
                .keys()
                .any(|(_, name)| *name == row.value.name)
        });
        if let Some(zone) = used {
            return Err(OpError::conflict(
                "",
                format!("the transfers of the zone `{}` use this key", zone.value.name),
            ));
        }
        self.delete(guard, actor, Document::TsigKey(row.value), row.revision)
            .await
    }

    /// Keys that the transfers of a zone name and the tenant does not have.
    pub(super) async fn unknown_keys(
        &self,
        actor: &Actor,
        zone: &Zone,
    ) -> Result<Vec<ValidationError>, OpError> {
        let mut problems = Vec::new();
        for (field, name) in zone.transfer.keys() {
            let found = self.parts.store.tsig_key_by_name(&name.to_string()).await?;
            if found.is_none_or(|row| row.value.tenant_id != actor.tenant_id) {
                problems.push(ValidationError::new(
                    field,
                    ErrorCode::NotFound,
                    format!("there is no TSIG key `{name}`; make it first"),
                ));
            }
        }
        Ok(problems)
    }

    async fn stored_tsig_key(&self, actor: &Actor, id: TsigKeyId) -> Result<Row<TsigKeyRecord>, OpError> {
        let row = self.parts.store.get(actor.tenant_id, id.0).await?;
        row.ok_or_else(|| OpError::not_found("TSIG key", id))
    }
}

fn view(record: &TsigKeyRecord) -> TsigKeyView {
    TsigKeyView {
        id: record.id,
        tenant_id: record.tenant_id,
        name: record.name.to_string(),
        algorithm: record.algorithm,
    }
}

fn shown(row: Row<TsigKeyRecord>) -> Stored<TsigKeyView> {
    Stored {
        value: view(&row.value),
        revision: row.revision,
        warnings: Vec::new(),
    }
}

type Checked = (RecordName, TsigAlgorithm, Option<Vec<u8>>);

fn validate(draft: &TsigKeyDraft) -> Result<Checked, Vec<ValidationError>> {
    let mut errors = Vec::new();
    let name = match draft.name.as_deref().map(str::trim) {
        None | Some("") => Err(ValidationError::new(
            "name",
            ErrorCode::Required,
            "a key has a name, the same on both sides",
        )),
        Some(text) => key_name("name", text),
    };
    let name = name.map_err(|error| errors.push(error)).ok();
    let text = draft
        .algorithm
        .as_deref()
        .unwrap_or(TsigAlgorithm::HmacSha256.as_str());
    let algorithm = TsigAlgorithm::parse(text);
    if algorithm.is_none() {
        let known = TsigAlgorithm::ALL.map(TsigAlgorithm::as_str).join(", ");
        errors.push(ValidationError::new(
            "algorithm",
            ErrorCode::Unknown,
            format!("`{text}` is none of {known}"),
        ));
    }
    let secret = draft.secret.as_deref().map(|text| STANDARD.decode(text.trim()));
    match &secret {
        Some(Err(_)) => errors.push(ValidationError::new("secret", ErrorCode::Invalid, "is no base64")),
        Some(Ok(octets)) if !SECRET.contains(&octets.len()) => errors.push(ValidationError::new(
            "secret",
            ErrorCode::OutOfRange,
            format!(
                "{} octets; at least {} and at most {}",
                octets.len(),
                SECRET.start(),
                SECRET.end()
            ),
        )),
        _ => {}
    }
    match (name, algorithm) {
        (Some(name), Some(algorithm)) if errors.is_empty() => {
            Ok((name, algorithm, secret.and_then(Result::ok)))
        }
        _ => Err(errors),
    }
}
