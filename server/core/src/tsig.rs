//! From the stored TSIG keys to those that sign.

use crate::store::TsigKeyRecord;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gslb_engine::snapshot::TsigKey;

/// The key, ready to sign. One that cannot be read is left out, and told.
pub(crate) fn key(record: &TsigKeyRecord) -> Option<TsigKey> {
    match STANDARD.decode(&record.secret) {
        Ok(secret) => Some(TsigKey::new(record.name.clone(), record.algorithm, &secret)),
        Err(error) => {
            tracing::error!(key = %record.name, %error, "the TSIG key cannot be used");
            None
        }
    }
}
