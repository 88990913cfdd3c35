//! One MMDB file with its records decoded ahead.

use foldhash::fast::FixedState;
use gslb_engine::geo::{AsInfo, Country, Located};
use maxminddb::{MaxMindDbError, Reader, WithinOptions, geoip2};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Why a file is not used.
#[derive(Debug, thiserror::Error)]
pub enum GeoError {
    /// It cannot be read.
    #[error("cannot read the geo database {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is no MMDB file, or a damaged one.
    #[error("the geo database {path} is damaged: {source}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: MaxMindDbError,
    },
    /// Not one of its records has what it is wanted for.
    #[error("the geo database {path} (of type {kind}) has no {wanted}")]
    Useless {
        /// The file.
        path: PathBuf,
        /// Type that it says it has.
        kind: String,
        /// What was looked for.
        wanted: &'static str,
    },
}

/// Offset of a record to what it means.
type Records<T> = HashMap<usize, T, FixedState>;

/// A file with the value of each of its records.
struct Database<T> {
    reader: Reader<Vec<u8>>,
    records: Records<T>,
}

impl<T: Copy> Database<T> {
    /// Reads the file, walks all of it, and turns each distinct record into a value.
    fn open(
        path: &Path,
        wanted: &'static str,
        mut value: impl FnMut(&maxminddb::LookupResult<'_, Vec<u8>>) -> Result<Option<T>, MaxMindDbError>,
    ) -> Result<Self, GeoError> {
        let bytes = std::fs::read(path).map_err(|source| GeoError::Read {
            path: path.to_owned(),
            source,
        })?;
        let damaged = |source| GeoError::Damaged {
            path: path.to_owned(),
            source,
        };
        let reader = Reader::from_source(bytes).map_err(damaged)?;
        let mut records = Records::default();
        let mut seen: Records<()> = Records::default();
        for found in reader.networks(WithinOptions::default()).map_err(damaged)? {
            let found = found.map_err(damaged)?;
            let Some(offset) = found.offset() else { continue };
            if seen.insert(offset, ()).is_none()
                && let Some(value) = value(&found).map_err(damaged)?
            {
                records.insert(offset, value);
            }
        }
        if records.is_empty() {
            let kind = reader.metadata().database_type.clone();
            return Err(GeoError::Useless {
                path: path.to_owned(),
                kind,
                wanted,
            });
        }
        Ok(Self { reader, records })
    }

    fn find(&self, ip: IpAddr) -> Located<T> {
        // The whole file was walked at the start, so what can fail here is an IPv6 address in an IPv4 database.
        let Ok(found) = self.reader.lookup(ip) else {
            return Located::NOWHERE;
        };
        let prefix = match found.network() {
            // An IPv4 address above the IPv4 part of the tree: the result holds for all of IPv4.
            Ok(network) if network.is_ipv4() == ip.is_ipv4() => network.prefix(),
            _ => 0,
        };
        let value = found
            .offset()
            .and_then(|offset| self.records.get(&offset).copied());
        Located { value, prefix }
    }
}

impl<T> fmt::Debug for Database<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}

/// Countries by address.
#[derive(Debug)]
pub(super) struct CountryDatabase(Database<Country>);

impl CountryDatabase {
    pub(super) fn open(path: &Path) -> Result<Self, GeoError> {
        Database::open(path, "countries", |found| {
            let record: Option<geoip2::Country<'_>> = found.decode()?;
            // `country` is where the address is. `registered_country`, where its network was registered, is another
            // thing, and would place anycast networks in their owner's country.
            Ok(record.and_then(|r| r.country.iso_code).and_then(Country::parse))
        })
        .map(Self)
    }

    pub(super) fn find(&self, ip: IpAddr) -> Located<Country> {
        self.0.find(ip)
    }
}

/// Autonomous systems by address.
#[derive(Debug)]
pub(super) struct AsnDatabase {
    database: Database<AsInfo>,
    names: HashMap<u64, String>,
    organisations: HashMap<u32, u64>,
}

/// Id of an organisation: equal names have equal ids on every node, and no name has 0.
fn organisation_id(name: &str) -> u64 {
    let digest = Sha256::digest(name.trim().as_bytes());
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    u64::from_be_bytes(bytes).max(1)
}

impl AsnDatabase {
    pub(super) fn open(path: &Path) -> Result<Self, GeoError> {
        let mut names = HashMap::new();
        let mut organisations = HashMap::new();
        let database = Database::open(path, "AS numbers", |found| {
            let record: Option<geoip2::Asn<'_>> = found.decode()?;
            let Some(number) = record.as_ref().and_then(|r| r.autonomous_system_number) else {
                return Ok(None);
            };
            let name = record
                .and_then(|r| r.autonomous_system_organization)
                .map(str::trim);
            let organisation = match name {
                Some(name) if !name.is_empty() => {
                    let id = organisation_id(name);
                    names.entry(id).or_insert_with(|| name.to_owned());
                    organisations.entry(number).or_insert(id);
                    id
                }
                _ => 0,
            };
            Ok(Some(AsInfo { number, organisation }))
        })?;
        Ok(Self {
            database,
            names,
            organisations,
        })
    }

    pub(super) fn find(&self, ip: IpAddr) -> Located<AsInfo> {
        self.database.find(ip)
    }

    pub(super) fn organisation(&self, id: u64) -> Option<String> {
        self.names.get(&id).cloned()
    }

    pub(super) fn organisation_of(&self, number: u32) -> Option<u64> {
        self.organisations.get(&number).copied()
    }
}
