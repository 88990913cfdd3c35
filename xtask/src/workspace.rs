//! Where things are: the root of the work tree, cargo's target folder, the built site.
//!
//! The site goes to one fixed folder whatever `CARGO_TARGET_DIR` says, since the server names that folder when it
//! is compiled; programs come out of the target folder.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use cargo_metadata::MetadataCommand;

/// Program of the server, as cargo names it.
pub const SERVER: &str = "gslbd";

/// The folders that every command works with.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Root of the work tree.
    pub root: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
}

impl Workspace {
    /// Asks cargo for both folders.
    pub fn find() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let metadata = MetadataCommand::new()
            .manifest_path(manifest)
            .no_deps()
            .exec()
            .context("asking cargo for the workspace")?;
        Ok(Self {
            root: metadata.workspace_root.into_std_path_buf(),
            target: metadata.target_directory.into_std_path_buf(),
        })
    }

    /// Folder that the server embeds; named in the server's source too.
    pub fn site(&self) -> PathBuf {
        self.root.join("target/site")
    }

    /// The built server of one profile.
    pub fn server_binary(&self, release: bool) -> PathBuf {
        self.target
            .join(if release { "release" } else { "debug" })
            .join(SERVER)
    }

    /// A folder for what xtask itself keeps between runs: stamps, installed tools, the package under trial.
    pub fn scratch(&self) -> PathBuf {
        self.target.join("xtask")
    }
}
