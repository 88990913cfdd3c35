//! One MMDB file, compiled to sorted ranges.

use super::tree::{Found, Tree};
use foldhash::fast::FixedState;
use gslb_engine::geo::{AsInfo, Continent, Country, Located, Place, Point, Subdivision};
use gslb_engine::ranges::{Builder, Table};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use maxminddb::{LookupResult, MaxMindDbError, Reader, geoip2};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::time::Instant;

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

/// Networks with values, each distinct value kept once.
struct Database<T> {
    table: Table,
    values: Vec<T>,
}

/// Value of each record met so far, by the record's place in the file.
type Records = HashMap<usize, Option<u32>, FixedState>;

impl<T: Copy + Eq + Hash> Database<T> {
    /// Reads the file and turns all of it into ranges: each distinct record is decoded once.
    fn open(
        path: &Path,
        wanted: &'static str,
        mut value: impl FnMut(&LookupResult<'_, &[u8]>) -> Result<Option<T>, MaxMindDbError>,
    ) -> Result<Self, GeoError> {
        let started = Instant::now();
        let bytes = std::fs::read(path).map_err(|source| GeoError::Read {
            path: path.to_owned(),
            source,
        })?;
        let damaged = |source| GeoError::Damaged {
            path: path.to_owned(),
            source,
        };
        let reader = Reader::from_source(bytes.as_slice()).map_err(damaged)?;
        let mut builder = Builder::default();
        let mut records = Records::default();
        let mut ids: HashMap<T, u32, FixedState> = HashMap::default();
        let mut values = Vec::new();
        let mut networks = 0_usize;
        let tree = Tree::new(&bytes, reader.metadata());
        let walked = tree.walk(|found| {
            let (address, length, record) = match found {
                Found::Network(address, length, record) => (address, length, record),
                Found::Embeds(address, length) => {
                    builder.embed(Ipv6Net::new_assert(address, length));
                    return Ok(());
                }
            };
            networks += 1;
            let id = match records.entry(record) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    let value = value(&reader.lookup(address)?)?;
                    *new.insert(value.map(|value| {
                        *ids.entry(value).or_insert_with(|| {
                            values.push(value);
                            u32::try_from(values.len() - 1).unwrap_or(Table::LIMIT)
                        })
                    }))
                }
            };
            if let Some(id) = id {
                // One record for all of IPv4 and more lies above the IPv4 part of the tree.
                if address == IpAddr::V6(Ipv6Addr::UNSPECIFIED) && length <= 96 {
                    builder.add(Ipv4Net::default().into(), id);
                }
                builder.add(IpNet::new_assert(address, length), id);
            }
            Ok(())
        });
        walked.map_err(damaged)?;
        if values.is_empty() {
            let kind = reader.metadata().database_type.clone();
            return Err(GeoError::Useless {
                path: path.to_owned(),
                kind,
                wanted,
            });
        }
        values.shrink_to_fit();
        let table = builder.finish();
        let memory = table.bytes() + values.capacity() * size_of::<T>();
        tracing::info!(
            path = %path.display(),
            networks,
            ranges = table.ranges(),
            values = values.len(),
            kib = memory.div_ceil(1024),
            ms = started.elapsed().as_millis(),
            "loaded the {wanted} of a geo database"
        );
        Ok(Self { table, values })
    }

    /// The same networks with other values.
    fn map<U>(self, to: impl Fn(T) -> U) -> Database<U> {
        Database {
            table: self.table,
            values: self.values.into_iter().map(to).collect(),
        }
    }
}

impl<T: Copy> Database<T> {
    #[inline]
    fn find(&self, ip: IpAddr) -> Located<T> {
        let (id, prefix) = self.table.find(ip);
        let value = id.and_then(|id| self.values.get(id as usize).copied());
        Located { value, prefix }
    }
}

impl<T> fmt::Debug for Database<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("table", &self.table)
            .field("values", &self.values.len())
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

    /// Reads where [`find`](Self::find) will read, for nothing but to have it in the cache.
    pub(super) fn approach(&self, ip: IpAddr) -> u64 {
        self.0.table.approach(ip)
    }
}

/// Places by address.
#[derive(Debug)]
pub(super) struct PlaceDatabase(Database<Place>);

/// A place as the file has it, with numbers that compare: latitude and longitude as bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct StoredPlace {
    continent: Option<Continent>,
    country: Option<Country>,
    subdivision: Option<Subdivision>,
    point: Option<[u64; 2]>,
}

impl StoredPlace {
    fn of(record: &geoip2::City<'_>) -> Option<Self> {
        let country = record.country.iso_code.and_then(Country::parse);
        let subdivision = record.subdivisions.first().and_then(|largest| largest.iso_code);
        let location = record.location.latitude.zip(record.location.longitude);
        let place = Self {
            continent: record.continent.code.and_then(Continent::parse),
            country,
            subdivision: country
                .zip(subdivision)
                .and_then(|(country, code)| Subdivision::new(country, code)),
            point: location.map(|(lat, lon)| [lat.to_bits(), lon.to_bits()]),
        };
        let Self { continent, point, .. } = place;
        // A location without a country can be the middle of nowhere, and is still where the address is.
        (continent.is_some() || country.is_some() || point.is_some()).then_some(place)
    }

    fn place(self) -> Place {
        let point = self.point.map(|bits| bits.map(f64::from_bits));
        Place {
            continent: self.continent,
            country: self.country,
            subdivision: self.subdivision,
            point: point.and_then(|[lat, lon]| Point::new(lat, lon)),
        }
    }
}

impl PlaceDatabase {
    /// From a city database, or with less in it from a country database.
    pub(super) fn open(path: &Path) -> Result<Self, GeoError> {
        let stored = Database::open(path, "places", |found| {
            let record: Option<geoip2::City<'_>> = found.decode()?;
            Ok(record.as_ref().and_then(StoredPlace::of))
        })?;
        Ok(Self(stored.map(StoredPlace::place)))
    }

    pub(super) fn find(&self, ip: IpAddr) -> Located<Place> {
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
