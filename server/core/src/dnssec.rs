//! From the stored keys of a zone to those that sign, and to what is shown of them.

use crate::store::{KeysRecord, OtherKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gslb_api_types::{DnssecKeyView, DnssecMode, DnssecView, KeyRole, KeyState};
use gslb_dnssec::{Algorithm, KeyError, PrivateKey, Role};
use gslb_engine::model::{DomainName, RecordType, Zone};
use gslb_engine::snapshot::{SigningKey, ZoneKeys};
use std::path::{Component, Path};

/// How long the DS of a key may be in caches when it has left the zone above, milliseconds: most zones give it a day.
const DS_CACHED_MS: u64 = 86_400_000;

/// What is wrong with a stored key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ZoneKeyError {
    /// The text in the database.
    #[error("a key in the database: {0}")]
    Stored(#[from] KeyError),
    /// A file that cannot be read.
    #[error("`{file}` cannot be read: {source}")]
    Read {
        /// As configured.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file that others can read.
    #[error("`{0}` can be read by others than its owner: chmod 600")]
    Open(String),
    /// Something else than a file, or one that holds no key.
    #[error("`{0}` is no file of at most 64 KiB, so that there is no key in it")]
    NoFile(String),
    /// A path that leads out of the folder.
    #[error("`{0}` is no path below the folder of the database")]
    Outside(String),
    /// A file without a key.
    #[error("`{file}`: {source}")]
    File {
        /// As configured.
        file: String,
        /// Why.
        source: KeyError,
    },
    /// A file with a key of another algorithm.
    #[error("`{file}` has a key of algorithm {found}, and the zone is signed with {wanted}")]
    Algorithm {
        /// As configured.
        file: String,
        /// Of the key.
        found: u8,
        /// Of the zone.
        wanted: u8,
    },
}

/// A new key in its stored form.
pub(crate) fn made(algorithm: Algorithm) -> Result<String, KeyError> {
    gslb_dnssec::generate(algorithm).map(|der| STANDARD.encode(der))
}

/// Makes the keys of a zone that have no file.
pub(crate) fn generate(
    zone: &Zone,
    mode: DnssecMode,
    algorithm: Algorithm,
    [ksk_file, zsk_file]: [Option<String>; 2],
) -> Result<KeysRecord, KeyError> {
    let key = |file: &Option<String>| match file {
        Some(_) => Ok(String::new()),
        None => made(algorithm),
    };
    let zsk = match mode {
        DnssecMode::KskZsk => Some(key(&zsk_file)?),
        DnssecMode::Csk => None,
    };
    Ok(KeysRecord {
        zone_id: zone.id,
        tenant_id: zone.tenant_id,
        zone: zone.name.to_string(),
        mode,
        algorithm: algorithm.number(),
        ksk: key(&ksk_file)?,
        zsk,
        ksk_file,
        zsk_file,
        others: Vec::new(),
    })
}

fn stored(text: &str) -> Result<PrivateKey, KeyError> {
    let der = STANDARD.decode(text).map_err(|_| KeyError::NoKey)?;
    PrivateKey::from_pkcs8(&der)
}

/// Octets of a file with a key, at most: those of an RSA key of 16,384 bits have 13,000.
const LARGEST_FILE: u64 = 64 << 10;

/// Reads a key from a PEM file that only its owner can read.
pub(crate) fn from_file(folder: &Path, file: &str) -> Result<PrivateKey, ZoneKeyError> {
    let inside = Path::new(file)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !inside || file.is_empty() {
        return Err(ZoneKeyError::Outside(file.to_owned()));
    }
    let path = folder.join(file);
    let read = |source| ZoneKeyError::Read {
        file: file.to_owned(),
        source,
    };
    let metadata = std::fs::metadata(&path).map_err(read)?;
    // Whoever writes waits for this to be read: a pipe would keep them waiting for good.
    if !metadata.is_file() || metadata.len() > LARGEST_FILE {
        return Err(ZoneKeyError::NoFile(file.to_owned()));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(ZoneKeyError::Open(file.to_owned()));
        }
    }
    let text = std::fs::read_to_string(&path).map_err(read)?;
    PrivateKey::from_pem(&text).map_err(|source| ZoneKeyError::File {
        file: file.to_owned(),
        source,
    })
}

fn active(folder: &Path, text: &str, file: Option<&String>, wanted: u8) -> Result<PrivateKey, ZoneKeyError> {
    let Some(file) = file else {
        return Ok(stored(text)?);
    };
    let key = from_file(folder, file)?;
    let found = key.algorithm().number();
    if found != wanted {
        return Err(ZoneKeyError::Algorithm {
            file: file.clone(),
            found,
            wanted,
        });
    }
    Ok(key)
}

const fn flags(role: KeyRole) -> Role {
    match role {
        KeyRole::Ksk | KeyRole::Csk => Role::KeySigning,
        KeyRole::Zsk => Role::ZoneSigning,
    }
}

/// A key that does not sign the zone's records.
pub(crate) fn other(key: &OtherKey) -> Result<SigningKey, KeyError> {
    gslb_dnssec::signing_key(stored(&key.key)?, flags(key.role))
}

/// The keys, ready to sign; files are below `folder`.
pub(crate) fn keys(apex: &DomainName, record: &KeysRecord, folder: &Path) -> Result<ZoneKeys, ZoneKeyError> {
    let ksk = active(folder, &record.ksk, record.ksk_file.as_ref(), record.algorithm)?;
    let zsk = match &record.zsk {
        Some(text) => Some(active(folder, text, record.zsk_file.as_ref(), record.algorithm)?),
        None => None,
    };
    let mut keys = gslb_dnssec::zone_keys(apex, ksk, zsk)?;
    keys.others = record.others.iter().map(other).collect::<Result<_, _>>()?;
    Ok(keys)
}

/// Tags of all keys.
pub(crate) fn tags(apex: &DomainName, record: &KeysRecord, folder: &Path) -> Result<Vec<u16>, ZoneKeyError> {
    let keys = keys(apex, record, folder)?;
    let all = [&keys.ksk, &keys.zsk].into_iter().chain(&keys.others);
    Ok(all.map(|key| key.tag).collect())
}

/// How long caches hold things of a zone, seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lifetimes {
    /// The key set.
    pub(crate) keys: u32,
    /// Any record, with its signature.
    pub(crate) records: u32,
}

