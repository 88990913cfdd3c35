//! Geo databases (MMDB files of MaxMind's country, city and ASN kinds) behind the engine's [`Geo`].
//!
//! A file is read and walked once when it is loaded, and compiled to sorted ranges
//! ([`Table`](gslb_engine::ranges::Table)): that finds damage before it is used, takes a fraction of the file's memory,
//! and makes a look-up several times quicker than the way down the file's tree.

mod database;
mod tree;

pub use database::GeoError;

use database::{AsnDatabase, CountryDatabase, PlaceDatabase};
use gslb_engine::geo::{AsInfo, Country, Geo, Located, Place};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

/// The databases in use.
#[derive(Debug, Clone, Default)]
pub struct GeoSet {
    country: Option<Arc<CountryDatabase>>,
    asn: Option<Arc<AsnDatabase>>,
    place: Option<Arc<PlaceDatabase>>,
}

impl GeoSet {
    /// Loads the country database from a file, or goes without one. With an error the old one stays.
    ///
    /// # Errors
    /// The file cannot be read or is no sound database with countries.
    pub fn set_country(&mut self, path: Option<&Path>) -> Result<(), GeoError> {
        self.country = path.map(CountryDatabase::open).transpose()?.map(Arc::new);
        Ok(())
    }

    /// Loads the ASN database from a file, or goes without one. With an error the old one stays.
    ///
    /// # Errors
    /// The file cannot be read or is no sound database with AS numbers.
    pub fn set_asn(&mut self, path: Option<&Path>) -> Result<(), GeoError> {
        self.asn = path.map(AsnDatabase::open).transpose()?.map(Arc::new);
        Ok(())
    }

    /// Loads places from a city or country database, or goes without. With an error the old ones stay.
    ///
    /// # Errors
    /// The file cannot be read or is no sound database with places.
    pub fn set_place(&mut self, path: Option<&Path>) -> Result<(), GeoError> {
        self.place = path.map(PlaceDatabase::open).transpose()?.map(Arc::new);
        Ok(())
    }
}

impl Geo for GeoSet {
    fn country(&self, ip: IpAddr) -> Located<Country> {
        self.country.as_ref().map_or(Located::NOWHERE, |db| db.find(ip))
    }

    fn approach_country(&self, ip: IpAddr) -> u64 {
        self.country.as_ref().map_or(0, |db| db.approach(ip))
    }

    fn asn(&self, ip: IpAddr) -> Located<AsInfo> {
        self.asn.as_ref().map_or(Located::NOWHERE, |db| db.find(ip))
    }

    fn place(&self, ip: IpAddr) -> Located<Place> {
        self.place.as_ref().map_or(Located::NOWHERE, |db| db.find(ip))
    }

    fn organisation(&self, id: u64) -> Option<String> {
        self.asn.as_ref()?.organisation(id)
    }

    fn organisation_of(&self, number: u32) -> Option<u64> {
        self.asn.as_ref()?.organisation_of(number)
    }

    fn has_country(&self) -> bool {
        self.country.is_some()
    }

    fn has_asn(&self) -> bool {
        self.asn.is_some()
    }

    fn has_place(&self) -> bool {
        self.place.is_some()
    }
}
