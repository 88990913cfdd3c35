//! From the stored keys of a zone to those that sign, and to what is shown of them.

use crate::store::KeysRecord;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gslb_api_types::{DnssecKeyView, DnssecMode, DnssecView};
use gslb_dnssec::{Algorithm, KeyError, PrivateKey};
use gslb_engine::model::{DomainName, RecordType, Zone};
use gslb_engine::snapshot::{SigningKey, ZoneKeys};

/// Makes new keys for a zone.
pub(crate) fn generate(zone: &Zone, mode: DnssecMode, algorithm: Algorithm) -> Result<KeysRecord, KeyError> {
    let key = || gslb_dnssec::generate(algorithm).map(|der| STANDARD.encode(der));
    let zsk = match mode {
        DnssecMode::KskZsk => Some(key()?),
        DnssecMode::Csk => None,
    };
    Ok(KeysRecord {
        zone_id: zone.id,
        tenant_id: zone.tenant_id,
        zone: zone.name.to_string(),
        mode,
        algorithm: algorithm.number(),
        ksk: key()?,
        zsk,
    })
}

/// The keys, ready to sign.
pub(crate) fn keys(apex: &DomainName, record: &KeysRecord) -> Result<ZoneKeys, KeyError> {
    let read = |text: &String| {
        let der = STANDARD.decode(text).map_err(|_| KeyError::NoKey)?;
        PrivateKey::from_pkcs8(&der)
    };
    let zsk = record.zsk.as_ref().map(read).transpose()?;
    gslb_dnssec::zone_keys(apex, read(&record.ksk)?, zsk)
}

/// What is shown: public keys and the DS.
pub(crate) fn view(apex: &DomainName, record: &KeysRecord) -> Result<DnssecView, KeyError> {
    let keys = keys(apex, record)?;
    let shown = |role: &str, key: &SigningKey| DnssecKeyView {
        role: role.to_owned(),
        tag: key.tag,
        dnskey: key.dnskey.to_text(RecordType::DNSKEY),
    };
    Ok(DnssecView {
        zone_id: record.zone_id,
        mode: record.mode,
        algorithm: record.algorithm,
        keys: match record.mode {
            DnssecMode::KskZsk => vec![shown("ksk", &keys.ksk), shown("zsk", &keys.zsk)],
            DnssecMode::Csk => vec![shown("csk", &keys.ksk)],
        },
        ds: format!("{apex} IN DS {}", keys.ds.to_text(RecordType::DS)),
    })
}