/// From when on the next step for a key is safe, Unix milliseconds.
pub(crate) fn safe_at(key: &OtherKey, lifetimes: Lifetimes) -> u64 {
    let keys = u64::from(lifetimes.keys) * 1000;
    let wait = match (key.state, key.role) {
        // Until then a cache may have the key set without it.
        (KeyState::Published | KeyState::Active, _) => keys,
        (KeyState::Retired, KeyRole::Zsk) => u64::from(lifetimes.records) * 1000,
        (KeyState::Retired, KeyRole::Ksk) => DS_CACHED_MS,
        (KeyState::Retired, KeyRole::Csk) => DS_CACHED_MS.max(u64::from(lifetimes.records) * 1000),
    };
    key.since.saturating_add(wait)
}

fn next(key: &OtherKey) -> &'static str {
    match (key.state, key.role) {
        (KeyState::Retired, KeyRole::Zsk) => {
            "remove it when the signatures that it made have left all caches"
        }
        (KeyState::Retired, _) => {
            "give the new DS to the zone above, or see that it has taken the CDS; remove this key when the old DS has left \
             that zone for as long as its TTL"
        }
        (_, KeyRole::Zsk) => "activate it when all caches have the key set with it: it then signs the zone",
        (_, _) => "activate it when all caches have the key set with it: CDS, CDNSKEY and `ds` then name it",
    }
}

/// What is shown: public keys and the DS.
pub(crate) fn view(
    apex: &DomainName,
    record: &KeysRecord,
    folder: &Path,
    lifetimes: Lifetimes,
) -> Result<DnssecView, ZoneKeyError> {
    let keys = keys(apex, record, folder)?;
    let shown = |role, key: &SigningKey, file: &Option<String>| DnssecKeyView {
        role,
        tag: key.tag,
        dnskey: key.dnskey.to_text(RecordType::DNSKEY),
        state: KeyState::Active,
        since: None,
        safe_at: None,
        next: None,
        file: file.clone(),
    };
    let mut list = match record.mode {
        DnssecMode::KskZsk => vec![
            shown(KeyRole::Ksk, &keys.ksk, &record.ksk_file),
            shown(KeyRole::Zsk, &keys.zsk, &record.zsk_file),
        ],
        DnssecMode::Csk => vec![shown(KeyRole::Csk, &keys.ksk, &record.ksk_file)],
    };
    for (stored, key) in record.others.iter().zip(&keys.others) {
        list.push(DnssecKeyView {
            state: stored.state,
            since: Some(stored.since),
            safe_at: Some(safe_at(stored, lifetimes)),
            next: Some(next(stored).to_owned()),
            ..shown(stored.role, key, &None)
        });
    }
    Ok(DnssecView {
        zone_id: record.zone_id,
        mode: record.mode,
        algorithm: record.algorithm,
        keys: list,
        ds: format!("{apex} IN DS {}", keys.ds.to_text(RecordType::DS)),
    })
}
