//! The files of the site before they are written: names, content, and the stamp that tells whether they changed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use walkdir::WalkDir;

/// One file of the site, by its path below the site's folder.
#[derive(Debug, PartialEq, Eq)]
pub struct Asset {
    pub path: PathBuf,
    pub content: Vec<u8>,
}

/// What a page loads to become alive.
#[derive(Debug)]
pub struct Bundle {
    pub js: Vec<u8>,
    pub wasm: Vec<u8>,
    pub css: Vec<u8>,
}

impl Bundle {
    /// Names the three files by one hash over all of them: leptos takes one name for script and WASM, and a page
    /// can then never mix two builds.
    pub fn assets(self, stem: &str) -> Vec<Asset> {
        let hash = short_hash(&[&self.js, &self.wasm, &self.css]);
        let file = |suffix: &str, content| Asset {
            path: Path::new("pkg").join(format!("{stem}-{hash}{suffix}")),
            content,
        };
        vec![
            file(".js", self.js),
            file("_bg.wasm", self.wasm),
            file(".css", self.css),
        ]
    }
}

/// Every style sheet of `folder` in the order of their names, as one.
pub fn styles(folder: &Path) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for file in files(folder)? {
        if file.path.extension().is_some_and(|ending| ending == "css") {
            all.extend(file.content);
            all.push(b'\n');
        }
    }
    Ok(all)
}

/// Every file of `folder`, to be served under its own name.
pub fn public(folder: &Path) -> Result<Vec<Asset>> {
    files(folder)
}

/// Changes with everything that the site is made of.
pub fn stamp(profile: &str, wasm: &[u8], styles: &[u8], public: &[Asset]) -> String {
    // A new xtask may write the same inputs in another form.
    let maker = std::env::current_exe()
        .and_then(fs::metadata)
        .and_then(|meta| meta.modified());
    let mut text = format!(
        "{profile} {maker:?}\nwasm {}\nstyle {}\n",
        short_hash(&[wasm]),
        short_hash(&[styles])
    );
    for file in public {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{} {}", file.path.display(), short_hash(&[&file.content]));
    }
    text
}

/// All files below `folder` in the order of their names; hidden files are for the tools of the one who writes them.
fn files(folder: &Path) -> Result<Vec<Asset>> {
    let mut found = Vec::new();
    let visible = |entry: &walkdir::DirEntry| {
        entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
    };
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(visible)
    {
        let entry = entry?;
        if entry.file_type().is_file() {
            let content =
                fs::read(entry.path()).with_context(|| format!("reading {}", entry.path().display()))?;
            found.push(Asset {
                path: entry.path().strip_prefix(folder)?.to_owned(),
                content,
            });
        }
    }
    Ok(found)
}

/// Sixteen hex digits: 64 bits, plenty to tell the builds of one console apart.
fn short_hash(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher
        .finalize()
        .iter()
        .take(8)
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(css: &str) -> Bundle {
        Bundle {
            js: b"js".to_vec(),
            wasm: b"wasm".to_vec(),
            css: css.into(),
        }
    }

    fn names(bundle: Bundle) -> Vec<String> {
        bundle
            .assets("gslb")
            .iter()
            .map(|file| file.path.display().to_string())
            .collect()
    }

    #[test]
    fn the_three_files_share_one_hash_that_changes_with_any_of_them() {
        let first = names(bundle("a"));
        let stem = first[0].strip_suffix(".js").unwrap();
        assert_eq!(
            first,
            [
                format!("{stem}.js"),
                format!("{stem}_bg.wasm"),
                format!("{stem}.css")
            ]
        );
        assert_eq!(first, names(bundle("a")));
        assert_ne!(first, names(bundle("b")));
    }

    #[test]
    fn the_hash_knows_where_one_file_ends_and_the_next_begins() {
        assert_ne!(short_hash(&[b"ab", b"c"]), short_hash(&[b"a", b"bc"]));
    }

    #[test]
    fn styles_are_joined_by_name_and_other_files_left_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("20-b.css"), "b{}").unwrap();
        fs::write(folder.path().join("10-a.css"), "a{}").unwrap();
        fs::write(folder.path().join("README.md"), "no style").unwrap();
        assert_eq!(styles(folder.path()).unwrap(), b"a{}\nb{}\n");
    }

    #[test]
    fn public_files_keep_their_paths_and_hidden_ones_stay_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("fonts")).unwrap();
        fs::write(folder.path().join("fonts/x.woff2"), "x").unwrap();
        fs::write(folder.path().join(".gitkeep"), "").unwrap();
        let found = public(folder.path()).unwrap();
        assert_eq!(
            found,
            [Asset {
                path: "fonts/x.woff2".into(),
                content: b"x".to_vec()
            }]
        );
    }

    #[test]
    fn the_stamp_sees_a_change_of_any_input() {
        let file = |content: &str| {
            vec![Asset {
                path: "favicon.svg".into(),
                content: content.into(),
            }]
        };
        let base = stamp("wasm-dev", b"w", b"s", &file("p"));
        assert_eq!(base, stamp("wasm-dev", b"w", b"s", &file("p")));
        for other in [
            stamp("wasm-release", b"w", b"s", &file("p")),
            stamp("wasm-dev", b"W", b"s", &file("p")),
            stamp("wasm-dev", b"w", b"S", &file("p")),
            stamp("wasm-dev", b"w", b"s", &file("P")),
        ] {
            assert_ne!(base, other);
        }
    }
}
