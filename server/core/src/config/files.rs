//! The files that settings name, looked at before anything depends on them.

use super::error::Problem;
use super::source::place_of;
use super::table::Settings;
use crate::geo::GeoSet;
use crate::license::{self, LicenseState, PublicKey};
use crate::mapfile;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use time::OffsetDateTime;

/// A file that can be read, with something in it.
fn readable(path: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    // First of all: opening a named pipe would wait for somebody to write to it.
    let kind = std::fs::metadata(path).map_err(told)?;
    if !kind.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    let mut octet = [0; 1];
    match File::open(path).and_then(|mut file| file.read(&mut octet)) {
        Ok(0) => Err(format!("{} is empty", path.display())),
        Ok(_) => Ok(()),
        Err(error) => Err(told(error)),
    }
}

/// A database, or room for one: the file can be written, and so can its folder, where SQLite keeps what it has not yet
/// written to the file. Missing folders are made at the start.
fn writable(path: &Path) -> Result<(), String> {
    match std::fs::metadata(path) {
        Ok(kind) if kind.is_dir() => {
            return Err(format!(
                "{} is a folder, and must be a file in one",
                path.display()
            ));
        }
        Ok(kind) if !kind.is_file() => return Err(format!("{} is no file", path.display())),
        Ok(_) => {
            let opened = File::options().read(true).append(true).open(path);
            opened.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
        Err(error) => return Err(format!("cannot look at {}: {error}", path.display())),
    }
    let above = path.ancestors().skip(1).map(|folder| {
        let here = folder.as_os_str().is_empty();
        if here { Path::new(".") } else { folder }
    });
    let existing = above
        .into_iter()
        .find_map(|folder| Some((folder, std::fs::metadata(folder).ok()?)));
    let Some((folder, kind)) = existing else {
        return Err(format!("no folder above {} can be looked at", path.display()));
    };
    if !kind.is_dir() {
        return Err(format!("{} is no folder", folder.display()));
    }
    // Asked by doing: permissions alone do not tell of a file system that is read-only.
    tempfile::tempfile_in(folder)
        .map(drop)
        .map_err(|error| format!("cannot write in the folder {}: {error}", folder.display()))
}

/// A licence file that is one. One that has expired is a licence too, and the log says so when it is used.
fn licence(path: &Path, keys: &[PublicKey]) -> Result<(), String> {
    let text = license::read(path).map_err(|error| error.to_string())?;
    let status = license::evaluate(Some(&text), keys, OffsetDateTime::now_utc());
    match status.state {
        LicenseState::Invalid => Err(format!("{}: {}", path.display(), status.message)),
        _ => Ok(()),
    }
}

impl Settings {
    /// What is wrong with the files that the settings name: database, map file, geo databases, licence, certificate and key.
    /// Whether the last two are PEM is for whoever speaks TLS to say.
    #[must_use]
    pub fn file_problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let database = &self.database.path;
        if let Err(message) = writable(database) {
            problems.push(Problem {
                place: place_of(&self.origin("database.path")),
                message: format!("`database.path`: {message}"),
            });
        }
        let mut look = |name: &str, path: Option<&Path>, inside: &dyn Fn(&Path) -> Result<(), String>| {
            let Some(path) = path else { return };
            if let Err(message) = readable(path).and_then(|()| inside(path)) {
                problems.push(Problem {
                    place: place_of(&self.origin(name)),
                    message: format!("`{name}`: {message}"),
                });
            }
        };
        let latency = &self.latency;
        let country = |path: &Path| {
            let loaded = GeoSet::default().set_country(Some(path));
            loaded.map_err(|error| error.to_string())
        };
        let asn = |path: &Path| {
            let loaded = GeoSet::default().set_asn(Some(path));
            loaded.map_err(|error| error.to_string())
        };
        let rules = |path: &Path| mapfile::load(path).map(|_| ()).map_err(|error| error.to_string());
        let whole = |_: &Path| Ok(());
        look(
            "loadBalancer.latency.geoipDBPath",
            latency.geoip_db_path.as_deref(),
            &country,
        );
        look(
            "loadBalancer.latency.cityDBPath",
            latency.city_db_path.as_deref(),
            &country,
        );
        look(
            "loadBalancer.latency.asnDBPath",
            latency.asn_db_path.as_deref(),
            &asn,
        );
        look("routing.mapFile", self.routing.map_file.as_deref(), &rules);
        look("dns.tlsCert", self.dns.tls_cert.as_deref(), &whole);
        look("dns.tlsKey", self.dns.tls_key.as_deref(), &whole);
        look("api.tlsCert", self.api.tls_cert.as_deref(), &whole);
        look("api.tlsKey", self.api.tls_key.as_deref(), &whole);
        let keys = self.license.public_keys.keys();
        if let Some(path) = self.license.file.as_deref()
            && let Err(message) = licence(path, &keys)
        {
            problems.push(Problem {
                place: place_of(&self.origin("license.file")),
                message: format!("`license.file`: {message}"),
            });
        }
        problems
    }
}
