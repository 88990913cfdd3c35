//! What the console asks about zones: their records, files, transfers and keys.

use super::Outcome;
use async_trait::async_trait;
use gslb_api_types::model::{RecordDraft, RecordId, TsigKeyId, ZoneDraft, ZoneId};
use gslb_api_types::{
    DnssecDraft, DnssecKeyDraft, DnssecView, ImportQuery, ImportReport, ListQuery, Page, RecordView, Stored,
    TsigKeyCreated, TsigKeyDraft, TsigKeyView, ZoneView,
};

/// The use cases behind the pages of zones. `revision` is as in [`Backend`](super::Backend).
#[async_trait]
pub trait ZoneBackend {
    /// One page of zones.
    async fn zones(&self, query: ListQuery) -> Outcome<Page<Stored<ZoneView>>>;
    /// One zone.
    async fn zone(&self, id: ZoneId) -> Outcome<Stored<ZoneView>>;
    /// Creates a zone.
    async fn create_zone(&self, draft: ZoneDraft) -> Outcome<Stored<ZoneView>>;
    /// Changes the fields of a zone that the patch has (RFC 7396: null takes a field back to its default).
    async fn patch_zone(
        &self,
        id: ZoneId,
        patch: serde_json::Value,
        revision: Option<u64>,
    ) -> Outcome<Stored<ZoneView>>;
    /// Deletes a zone.
    async fn delete_zone(&self, id: ZoneId) -> Outcome<()>;

    /// One page of the record sets of a zone; `search` looks at name, type and data.
    async fn records(&self, zone: ZoneId, query: ListQuery) -> Outcome<Page<Stored<RecordView>>>;
    /// One record set.
    async fn record(&self, zone: ZoneId, id: RecordId) -> Outcome<Stored<RecordView>>;
    /// Adds a record set.
    async fn create_record(&self, zone: ZoneId, draft: RecordDraft) -> Outcome<Stored<RecordView>>;
    /// Replaces a record set.
    async fn update_record(
        &self,
        zone: ZoneId,
        id: RecordId,
        draft: RecordDraft,
        revision: Option<u64>,
    ) -> Outcome<Stored<RecordView>>;
    /// Deletes a record set.
    async fn delete_record(&self, zone: ZoneId, id: RecordId) -> Outcome<()>;

    /// Takes over a zone file, all of it or nothing, or only tells what that would change.
    async fn import_zone(
        &self,
        zone: ZoneId,
        text: &str,
        query: ImportQuery,
        revision: Option<u64>,
    ) -> Outcome<(ImportReport, u64)>;

    /// How a zone is signed; code `not_found` for one that is not.
    async fn dnssec(&self, zone: ZoneId) -> Outcome<Stored<DnssecView>>;
    /// Signs a zone with new keys.
    async fn sign_zone(&self, zone: ZoneId, draft: DnssecDraft) -> Outcome<()>;
    /// Deletes the keys of a zone.
    async fn unsign_zone(&self, zone: ZoneId) -> Outcome<()>;
    /// Publishes another key: the first step of a roll-over.
    async fn add_key(&self, zone: ZoneId, draft: DnssecKeyDraft) -> Outcome<()>;
    /// Lets a published key sign, and retires the one that did.
    async fn activate_key(&self, zone: ZoneId, tag: &str, force: bool) -> Outcome<()>;
    /// Removes a retired key, or a published one.
    async fn remove_key(&self, zone: ZoneId, tag: &str, force: bool) -> Outcome<()>;

    /// One page of TSIG keys, without their secrets.
    async fn tsig_keys(&self, query: ListQuery) -> Outcome<Page<Stored<TsigKeyView>>>;
    /// Makes a TSIG key.
    async fn create_tsig_key(&self, draft: TsigKeyDraft) -> Outcome<TsigKeyCreated>;
    /// Deletes a TSIG key; code `conflict` while a zone names it.
    async fn delete_tsig_key(&self, id: TsigKeyId) -> Outcome<()>;

    /// Keeps a text for the caller's next page, since an address is no place for it: it is long, or a secret. The answer
    /// is the mark to ask for it by.
    fn keep(&self, text: String) -> Outcome<String>;
    /// A kept text of the caller, as long as it is there.
    fn kept(&self, mark: &str) -> Outcome<Option<String>>;
    /// The same, for the last time.
    fn take_kept(&self, mark: &str) -> Outcome<Option<String>>;
}
