//! The map file on disk. What its text means is the engine's business.

use gslb_engine::environment::MapRule;
use gslb_engine::mapfile::{LineError, parse};
use std::path::{Path, PathBuf};

/// Why there are no rules.
#[derive(Debug, thiserror::Error)]
pub enum MapFileError {
    /// The file cannot be read.
    #[error("cannot read the map file {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Lines are wrong; the first ones.
    #[error("the map file {path} is wrong: {}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Lines {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problems: Vec<LineError>,
    },
}

/// Reads a map file.
///
/// # Errors
/// It cannot be read, or a line is wrong: then none of it counts.
pub fn load(path: &Path) -> Result<Vec<MapRule>, MapFileError> {
    let text = std::fs::read_to_string(path).map_err(|source| MapFileError::Read {
        path: path.to_owned(),
        source,
    })?;
    parse(&text).map_err(|problems| MapFileError::Lines {
        path: path.to_owned(),
        problems,
    })
}
