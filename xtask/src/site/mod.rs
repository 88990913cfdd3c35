//! Builds the web console into `target/site`: WASM, its JavaScript glue, the style sheet and the static files.
//!
//! The three files of the program share one hash of their content (`gslb-<hash>.js`, `gslb-<hash>_bg.wasm`,
//! `gslb-<hash>.css`), so that browsers may keep them for ever; the server finds the hash by listing what it has
//! embedded. A compressed `.br` and `.gz` lies beside each file, so that nothing is compressed while serving.

mod assets;
mod bindgen;
mod compress;

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace::Workspace;
use crate::{process, tools};
use assets::{Asset, Bundle};
use compress::Effort;

/// Stem of the bundle's file names.
const STEM: &str = "gslb";
/// Largest compressed WASM that a release may have, in bytes: what a browser loads before the console reacts. It
/// keeps the bundle from growing unseen. The goal is 350,000; most of the way there is code that leptos makes anew for
/// each type of view.
const MAX_WASM_BROTLI: u64 = 440_000;

/// Which bundle to build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Quick to build; hydration errors name file and line.
    Dev,
    /// As [`Flavour::Dev`], linted while it is compiled.
    Linted,
    /// Small; what is shipped.
    Release,
}

impl Flavour {
    /// Cargo's profile for the WASM.
    pub fn profile(self) -> &'static str {
        match self {
            Self::Dev | Self::Linted => "wasm-dev",
            Self::Release => "wasm-release",
        }
    }

    fn effort(self) -> Effort {
        match self {
            Self::Dev | Self::Linted => Effort::Quick,
            Self::Release => Effort::Smallest,
        }
    }
}

/// Builds what is out of date, and says what it made.
pub fn build(workspace: &Workspace, flavour: Flavour) -> Result<()> {
    let wasm = compile(workspace, flavour)?;
    let started = Instant::now();
    let wasm = fs::read(&wasm).with_context(|| format!("reading {}", wasm.display()))?;
    let styles = assets::styles(&workspace.root.join("style"))?;
    let public = assets::public(&workspace.root.join("public"))?;

    let site = workspace.site();
    // Beside the site and not in the target folder, which may be another one at the next run.
    let stamp_file = site.with_extension("stamp");
    let stamp = assets::stamp(flavour.profile(), &wasm, &styles, &public);
    if site.is_dir() && fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
        println!("site: {} is up to date", site.display());
        return Ok(());
    }

    let (js, wasm) = bindgen::run(STEM, wasm, flavour != Flavour::Release)?;
    let bundle = Bundle {
        js,
        wasm,
        css: styles,
    };
    let mut files = bundle.assets(STEM);
    files.extend(public);
    replace(&site, &files, flavour.effort())?;
    fs::write(&stamp_file, stamp)?;
    report(&site, started)
}

/// Prints the compressed size of the WASM in the built site; an error if a release may not have it.
pub fn check_size(workspace: &Workspace) -> Result<()> {
    let file = workspace.site().join("pkg").join(wasm_name(workspace)? + ".br");
    let size = fs::metadata(&file)
        .with_context(|| file.display().to_string())?
        .len();
    println!("wasm: {size} bytes compressed, limit {MAX_WASM_BROTLI}");
    ensure!(
        size <= MAX_WASM_BROTLI,
        "the compressed WASM has {size} bytes, {} more than a release may have",
        size - MAX_WASM_BROTLI
    );
    Ok(())
}

/// Whether a program carries the built site, told by the name of its WASM, which no other site has.
pub fn is_embedded(workspace: &Workspace, binary: &Path) -> Result<bool> {
    let name = wasm_name(workspace)?;
    let program = fs::read(binary).with_context(|| format!("reading {}", binary.display()))?;
    Ok(contains(&program, name.as_bytes()))
}

/// Name of the WASM in the built site.
fn wasm_name(workspace: &Workspace) -> Result<String> {
    let folder = workspace.site().join("pkg");
    for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with("_bg.wasm") {
            return Ok(name);
        }
    }
    bail!("{} has no WASM", folder.display());
}

/// Whether `needle` stands in `text`.
fn contains(text: &[u8], needle: &[u8]) -> bool {
    text.windows(needle.len()).any(|window| window == needle)
}

/// Runs cargo for the browser's target and gives the file that it made.
fn compile(workspace: &Workspace, flavour: Flavour) -> Result<PathBuf> {
    tools::wasm_target(&workspace.root)?;
    let profile = flavour.profile();
    let arguments = [
        "build",
        "--package",
        "gslb-frontend",
        "--lib",
        "--target",
        tools::WASM,
        "--profile",
        profile,
    ];
    let mut cargo = match flavour {
        Flavour::Linted => process::linting_cargo(&workspace.root, arguments)?,
        Flavour::Dev | Flavour::Release => process::cargo(&workspace.root, arguments),
    };
    process::run(&mut cargo)?;
    Ok(workspace
        .target
        .join(tools::WASM)
        .join(profile)
        .join("gslb_frontend.wasm"))
}

/// Puts a new site in the place of the old one. The files are complete before the old folder goes, so that a broken
/// build leaves the last good site.
fn replace(site: &Path, files: &[Asset], effort: Effort) -> Result<()> {
    let fresh = site.with_extension("new");
    remove(&fresh)?;
    for file in files {
        let path = fresh.join(&file.path);
        let folder = path.parent().context("an asset without a folder")?;
        fs::create_dir_all(folder)?;
        fs::write(&path, &file.content).with_context(|| format!("writing {}", path.display()))?;
        compress::beside(&path, &file.content, effort)?;
    }
    remove(site)?;
    fs::rename(&fresh, site).with_context(|| format!("moving the new site to {}", site.display()))
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Prints each file of the bundle with its sizes.
fn report(site: &Path, started: Instant) -> Result<()> {
    let mut entries: Vec<_> = fs::read_dir(site.join("pkg"))?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        println!("{:>9} bytes  {}", entry.metadata()?.len(), entry.path().display());
    }
    println!(
        "site: {} in {:.1} s after the compiler",
        site.display(),
        started.elapsed().as_secs_f64()
    );
    Ok(())
}
