//! The console's backend for the pages of zones.

use super::backend::{ConsoleBackend, actor, failed};
use async_trait::async_trait;
use gslb_api_types::model::{Actor, RecordDraft, RecordId, TsigKeyId, ZoneDraft, ZoneId};
use gslb_api_types::{
    ApiError, DnssecDraft, DnssecKeyDraft, DnssecView, ImportQuery, ImportReport, ListQuery, Page,
    RecordView, Stored, TsigKeyCreated, TsigKeyDraft, TsigKeyView, ZoneView,
};
use gslb_app::backend::{Outcome, ZoneBackend};
use std::time::Instant;

/// Whose kept texts an actor may read: its own.
fn owner(actor: &Actor) -> String {
    format!("{}/{}", actor.tenant_id, actor.name)
}

/// A mark that nobody guesses.
fn mark() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

#[async_trait]
impl ZoneBackend for ConsoleBackend {
    async fn zones(&self, query: ListQuery) -> Outcome<Page<Stored<ZoneView>>> {
        let actor = actor()?;
        self.ops().list_zones(&actor, &query).await.map_err(failed)
    }

    async fn zone(&self, id: ZoneId) -> Outcome<Stored<ZoneView>> {
        let actor = actor()?;
        self.ops().get_zone(&actor, id).await.map_err(failed)
    }

    async fn create_zone(&self, draft: ZoneDraft) -> Outcome<Stored<ZoneView>> {
        let actor = actor()?;
        self.ops().create_zone(&actor, &draft).await.map_err(failed)
    }

    async fn patch_zone(
        &self,
        id: ZoneId,
        patch: serde_json::Value,
        revision: Option<u64>,
    ) -> Outcome<Stored<ZoneView>> {
        let actor = actor()?;
        self.ops()
            .patch_zone(&actor, id, revision, &patch)
            .await
            .map_err(failed)
    }

    async fn delete_zone(&self, id: ZoneId) -> Outcome<()> {
        let actor = actor()?;
        self.ops().delete_zone(&actor, id, None).await.map_err(failed)
    }

    async fn records(&self, zone: ZoneId, query: ListQuery) -> Outcome<Page<Stored<RecordView>>> {
        let actor = actor()?;
        self.ops()
            .list_records(&actor, zone, &query)
            .await
            .map_err(failed)
    }

    async fn record(&self, zone: ZoneId, id: RecordId) -> Outcome<Stored<RecordView>> {
        let actor = actor()?;
        self.ops().get_record(&actor, zone, id).await.map_err(failed)
    }

    async fn create_record(&self, zone: ZoneId, draft: RecordDraft) -> Outcome<Stored<RecordView>> {
        let actor = actor()?;
        self.ops()
            .create_record(&actor, zone, &draft)
            .await
            .map_err(failed)
    }

    async fn update_record(
        &self,
        zone: ZoneId,
        id: RecordId,
        draft: RecordDraft,
        revision: Option<u64>,
    ) -> Outcome<Stored<RecordView>> {
        let actor = actor()?;
        self.ops()
            .replace_record(&actor, zone, id, revision, &draft)
            .await
            .map_err(failed)
    }

    async fn delete_record(&self, zone: ZoneId, id: RecordId) -> Outcome<()> {
        let actor = actor()?;
        self.ops()
            .delete_record(&actor, zone, id, None)
            .await
            .map_err(failed)
    }

    async fn import_zone(
        &self,
        zone: ZoneId,
        text: &str,
        query: ImportQuery,
        revision: Option<u64>,
    ) -> Outcome<(ImportReport, u64)> {
        let actor = actor()?;
        let written = self.ops().import_zone(&actor, zone, revision, text, query).await;
        written
            .map(|written| (written.value, written.revision))
            .map_err(failed)
    }

    async fn dnssec(&self, zone: ZoneId) -> Outcome<Stored<DnssecView>> {
        let actor = actor()?;
        self.ops().get_dnssec(&actor, zone).await.map_err(failed)
    }

    async fn sign_zone(&self, zone: ZoneId, draft: DnssecDraft) -> Outcome<()> {
        let actor = actor()?;
        let signed = self.ops().put_dnssec(&actor, zone, None, &draft).await;
        signed.map(drop).map_err(failed)
    }

    async fn unsign_zone(&self, zone: ZoneId) -> Outcome<()> {
        let actor = actor()?;
        self.ops().delete_dnssec(&actor, zone, None).await.map_err(failed)
    }

    async fn add_key(&self, zone: ZoneId, draft: DnssecKeyDraft) -> Outcome<()> {
        let actor = actor()?;
        let added = self.ops().add_key(&actor, zone, None, &draft).await;
        added.map(drop).map_err(failed)
    }

    async fn activate_key(&self, zone: ZoneId, tag: &str, force: bool) -> Outcome<()> {
        let actor = actor()?;
        let active = self.ops().activate_key(&actor, zone, tag, None, force).await;
        active.map(drop).map_err(failed)
    }

    async fn remove_key(&self, zone: ZoneId, tag: &str, force: bool) -> Outcome<()> {
        let actor = actor()?;
        let removed = self.ops().remove_key(&actor, zone, tag, None, force).await;
        removed.map(drop).map_err(failed)
    }

    async fn tsig_keys(&self, query: ListQuery) -> Outcome<Page<Stored<TsigKeyView>>> {
        let actor = actor()?;
        self.ops().list_tsig_keys(&actor, &query).await.map_err(failed)
    }

    async fn create_tsig_key(&self, draft: TsigKeyDraft) -> Outcome<TsigKeyCreated> {
        let actor = actor()?;
        let made = self.ops().create_tsig_key(&actor, &draft).await;
        made.map(|written| written.value).map_err(failed)
    }

    async fn delete_tsig_key(&self, id: TsigKeyId) -> Outcome<()> {
        let actor = actor()?;
        self.ops().delete_tsig_key(&actor, id, None).await.map_err(failed)
    }

    fn keep(&self, text: String) -> Outcome<String> {
        let (owner, mark) = (owner(&actor()?), mark());
        let kept = self.kept.keep(mark.clone(), &owner, text, Instant::now());
        kept.map(|()| mark).map_err(|refused| {
            let message = format!("the text is longer than {} MiB", refused.most >> 20);
            ApiError::new("too_large", message)
        })
    }

    fn kept(&self, mark: &str) -> Outcome<Option<String>> {
        let owner = owner(&actor()?);
        Ok(self.kept.get(mark, &owner, false, Instant::now()))
    }

    fn take_kept(&self, mark: &str) -> Outcome<Option<String>> {
        let owner = owner(&actor()?);
        Ok(self.kept.get(mark, &owner, true, Instant::now()))
    }
}
